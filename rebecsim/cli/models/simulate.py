"""The commands generate and simulate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace as changed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import (
    Core,
    EngineName,
    Explain,
    Law,
    Patience,
    Plugins,
    ScenarioName,
    Strict,
    Workers,
    console,
    open_model,
    say,
    use_plugins,
)
from rebecsim.cli.commands import app
from rebecsim.cli.option_groups import grouped
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode

Scheduling = Literal["random", "fifo"]
"""How the next message is picked."""

if TYPE_CHECKING:
    from rebecsim.actors import Model, Scheduler
    from rebecsim.lang import CheckedModel
    from rebecsim.simulation import Event, RunResult

_AT_ONE_TIME = 10_000
"""Messages that compiled code serves at one time before it is looked whether they go round."""

_MESSAGES = 100
"""Messages of a run that is shown, unless another number is asked for."""


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
    """What is said of many runs only."""

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
    """What is said of a single run only."""

    save: Annotated[Path | None, typer.Option(help="Write the choices of the run (JSON).")] = None
    replay: Annotated[Path | None, typer.Option(help="Replay a saved run.")] = None
    strict: Strict = False


@app.command()
@grouped
def simulate(
    model: Annotated[Path, typer.Argument(help="A model (.rebeca, or .py with a global `model`).")],
    until: Annotated[
        int | None, typer.Option(min=0, help="Serve messages up to this model time.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="100; of many runs, any; with --replay, all",
            help="Serve at most so many messages.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, show_default="0", help="Seed of the random choices.")
    ] = None,
    law: Annotated[Law | None, typer.Option(show_default="fair", help="Choice law.")] = None,
    scheduler: Annotated[
        Scheduling | None,
        typer.Option(show_default="random", help="Which of several messages is served next."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE: another value of an env constant, or of a constructor argument as in "
            "east.phase=5; with --runs also several, NAME=VALUE,VALUE. Repeatable."
        ),
    ] = None,
    many: ManyRunsOptions = ManyRunsOptions(),
    single: SingleRunOptions = SingleRunOptions(),
    engine: EngineName = "auto",
    patience: Patience = 10,
    core: Core = False,
) -> None:
    """Run a model and show each message; --runs: many runs."""
    if many.runs is not None:
        _refuse_with_runs(single)
        from rebecsim.cli.studies.many_runs import run_many
        from rebecsim.clusters.model.short import short_scenario
        from rebecsim.studies.scenarios.sweeps import read_sweep

        loaded = short_scenario(
            model,
            many.observe or (),
            sweep=read_sweep(env or (), "--env", numbers_only=True),
            every=many.every,
            until=until,
            steps=steps,
            replications=many.runs,
            seed=seed or 0,
            choice_law=law,
            order=scheduler,
            core=core,
        )
        run_many(loaded, many.out, many.workers, engine, many.explain)
        return
    _require_runs(many)
    replay, save = single.replay, single.save
    from rebecsim.actors.watchdog import EndlessError, Watchdog
    from rebecsim.report.messages import event_table, run_summary
    from rebecsim.simulation import Tracer
    from rebecsim.simulation.simulator import (
        REPEATED,
        load_run,
        make_scheduler,
        replaying_scheduler,
        save_run,
        simulate_traced,
    )

    if engine == "native":
        if save is not None or replay is not None:
            hint = "--engine"
            raise typer.BadParameter("choices are kept by the python engine only", param_hint=hint)
        order: Scheduling = scheduler or "random"
        with Watchdog(patience=patience):  # of constructors; compiled code counts its loops
            natively = _opened(model, core, env)
            most = steps or _MESSAGES
            _simulate_natively(natively, seed or 0, law or "fair", order, until, most)
        return
    built, checked = _opened(model, core, env)
    if replay is None:
        chosen = make_scheduler(scheduler or "random", seed or 0, law or "fair")
        steps = steps or _MESSAGES
    elif (seed, law, scheduler) == (None, None, None):
        recorded = load_run(replay)
        chosen = replaying_scheduler(recorded)
        until = recorded.until if until is None else until
    else:
        raise typer.BadParameter("a replayed run has its choices already", param_hint="--replay")
    tracer = Tracer()
    try:
        result = simulate_traced(
            built,
            chosen,
            tracer,
            until=until,
            max_steps=steps,
            patience=patience,
            stop_at_repeats=replay is None,
            repeated=None if single.strict else REPEATED if checked is None else 0,
        )
    except EndlessError:
        console().print(event_table(tracer.events))
        raise
    console().print(event_table(tracer.events))
    console().print(run_summary(result))
    if save is not None:
        save_run(save, changed(chosen.run, until=until))
        say(f"choices in {save}")
    if result.is_violation:
        raise typer.Exit(ExitCode.VIOLATED)


def _refuse_with_runs(single: SingleRunOptions) -> None:
    for name, value in vars(single).items():
        if value:
            raise typer.BadParameter("is for a single run; leave it out", param_hint=f"--{name}")


def _require_runs(many: ManyRunsOptions) -> None:
    for name, value in vars(many).items():
        if value not in (None, False):
            raise typer.BadParameter(
                "is for many runs; say how many with --runs", param_hint=f"--{name}"
            )


def _opened(path: Path, core: bool, env: list[str] | None) -> tuple[Model, CheckedModel | None]:
    """Load a model, with other values of constants if there are any."""
    if not env:
        return open_model(path, "core" if core else "timed")
    from rebecsim.clusters.model.short import single_variant

    return single_variant(path, env, core)


def _simulate_natively(
    opened: tuple[Model, CheckedModel | None],
    seed: int,
    law: Law,
    order: Scheduling,
    until: int | None,
    steps: int,
) -> None:
    """Run a model once on the native engine, which one run alone is not worth."""
    from rebecsim.actors import Violation
    from rebecsim.actors.randomness import key_of
    from rebecsim.native.layout import native_model
    from rebecsim.report.messages import event_table, run_summary
    from rebecsim.simulation import RunResult
    from rebecsim.simulation.montecarlo import require_checked
    from rebecsim.simulation.native import simulate_native
    from rebecsim.simulation.simulator import make_scheduler

    built, checked = opened[0], require_checked(opened[1])
    events: tuple[Event, ...] = ()
    try:
        native = native_model(built, checked)
    except Violation as violation:
        result = RunResult(violation.verdict, 0, 0, str(violation), None)
    else:
        run = partial(
            simulate_native, native, key=key_of(seed), choice_law=law, order=order, until=until
        )
        result, events = run(max_steps=steps, at_one_time=_AT_ONE_TIME)
        again = _again(built, make_scheduler(order, seed, law), until, result, events)
        if again is not None:
            result, events = again
        elif result.outcome == "time stands still":
            result, events = run(max_steps=steps)
    console().print(event_table(list(events)))
    console().print(run_summary(result))
    if result.is_violation:
        raise typer.Exit(ExitCode.VIOLATED)


def _again(
    model: Model,
    scheduler: Scheduler,
    until: int | None,
    result: RunResult,
    events: Sequence[Event],
) -> tuple[RunResult, tuple[Event, ...]] | None:
    """Do a native run again in Python if it has come back to where it was, which only Python sees.

    None if it has not.
    """
    from rebecsim.simulation import Tracer, simulate as run
    from rebecsim.simulation.simulator import may_stand_still

    still = result.outcome in ("step limit", "time stands still")
    if model.core or not (still and may_stand_still(events)):
        return None
    tracer = Tracer()
    again = run(
        model,
        scheduler,
        until=until,
        max_steps=result.steps,
        tracer=tracer,
        stop_at_repeats=True,
    )
    return (again, tuple(tracer.events)) if again.outcome == "time stands still" else None
