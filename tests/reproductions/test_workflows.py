"""Published figures of WFBB-RM beside ours, as text and as a page, and from runs."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from rebecsim.clusters.stages.inputs import run_quantile
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.errors import UserError
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.running import PlannedRun
from reproductions.workflows import running
from reproductions.workflows.experiments import (
    distance_lines,
    statements,
    within_counts,
    workflows_markdown,
    workflows_view,
)
from reproductions.workflows.published import (
    FIGURES,
    BudgetTable,
    Printed,
    default_point,
    published,
)
from reproductions.workflows.running import (
    ComparedCell,
    FoundTable,
    WorkflowExtent,
    compared_row,
    spread_errors,
)
from tests.conftest import Run


def found(value: float, error: float | None = 0.0) -> Estimate:
    return Estimate(value, error, None, None, 0.95, 1.0)


def as_published(table: BudgetTable) -> FoundTable:
    """Give the published figures as if they were ours; 1 where they are misprints."""
    rows = []
    for row in table.rows:
        ours = {
            name: [found(cell.value if cell else 1) for cell in row.figures[name]]
            for name in FIGURES
        }
        rows.append(compared_row(row.figures, ours))
    return FoundTable(table, tuple(rows))


@pytest.fixture(scope="module")
def all_tables() -> list[FoundTable]:
    return [as_published(each) for each in published().values()]


def test_all_tables_are_there() -> None:
    tables = published()
    assert list(tables) == [f"D.{number}" for number in range(1, 25)]
    assert all(len(table.rows) == 3 for table in tables.values())
    assert all(len(row.figures["late"]) == 4 for t in tables.values() for row in t.rows)
    first = tables["D.1"].rows[0]
    assert (first.label, first.point.interval, first.point.count) == ("1/30", 30, 50)
    assert first.figures["late"][2] == Printed(0.574, 0.034)
    assert tables["D.22"].rows[1].figures["turnaround"][3] is None


def test_every_table_has_the_defaults_among_its_levels() -> None:
    for table in published().values():
        assert default_point(table.family) in [row.point for row in table.rows]


@pytest.mark.parametrize(
    ("theirs", "ours", "error", "errors", "within"),
    [
        (Printed(1.0, 0.0), 1.3, 0.1, 2.995, True),
        (Printed(1.0, 0.0), 1.31, 0.1, 3.095, False),
        (Printed(1.0, 1.96), 0.0, 0.0, -0.9995, True),
        (Printed(10.0, 0.0), 10.4, 0.0, math.inf, True),
        (Printed(0.0, 0.0), 0.0004, 0.0, 0.0, True),
        (Printed(0.0, 0.0), 0.05, None, math.inf, False),
    ],
)
def test_a_cell_is_within_three_errors_or_five_percent(
    theirs: Printed, ours: float, error: float | None, errors: float, within: bool
) -> None:
    cell = ComparedCell(theirs, found(ours, error), 0.0005)
    assert cell.errors == pytest.approx(errors, rel=1e-3)
    assert cell.is_within == within


def test_misprints_are_not_counted(all_tables: list[FoundTable]) -> None:
    assert within_counts(all_tables) == (
        "570 of 570 cells (100 %) are within 3 standard errors or 5 % of the published figure: "
        "P 285 of 285, T 285 of 285."
    )
    assert not ComparedCell(None, found(1), 0.0005).is_within


def test_what_is_too_far_off_is_marked(all_tables: list[FoundTable]) -> None:
    table = all_tables[0]
    far = replace(table.rows[0]["late"][2], ours=found(0.9, 0.1))
    row = {**table.rows[0], "late": (*table.rows[0]["late"][:2], far, table.rows[0]["late"][3])}
    changed = replace(table, rows=(row, *table.rows[1:]))
    assert within_counts([changed]).startswith("23 of 24 cells (96 %)")
    assert "| +3.2 ! |" in workflows_markdown([changed], WorkflowExtent(tables=("D.1",)))


def test_the_output_ends_with_how_many_agree_and_fits_a_terminal(
    all_tables: list[FoundTable],
) -> None:
    file = io.StringIO()
    Console(file=file, width=80).print(
        workflows_view(all_tables[:1], WorkflowExtent(replications=5))
    )
    lines = file.getvalue().rstrip().split("\n")
    assert "".join(lines[-2:]).startswith("24 of 24 cells (100 %)")
    assert lines[0] == "Table D.1: CyberShake, PD, by arrivals a second"
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_the_best_of_even_budgets_is_held_against_the_best_of_proportional_ones(
    all_tables: list[FoundTable],
) -> None:
    said = statements(all_tables)[-4:]
    assert [each.says.partition("): ")[2] for each in said] == [
        "with arrivals a second 1/18 ED-SL-TSP2 has fewer late jobs than PD-SL-TSP1",
        "with em_max 2 ED-SL-TSP2 has more late jobs than PD-SL-TSP1",
        "ED-SL-TSP2 has 35 % fewer late jobs than PD-SL-TSP1 on average",
        "with resources 40 ED-SL-TSP2 has fewer late jobs than PD-SL-TSP1",
    ]
    assert (said[2].ours, said[0].ours) == ("35 % fewer", "0.957 and 1.824 %")
    by_number = {each.table.number: each for each in all_tables}
    third = by_number["D.7"]
    cells = third.rows[0]["late"]
    more = (*cells[:2], replace(cells[2], ours=found(1.2)), cells[3])
    spoilt = replace(third, rows=({**third.rows[0], "late": more}, *third.rows[1:]))
    (missed,) = statements([by_number["D.3"], spoilt])[-1:]
    assert (missed.holds, missed.ours) == (False, "51 % more")
    assert all("ED-SL-TSP2" not in each.says for each in statements([by_number["D.3"]]))
    one = replace(cells[2], ours=found(1.824))
    first = by_number["D.5"]
    last = {**first.rows[2], "late": (*cells[:2], one, cells[3])}
    equal = replace(first, rows=(*first.rows[:2], last))
    assert not statements([by_number["D.1"], equal])[-1].holds


def test_distances_leave_out_what_is_published_as_0(all_tables: list[FoundTable]) -> None:
    table = all_tables[2]  # D.3, two of whose shares are 0
    lines = list(distance_lines([table]))
    assert lines[0] == ("Table D.3", "0.0 %", "0.0 %", "0.0 %", "0.0 %", "2")
    cells = table.rows[0]["turnaround"]
    far = tuple(replace(c, ours=found(1.25 * c.printed.value)) for c in cells if c.printed)
    changed = replace(table, rows=({**table.rows[0], "turnaround": far}, *table.rows[1:]))
    assert list(distance_lines([changed]))[1] == ("All", "0.0 %", "0.0 %", "0.0 %", "25.0 %", "2")


def test_few_runs_are_said_to_prove_little(all_tables: list[FoundTable]) -> None:
    texts = [
        workflows_markdown(all_tables[:1], WorkflowExtent(replications=runs)) for runs in (4, 5)
    ]
    assert ["could not really fail" in each for each in texts] == [True, False]
    assert all("| Table D.1 | 0.0 % |" in each for each in texts)


def test_statements_hold_for_the_published_figures(all_tables: list[FoundTable]) -> None:
    said = statements(all_tables)
    assert len(said) == 8 + 6 + 24 + 18 + 4
    assert all(each.holds for each in said)
    assert [each.says.partition("(D.1): ")[2] for each in said[:4]] == [
        "with TSP1 it makes no difference which laxity is divided",
        "where fewest jobs come, turnaround by TSP1 is 248 s",
        "by TSP2 turnaround is 1.93 times that by TSP1",
        "that ratio shrinks with more arrivals a second",
    ]
    assert (said[3].ours, said[6].ours) == ("2.34, 1.93, 1.42", "1.21, 1.92, 3.12")
    cells = all_tables[0].rows[1]["turnaround"]
    spoilt = (cells[0], replace(cells[1], ours=found(1.0)), *cells[2:])
    rows = list(all_tables[0].rows)
    rows[1] = {**rows[1], "turnaround": spoilt}
    broken = statements([replace(all_tables[0], rows=tuple(rows))])
    assert [each.holds for each in broken] == [False, True, True, True]
    early = replace(cells[0], ours=found(200.0))
    rows[1] = {**rows[1], "turnaround": (early, *cells[1:])}
    broken = statements([replace(all_tables[0], rows=tuple(rows))])
    assert [each.holds for each in broken] == [False, True, False, False]
    assert broken[3].ours == "2.34, 2.83, 1.42"


def test_the_page_says_how_it_was_made(all_tables: list[FoundTable]) -> None:
    text = workflows_markdown(all_tables, WorkflowExtent(quick=True))
    assert text.startswith("<!-- Made by `rebecsim reproduce workflows --quick --page FILE`")
    assert "2 replications of each cell" in text
    assert text.count("## Table D.") == 24
    assert "\n# Workflows with deadlines: published" in text
    some = workflows_markdown([all_tables[0], all_tables[15]], WorkflowExtent(quick=True))
    assert "\n# CyberShake and LIGO Inspiral with deadlines: published" in some
    assert WorkflowExtent(tables=("D.1", "D.5")).command.endswith("--tables D.1,D.5")
    assert (WorkflowExtent().runs, len(WorkflowExtent().chosen)) == (5, 24)
    assert [each.number for each in WorkflowExtent(quick=True).chosen] == ["D.1", "D.9", "D.17"]
    with pytest.raises(UserError, match=r"no table 'D\.25'; they are D\.1 to D\.24"):
        _ = WorkflowExtent(tables=("D.25",)).chosen


def test_jobs_of_an_experiment_are_known_when_they_may_start() -> None:
    table = published()["D.14"]
    scenario = running.scenario_of(table, table.rows[2].point, 2)
    assert scenario.policies == table.policies
    assert (scenario.workload.announced, scenario.workload.multiplier) == (False, 10)


def test_the_command_runs_tables_and_writes_a_page(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "JOBS", 4)
    words = ("reproduce", "workflows", "--tables", "D.1", "--replications", 2, "--workers", 1)
    done = run(*words, "--out", tmp_path / "out", "--page", tmp_path / "page.md")
    assert done.returncode == 0, done.stderr
    assert "of 24 cells" in done.stdout
    assert "holds  CyberShake, PD (D.1): with TSP1 it makes no difference" in done.stdout
    assert "## Table D.1: CyberShake, PD, by arrivals" in (tmp_path / "page.md").read_text()
    assert len(list((tmp_path / "out").iterdir())) == 3


def kept_run(scenario: StagesScenario, directory: Path) -> PlannedRun:
    return PlannedRun.kept(running.planned(scenario), directory / scenario.name)


@pytest.mark.parametrize("of_batches", [0.0, 1e9])
def test_few_runs_are_as_sure_as_they_agree_but_not_surer_than_their_batches(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_batches: float
) -> None:
    monkeypatch.setattr(running, "JOBS", 4)
    words = ("reproduce", "workflows", "--tables", "D.17", "--replications", 2, "--workers", 1)
    assert run(*words, "--out", tmp_path).returncode == 0
    table = published()["D.17"]
    runs = [kept_run(running.scenario_of(table, row.point, 2), tmp_path) for row in table.rows]
    errors = {"late": of_batches, "turnaround": of_batches}
    monkeypatch.setattr(running, "batch_errors", lambda jobs: errors)
    found = running.compared(table, runs).rows[0]["turnaround"][0].ours
    jobs = pq.read_table(runs[0].results.table("jobs", runs[0].plan.cells[0])).to_pydict()
    times = [(end - start) / 1000 for start, end in zip(jobs["start"], jobs["end"], strict=True)]
    first, second = (
        sum(time for time, of in zip(times, jobs["replication"], strict=True) if of == number) / 4
        for number in range(2)
    )
    assert found.value == pytest.approx((first + second) / 2)
    assert found.standard_error == pytest.approx(max(of_batches, abs(first - second) / 2))
    assert first != second


def test_evenly_spread_runs_are_as_sure_as_neighbours_agree(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of Epigenomics; five runs are not few, and their batches do not matter."""
    monkeypatch.setattr(running, "JOBS", 4)
    page = tmp_path / "page.md"
    words = ("reproduce", "workflows", "--tables", "D.17", "--replications", 5, "--workers", 1)
    assert run(*words, "--out", tmp_path / "out", "--page", page).returncode == 0
    assert "ours are by differences of neighbours among evenly spread" in page.read_text()
    table = published()["D.17"]
    runs = [
        kept_run(running.scenario_of(table, row.point, 5), tmp_path / "out") for row in table.rows
    ]
    found = running.compared(table, runs).rows[0]["turnaround"][0].ours
    jobs = runs[0].results.table("jobs", runs[0].plan.cells[0])
    place = partial(run_quantile, runs[0].plan.scenario.seed)
    assert found.standard_error == spread_errors(jobs, place)["turnaround"]
    kept = pq.read_table(jobs)
    run_of, start, end = (kept[name].to_numpy() for name in ("replication", "start", "end"))
    means = [float((end - start)[run_of == number].mean()) / 1000 for number in range(5)]
    assert found.value == pytest.approx(fmean(means))
    assert found.standard_error < 0.8 * stdev(means) / 5**0.5  # references matter most


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("workflows", "--tables", "D.77"), "there is no table 'D.77'"),
        (("capacity", "--tables", "D.1"), "there is no table 'D.1'"),
        (("workflows", "--tables", "D.1", "--quick"), "cannot be given with --tables"),
        (("for_edf", "--quick"), "is for capacity, workflows and deadlines only"),
    ],
)
def test_what_cannot_be_asked_for_is_said(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("reproduce", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())
