"""Check that a run is repeatable: the same choices must give the same run.

Message servers of a model in Python that draw random numbers, read a clock or use a global that
something else changes do not do the same again, and what is shown of them is true only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from rebecsim.actors import Model, ModelCodeError, ReplayError, ReplayScheduler, Run, System
from rebecsim.actors.repeatable import NotRepeatableError
from rebecsim.simulation.simulator import simulate
from rebecsim.simulation.trace import Event, Tracer

_SHORT_RUNS = (1, 2)
"""Messages of runs that come between: a global that is back at its first value after the whole run
is not after these."""


def require_repeatable(
    model: Model, system: System, run: Run, events: Sequence[Event], most: int | None = None
) -> None:
    """Do a run again, at most so many messages of it, and compare what happens.

    `events` is what happened, and `system` what came of it. Raises NotRepeatableError where it is
    something else.
    """
    whole = len(events) if most is None else min(most, len(events))
    between = [length for each in _SHORT_RUNS if each < whole for length in (each, whole)]
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
