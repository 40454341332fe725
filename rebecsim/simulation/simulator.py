"""Run a model once: a scheduler picks steps until something ends the run.

A run with a trace is run again, to check that the same choices give the same run. Message servers
of a model in Python that draw random numbers, read a clock or use a global that something else
changes do not do the same again, and what is shown of them is true only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from rebecsim.actors import (
    Agenda,
    ChoiceLaw,
    FifoScheduler,
    Message,
    Model,
    ModelCodeError,
    RandomScheduler,
    RandomValues,
    RankedScheduler,
    Rebec,
    Recorder,
    ReplayError,
    ReplayScheduler,
    Run,
    Scheduler,
    Step,
    Streams,
    System,
    Violation,
    agenda_for,
    serve,
    steps,
)
from rebecsim.actors.randomness import key_of
from rebecsim.actors.schedulers import Pick, read_record
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.system import Attributes
from rebecsim.actors.watchdog import Watchdog
from rebecsim.simulation.trace import Event, Tracer, state_of
from rebecsim.steps.repeatable import NotRepeatableError

_MOST = 10_000
"""The most states that are remembered."""

_SHORT = 1_000
"""The messages of a run that Python does again in no time."""


class CycleDetector:
    """Notices that a run has come back to where it was, at the same time and with no way out.

    Only what had to happen counts: where a message or a value was drawn, another run may go on.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._seen: dict[str, int] = {}
        self._time = -1

    def look(self, steps: int, time: int, *, was_drawn: bool) -> int | None:
        """Look at what a step has led to; gives the number of steps in the cycle, if there is one.

        `was_drawn`: the step, or something in it, could have been another.
        """
        if was_drawn or time != self._time:
            self._seen.clear()
            self._time = time
        state = repr([self._rebec(index) for index in range(len(self._system.rebecs))])
        before = self._seen.get(state)
        if before is None and len(self._seen) < _MOST:
            self._seen[state] = steps
        return None if before is None else steps - before

    def _rebec(self, index: int) -> object:
        """Give all that a rebec's future depends on, as values that can be written."""
        rebec = self._system.rebecs[index]
        bag = [
            (each.arrival, each.server.name, str(each.sender), str(each.arguments), each.deadline)
            for each in rebec._bag
        ]
        return rebec._now, state_of(rebec), bag


class BranchObserver:
    """Lets another scheduler pick, and tells whether it could have picked another step."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.is_branching = False
        self.priorities = scheduler.priorities
        self.choose = scheduler.choose
        self._scheduler = scheduler

    def pick(self, rebecs: list[Rebec]) -> Pick | None:
        """Let the scheduler pick."""
        self.is_branching = len(steps(rebecs)) > 1
        return self._scheduler.pick(rebecs)


def may_stand_still(events: Sequence[Event]) -> bool:
    """Whether it is worth looking if a run has come back to where it was, by its trace.

    It is for short runs, and where a rebec has served the same message twice at the last time, with
    nothing drawn in between.
    """
    if len(events) <= _SHORT:
        return True
    seen = set()
    for event in reversed(events):
        if event.time != events[-1].time or event.choices:
            break
        served = event.rebec, event.server, event.sender, repr(event.arguments)
        if served in seen:
            return True
        seen.add(served)
    return False


Outcome = Literal[
    "time limit",
    "step limit",
    "ended",
    "end of record",
    "deadline missed",
    "queue overflow",
    "assertion failed",
    "time stands still",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""Ends of runs by their numbers, in results and in compiled code."""

VIOLATIONS: tuple[Outcome, ...] = ("deadline missed", "queue overflow", "assertion failed")
"""What the model forbids. The message that has gone wrong leads to no state."""


@dataclass(frozen=True)
class RunResult:
    """How a run ended: why, after how many messages, at which time, and the rebecs as left.

    After a violation the last message is one of them, and the rebecs are as they were when it went
    wrong. `detail` is the text of a violation, otherwise empty; `system` is None if a constructor
    already failed.
    """

    outcome: Outcome
    steps: int
    time: int
    detail: str
    system: System | None

    @property
    def is_violation(self) -> bool:
        """Whether the model forbids what happened."""
        return self.outcome in VIOLATIONS


def simulate(
    model: Model,
    scheduler: Scheduler,
    *,
    until: int | None = None,
    max_steps: int | None = None,
    tracer: Tracer | None = None,
    watchdog: Watchdog | None = None,
    stop_at_repeats: bool = False,
    deadlines: bool = True,
) -> RunResult:
    """Run a model once.

    Every message that can be served at a time up to and including `until` (model time units) is
    served, at most `max_steps` messages in all. Violations end the run; they are a result and
    not raised. Without `deadlines` a message whose deadline has passed is served like others. Core
    models have no time, so they need `max_steps`. With a tracer, a message server that makes an
    attribute is refused with ModelError. The `watchdog`, if there is one, watches the
    message servers. With `stop_at_repeats` and a tracer, a run also ends that has come back to
    where it was at the same time, with nothing drawn in between.
    """
    choose = scheduler.choose if tracer is None else tracer.choosing(scheduler.choose)
    steps = time = 0
    try:
        system = model.start(choose)
    except Violation as violation:
        return RunResult(violation.verdict, 0, 0, str(violation), None)
    attributes = [Attributes(rebec) for rebec in system.rebecs] if tracer is not None else []
    if watchdog is not None:
        watchdog.system = system
    cycles = CycleDetector(system) if stop_at_repeats and not model.core else None
    observer = BranchObserver(scheduler)
    began = 0  # the messages that had been served when the time advanced last
    agenda = agenda_for(system, scheduler if cycles is None else observer, until)
    for rebec, message in islice(agenda.steps(), max_steps):
        if agenda.time > time:
            began, time = steps, agenda.time
        elif steps - began >= MOST_AT_ONE_TIME and not model.core:
            rebec._bag.put(message)
            detail = f"{steps - began:,} messages were served at time {time}"
            return RunResult("time stands still", steps, time, detail, system)
        steps += 1
        try:
            if tracer is None:
                serve(system, rebec, message, deadlines)
            else:
                _traced(system, Step(rebec, Message(*message)), tracer, deadlines)
                attributes[rebec._index].check()
        except Violation as violation:
            return RunResult(violation.verdict, steps, time, str(violation), system)
        if cycles is not None and tracer is not None:
            was_drawn = observer.is_branching or bool(tracer.events[-1].choices)
            cycle = cycles.look(steps, time, was_drawn=was_drawn)
            if cycle is not None:
                detail = f"the state equals the one {cycle} message{'s'[: cycle != 1]} before"
                return RunResult("time stands still", steps, time, detail, system)
    outcome = "step limit" if steps == max_steps else _end(agenda, until)
    return RunResult(outcome, steps, time, "", system)


def _end(agenda: Agenda, until: int | None) -> Outcome:
    """Say why there are no more steps."""
    time, rebecs = agenda.ready()
    if not rebecs:
        return "ended"
    return "end of record" if until is None or time <= until else "time limit"


def _traced(system: System, step: Step, tracer: Tracer, deadlines: bool) -> None:
    tracer.before(step)
    try:
        serve(system, step.rebec, step.message, deadlines)
    finally:
        tracer.after(step)


SHORT_RUNS = (1, 2)
"""Messages of runs that are done again beside the whole one: a global of a model in Python that is
back at its first value after the whole run is not after these."""


def require_repeatable(
    model: Model, system: System, run: Run, events: Sequence[Event], most: int | None = None
) -> None:
    """Do a run again, at most so many messages of it, and compare what happens.

    `events` is what happened, and `system` what came of it. Raises NotRepeatableError where it is
    something else.
    """
    whole = len(events) if most is None else min(most, len(events))
    between = [length for each in SHORT_RUNS if each < whole for length in (each, whole)]
    for length in (whole, *between):
        tracer = Tracer()
        difference = "it serves another message"
        again = None
        try:
            again = simulate(model, ReplayScheduler(run), max_steps=length, tracer=tracer).system
        except ReplayError:
            difference = "it draws other choices, or other messages wait"
        except ModelCodeError as error:
            difference = f"it raises {error.reason}"
        for one, other in zip(events, tracer.events, strict=False):
            if found := _difference(one, other):
                raise NotRepeatableError.of(system.rebec(one.rebec), one.server, found)
        if again is not None and length == len(events) and _waiting(again) != _waiting(system):
            last = events[-1]
            raise NotRepeatableError.of(
                system.rebec(last.rebec),
                last.server,
                "it or a message server before it sends other messages",
            )
        if len(tracer.events) < length:
            last = events[max(len(tracer.events) - 1, 0)]
            raise NotRepeatableError.of(system.rebec(last.rebec), last.server, difference)


def _waiting(system: System) -> list[list[tuple[object, ...]]]:
    """Give what waits in the bags."""
    return [
        [(each.arrival, each.server, repr(each.arguments), each.deadline) for each in rebec._bag]
        for rebec in system.rebecs
    ]


def _difference(one: Event, other: Event) -> str:
    for name, value in one.changed.items():
        if name not in other.changed:
            return f"`{name}` becomes {value!r} the first time and stays the same the second"
        if repr(other.changed[name]) != repr(value):
            return f"`{name}` becomes {value!r} and then {other.changed[name]!r}"
    for field in fields(Event):
        before, after = getattr(one, field.name), getattr(other, field.name)
        if repr(before) != repr(after):
            return f"{field.name} is {before} and then {after}"
    return ""


REPEATED = 1_000
"""Messages of a run of a model in Python that are served again, unless all are asked for."""


@dataclass(frozen=True)
class MessageOrder:
    """Which goes first of the messages that may be served at the same time.

    Attributes:
        is_fifo: the one that was sent first; otherwise one is drawn.
        first: the message server whose messages go before all others; empty: there is none.
        last: the message server whose messages go after all others; empty: there is none.
    """

    is_fifo: bool = False
    first: str = ""
    last: str = ""

    def rank(self, message: Message) -> int:
        """Give the rank of a message; the lowest one goes first."""
        name = message.server.name
        return (name == self.last) - (name == self.first)


RANDOM = MessageOrder()
"""Every order is equally likely."""

FIFO = MessageOrder(is_fifo=True)
"""Messages are served in the order of sending."""


def scheduler_for(order: MessageOrder, streams: Streams, choice_law: ChoiceLaw) -> Scheduler:
    """Make the scheduler of an order.

    Values of choices are drawn at random in all of them, from the same streams.
    """
    if order.is_fifo:
        return FifoScheduler(RandomValues(streams, choice_law))
    if order == RANDOM:
        return RandomScheduler(streams, choice_law)
    return RankedScheduler(streams, choice_law, order.rank)


def make_scheduler(
    kind: Literal["random", "fifo"], seed: int, choice_law: ChoiceLaw = "fair"
) -> Recorder:
    """Make a scheduler that records its choices; `seed` is where its random numbers start."""
    streams = Streams(key_of(seed), replication=0)
    return Recorder(scheduler_for(FIFO if kind == "fifo" else RANDOM, streams, choice_law))


def load_run(path: Path) -> Run:
    """Read the choices of a run. Raises ReplayError, naming the file, when it has none."""
    return read_record(path, Run.from_json)


def state_after(run: Run, model: Model) -> dict[str, dict[str, Any]]:
    """Do a run again, and give the variables that it ends with: rebec -> name -> value.

    Raises ReplayError for a model that cannot do it, and for a run that ends in a violation.
    """
    messages = sum(choice.kind == "step" for choice in run.choices)
    result = simulate(model, ReplayScheduler(run), max_steps=messages)
    if result.system is None or result.is_violation or result.steps < messages:
        ended = ": ".join(filter(None, (result.outcome, result.detail)))
        raise ReplayError(f"the run ends after {result.steps} of {messages} messages: {ended}")
    return {str(rebec): state_of(rebec) for rebec in result.system.rebecs}
