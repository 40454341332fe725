from dataclasses import replace

from rich.console import Console, RenderableType

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.report import answer_text, policy_table, report_view
from rebecsim.report.tables import MOST_LINES
from rebecsim.studies.summary import summarise


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


def whole(report) -> str:
    return plain(report_view(report, explain=True))


def test_markup_in_names_is_shown_as_it_is(make_cell) -> None:
    summary = summarised([make_cell("[red]EDF[/red]")])
    text = plain(policy_table(summary, "[bold]title[/nonsense]"))
    assert "[red]EDF[/red]" in text
    assert "[bold]title[/nonsense]" in text


def test_notes_explain_only_what_the_table_shows(make_cell, make_report) -> None:
    report = make_report()
    assert "95 % interval" in whole(report)
    assert "fewer than two" not in whole(report)
    single = whole(replace(report, moments=[make_cell(runs=1)]))
    assert "No interval: some model was run fewer than two times." in single
    assert "±" not in single
    assert "*" not in single


def test_an_undefined_rate_is_a_dash_with_an_explanation(make_cell, make_report) -> None:
    text = whole(replace(make_report(), moments=[make_cell(misses=0, completions=0)]))
    assert "\u2013 means undefined" in text
    assert text.count("\u2013") == 3


def test_runs_that_ended_otherwise_are_reported(make_cell, make_report) -> None:
    broken = make_cell("FIFO", ends={"time limit": 15, "deadlock": 5})
    text = plain(report_view(replace(make_report(), moments=[make_cell("EDF"), broken])))
    assert "Warning: FIFO: 5 of 20 runs did not reach the time limit (deadlock: 5)." in text
    assert "Warning: EDF" not in text


def test_the_whole_report_adds_differences_and_orders(full_report) -> None:
    text = plain(report_view(full_report, explain=True), width=160)
    assert "Differences: Deadline misses" in text
    assert (
        "  No significant difference was found between EDF and FIFO: all 20 runs of each cell"
        in text
    )
    assert "  EDF misses " in text
    assert "    20 runs per cell detect a difference of" in text
    assert "decided for all 6 pairs of a figure together (Holm's procedure)" in text
    assert "Deadline misses by order of messages" in text
    rows = [line for line in text.splitlines() if "(ticks-first)" in line]
    assert rows
    assert all("(updates-first)" in line for line in rows)
    assert "Deadline misses: the order of messages changes this figure by up to" in text


def test_without_pairs_and_orders_the_report_is_the_answer_and_the_summary(make_report) -> None:
    report = make_report()
    answer, rest = plain(report_view(report)).split("\n\n")
    assert answer.endswith("but no difference could be tested.")
    table = plain(policy_table(report.summary, report.title))
    assert rest == f"{table}How this was computed: --explain, or the report.\n"


def test_the_answer_fits_on_a_screen_with_what_matters_most(full_report) -> None:
    text = plain(report_view(full_report), width=80)
    assert len(text.splitlines()) <= MOST_LINES
    assert text.startswith(answer_text(full_report)[:40])
    assert "Differences: Deadline misses" in text
    assert "(Holm's procedure)" not in text
    assert "--explain" in text


def test_differences_to_the_best_are_shown_first(full_report) -> None:
    best = min(full_report.summary.rows, key=lambda row: row.estimates[0].value).policy
    [_, brief] = plain(report_view(full_report)).split("Differences: Deadline misses\n")
    sentences = [line for line in brief.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sentences
    assert all(best in sentence for sentence in sentences)


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
