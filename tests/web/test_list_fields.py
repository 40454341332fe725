"""Lists of tables in the form of a study: groups of fields that come and go."""

from __future__ import annotations

import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.on_asgi import send_form
from tests.web.runs import SMALL, check


def test_tables_of_a_list_are_groups_that_come_and_go(app: Any, tmp_path: Path) -> None:
    application = app(tmp_path)
    text = SMALL.replace("[[lengths]]", "# of jobs\n[[lengths]]")
    more = check(application, text, act="arrivals")
    assert tomllib.loads(more["text"])["arrivals"] == [
        {"pattern": "uniform", "count": 1},
        {"pattern": "uniform"},
    ]
    assert "# of jobs" in more["text"]
    assert "is missing" in more["problems"]["arrivals[1].count"][0]
    assert more["layout"] != check(application, text)["layout"]
    done = check(application, more["text"], field="arrivals[1].count", value="2")
    assert done["said"] == "8 cells, 48 runs"
    fewer = check(application, done["text"], act="arrivals[0]")
    assert tomllib.loads(fewer["text"])["arrivals"] == [{"pattern": "uniform", "count": 2}]
    assert check(application, fewer["text"], act="arrivals[7]")["text"] == fewer["text"]
    none = check(application, fewer["text"], act="arrivals[0]")
    assert "arrivals" not in tomllib.loads(none["text"])
    assert "is missing" in none["problems"]["arrivals"][0]


def test_another_pattern_has_other_fields(app: Any, tmp_path: Path) -> None:
    application = app(tmp_path)
    found = check(application, SMALL, field="arrivals[0].pattern", value="bursty")
    assert tomllib.loads(found["text"])["arrivals"] == [{"pattern": "bursty"}]
    assert set(found["problems"]) == {"arrivals[0].size", "arrivals[0].interval"}
    page = send_form(application, "/studies/form", toml=found["text"], use="text").text
    assert 'name="f:arrivals[0].interval"' in page
    assert 'name="f:arrivals[0].count"' not in page
    unknown = check(application, SMALL.replace('"nondet"', '"none"'))
    assert "lengths[0].pattern" in unknown["values"]
    assert unknown["problems"]


def test_without_scripts_a_button_adds_a_table_after_the_changes(app: Any, tmp_path: Path) -> None:
    page = send_form(
        app(tmp_path), "/studies/form", toml=SMALL, act="arrivals", **{"f:ticks": "20"}
    ).text
    text = unescape(page.partition('id="toml"')[2].partition(">")[2].partition("</textarea>")[0])
    values = tomllib.loads(text)
    assert (values["ticks"], len(values["arrivals"])) == (20, 2)
    assert 'name="f:arrivals[1].count"' in page


@pytest.mark.parametrize("text", ["arrivals = 3", "arrivals = [3]", "[arrivals]\ncount = 1"])
def test_what_is_no_list_of_tables_is_shown_as_it_is(app: Any, tmp_path: Path, text: str) -> None:
    scenario = SMALL.partition("[[arrivals]]")[0] + text
    found = check(app(tmp_path), scenario)
    assert found["values"]["arrivals"]
    assert found["problems"]["arrivals"]


def test_a_very_long_list_is_written_as_toml(app: Any, tmp_path: Path) -> None:
    text = SMALL + '[[arrivals]]\npattern = "uniform"\ncount = 1\n' * 41
    assert "arrivals[0].count" not in check(app(tmp_path), text)["values"]
