"""Record the trace of a run, message by message."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    variables that got new values. `parameters` are the names of the arguments. Events of old files
    have neither `drawn` nor `parameters`.
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
    drawn: tuple[Any, ...] = ()
    parameters: tuple[str, ...] = field(default=(), compare=False)

    @property
    def call(self) -> str:
        """The message with the names of its arguments."""
        return call_text(self.server, self.parameters, self.arguments)

    @property
    def drawn_text(self) -> str:
        """The values that were drawn."""
        return drawn_text(self.drawn, self.choices)

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


class Tracer:
    """Collects the events of a run.

    Only the rebec that serves a message can change its state variables, so only it is compared.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._choices: list[int] = []
        self._drawn: list[Any] = []
        self._state: dict[str, Any] = {}
        self._start = 0

    def choosing(self, choose: Choose) -> Choose:
        """Wrap what resolves the choices, to note them."""

        def noted(rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
            index = choose(rebec, alternatives, site)
            self._choices.append(index)
            self._drawn.append(shown(alternatives[index]))
            return index

        return noted

    def before(self, step: Step) -> None:
        """Note what is before a message is served."""
        self._choices.clear()
        self._drawn.clear()
        self._start = step.start
        self._state = state_of(step.rebec, self._start)

    def after(self, step: Step) -> None:
        """Note what has become of it; also called when serving the message has failed."""
        rebec, message = step
        self.events.append(
            Event(
                step=len(self.events),
                time=self._start,
                finished=rebec._now,
                rebec=str(rebec),
                server=message.server.name,
                sender=message.sent_by,
                arrival=message.arrival,
                deadline=message.deadline,
                arguments=tuple(shown(argument) for argument in message.arguments),
                choices=tuple(self._choices),
                changed=changes(self._state, state_of(rebec)),
                drawn=tuple(self._drawn),
                parameters=message.server.parameters,
            )
        )
