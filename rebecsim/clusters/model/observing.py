"""Observe one run: what a scenario observes of servers and variables, message by message.

A state holds from the time at which serving the message began that led to it until the next
message is served. Of the state at a time, all messages of that time have been served. A message
that goes wrong leads to no state, so a state is looked at when the next one comes, or at the end.

Message servers are named `rebec.server` or `Class.server`; expressions are over state variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rebecsim.actors import Model, Rebec, Step, System
from rebecsim.actors.system import Choose
from rebecsim.clusters.model.scenario import ModelScenario
from rebecsim.clusters.model.variants import Opened
from rebecsim.errors import UserError
from rebecsim.simulation import Tracer
from rebecsim.wording import suggestion

if TYPE_CHECKING:
    from rebecsim.clusters.model.expressions import Expression
    from rebecsim.simulation.measuring import Measured

MEASURED = ("waiting", "busy", "used", "ended")
"""The columns of something measured: areas under those that wait, those that are served and the
share of its servers that this is; and how many ended."""

ALL = "all"
"""What stands for every message server."""


def servers_of(model: Model, text: str) -> tuple[tuple[int, str], ...]:
    """Give the message servers that a text names: the place of the rebec, the name in Rebeca."""
    owner, _, wanted = text.partition(".")
    return tuple(
        (place, server)
        for place, names, server in _servers(model)
        if text == ALL or (owner in names and server == wanted)
    )


def server_names(model: Model) -> list[str]:
    """Name the message servers, without their rebecs."""
    return list(dict.fromkeys(server for _, _, server in _servers(model)))


def server_fault(model: Model, text: str) -> str | None:
    """Say why a text names no message server; None if it does."""
    if servers_of(model, text):
        return None
    known = dict.fromkeys(
        f"{model.instances[place].name}.{server}" for place, _, server in _servers(model)
    )
    close = suggestion(text, list(known), "")
    if "." not in text:
        example = next(iter(known), "rebec.server")
        return f"{text!r} is not a message server; write it with its rebec, such as {example}"
    owner = text.partition(".")[0]
    for place, instance in enumerate(model.instances):
        variables = (v.rebeca_name for v in instance.reactive_class.__state_variables__)
        if instance.name == owner and text.partition(".")[2] in variables:
            return f"{text} is a state variable; observe it as a value"
        if instance.name == owner and not close:
            names = ", ".join(server for at, _, server in _servers(model) if at == place)
            return f"there is no message server {text}; {owner} has {names or 'none'}"
    hint = close or f"known are {', '.join(known)}"
    return f"there is no message server {text}; {hint}"


def measure_fault(model: Model, text: str) -> str | None:
    """Say why something cannot be measured; None if it can."""
    from rebecsim.simulation.measuring import measured_of

    if model.core:
        return "a model in Core Rebeca has no time that could be measured"
    try:
        measured_of(model, text)
    except UserError as error:
        return str(error)
    return None


def _servers(model: Model) -> Iterator[tuple[int, frozenset[str], str]]:
    """Give each message server: the place of its rebec, how that may be called, the server."""
    for place, instance in enumerate(model.instances):
        classes = (each.__name__ for each in instance.reactive_class.__mro__)
        names = frozenset({instance.name, *classes})
        for server in instance.reactive_class.__servers__.values():
            yield place, names, server.name


@dataclass(frozen=True)
class Followed:
    """A value that is followed over time: by its values every so many units, or its changes."""

    column: str
    expression: Expression
    every: int | None


@dataclass(frozen=True)
class Watched:
    """What is to be noted in the runs of one variant.

    Attributes:
        served, waits, misses: the columns that a message server counts for, by the place of its
            rebec and its name.
        followed: values over time.
        firsts: conditions, by their columns.
        measured: queues that are measured, by their columns.
        until: the last time that is simulated, if there is one.
        ends: whether a message that comes too late is not served.
    """

    served: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    waits: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    misses: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    followed: tuple[Followed, ...] = ()
    firsts: tuple[tuple[str, Expression], ...] = ()
    until: int | None = None
    ends: bool = True
    measured: Mapping[str, Measured] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: ModelScenario, opened: Opened) -> Watched:
        """Find out what a scenario asks for, whose names fit the model."""
        from rebecsim.simulation.measuring import measured_of

        def columns(what: str) -> dict[tuple[int, str], tuple[str, ...]]:
            found: dict[tuple[int, str], tuple[str, ...]] = {}
            for each in scenario.observe:
                if each.what == what:
                    for server in servers_of(opened.model, each.text):
                        found[server] = (*found.get(server, ()), each.column)
            return found

        return cls(
            columns("served"),
            columns("waits"),
            columns("misses"),
            tuple(
                Followed(each.column, opened.expression(each.text), each.every)
                for each in scenario.observe
                if each.is_followed
            ),
            tuple(
                (each.column, opened.expression(each.text))
                for each in scenario.observe
                if each.what == "first"
            ),
            scenario.until,
            scenario.deadline_misses == "end",
            {
                each.column: measured_of(opened.model, each.text)
                for each in scenario.observe
                if each.what == "measure"
            },
        )

    @property
    def is_needed(self) -> bool:
        """Whether runs have to be watched at all: what they end with is there anyway."""
        counted = self.served or self.waits or self.misses or self.measured
        return bool(counted or self.followed or self.firsts)


class Watcher(Tracer):
    """Notes what is watched in one run, and the messages themselves if they are to be kept.

    Attributes:
        counts: of messages served and late, and the sums of waits, by column.
        held: when each condition held for the first time, by column; those that have held.
        waits: column, rebec, arrival and wait of each message whose wait is observed.
        points: column, time and value of what is followed.
        areas: the integrals over time of what is followed, by column.
    """

    def __init__(self, watched: Watched, keeps_events: bool) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.held: dict[str, int] = {}
        self.waits: list[tuple[str, str, int, int]] = []
        self.points: list[tuple[str, int, float]] = []
        self.areas: dict[str, float] = {}
        self._watched = watched
        self._keeps_events = keeps_events or bool(watched.measured)
        self._time = 0
        self._curves = [_Curve(each) for each in watched.followed]

    def choosing(self, choose: Choose) -> Choose:
        """Note what is drawn if messages are kept."""
        return super().choosing(choose) if self._keeps_events else choose

    def before(self, step: Step) -> None:
        """Look at the state so far, and note a message that begins to be served."""
        self._look(step.rebec._system)
        start = step.start
        if start > self._time:
            self._advance(start)
        self._note(step.rebec, step, start)
        if self._keeps_events:
            super().before(step)

    def after(self, step: Step) -> None:
        """Note what a message has done; whether it leads to a state is not known yet."""
        if self._keeps_events:
            super().after(step)

    def end(self, system: System, time: int, *, violated: bool, stays: bool) -> int:
        """Complete the curves, and give how long the run was.

        `time` is that of the last message; `violated`: it has gone wrong; `stays`: the state stays
        as it is until the last time that is simulated, as no message is left before.
        """
        if not violated:
            self._look(system)
        until = self._watched.until
        end = time if until is None or not stays else until
        if stays:
            self._advance(end + 1)
        for curve in self._curves:
            self.points += curve.end()
            self.areas[curve.followed.column] = curve.area_until(end)
        return end

    def measures(self, column: str, end: int) -> Mapping[str, float]:
        """Give what the columns of something measured are, up to the end of the run."""
        import numpy as np

        from rebecsim.simulation.measuring import course_of

        wanted = self._watched.measured[column]
        waiting, busy, ended = (
            course_of(wanted, self.events).until(np.array([float(end)]))[:, 0].tolist()
        )
        values = (waiting, busy, busy / wanted.servers, ended)
        return {f"{column}_{each}": value for each, value in zip(MEASURED, values, strict=True)}

    def _note(self, rebec: Rebec, step: Step, start: int) -> None:
        message = step.message
        key = rebec._index, message.server.name
        is_late = message.deadline is not None and message.deadline < start
        if is_late:
            self.counts.update(self._watched.misses.get(key, ()))
            if self._watched.ends:
                return
        self.counts.update(self._watched.served.get(key, ()))
        for column in self._watched.waits.get(key, ()):
            wait = start - message.arrival
            self.waits.append((column, str(rebec), message.arrival, wait))
            self.counts[f"{column}_count"] += 1
            self.counts[f"{column}_sum"] += wait

    def _advance(self, time: int) -> None:
        """Go on to a time before which nothing happens any more."""
        for curve in self._curves:
            self.points += curve.advance(time)
        self._time = time

    def _look(self, system: System) -> None:
        for curve in self._curves:
            curve.set(self._time, curve.followed.expression.read(system))
        for column, condition in self._watched.firsts:
            if column not in self.held and condition.read(system):
                self.held[column] = self._time


class _Curve:
    """A value over time, and its integral."""

    def __init__(self, followed: Followed) -> None:
        self.followed = followed
        self._value: Any = 0
        self._since = 0
        self._area: Any = 0
        self._next = 0  # the next time to sample
        self._told: Any = None  # the last value that a point was made of

    def set(self, time: int, value: Any) -> None:
        """Say what the value is from now on."""
        self._area += self._value * (time - self._since)
        self._value, self._since = value, time

    def advance(self, time: int) -> Iterator[tuple[str, int, float]]:
        """Give the points before a time, up to which the value stays as it is."""
        every = self.followed.every
        if every is None:
            yield from self._change()
            return
        while self._next < time:
            yield self.followed.column, self._next, float(self._value)
            self._next += every

    def end(self) -> Iterator[tuple[str, int, float]]:
        """Give the last change."""
        if self.followed.every is None:
            yield from self._change()

    def _change(self) -> Iterator[tuple[str, int, float]]:
        if self._told is None or self._told != self._value:
            self._told = self._value
            yield self.followed.column, self._since, float(self._value)

    def area_until(self, time: int) -> float:
        """Give the integral from 0 to a time at which the value has not changed any more."""
        total: float = self._area + self._value * (time - self._since)
        return total
