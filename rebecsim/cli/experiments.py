"""Commands about comparisons: scenarios, compare, reproduce."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Law, Replications, ScenarioName, Workers, app, err, say
from rebecsim.cli.app import out as out_console

if TYPE_CHECKING:
    from rebecsim.experiments import Plan, Results, Scenario


@app.command()
def scenarios() -> None:
    """List the built-in scenarios."""
    from rebecsim.experiments import builtin_scenarios, load_scenario

    for name in builtin_scenarios():
        say(f"{name:<18} {load_scenario(name).heading}")


@app.command()
def compare(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(help="Directory for results and report.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
    workers: Workers = None,
    replications: Replications = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the scenario's.")] = None,
    law: Annotated[Law | None, typer.Option(help="Instead of the scenario's.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Keep every message served.")] = False,
) -> None:
    """Compare policies: tables, charts, data and a report of a scenario."""
    from rebecsim.experiments import load_scenario, plan_scenario
    from rebecsim.report import summary_view, write_report
    from rebecsim.report.comparison import report_input

    loaded = load_scenario(scenario).replace(
        replications=replications, seed=seed, choice_law=law.value if law else None
    )
    results = _results(out, loaded, resume)
    plan = plan_scenario(loaded)
    _run(plan, results, workers, trace, f"{out}: go on with --resume")
    report = report_input(loaded, results, results.moments(plan))
    written = write_report(report, out)
    out_console.print(summary_view(report.summary(), loaded.heading))
    say(f"report  {written.html}")
    say(f"charts  {written.charts[0].parent}")
    say(f"data    {written.table}, {written.by_cluster_size}, {results.directory / 'parts'}")


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="A published scenario; default: all.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the results in this directory.")] = None,
    workers: Workers = None,
    replications: Replications = None,
) -> None:
    """Run the published scenarios and put the figures beside the published ones.

    Ours are under the choice law of the original tool; the fair law stands beside them. With
    --out, a run that was interrupted goes on where it stopped.
    """
    from rebecsim.experiments import load_scenario, plan_scenario
    from rebecsim.experiments.published import tables_of
    from rebecsim.report import reproduction_table
    from rebecsim.report.reproduce import reproduction_rows

    rows = []
    with _directory(out) as directory:
        for table in tables_of(name):
            moments = []
            for law in ("rmc", "fair"):
                scenario = load_scenario(table.scenario).replace(
                    replications=replications, choice_law=law
                )
                place = directory / f"{table.scenario}_{law}"
                results = _results(place, scenario, resume=place.exists())
                plan = plan_scenario(scenario)
                _run(plan, results, workers, False, f"{place}: go on with the same command")
                moments.append(results.moments(plan))
            rows += reproduction_rows(table, *moments)
    out_console.print(reproduction_table(rows, "Published dispatch scenarios"))


@contextmanager
def _directory(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="rebecsim-") as directory:
        yield Path(directory)


def _results(directory: Path, scenario: Scenario, resume: bool) -> Results:
    from rebecsim.experiments import Results

    return (Results.resume if resume else Results.create)(directory, scenario)


def _run(plan: Plan, results: Results, workers: int | None, trace: bool, advice: str) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from rebecsim.experiments import available_workers, run_plan

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeElapsedColumn(),
    )
    scenario = plan.scenario
    total = len(plan.cells) * scenario.replications
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(f"{scenario.name} ({scenario.choice_law} law)", total=total)
        try:
            run_plan(
                plan,
                results,
                workers=workers or available_workers(),
                trace=trace,
                progress=lambda finished: bar.advance(task, finished),
            )
        except KeyboardInterrupt:
            bar.stop()
            err.print(f"interrupted; finished cells are in {advice}", markup=False, soft_wrap=True)
            raise typer.Exit(130) from None
