"""One run of a model: steps picked by a scheduler until something ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from rebecsim.actors import (
    Model,
    Scheduler,
    Step,
    System,
    Violation,
    agenda_for,
    execute,
)
from rebecsim.actors.attributes import Attributes
from rebecsim.actors.semantics import MOST_AT_ONE_TIME, steps as steps_of
from rebecsim.actors.watchdog import Watchdog
from rebecsim.simulation.standstill import Recurrence
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


@dataclass(frozen=True)
class RunResult:
    """How a run ended: why, after how many messages, at which time, and the rebecs as left.

    `detail` is the text of a violation, otherwise empty; `system` is None if a constructor
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
        return self.outcome in ("deadline missed", "queue overflow", "assertion failed")


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
    began = 0  # the messages that had been served when the time advanced last
    agenda = agenda_for(system, scheduler)
    look, pick, served = agenda.ready, scheduler.pick, agenda.served
    while steps != max_steps:
        start, rebecs = look()
        if not rebecs:
            return RunResult("deadlock", steps, time, "", system)
        if until is not None and start > until:
            return RunResult("time limit", steps, time, "", system)
        is_free = recurrence is not None and len(steps_of(rebecs)) > 1
        step = pick(rebecs)
        if step is None:
            return RunResult("end of record", steps, time, "", system)
        if start > time:
            began = steps
        elif steps - began >= MOST_AT_ONE_TIME and not model.core:
            detail = f"{steps - began:,} messages were served at time {time}"
            return RunResult("time stands still", steps, time, detail, system)
        time = start
        steps += 1
        try:
            if tracer is None:
                execute(system, step, deadlines)
            else:
                _traced(system, step, tracer, deadlines)
                attributes[step.rebec._index].check()
        except Violation as violation:
            return RunResult(violation.verdict, steps, time, str(violation), system)
        served(step.rebec)
        if recurrence is not None and tracer is not None:
            was_drawn = is_free or bool(tracer.events[-1].choices)
            circle = recurrence.look(steps, time, was_drawn=was_drawn)
            if circle is not None:
                detail = f"everything is as it was {circle} message{'s'[: circle != 1]} before"
                return RunResult("time stands still", steps, time, detail, system)
    return RunResult("step limit", steps, time, "", system)


def _traced(system: System, step: Step, tracer: Tracer, deadlines: bool) -> None:
    tracer.before(step)
    try:
        execute(system, step, deadlines)
    finally:
        tracer.after(step)
