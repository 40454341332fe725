"""Commands about stored results: runs, query, report, diff."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Plugins, app, complain, console, use_plugins
from rebecsim.cli.experiments import show_written
from rebecsim.cli.workload_scenarios import diff_workloads, is_workload_run, report_workload
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode

if TYPE_CHECKING:
    from rebecsim.experiments.store import StoredRun, StoredWorkloadRun

Root = Annotated[Path, typer.Argument(help="Directory below which the runs are.")]
Run = Annotated[Path, typer.Argument(help="Directory of a run.", show_default=False)]


@app.command()
def runs(root: Root = Path(), plugin: Plugins = None) -> None:
    """List all runs below a directory."""
    from rebecsim.report.stored import runs_table

    use_plugins(plugin)
    found, complaints = _runs(root)
    if found:
        console().print(runs_table(found))
    for complaint in complaints:
        complain(complaint)
    if complaints:
        raise typer.Exit(ExitCode.BAD_INPUT)


@app.command()
def query(
    sql: Annotated[str, typer.Argument(help="A SELECT over runs, cells and replications.")],
    root: Root = Path(),
    csv: Annotated[bool, typer.Option("--csv", help="All rows, as CSV.")] = False,
    json: Annotated[bool, typer.Option("--json", help="All rows, as JSON.")] = False,
    plugin: Plugins = None,
) -> None:
    """Answer SQL over all runs below a directory.

    The views are `runs`, `cells` and `replications`, and of workload scenarios `schedules` and
    `jobs`; `describe jobs` shows the columns of one. Nothing else can be read, and nothing written.
    """
    from rebecsim.experiments.query import query as ask
    from rebecsim.report.stored import answer_table, write_csv, write_json

    if csv and json:
        raise UserError("--csv and --json: give one of the two")
    use_plugins(plugin)
    found, complaints = _runs(root)
    if complaints:  # an answer without these runs would look like one over all
        raise complaints[0]
    answer = ask(sql, found)
    if csv:
        write_csv(answer, sys.stdout)
    elif json:
        write_json(answer, sys.stdout)
    else:
        console().print(answer_table(answer))


@app.command()
def report(
    run: Run,
    directory: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for the report.  [default: that of the run]"),
    ] = None,
    plugin: Plugins = None,
) -> None:
    """Draw the report of a run again, without simulating."""
    from rebecsim.experiments.order_runs import stored_orders
    from rebecsim.experiments.store import open_run
    from rebecsim.report import report_view, write_report
    from rebecsim.report.comparison import report_input

    use_plugins(plugin)
    if is_workload_run(run):
        report_workload(run, directory or run)
        return
    stored = open_run(run)
    orders = stored_orders(stored.plan, stored.results)
    drawn = report_input(stored.plan, stored.results, orders)
    written = write_report(drawn, directory or run)
    console().print(report_view(drawn))
    show_written(written)


@app.command()
def diff(first: Run, second: Run, plugin: Plugins = None) -> None:
    """Compare two runs: settings, and the estimates of every cell, or the waits of every job."""
    from rebecsim.experiments.diff import compare_runs
    from rebecsim.experiments.store import open_run
    from rebecsim.report.stored import diff_view

    use_plugins(plugin)
    if is_workload_run(first) and is_workload_run(second):
        diff_workloads(first, second)
        return
    console().print(diff_view(compare_runs(open_run(first), open_run(second))))


def _runs(root: Path) -> tuple[list[StoredRun | StoredWorkloadRun], list[UserError]]:
    """The runs below a directory, and what is wrong with those that cannot be opened."""
    from rebecsim.experiments import ResultsError
    from rebecsim.experiments.store import find_runs, open_any_run

    found: list[StoredRun | StoredWorkloadRun] = []
    complaints: list[UserError] = []
    for name, directory in find_runs(root):
        try:
            found.append(open_any_run(directory, name))
        except ResultsError as error:
            complaints.append(error)
    if not found and not complaints:
        raise ResultsError(f"{root}: there are no runs; `rebecsim compare --out DIR` makes one")
    return found, complaints
