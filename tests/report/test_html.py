import json
import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

import pytest

from rebecsim.report import (
    ReportInput,
    chart_figure,
    charts_along,
    choice_law_text,
    render_figure,
    render_html,
    scenario_rows,
    script_json,
)

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """The page's visible text, its scripts, and a check that its elements nest."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] not in {"style", "title"}:
            self.words.append(data)


STILL = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
"""In place of charts in pages whose pictures the test does not look at: to draw takes longest."""


def render(report: ReportInput, *, drawn: bool = False) -> str:
    charts = charts_along(report)
    stills = [
        render_figure(partial(chart_figure, chart), (".svg",))[".svg"] if drawn else STILL
        for chart in charts
    ]
    return render_html(report, charts, stills, {})


def page_of(report: ReportInput, *, drawn: bool = False) -> Page:
    return Page(render(report, drawn=drawn))


def test_the_page_says_what_was_run_and_what_came_out(make_report) -> None:
    page = page_of(make_report(inputs={"BLAKE2b checksum of the log": "77aa"}))
    for words in (
        "Against EDF",
        "First paragraph.",
        "Second paragraph.",
        "3 policies, 3 cluster sizes, 1 workload, 180 runs in all",
        "Queue size 12",
        "Policies EDF; FIFO; MDF",
        "Seed 2015",
        "rebecsim 0.1.0",
        "of k alternatives the last one has probability 2/(k + 1)",
        "Satterthwaite",
        "dropped because the queue was full",
        "EDF and FIFO are too close to tell apart.",
        "BLAKE2b checksum of the log 77aa",
    ):
        assert words in page.text
    assert page.text.count("(best)") == 6


def test_the_page_compares_policies_and_orders(full_report) -> None:
    page = page_of(full_report)
    for words in (
        "Differences between policies",
        "No significant difference was found between EDF and FIFO: all 20 runs of each cell gave",
        "EDF misses ",
        "20 runs per cell detect a difference of",
        "all 6 pairs of a figure together (Holm's procedure)",
        "Lachin",
        "Order of messages",
        "Deadline misses by order of messages",
        "Lowest to highest random updates-first ticks-first",
        "the choice of policy by up to",
    ):
        assert words in page.text
    shown = [a for tag, a in page.tags if tag == "li" and a.get("class") == "shown"]
    assert len(shown) == sum(pair.is_shown for pair in full_report.differences)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(set(ids)) == len(ids)
    labels = [a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a]
    assert set(labels) <= set(ids)


def test_exact_figures_have_no_intervals_in_their_heading(make_report) -> None:
    drawn = make_report()
    assert "All conditions together, with 95 % intervals" in page_of(drawn).text
    exact = make_report([replace(each, is_random=False) for each in drawn.moments])
    said = page_of(exact).text
    assert "All conditions together" in said
    assert "All conditions together, with" not in said


def test_a_plain_report_has_no_empty_sections(make_report) -> None:
    text = page_of(make_report()).text
    assert "Differences between policies" not in text
    assert "Order of messages" not in text
    assert "Holm" not in text


def test_the_page_loads_nothing_and_forbids_itself_to(make_report) -> None:
    page = page_of(make_report())
    sources = [a.get("src") or a.get("href") or "" for _, a in page.tags]
    assert all(s == "" or s.startswith("data:") for s in sources)
    (policy,) = [
        a["content"] or ""
        for tag, a in page.tags
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert sum("plotly.js v" in script for script in page.scripts) == 1


def test_every_chart_has_a_description_and_a_still(make_report) -> None:
    page = page_of(make_report(), drawn=True)
    charts = [a for tag, a in page.tags if a.get("class") == "chart"]
    stills = [a for tag, a in page.tags if tag == "img"]
    assert len(charts) == len(stills) == 3
    assert all(a["role"] == "group" and "EDF from" in (a["aria-label"] or "") for a in charts)
    assert all("EDF from" in (a["alt"] or "") for a in stills)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(set(ids)) == len(ids)


def test_text_from_a_scenario_cannot_become_markup(make_report, make_cell) -> None:
    attack = "</title></script><script>alert(1)</script>"
    plain = page_of(make_report())
    page = page_of(
        make_report(
            [make_cell(attack), make_cell("FIFO")],
            title=attack,
            description=attack,
            scenario={"name": attack, attack: [{"label": attack}]},
            choice_law=attack,
            versions={attack: attack},
        ),
        drawn=True,
    )
    count = [sum(tag == "script" for tag, _ in p.tags) for p in (plain, page)]
    assert count[0] == count[1] == 2
    assert attack in page.text
    assert "alert(1)" in page.scripts[-1]  # the policy's name, as data that cannot end the script
    assert "<script" not in page.scripts[-1]


def test_the_embedded_figures_are_the_charts(make_report) -> None:
    script = page_of(make_report()).scripts[-1]
    figures = json.loads(re.search(r"var figures = (\[.*?\n  \]);", script, re.S).group(1))
    assert len(figures) == 3
    assert [t["name"] for t in figures[0]["data"] if "text" in t] == ["EDF", "FIFO", "MDF"]


def test_a_run_that_went_wrong_is_a_warning_at_the_top(make_report, make_cell) -> None:
    page = page_of(make_report([make_cell(ends={"time limit": 19, "queue overflow": 1})]))
    assert (
        "Warning. EDF: 1 of 20 runs did not reach the time limit (queue overflow: 1)" in page.text
    )
    assert "Warning" not in page_of(make_report()).text


def test_the_same_report_is_the_same_page(make_report) -> None:
    assert render(make_report(), drawn=True) == render(make_report(), drawn=True)


@pytest.mark.parametrize(
    ("scenario", "rows"),
    [
        ({"title": "t", "description": "d", "epsilon": 0.5}, [("Epsilon", "0.5")]),
        (
            {"high_priority": {"probability": 10, "length": 0}},
            [("High priority: probability", "10"), ("High priority: length", "0")],
        ),
        ({"lengths": [{"label": "wave"}, {"pattern": "x", "by": 2}]},
         [("Lengths", "wave; pattern x, by 2")]),
        ({"a": None, "b": True, "c": []}, [("A", "none"), ("B", "yes"), ("C", "none")]),
        ({"a": [[1, 2], 3], "b": {}}, [("A", "1, 2; 3"), ("B", "")]),
    ],
)  # fmt: skip
def test_a_scenario_is_written_for_people(scenario, rows) -> None:
    assert list(scenario_rows(scenario)) == rows


def test_choice_laws_are_explained() -> None:
    assert choice_law_text("fair").startswith("fair: all alternatives")
    assert choice_law_text("other") == "other"


def test_json_in_a_script_cannot_end_it_and_has_no_nan() -> None:
    value = {"</script>": ["<!--", "&amp;", 1.5, None]}
    text = script_json(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))


def test_the_first_screen_answers_then_shows_then_counts(make_report) -> None:
    html = render(make_report())
    answer, chart = html.index('class="answer"'), html.index('id="chart-1"')
    assert answer < chart < html.index("<table")
    assert html.count('id="chart-1"') == 1


def test_a_report_is_dark_where_its_reader_is_but_not_in_print(make_report) -> None:
    assert "@media screen and (prefers-color-scheme: dark)" in render(make_report())
