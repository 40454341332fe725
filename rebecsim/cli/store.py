"""Commands about stored results: runs, query, report, diff."""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Explain, Plugins, app, complain, console, grouped, say, use_plugins
from rebecsim.cli.compare import show_written
from rebecsim.clusters.kit.options import argument, option
from rebecsim.errors import ExitCode, UserError
from rebecsim.extras import REPORTS, leave_pandas_alone, require

if TYPE_CHECKING:
    from rebecsim.studies.stored_runs import StoredRun

Root = Annotated[Path, typer.Argument(help="Directory to look for runs in.")]
Run = Annotated[Path, typer.Argument(help="Directory of a run.", show_default=False)]


@app.command()
def runs(root: Root = Path(), plugin: Plugins = None) -> None:
    """List all runs in a directory."""
    require("rebecsim runs", "pyarrow")
    leave_pandas_alone()
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
@grouped
def query(
    sql: str | None = argument("A SELECT over the views.", None, show_default="list the views"),
    root: Root = Path(),
    csv: bool = option("All rows, as CSV.", False, "--csv"),
    json: bool = option("All rows, as JSON.", False, "--json"),
    parquet: Path | None = option("Write all rows to a Parquet file.", dir_okay=False),
    plugin: Plugins = None,
) -> None:
    """Query stored runs with SQL.

    Without SQL, list the views: `runs`, `cells`, `replications` and `differences`, and the tables
    of a kind, such as `jobs`. Nothing else can be read, and nothing written. A run that is damaged
    is named and left out.
    """
    require("rebecsim query", "pyarrow", "duckdb")
    leave_pandas_alone()
    from rebecsim.report.stored import (
        answer_table,
        views_table,
        write_csv,
        write_json,
        write_parquet,
    )
    from rebecsim.studies.query import query as ask, views

    if csv + json + (parquet is not None) > 1:
        raise UserError("--csv, --json and --parquet: give one of them")
    use_plugins(plugin)
    if sql is not None and root == Path() and Path(sql).is_dir():
        root, sql = Path(sql), None  # only a directory was given
    found, complaints = _runs(root)
    for complaint in complaints:
        complain(f"warning: {complaint}; left out")
    if sql is None:
        console().print(views_table(views(found)))
        return
    answer = ask(sql, found, lambda damage: complain(f"warning: {damage}"))
    if csv:
        write_csv(answer, sys.stdout)
    elif json:
        write_json(answer, sys.stdout)
    elif parquet is not None:
        write_parquet(answer, parquet)
        say(f"rows in {parquet}")
    else:
        console().print(answer_table(answer))


@app.command()
@grouped
def report(
    run: Run,
    directory: Path | None = option(
        "Directory for the report.", None, "--out", show_default="that of the run"
    ),
    explain: Explain = False,
    plugin: Plugins = None,
) -> None:
    """Draw the report of a stored run again; nothing is simulated."""
    require("rebecsim report", *REPORTS)
    leave_pandas_alone()
    from rebecsim.interface import open as open_results
    from rebecsim.report import report_view, write_report

    use_plugins(plugin)
    drawn = open_results(run).report
    written = write_report(drawn, directory or run)
    console().print(report_view(drawn, explain))
    show_written(written)


@app.command()
def diff(first: Run, second: Run, plugin: Plugins = None) -> None:
    """Compare two stored runs: settings and figures."""
    require("rebecsim diff", "scipy", "pyarrow")
    leave_pandas_alone()
    from rebecsim.clusters.kinds import find_kind
    from rebecsim.clusters.kit.plugins import UnknownNameError
    from rebecsim.clusters.scenarios import open_run
    from rebecsim.report.stored import diff_view
    from rebecsim.studies.stored_runs import compare_runs

    use_plugins(plugin)
    one, other = open_run(first), open_run(second)
    console().print(diff_view(compare_runs(one, other)))
    if one.kind == other.kind:
        with suppress(UnknownNameError):  # its plug-in is not loaded
            changes = find_kind(one.kind).changes
            for more in chain.from_iterable(each(one, other) for each in changes):
                console().print(more)


def _runs(root: Path) -> tuple[list[StoredRun], list[UserError]]:
    """The runs below a directory, and why some cannot be opened."""
    from rebecsim.clusters.scenarios import open_run
    from rebecsim.studies import ResultsError
    from rebecsim.studies.stored_runs import find_runs

    found: list[StoredRun] = []
    complaints: list[UserError] = []
    for name, directory in find_runs(root):
        try:
            found.append(open_run(directory, name))
        except ResultsError as error:
            complaints.append(error)
    if not found:
        if complaints:
            raise complaints[0]
        raise ResultsError(f"{root}: there are no runs; `rebecsim compare --out DIR` makes one")
    return found, complaints
