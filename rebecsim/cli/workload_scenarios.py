"""What `compare`, `report` and `diff` do for scenarios about a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rebecsim.cli.app import complain, console, error_console, say
from rebecsim.errors import UserError, WorkerKilledError
from rebecsim.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebecsim.experiments.scenario_files import ScenarioText
    from rebecsim.experiments.workload_plan import ScheduleCell, WorkloadPlan
    from rebecsim.experiments.workload_results import WorkloadResults
    from rebecsim.report.workload_report import WorkloadReport

__all__ = ["compare_workload", "diff_workloads", "is_workload_run", "report_workload"]


def compare_workload(
    text: ScenarioText,
    out: Path,
    *,
    resume: bool,
    workers: int | None,
    replications: int | None,
    seed: int | None,
    plugins: Sequence[Path],
) -> None:
    """Compare batch policies on a workload."""
    from rebecsim.experiments.workload_plan import plan_workload
    from rebecsim.experiments.workload_results import WorkloadResults
    from rebecsim.experiments.workload_scenario import (
        LoadedWorkloadScenario,
        load_workload_scenario,
    )
    from rebecsim.report.workload_report import read_workload_report

    loaded = load_workload_scenario(text)
    changed = loaded.scenario.replace(replications=replications, seed=seed)
    plan = plan_workload(LoadedWorkloadScenario(changed, loaded.folder))
    _read_jobs(plan)  # what is wrong with the log shows before anything is written
    results = (WorkloadResults.resume if resume else WorkloadResults.create)(out, plan)
    _run(plan, results, workers, plugins)
    _show(read_workload_report(results), out, out / "parts")


def report_workload(run: Path, out: Path) -> None:
    """Draw the report of a run of a workload scenario again."""
    from rebecsim.experiments.workload_results import WorkloadResults
    from rebecsim.report.workload_report import read_workload_report

    _show(read_workload_report(WorkloadResults(run)), out)


def is_workload_run(run: Path) -> bool:
    """Whether a run is of a workload scenario. Raises ResultsError when there is none."""
    from rebecsim.experiments.record import read_record
    from rebecsim.experiments.run_directory import RECORD
    from rebecsim.experiments.workload_results import is_workload_record

    return is_workload_record(read_record(run / RECORD))


def diff_workloads(first: Path, second: Path) -> None:
    """Put two runs of workload scenarios side by side, schedule by schedule."""
    from rebecsim.experiments.workload_diff import schedule_difference
    from rebecsim.experiments.workload_results import WorkloadResults
    from rebecsim.report.workload_tables import difference_table

    one, other = WorkloadResults(first), WorkloadResults(second)
    pairs = _comparable(one, other)
    for cell, other_cell in pairs:
        names = (f"{first}/{cell.name}", f"{second}/{other_cell.name}")
        try:
            difference = schedule_difference(one.read(cell), other.read(other_cell), names)
        except ValueError as error:
            raise UserError(f"{names[0]} and {names[1]}: {error}") from error
        console().print(difference_table(difference))
    for name, results, place in ((first, one, 0), (second, other, 1)):
        left = len(results.cells()) - len({pair[place] for pair in pairs})
        if left:
            say(f"{left} schedules only in {name}")


def _comparable(
    one: WorkloadResults, other: WorkloadResults
) -> list[tuple[ScheduleCell, ScheduleCell]]:
    """Find the schedules that stand for each other: of the same name, or the only ones."""
    cells, others = one.cells(), other.cells()
    pairs = [(cell, cell) for cell in cells if cell in others]
    if not pairs and len(cells) == len(others) == 1:
        return [(cells[0], others[0])]
    if not pairs:
        raise UserError(
            f"{one.directory} and {other.directory} have no schedule in common: no policy with the "
            "same load factor, estimates and replication"
        )
    return pairs


def _read_jobs(plan: WorkloadPlan) -> None:
    """Read the jobs once, see whether they can be run, and say what is skipped of the log."""
    from rebecsim.experiments.workload_plan import load_workload
    from rebecsim.experiments.workload_runner import require_fitting_jobs
    from rebecsim.report.workload_text import skipped_lines

    for line in skipped_lines(load_workload(plan, 0).skipped):
        complain(f"{plan.loaded.log}: {line}")
    require_fitting_jobs(plan)


def _run(
    plan: WorkloadPlan, results: WorkloadResults, workers: int | None, plugins: Sequence[Path]
) -> None:
    """Compute the schedules under a progress bar."""
    from concurrent.futures.process import BrokenProcessPool

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from rebecsim.experiments import available_workers
    from rebecsim.experiments.workload_runner import run_workload_plan

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("schedules"),
        TimeElapsedColumn(),
    )
    screen = error_console()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(plan.scenario.name, total=len(plan.cells))
        try:
            run_workload_plan(
                plan,
                results,
                workers=workers or available_workers(),
                plugins=plugins,
                progress=lambda finished: bar.advance(task, finished),
                warn=complain,
            )
        except KeyboardInterrupt:
            bar.stop()
            place = results.directory
            complain(f"interrupted; finished schedules are in {place}: go on with --resume")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenProcessPool as error:
            bar.stop()
            raise WorkerKilledError(f"{results.directory}: go on with --resume") from error


def _show(report: WorkloadReport, out: Path, *more: Path) -> None:
    from rebecsim.report.workload_report import write_workload_report
    from rebecsim.report.workload_tables import workload_table

    written = write_workload_report(report, out)
    console().print(workload_table(report.summary))
    say(f"report  {written.html}")
    say(f"charts  {written.charts[0].parent}")
    say(f"data    {', '.join(map(str, (*written.data, *more)))}")
