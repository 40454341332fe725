"""Record the trace of a run, message by message."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rebecsim.actors import Rebec, Step, durations
from rebecsim.actors.system import Choose
from rebecsim.actors.values import call_text, drawn_text


@dataclass(frozen=True)
class Event:
    """One message served. Times are model time units.

    `time` is when serving began and `finished` when the rebec was free again; `choices` are the
    indices of the alternatives drawn meanwhile and `drawn` their values, `changed` the state
    variables that got new values. `parameters` are the names of the arguments, which no file has.
    """

    step: int
    time: int
    finished: int
    rebec: str
    server: str
    sender: str
    arrival: int
    deadline: int | None
    arguments: tuple[Any, ...]
    choices: tuple[int, ...]
    changed: dict[str, Any]
    drawn: tuple[Any, ...]
    parameters: tuple[str, ...] = field(compare=False)

    @property
    def call(self) -> str:
        """The message with the names of its arguments."""
        return call_text(self.server, self.parameters, self.arguments)

    @property
    def drawn_text(self) -> str:
        """The values that were drawn."""
        return drawn_text(self.drawn)

    def row(self, replication: int) -> dict[str, Any]:
        """Give the event as a row of a trace table; composite values become JSON text."""
        told = {name: value for name, value in vars(self).items() if name not in _UNTOLD}
        composite = {name: json.dumps(told[name]) for name in ("arguments", "choices", "changed")}
        return {"replication": replication} | told | composite


_UNTOLD = frozenset({"drawn", "parameters"})
"""What is no part of a trace table."""


def shown(value: Any) -> Any:
    """Give a value for people and files: a rebec by its name, an array as a list of its own."""
    if isinstance(value, Rebec):
        return str(value)
    if isinstance(value, list):
        return [shown(each) for each in value]
    return value


def state_of(rebec: Rebec, now: int | None = None) -> dict[str, Any]:
    """Give the state variables of a rebec by their names in Rebeca.

    `now` is the local time for which the durations of timers are given, if not that of the rebec.
    """
    time = rebec._now if now is None else now
    return {
        variable.rebeca_name: shown(durations(getattr(rebec, variable.name), time))
        for variable in type(rebec).__state_variables__
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Give the variables with new values; a NaN, though it equals nothing, is not a new NaN."""
    return {
        name: value
        for name, value in after.items()
        if value != before[name] and repr(value) != repr(before[name])
    }


Drawn = tuple[int, Any]
"""A choice: the index of the alternative, and the alternative."""


def event_of(
    number: int,
    step: Step,
    times: tuple[int, int],
    drawn: Sequence[Drawn],
    changed: dict[str, Any],
    written: Callable[[Any], Any] = shown,
) -> Event:
    """Give the event of a message that was served; `written` is how its values are written.

    `times` are when serving it began and when the rebec was free again.
    """
    rebec, message = step
    return Event(
        step=number,
        time=times[0],
        finished=times[1],
        rebec=str(rebec),
        server=message.server.name,
        sender=message.sent_by,
        arrival=message.arrival,
        deadline=message.deadline,
        arguments=tuple(map(written, message.arguments)),
        choices=tuple(index for index, _ in drawn),
        changed=changed,
        drawn=tuple(written(value) for _, value in drawn),
        parameters=message.server.parameters,
    )


class Tracer:
    """Collects the events of a run.

    Only the rebec that serves a message can change its state variables, so only it is compared.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._drawn: list[Drawn] = []
        self._state: dict[str, Any] = {}
        self._start = 0

    def choosing(self, choose: Choose) -> Choose:
        """Wrap what resolves the choices, to note them."""

        def noted(rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
            index = choose(rebec, alternatives, site)
            self._drawn.append((index, alternatives[index]))
            return index

        return noted

    def before(self, step: Step) -> None:
        """Note what is before a message is served."""
        self._drawn.clear()
        self._start = step.start
        self._state = state_of(step.rebec, self._start)

    def after(self, step: Step) -> None:
        """Note what has become of it; also called when serving the message has failed."""
        times = self._start, step.rebec._now
        changed = changes(self._state, state_of(step.rebec))
        self.events.append(event_of(len(self.events), step, times, self._drawn, changed))
