"""The commands generate and simulate: write models of a scenario, run a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import (
    Core,
    EngineName,
    Explain,
    Law,
    ModelFile,
    Patience,
    PerhapsUntil,
    Plugins,
    ScenarioName,
    Strict,
    Workers,
    app,
    console,
    grouped,
    open_model,
    say,
    use_plugins,
)
from rebecsim.errors import ExitCode, UserError

if TYPE_CHECKING:
    from rebecsim.interface import LoadedModel
    from rebecsim.native.engines import Engine
    from rebecsim.simulation import Event


@app.command()
def generate(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(help="Directory for the models.")],
    form: Annotated[
        Literal["rebeca", "python"], typer.Option(help="Timed Rebeca, or Python.")
    ] = "rebeca",
    force: Annotated[bool, typer.Option(help="Replace files that differ.")] = False,
    plugin: Plugins = None,
) -> None:
    """Generate one model for each configuration of a scenario."""
    from rebecsim.clusters.kit.models import generate_models, write_models
    from rebecsim.clusters.scenarios import load

    use_plugins(plugin)
    plan = load(scenario, _refuse_programs).plan()
    models = generate_models(plan, form)
    write_models(models, out, replace=force)
    say(f"{len(models)} models in {out}")
    order = getattr(plan.scenario, "order", "random")
    if order != "random":
        say(
            f"the models leave out order {order!r}: `rebecsim compare` uses it for messages of one "
            "time unit, and a model allows every order of them"
        )


def _refuse_programs(origin: str, programs: tuple[Path, ...]) -> None:
    """Refuse a scenario about a model in Python before the model is run."""
    raise UserError(f"{origin}: runs {programs[0]}, which is not a model in Rebeca")


@dataclass(frozen=True, kw_only=True)
class ManyRunsOptions:
    """Options that only many runs have."""

    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Run the model this many times, and show the observations."),
    ] = None
    observe: Annotated[
        list[str] | None,
        typer.Option(
            help="With --runs: a variable such as office.left; served=, waits= or misses= and a "
            "message server such as office.buy; first=CONDITION; outcome=ended. Repeatable."
        ),
    ] = None
    every: Annotated[
        int | None,
        typer.Option(min=1, help="With --runs: record variables every so many time units."),
    ] = None
    out: Annotated[
        Path | None, typer.Option(help="With --runs: directory for results and report.")
    ] = None
    workers: Workers = None
    explain: Explain = False


@dataclass(frozen=True, kw_only=True)
class SingleRunOptions:
    """Options that only a single run has."""

    save: Annotated[Path | None, typer.Option(help="Write the choices of the run (JSON).")] = None
    replay: Annotated[Path | None, typer.Option(help="Replay a saved run.")] = None
    strict: Strict = False


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options that one run and many runs share."""

    until: PerhapsUntil = None
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="100; of many runs, any; with --replay, all",
            help="Serve at most so many messages.",
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(min=0, show_default="0", help="Seed of the random choices.")
    ] = None
    law: Annotated[Law | None, typer.Option(show_default="fair", help="Choice law.")] = None
    scheduler: Annotated[
        Literal["random", "fifo"] | None,
        typer.Option(show_default="random", help="Which of several messages is served next."),
    ] = None
    env: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE: another value of an env constant, or of a constructor argument as in "
            "east.phase=5; with --runs also several, NAME=VALUE,VALUE. Repeatable."
        ),
    ] = None


@app.command()
@grouped
def simulate(
    model: ModelFile,
    options: RunOptions,
    many: ManyRunsOptions = ManyRunsOptions(),
    single: SingleRunOptions = SingleRunOptions(),
    engine: EngineName = "auto",
    patience: Patience = 10,
    core: Core = False,
) -> None:
    """Run a model and show each message; --runs: many runs."""
    if many.runs is None:
        _refuse(many, "is for many runs; say how many with --runs")
        _simulate_once(_opened(model, core, options.env), options, single, engine, patience)
    else:
        _refuse(single, "is for a single run; leave it out")
        _simulate_often(model, options, many, engine, core)


def _refuse(options: ManyRunsOptions | SingleRunOptions, fault: str) -> None:
    for name, value in vars(options).items():
        if value:
            raise typer.BadParameter(fault, param_hint=f"--{name}")


def _opened(path: Path, core: bool, env: list[str] | None) -> LoadedModel:
    """Load a model, with the given values of constants."""
    if not env:
        return open_model(path, core)
    from rebecsim.clusters.model.short import single_variant
    from rebecsim.interface import LoadedModel

    return LoadedModel(*single_variant(path, env, core))


def _simulate_once(
    model: LoadedModel,
    options: RunOptions,
    single: SingleRunOptions,
    engine: Engine,
    patience: int,
) -> None:
    from rebecsim.actors.watchdog import EndlessError
    from rebecsim.interface import simulate
    from rebecsim.interface.simulating import STEPS, no_choices
    from rebecsim.report.messages import event_table, run_summary

    if engine == "native" and single.save is not None:
        raise no_choices()
    served: list[Event] = []
    try:
        found = simulate(
            model,
            until=options.until,
            seed=options.seed,
            steps=STEPS if options.steps is None and single.replay is None else options.steps,
            law=options.law,
            order=options.scheduler,
            replay=single.replay,
            engine=engine,
            patience=patience,
            strict=single.strict,
            served=served,
        )
    except EndlessError:
        console().print(event_table(served))
        raise
    console().print(event_table(found.events))
    console().print(run_summary(found.result))
    if single.save is not None:
        found.save(single.save)
        say(f"choices in {single.save}")
    if found.is_violation:
        raise typer.Exit(ExitCode.VIOLATED)


def _simulate_often(
    model: Path, options: RunOptions, many: ManyRunsOptions, engine: Engine, core: bool
) -> None:
    from rebecsim.cli.compare import run_many
    from rebecsim.clusters.model.short import short_scenario
    from rebecsim.studies.sweeps import read_sweep

    loaded = short_scenario(
        model,
        many.observe or (),
        sweep=read_sweep(options.env or (), "--env", numbers_only=True),
        every=many.every,
        until=options.until,
        steps=options.steps,
        replications=many.runs,
        seed=options.seed or 0,
        choice_law=options.law,
        order=options.scheduler,
        core=core,
    )
    run_many(loaded, many.out, many.workers, engine, many.explain)
