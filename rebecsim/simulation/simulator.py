"""One run of a model: steps picked by a scheduler until something ends it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

from rebecsim.actors import (
    Agenda,
    Message,
    Model,
    Scheduler,
    Step,
    System,
    Violation,
    agenda_for,
    serve,
)
from rebecsim.actors.attributes import Attributes
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.watchdog import Watchdog
from rebecsim.simulation.standstill import Freedom, Recurrence
from rebecsim.simulation.trace import Tracer

Outcome = Literal[
    "time limit",
    "step limit",
    "deadlock",
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
    recurrence = Recurrence(system) if stop_at_repeats and not model.core else None
    freedom = Freedom(scheduler)
    began = 0  # the messages that had been served when the time advanced last
    agenda = agenda_for(system, scheduler if recurrence is None else freedom, until)
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
        if recurrence is not None and tracer is not None:
            was_drawn = freedom.is_free or bool(tracer.events[-1].choices)
            circle = recurrence.look(steps, time, was_drawn=was_drawn)
            if circle is not None:
                detail = f"everything is as it was {circle} message{'s'[: circle != 1]} before"
                return RunResult("time stands still", steps, time, detail, system)
    outcome = "step limit" if steps == max_steps else _end(agenda, until)
    return RunResult(outcome, steps, time, "", system)


def _end(agenda: Agenda, until: int | None) -> Outcome:
    """Say why there are no more steps."""
    time, rebecs = agenda.ready()
    if not rebecs:
        return "deadlock"
    return "end of record" if until is None or time <= until else "time limit"


def _traced(system: System, step: Step, tracer: Tracer, deadlines: bool) -> None:
    tracer.before(step)
    try:
        serve(system, step.rebec, step.message, deadlines)
    finally:
        tracer.after(step)
