"""Scenarios in the explorer: cut small, stepped, and asked about."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from rebecsim.web import Library
from rebecsim.web.cut_scenarios import cut_scenario, read_id
from rebecsim.web.verdicts import Verdicts
from tests.on_asgi import ask, send_form

WAY = re.compile(r'<a class="way[^>]*href="([^"]+)"')


def opened(application: Any, asked: str) -> tuple[str, str]:
    """Give the address that a scenario leads to, and the page there."""
    found = ask(application, asked)
    assert found.status == 303, found.text
    address = found.headers["location"]
    return address, ask(application, address).text


def test_cards_lead_to_clusters_of_scenarios(app: Any) -> None:
    page = ask(app(), "/").text
    assert 'href="/scenarios/fifo_or_fair" aria-label="Explore fifo_or_fair"' in page
    assert 'href="/scenarios/fifo_or_fair"' in ask(app(), "/studies").text


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("backfilling_or_fairshare", "2 jobs on 2 processors"),
        ("elastic_or_regular", "2 jobs on 2 nodes"),
        ("capacity_separated", "2 jobs on 2 nodes with 2 slots of a kind"),
        ("slots_by_deadlines", "2 jobs on 2 resources"),
    ],
)
def test_a_cluster_is_stepped_and_its_address_can_be_kept(
    app: Any, scenario: str, said: str
) -> None:
    address, page = opened(app(), f"/scenarios/{scenario}")
    assert f"Cut to {said}" in page
    assert "Promises: " in page
    assert "test.py" not in page
    way = html.unescape(WAY.findall(page)[0])
    later = ask(app(), way)  # another server, which has listed nothing
    assert later.status == 200
    assert "Step 1" in later.text
    moved = send_form(app(), f"{address}/on", steps="20")
    assert moved.status == 303
    assert ask(app(), f"{address}/model.rebeca").text.startswith("kind = ")


def test_jobs_nodes_and_cell_are_chosen(app: Any) -> None:
    asked = "/scenarios/fifo_or_fair?cell=fair_load1&jobs=3&nodes=1"
    address, page = opened(app(), asked)
    assert "/x/fifo_or_fair~fair_load1~3~1~" in address
    assert "Cut to 3 jobs on 1 node" in page
    assert re.search(r"<dt>memory</dt><dd>\[", page)
    assert "<dt>_" not in page  # what only the code understands


def test_a_cell_that_is_a_model_opens_as_one(app: Any) -> None:
    address, page = opened(app(), "/scenarios/fresh_readings")
    assert "Cut to" not in page
    assert "reactiveclass" in page
    assert 'id="edit"' in page
    assert ask(app(), f"{address}/model.rebeca").text.count("reactiveclass") > 1


@pytest.mark.parametrize("races", [False, True])
def test_the_verdict_of_a_cluster_is_found_in_a_process(races: bool) -> None:
    listed = Library().find(cut_scenario("backfilling_or_fairshare").id)
    assert listed is not None
    verdicts = Verdicts()
    try:
        inquiry = verdicts.ask(listed, races=races)
        verdicts._workers.shutdown(wait=True)
    finally:
        verdicts.close()
    assert inquiry.verdict == ("looked at" if races else "satisfied"), inquiry.text
    assert inquiry.states > 10


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("/scenarios/none", "rebecsim has no scenario of this name"),
        ("/scenarios/fifo_or_fair?jobs=70", "1 to 6 jobs and nodes"),
        ("/scenarios/fifo_or_fair?jobs=x", "is not a number"),
        ("/scenarios/fifo_or_fair?cell=none", "there is no cell none"),
        ("/scenarios/user_limit?cell=capped", "leave 3 nodes"),
    ],
)
def test_mistakes_are_explained(app: Any, asked: str, text: str) -> None:
    found = ask(app(), asked)
    if found.status == 303:
        found = ask(app(), found.headers["location"])
    assert found.status == 400
    assert text in html.unescape(found.text)


def test_an_identifier_of_another_text_is_of_nothing() -> None:
    known = cut_scenario("fifo_or_fair", "fair_load1", 2, 2).id
    assert read_id(known) is not None
    assert read_id(f"{known[:-1]}x") is None
    assert read_id("0123456789abcdef") is None
    library = Library()
    assert library.find(known) is not None
    closed = Library()
    closed.opens_scenarios = False
    assert closed.find(known) is None
