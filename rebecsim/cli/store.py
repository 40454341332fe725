"""Commands about stored results: runs, query, report, diff."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rebecsim.cli.app import Explain, Plugins, app, complain, console, grouped, say, use_plugins
from rebecsim.cli.running import show_written
from rebecsim.clusters.kit.options import argument, option
from rebecsim.errors import ExitCode, UserError
from rebecsim.extras import REPORTS, leave_pandas_alone, require

Root = Annotated[Path, typer.Argument(help="Directory to look for runs in.")]
Run = Annotated[Path, typer.Argument(help="Directory of a run.", show_default=False)]


@app.command()
def runs(root: Root = Path(), plugin: Plugins = None) -> None:
    """List all runs in a directory."""
    require("rebecsim runs", "pyarrow")
    leave_pandas_alone()
    from rebecsim.interface import runs as find_runs

    use_plugins(plugin)
    found = find_runs(root)
    console().print(found)
    for complaint in found.damaged:
        complain(complaint)
    if found.damaged:
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
    from rebecsim.interface import runs as find_runs
    from rebecsim.report.stored import (
        answer_table,
        views_table,
        write_csv,
        write_json,
        write_parquet,
    )

    if csv + json + (parquet is not None) > 1:
        raise UserError("--csv, --json and --parquet: give one of them")
    use_plugins(plugin)
    if sql is not None and root == Path() and Path(sql).is_dir():
        root, sql = Path(sql), None  # only a directory was given
    found = find_runs(root)
    for complaint in found.damaged:
        complain(f"warning: {complaint}; left out")
    if sql is None:
        console().print(views_table(found.views))
        return
    answer = found.query(sql, lambda damage: complain(f"warning: {damage}"))
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
    require("rebecsim diff", "pyarrow")
    leave_pandas_alone()
    from rebecsim.interface import diff as compare_runs

    use_plugins(plugin)
    for part in compare_runs(first, second).parts():
        console().print(part)
