"""The commands generate, simulate and live: write models of a scenario, run a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

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
from rebecsim.cli.small_clusters import CutOptions, ModelOrScenario
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.actors import Model
    from rebecsim.interface import LoadedModel
    from rebecsim.live import Checker, Ending, Lateness, LiveLimits, LiveRun, Log, Served
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
        "With --runs: a variable such as office.left; served=, waits=, misses= or "
        "measure= and a "
        "message server such as office.buy; first=CONDITION; outcome=ended. Repeatable."
    )
    measure: list[str] | None = option(
        "With --runs: measure waits, service times, queue lengths, utilisation and throughput of a "
        "message server such as office.buy, or of a server of rebecsim.lib. Repeatable."
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
    elif many.measure:
        _refuse(single, "is for a single run; leave it out")
        _refuse(replace(many, runs=None, measure=None), "is not for --measure; leave it out")
        _refuse(replace(options, until=None, seed=None, env=None), "is not for --measure")
        _measure(_opened(model, core, options.env), options, many, engine)
    else:
        _refuse(single, "is for a single run; leave it out")
        _simulate_often(model, options, many, engine, core)


def _measure(
    model: LoadedModel, options: RunOptions, many: ManyRunsOptions, engine: Engine
) -> None:
    from rebecsim.interface import measure

    if options.until is None:
        raise typer.BadParameter("say how long a run is with --until", param_hint="--measure")
    of, runs, seed = many.measure or (), many.runs or 1, options.seed or 0
    console().print(measure(model, of, until=options.until, runs=runs, seed=seed, engine=engine))


def _refuse(options: ManyRunsOptions | SingleRunOptions | RunOptions, fault: str) -> None:
    for name, value in vars(options).items():
        if value:
            raise typer.BadParameter(fault, param_hint=f"--{name}")


def _opened(path: Path, core: bool, env: list[str] | None) -> LoadedModel:
    """Load a model, with the given values of constants."""
    if not env:
        return open_model(path, core)
    from rebecsim.clusters.model.study import single_variant
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
    from rebecsim.cli.running import run_many
    from rebecsim.clusters.model.study import short_scenario
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


_SHOWN_LATE = 3  # messages that were late, named in the report


@dataclass(frozen=True, kw_only=True)
class PaceOptions:
    """Options for the length and speed of a run."""

    until: PerhapsUntil = None
    steps: int | None = option(
        "Serve at most so many messages.", min=1, show_default="100, or no limit"
    )
    speed: float | None = option(
        "Model time units per second; 0: as fast as possible.", min=0, show_default="10"
    )


@app.command()
@grouped
def live(
    model: ModelOrScenario,
    cut: CutOptions,
    bounds: PaceOptions,
    seed: int | None = option("Seed of the random choices.", min=0, show_default="drawn"),
    tolerance: int = option("Milliseconds by which a message may be late.", 50, min=0),
    patience: Patience = 10,
    check: bool = option("Check each message at once, not the run at its end.", False, "--check"),
    log: Path | None = option("Write the run (JSON)."),
    replay: Path | None = option("Check a run written with `--log`, instead of running."),
    quiet: bool = option("Print only how the run ended.", False, "--quiet"),
    core: Core = False,
) -> None:
    """Run a model in real time: each rebec is an actor.

    The run is then checked: every message served was enabled by the semantics. Without --until, a
    run ends after 100 messages.
    """

    from rebecsim.interface import run_live
    from rebecsim.live import NotAllowedError

    loaded = cut.open(model, core)
    built = loaded.model
    if replay is not None:
        given = (bounds.until, bounds.steps, bounds.speed, seed, log)
        if any(each is not None for each in given) or check:
            raise typer.BadParameter(
                "works only with `--tolerance` and `--quiet`", param_hint="--replay"
            )
        _check_saved(built, replay, tolerance, quiet)
        return
    printer = _Printer(built, quiet)

    def begin(limits: LiveLimits, start: int) -> None:
        pace = f"{limits.speed:g} time units a second" if limits.speed else "virtual time"
        rebecs = counted(len(built.instances), "rebec")
        say(f"{built.name}: {rebecs}, {pace}, seed {start}")
        printer.begin(check)

    try:
        run = run_live(
            loaded,
            until=bounds.until,
            steps=bounds.steps,
            speed=bounds.speed,
            seed=seed,
            patience=patience,
            watch=printer.take,
            begin=begin,
        )
    except NotAllowedError as error:  # raised by the checker during the run
        _say_wrong(f"not allowed by the semantics: {error}")
        raise typer.Exit(ExitCode.VIOLATED) from error
    _report(built, run, tolerance, log)


def _checker_for(model: Model) -> Checker | None:
    """Give a checker; None for a model whose constructors fail, which is a result of the run."""
    from rebecsim.actors import Violation
    from rebecsim.live import Checker

    try:
        return Checker(model)
    except Violation:
        return None


def _check_saved(model: Model, file: Path, tolerance: int, quiet: bool) -> None:
    from rebecsim.live import NotAllowedError, check_log, load_log

    log = load_log(file)
    try:
        check_log(model, log)
    except NotAllowedError as error:
        raise NotAllowedError(f"{file}: {error}") from error
    printer = _Printer(model, quiet)
    printer.begin(check=False)
    for each in log.served:
        printer.take(each)
    _show_end(log, tolerance)
    _exit_after(log.ending)


# --- the report ----------------------------------------------------------------------------------


class _Printer:
    """Prints the messages of a run as they are served, and checks them if asked to."""

    def __init__(self, model: Model, quiet: bool) -> None:
        names = [instance.name for instance in model.instances]
        servers = [
            f"{instance.name}: {server.name}"
            for instance in model.instances
            for server in instance.reactive_class.__servers__.values()
        ]
        self._parameters = {
            (instance.name, server.name): server.parameters
            for instance in model.instances
            for server in instance.reactive_class.__servers__.values()
        }
        self._quiet = quiet
        self._model = model
        self._checker: Checker | None = None
        from rebecsim.report.messages import MessageLines

        # A terminal has a width; a program that reads wants one line for each message.
        width = console().width if console().is_terminal else None
        self._lines = MessageLines(names, servers, width)

    def begin(self, check: bool) -> None:
        """Print the headings; with `check`, check each message that comes."""
        self._checker = _checker_for(self._model) if check else None
        if not self._quiet:
            console().print(Text(self._lines.heading(), style="bold"), soft_wrap=True)

    def take(self, served: Served) -> None:
        """Print, and check, a message served."""
        if self._checker is not None:
            self._checker.take(served)
        if not self._quiet:
            for line in self._lines.rows(_cells(self._named(served.event))):
                console().print(Text(line), soft_wrap=True)

    def _named(self, event: Event) -> Event:
        """Give the arguments of a message from a log the names that the model has for them."""
        return replace(event, parameters=self._parameters[event.rebec, event.server])


def _cells(event: Event) -> tuple[str, str, str, str, str, str]:
    from rebecsim.actors.values import change_texts

    time = f"{event.time}-{event.finished}" if event.finished > event.time else str(event.time)
    return (
        time,
        event.sender,
        f"{event.rebec}: {event.call}",
        "" if event.deadline is None else str(event.deadline),
        event.drawn_text,
        ", ".join(change_texts(event.changed.items())),
    )


def _report(model: Model, run: LiveRun, tolerance: int, file: Path | None) -> None:
    """Print how a run ended, check and save it, and exit with its code."""
    from rebecsim.live import NotAllowedError, check_log, save_log

    allowed = True
    choices = {}
    try:
        choices = check_log(model, run.log).run.to_json()
    except NotAllowedError as error:
        allowed = False
        _say_wrong(f"not allowed by the semantics: {error}")
    _show_end(run.log, tolerance, checked=allowed)
    for name in run.unstopped:
        _say_wrong(f"the thread of {name} could not be stopped; it ends with this program")
    if file is not None:
        save_log(file, run.log, choices)
        say(f"run in {file}")
    if run.log.ending.outcome == "interrupted":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not allowed:
        raise typer.Exit(ExitCode.VIOLATED)
    _exit_after(run.log.ending)


def _exit_after(ending: Ending) -> None:
    """Exit with the code of a bad ending; return after a good one."""
    if ending.outcome in ("failed", "not answering"):
        raise typer.Exit(ExitCode.MODEL_FAILED)
    if ending.is_violation:
        raise typer.Exit(ExitCode.VIOLATED)


def _show_end(log: Log, tolerance: int, checked: bool = True) -> None:
    from rebecsim.live.log import lateness

    style = "bold red" if log.ending.is_violation else "bold"
    console().print(Text(_end_of(log.ending, log), style=style), soft_wrap=True)
    if checked and log.served:
        say("checked: every message served was enabled, and did what the model says")
    found = lateness(log, tolerance / 1000)
    if found is not None and log.served:
        _show_lateness(found, len(log.served))


def _end_of(ending: Ending, log: Log) -> str:
    served = len(log.served)
    count = f"{counted(served, 'message')} served"
    last = f"the last one at time {max(each.event.time for each in log.served)}" if served else ""
    where = f": {ending.rebec}, serving {ending.server}" if ending.rebec else ""
    detail = f": {ending.detail}" if ending.detail else ""
    return f"{ending.outcome}{where}{detail} ({', '.join(filter(None, (count, last)))})"


def _show_lateness(found: Lateness, served: int) -> None:
    worst = f"{found.worst * 1000:.1f} ms"
    if not found.late:
        say(f"on time: no message was more than {worst} late")
    else:
        limit = f"{found.tolerance * 1000:g} ms"
        _say_wrong(
            f"late: {len(found.late)} of {served} messages were served more than {limit} after "
            f"their time, the worst {worst}"
        )
        for each in sorted(found.late, key=lambda each: -each.late)[:_SHOWN_LATE]:
            event = each.event
            say(
                f"  {each.late * 1000:.1f} ms: {event.sender} -> {event.rebec}: {event.server} "
                f"at time {event.time}"
            )
    if found.missed:
        _say_wrong(
            f"in real time, {len(found.missed)} messages were served after their deadlines; "
            "in model time they met them"
        )


def _say_wrong(text: str) -> None:
    console().print(Text(text, style="bold red"), soft_wrap=True)
