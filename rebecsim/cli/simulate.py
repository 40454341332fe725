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
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode

if TYPE_CHECKING:
    from rebecsim.interface import LoadedModel
    from rebecsim.native.engines import Engine
    from rebecsim.simulation import Event


@app.command()
@grouped
def generate(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(help="Directory for the models.")],
    form: Literal["rebeca", "python"] = option("Timed Rebeca, or Python.", "rebeca"),
    force: bool = option("Replace files that differ.", False),
    plugin: Plugins = None,
) -> None:
    """Generate one model for each configuration of a scenario."""
    from rebecsim.interface import generate as write

    use_plugins(plugin)
    written = write(scenario, out, form=form, force=force)
    say(f"{len(written.files)} models in {out}")
    if written.note:
        say(written.note)


@dataclass(frozen=True, kw_only=True)
class ManyRunsOptions:
    """Options that only many runs have."""

    runs: int | None = option("Run the model this many times, and show the observations.", min=1)
    observe: list[str] | None = option(
        "With --runs: a variable such as office.left; served=, waits= or misses= and a "
        "message server such as office.buy; first=CONDITION; outcome=ended. Repeatable."
    )
    every: int | None = option("With --runs: record variables every so many time units.", min=1)
    out: Path | None = option("With --runs: directory for results and report.")
    workers: Workers = None
    explain: Explain = False


@dataclass(frozen=True, kw_only=True)
class SingleRunOptions:
    """Options that only a single run has."""

    save: Path | None = option("Write the choices of the run (JSON).")
    replay: Path | None = option("Replay a saved run.")
    strict: Strict = False


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options that one run and many runs share."""

    until: PerhapsUntil = None
    steps: int | None = option(
        "Serve at most so many messages.",
        min=1,
        show_default="100; of many runs, any; with --replay, all",
    )
    seed: int | None = option("Seed of the random choices.", min=0, show_default="0")
    law: Law | None = option("Choice law.", show_default="fair")
    scheduler: Literal["random", "fifo"] | None = option(
        "Which of several messages is served next.", show_default="random"
    )
    env: list[str] | None = option(
        "NAME=VALUE: another value of an env constant, or of a constructor argument as in "
        "east.phase=5; with --runs also several, NAME=VALUE,VALUE. Repeatable."
    )


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
