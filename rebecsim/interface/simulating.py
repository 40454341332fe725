"""One run of a model: simulated, steered by hand, or in real time."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rebecsim.actors import ChoiceLaw, Recorder, ReplayScheduler, Run, Step, Violation
from rebecsim.actors.randomness import key_of
from rebecsim.actors.watchdog import PATIENCE, Watchdog
from rebecsim.errors import ArgumentError
from rebecsim.files import write_json
from rebecsim.interface.loading import AnyModel, LoadedModel, as_loaded
from rebecsim.interface.shown import Shown, Tabular, shown_figure
from rebecsim.native.engines import Engine
from rebecsim.simulation import simulate as run_once
from rebecsim.simulation.simulator import (
    FIFO,
    RANDOM,
    REPEATED,
    Outcome,
    RunResult,
    load_run,
    make_scheduler,
    may_stand_still,
    require_repeatable,
)
from rebecsim.simulation.trace import Event, Tracer, state_of

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure
    from rich.console import Group

    from rebecsim.exploration import Mode
    from rebecsim.live import LiveLimits, LiveRun, Served, Stepper

Order = Literal["random", "fifo"]
"""How the next of several messages is picked."""

STEPS = 100
"""Messages of a run that was given no end."""

_AT_ONE_TIME = 10_000
"""Messages that compiled code serves at one time before it is looked whether they go round."""


@dataclass(frozen=True)
class Simulated(Shown, Tabular):
    """A run: the messages served, how it ended, and the state variables as they were left.

    Attributes:
        model: its name.
        result: how the run ended.
        events: the messages, in the order in which they were served.
        started: rebec -> state variable -> value, before the first message.
        choices: what was drawn, for doing the run again; None after the native engine.

    >>> len(rs.simulate("ticket_service.rebeca", until=3).events)
    6
    """

    model: str
    result: RunResult
    events: tuple[Event, ...]
    started: dict[str, dict[str, Any]]
    choices: Run | None

    @property
    def outcome(self) -> Outcome:
        """Why the run ended."""
        return self.result.outcome

    @property
    def time(self) -> int:
        """When the last message was served, in model time units."""
        return self.result.time

    @property
    def is_violation(self) -> bool:
        """Whether the run ended with something that must not happen."""
        return self.result.is_violation

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """The state variables at the end: rebec -> name -> value; empty if a constructor failed."""
        if self.result.system is None:  # the native engine keeps no system
            changed = {rebec: dict(values) for rebec, values in self.started.items()}
            for event in self.events:
                changed[event.rebec] |= event.changed
            return changed
        return {str(rebec): state_of(rebec) for rebec in self.result.system.rebecs}

    def values(self, variable: str) -> tuple[list[int], list[Any]]:
        """Give when a state variable, `rebec.name`, got new values, and these values.

        The first one is that before the first message, at time 0. Raises KeyError for a variable
        that there is not.
        """
        rebec, _, name = variable.partition(".")
        times, values = [0], [self.started[rebec][name]]
        for event in self.events:
            if event.rebec == rebec and name in event.changed:
                times.append(event.time)
                values.append(event.changed[name])
        return times, values

    def to_arrow(self) -> pa.Table:
        """Give a row for each message: the columns of traces."""
        import pyarrow as pa

        rows = [event.row(0) for event in self.events]
        return pa.Table.from_pylist(rows).drop_columns(["replication"]) if rows else pa.table({})

    def plot(self, *variables: str) -> Figure:
        """Draw state variables over time, all that are numbers and change unless some are named.

        Raises KeyError for a variable that there is not.
        """
        from rebecsim.report.figures import variables_figure

        chosen = variables or tuple(self._changing())
        curves = {variable: self.values(variable) for variable in chosen}
        return shown_figure(variables_figure(self.model, curves, self.time))

    def save(self, path: str | Path) -> None:
        """Write the choices of the run, for `rebecsim simulate --replay`.

        Raises UserError for a run of the native engine, OSError.
        """
        if self.choices is None:
            raise no_choices()
        write_json(Path(path), self.choices.to_json())

    def __rich__(self) -> Group:
        """Give the messages in a table, and how the run ended."""
        from rich.console import Group

        from rebecsim.report.messages import event_table, run_summary

        return Group(event_table(self.events), run_summary(self.result))

    def __repr__(self) -> str:
        return f"<Simulated {self.model}: {self.outcome}, {len(self.events)} messages>"

    def _changing(self) -> list[str]:
        return [
            f"{rebec}.{name}"
            for rebec, values in self.started.items()
            for name, value in values.items()
            if isinstance(value, int | float)
            and any(each.rebec == rebec and name in each.changed for each in self.events)
        ]


def no_choices() -> ArgumentError:
    """Give the error for choices that are to be kept or made again by the native engine."""
    return ArgumentError("engine", "choices are kept by the python engine only")


class _FromTheStart(Tracer):
    """Collects the state variables of rebecs as they were before their first message, too."""

    def __init__(self) -> None:
        super().__init__()
        self.started: dict[str, dict[str, Any]] = {}

    def before(self, step: Step) -> None:
        super().before(step)
        self.started.setdefault(str(step.rebec), self._state)


def simulate(
    model: AnyModel,
    *,
    until: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
    law: ChoiceLaw | None = None,
    order: Order | None = None,
    replay: str | Path | None = None,
    engine: Engine = "auto",
    patience: float = PATIENCE,
    strict: bool = False,
    served: list[Event] | None = None,
) -> Simulated:
    """Run a model once.

    Args:
        model: a loaded model, one in Python, or the path of one.
        until: the last time, in model time units, at which messages are served.
        seed: of everything that is drawn, 0 unless given.
        steps: the most messages; 100 if there is no `until` either.
        law: how `?(...)` is drawn; "fair", evenly, unless given.
        order: how the next of several messages is picked, "random" unless given.
        replay: the file of a run that is done again; it has made all choices.
        engine: "native" for compiled code, which keeps no choices; a single run gains nothing.
        patience: seconds that a message server may run.
        strict: do all messages of a model in Python again to see that they do the same, and not
            only the first thousand.
        served: a list that gets the messages, also those of a run that fails.

    Raises RebecaError or UserError for a model that cannot be read or does not end, and
    ModelCodeError for an exception that the code of a model raises.

    >>> rs.simulate("ticket_service.rebeca", until=12, seed=1)
    <Simulated ticket_service: time limit, 15 messages>
    """
    loaded = as_loaded(model)
    if replay is None:
        scheduler = make_scheduler(order or "random", seed or 0, law or "fair")
        if steps is None and (until is None or loaded.model.core):
            steps = STEPS
    elif engine == "native":
        raise no_choices()
    elif (seed, law, order) != (None, None, None):
        raise ArgumentError("replay", "a replayed run has its choices already")
    else:
        recorded = load_run(Path(replay))
        scheduler = Recorder(ReplayScheduler(recorded))
        until = recorded.until if until is None else until
    if engine == "native":
        native = _NativeRun(loaded, seed or 0, law or "fair", order or "random", until)
        with Watchdog(patience=patience):  # for constructors; compiled code counts its loops
            result, events = native.result(steps)
        start = run_once(loaded.model, scheduler, max_steps=0).system
        started = {} if start is None else {str(each): state_of(each) for each in start.rebecs}
        return Simulated(loaded.name, result, tuple(events), started, None)
    tracer = _FromTheStart()
    if served is not None:
        tracer.events = served
    with Watchdog(patience=patience) as watchdog:
        result = run_once(
            loaded.model,
            scheduler,
            until=until,
            max_steps=steps,
            tracer=tracer,
            watchdog=watchdog,
            stop_at_repeats=replay is None,
        )
    if result.system is not None and (strict or loaded.may_differ):
        most = None if strict else REPEATED
        require_repeatable(loaded.model, result.system, scheduler.run, tracer.events, most)
    rebecs = [] if result.system is None else result.system.rebecs
    started = {str(each): tracer.started.get(str(each)) or state_of(each) for each in rebecs}
    choices = replace(scheduler.run, until=until)
    return Simulated(loaded.name, result, tuple(tracer.events), started, choices)


def step(model: AnyModel, *, tts: bool = False, seed: int = 0) -> Stepper:
    """Begin a run in which you pick each message yourself, and can take it back.

    `turns()` of the answer gives what may happen next, `take` and `undo` go on and back, `run` goes
    on at random, drawn from the `seed`. With `tts`, states are of the timed transition system.

    Raises UserError or RebecaError for a model that cannot be read, Violation for one that goes
    wrong in a constructor.

    >>> run = rs.step("ticket_service.rebeca")
    >>> run.take(run.turns()[0].alternatives[0])
    >>> len(run), run.time
    (1, 1)
    """
    from rebecsim.live import Stepper

    loaded = as_loaded(model)
    if tts and loaded.model.core:
        raise ArgumentError("tts", "a core model has no time")
    mode: Mode | None = "TTS" if tts else None
    return Stepper(loaded.model, checked=loaded.checked, mode=mode, seed=seed)


def run_live(
    model: AnyModel,
    *,
    until: int | None = None,
    steps: int | None = None,
    speed: float | None = None,
    seed: int | None = None,
    patience: float = PATIENCE,
    watch: Callable[[Served], None] | None = None,
    begin: Callable[[LiveLimits, int], None] | None = None,
) -> LiveRun:
    """Run a model in real time, each rebec as an actor with a thread of its own.

    Args:
        model: a loaded model, one in Python, or the path of one.
        until: the last time, in model time units, at which messages are served.
        steps: the most messages; 100 if there is no `until` either.
        speed: model time units a second, 10 unless given; 0: as fast as possible.
        seed: of everything that is drawn; a new one unless given.
        patience: seconds that a message server may run.
        watch: is told of every message served; what it raises ends the run.
        begin: is told the limits and the seed before the first message.

    Raises UserError or RebecaError for a model that cannot be read, and EndlessError for a
    constructor that does not end.

    >>> rs.run_live("ticket_service.rebeca", until=12, speed=0, seed=1).log.ending.outcome
    'time limit'
    """
    from rebecsim.live import LiveLimits, run_live as run_actors

    loaded = as_loaded(model)
    core = loaded.model.core
    if speed is not None and not math.isfinite(speed):
        raise ArgumentError("speed", "it must be a number")
    if core and speed:
        raise ArgumentError("speed", "a core model has no time")
    pace = 0.0 if core else 10.0 if speed is None else speed
    limits = LiveLimits(until, STEPS if until is None and steps is None else steps, pace)
    start = secrets.randbelow(2**32) if seed is None else seed
    if begin is not None:
        begin(limits, start)
    return run_actors(loaded.model, limits, seed=start, patience=patience, watch=watch)


@dataclass(frozen=True)
class _NativeRun:
    """A single run on the native engine."""

    loaded: LoadedModel
    seed: int
    law: ChoiceLaw
    order: Order
    until: int | None

    def result(self, steps: int | None) -> tuple[RunResult, Sequence[Event]]:
        """Give how the run ends, and its messages."""
        from rebecsim.native.layout import native_model
        from rebecsim.simulation.montecarlo import require_checked
        from rebecsim.simulation.native import simulate_native

        try:
            native = native_model(
                self.loaded.model, require_checked(self.loaded.checked, self.loaded.against)
            )
        except Violation as violation:
            return RunResult(violation.verdict, 0, 0, str(violation), None), ()
        run = partial(
            simulate_native,
            native,
            key=key_of(self.seed),
            choice_law=self.law,
            order=FIFO if self.order == "fifo" else RANDOM,
            until=self.until,
            max_steps=steps,
        )
        result, events = run(at_one_time=_AT_ONE_TIME)
        again = self._again(result, events)
        if again is None and result.outcome == "time stands still":
            return run()
        return again or (result, events)

    def _again(
        self, result: RunResult, events: Sequence[Event]
    ) -> tuple[RunResult, Sequence[Event]] | None:
        """Do the run in Python if it has come back to where it was, which only Python sees.

        None if it has not.
        """
        still = result.outcome in ("step limit", "time stands still")
        if self.loaded.model.core or not (still and may_stand_still(events)):
            return None
        tracer = Tracer()
        again = run_once(
            self.loaded.model,
            make_scheduler(self.order, self.seed, self.law),
            until=self.until,
            max_steps=result.steps,
            tracer=tracer,
            stop_at_repeats=True,
        )
        return (again, tracer.events) if again.outcome == "time stands still" else None
