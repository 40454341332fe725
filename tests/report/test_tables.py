from dataclasses import replace

from rich.console import Console, RenderableType

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.report import policy_table, report_view, summary_view
from rebecsim.studies.statistics.summary import summarise


def summarised(moments):
    return summarise(moments, DISPATCH_METRICS, normal_outcomes=frozenset({"time limit"}))


def plain(renderable: RenderableType, width: int = 120) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_every_policy_has_a_row_with_intervals_and_the_best_is_marked(make_report) -> None:
    text = plain(policy_table(make_report().summary, "Against EDF"))
    lines = {line.split()[1]: line for line in text.splitlines() if line.startswith("│")}
    assert set(lines) == {"EDF", "FIFO", "MDF"}
    assert all(line.count("±") == 3 for line in lines.values())
    assert lines["EDF"].count("*") == lines["FIFO"].count("*") == 3
    assert "*" not in lines["MDF"]
    assert "Against EDF" in text


def test_markup_in_names_is_shown_as_it_is(make_cell) -> None:
    summary = summarised([make_cell("[red]EDF[/red]")])
    text = plain(summary_view(summary, "[bold]title[/nonsense]"))
    assert "[red]EDF[/red]" in text
    assert "[bold]title[/nonsense]" in text


def test_notes_explain_only_what_the_table_shows(make_cell, make_report) -> None:
    assert "95 % interval" in plain(summary_view(make_report().summary))
    assert "fewer than two" not in plain(summary_view(make_report().summary))
    single = plain(summary_view(summarised([make_cell(runs=1)])))
    assert "No interval: some model was run fewer than two times." in single
    assert "±" not in single
    assert "*" not in single


def test_an_undefined_rate_is_a_dash_with_an_explanation(make_cell) -> None:
    nothing = make_cell(misses=0, completions=0)
    text = plain(summary_view(summarised([nothing])))
    assert "\u2013 means undefined" in text
    assert text.count("\u2013") == 3


def test_runs_that_ended_otherwise_are_reported(make_cell) -> None:
    broken = make_cell("FIFO", ends={"time limit": 15, "deadlock": 5})
    text = plain(summary_view(summarised([make_cell("EDF"), broken])))
    assert "Warning: FIFO: 5 of 20 runs did not reach the time limit (deadlock: 5)." in text
    assert "Warning: EDF" not in text


def test_the_whole_report_adds_differences_and_orders(full_report) -> None:
    text = plain(report_view(full_report), width=160)
    assert "Differences: Deadline misses" in text
    assert "  No difference can be shown between EDF and FIFO: all 20 runs of each cell" in text
    assert "  EDF misses " in text
    assert "    20 runs per cell show a difference of" in text
    assert "decided for all 6 pairs of a metric together (Holm)" in text
    assert "Deadline misses by order of messages" in text
    rows = [line for line in text.splitlines() if "(ticks-first)" in line]
    assert rows
    assert all("(updates-first)" in line for line in rows)
    assert "Deadline misses: the order of messages moves a policy's figure by up to" in text


def test_without_pairs_and_orders_the_report_is_the_answer_and_the_summary(make_report) -> None:
    report = make_report()
    answer, summary = plain(report_view(report)).split("\n\n", maxsplit=1)
    assert answer.endswith("but no difference could be tested.")
    assert summary == plain(summary_view(report.summary, report.title))


def test_policies_can_be_told_apart_in_a_narrow_window(make_cell) -> None:
    metrics = [replace(DISPATCH_METRICS[0], name=f"figure_{n}", title=f"F{n}") for n in range(9)]
    names = [f"WFBB_{rule}_{place}_OF_JOBS" for rule in ("PD", "ED") for place in ("A", "B", "C")]
    ends = frozenset({"time limit"})
    summary = summarise([make_cell(each) for each in names], metrics, normal_outcomes=ends)
    text = plain(policy_table(summary, "All"), width=80)
    assert all(text.count(name) == 1 for name in names)
    assert text.count("F8") > 1
    assert text.count("All") == 1
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert plain(policy_table(summary), width=300).count("F8") == 1
