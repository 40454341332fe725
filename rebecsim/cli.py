"""The command line: one verb for each capability, thin over the packages.

Exit codes: 0 done, 1 the model's run ended in a violation, 2 bad input, 130 interrupted. Packages
that take long to import are imported where they are used, so that every verb starts at once.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from rebecsim.experiments import Plan, Results, Scenario

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A Timed Rebeca workbench: check, generate, simulate and compare actor models.",
)
_out = Console()
_err = Console(stderr=True)


class Form(StrEnum):
    """What to generate."""

    rebeca = "rebeca"
    python = "python"


class Law(StrEnum):
    """How `?(...)` draws: see the choice law of scenario files."""

    fair = "fair"
    rmc = "rmc"


class Scheduling(StrEnum):
    """How the next message is picked."""

    random = "random"
    fifo = "fifo"


Core = Annotated[bool, typer.Option("--core", help="Read the models as Core Rebeca (untimed).")]
ScenarioName = Annotated[
    str, typer.Argument(help="A scenario file, or the name of a built-in scenario.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Worker processes.  [default: one per processor]")
]
Replications = Annotated[
    int | None, typer.Option(min=1, help="Runs per cell, instead of the scenario's.")
]


# --- models --------------------------------------------------------------------------------------


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Models (.rebeca).")],
    core: Core = False,
) -> None:
    """Check models: syntax, names and types."""
    from rebecsim.lang import RebecaError, check_file

    failed = False
    for file in files:
        try:
            model = check_file(file, "core" if core else "timed")
        except RebecaError as error:
            _complain(error)
            failed = True
        else:
            _say(f"{file}: ok, {len(model.classes)} classes, {len(model.instances)} rebecs")
    if failed:
        raise typer.Exit(2)


@app.command()
def generate(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(help="Directory for the models.")],
    form: Annotated[Form, typer.Option(help="Timed Rebeca, or Python.")] = Form.rebeca,
    force: Annotated[bool, typer.Option(help="Replace files that differ.")] = False,
) -> None:
    """Generate one model for each configuration of a scenario."""
    from rebecsim.experiments import load_scenario
    from rebecsim.experiments.models import generate_models, write_models

    models = generate_models(load_scenario(scenario), form.value)
    write_models(models, out, replace=force)
    _say(f"{len(models)} models in {out}")


@app.command()
def simulate(
    model: Annotated[Path, typer.Argument(help="A model (.rebeca, or .py with a global `model`).")],
    until: Annotated[int | None, typer.Option(min=0, help="Last model time to serve.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Most messages to serve.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random choices.")] = 0,
    law: Annotated[Law, typer.Option(help="Choice law.")] = Law.fair,
    scheduler: Annotated[Scheduling, typer.Option(help="Order of messages.")] = Scheduling.random,
    save: Annotated[Path | None, typer.Option(help="Write the choices of the run (JSON).")] = None,
    replay: Annotated[Path | None, typer.Option(help="Do a saved run again.")] = None,
    core: Core = False,
) -> None:
    """Run a model once and show what happens, message by message."""
    from rebecsim.generate.load import load_model
    from rebecsim.report.runs import event_table, run_summary
    from rebecsim.simulate import Tracer
    from rebecsim.simulate import simulate as run
    from rebecsim.simulate.saved import load_run, make_scheduler, save_run

    built = load_model(model, "core" if core else "timed")
    chosen = load_run(replay) if replay else make_scheduler(scheduler.value, seed, law.value)
    tracer = Tracer()
    result = run(built, chosen, until=until, max_steps=steps, tracer=tracer)
    _out.print(event_table(tracer.events))
    _out.print(run_summary(result))
    if save is not None:
        save_run(save, chosen.run)
        _say(f"choices in {save}")
    if result.is_violation:
        raise typer.Exit(1)


# --- experiments ---------------------------------------------------------------------------------


@app.command()
def scenarios() -> None:
    """List the built-in scenarios."""
    from rebecsim.experiments import builtin_scenarios, load_scenario

    for name in builtin_scenarios():
        _say(f"{name:<18} {load_scenario(name).heading}")


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
    _out.print(summary_view(report.summary(), loaded.heading))
    _say(f"report  {written.html}")
    _say(f"charts  {written.charts[0].parent}")
    _say(f"data    {written.table}, {written.by_cluster_size}, {results.directory / 'parts'}")


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
    _out.print(reproduction_table(rows, "Published dispatch scenarios"))


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
    with Progress(*columns, console=_err, transient=True) as bar:
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
            _err.print(f"interrupted; finished cells are in {advice}", markup=False, soft_wrap=True)
            raise typer.Exit(130) from None


# --- the program ---------------------------------------------------------------------------------


def _say(text: str) -> None:
    _out.print(text, markup=False, highlight=False, soft_wrap=True)


def _complain(error: object) -> None:
    _err.print(str(error), markup=False, highlight=False, soft_wrap=True)


def main() -> None:
    """Run the program; bad input gives a message on standard error and exit code 2."""
    from rebecsim.errors import UserError

    try:
        app()
    except UserError as error:
        _complain(error)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        _complain(f"{error.filename}: {error.strerror}")
        sys.exit(2)
