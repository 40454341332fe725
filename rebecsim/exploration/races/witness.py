"""A witness of a race: the way to the state, the two orders, and how their results differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.exploration.paths.path import (
    Path,
    PathStep,
    path_along,
    shown_value,
    shown_variables,
    written_name,
)
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.exploration.states.local import NO_DEADLINE, Local, Waiting
from rebecsim.exploration.states.outcome import Breach
from rebecsim.exploration.states.transitions import State, TransitionSystem


@dataclass(frozen=True)
class Way:
    """Transitions from the state of a race on, by their ordinals, and the state they lead to.

    `end` is None behind a breach of the last transition. `breach` is what is wrong with the end.
    """

    ordinals: tuple[int, ...]
    end: int | None
    breach: Breach | None


@dataclass(frozen=True)
class WitnessOrder:
    """One of the two orders, from the start of the model on; `begins` is the step where they part.

    `breach` is what goes wrong at its end. `only` are all breaches that it can lead to and the
    other order cannot.
    """

    path: Path
    begins: int
    only: tuple[BreachKey, ...]

    @property
    def steps(self) -> tuple[PathStep, ...]:
        """The steps from where the orders part."""
        return self.path.steps[self.begins :]

    @property
    def breach(self) -> Breach | None:
        """What goes wrong at its end."""
        return self.path.breach


@dataclass(frozen=True)
class Difference:
    """Something that is not the same after the two orders: a variable, or what waits in a bag."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Swap:
    """Two messages that a rebec serves in one order here and in the other one there."""

    rebec: str
    first: str
    second: str


@dataclass(frozen=True)
class Witness:
    """A race: the way to its state, at a model time, and the two orders side by side.

    There are no differences where an order is cut short by what goes wrong in it. `swaps` are the
    messages that change places, also those that were not waiting together.
    """

    path: Path
    time: int
    orders: tuple[WitnessOrder, WitnessOrder]
    differences: tuple[Difference, ...]
    swaps: tuple[Swap, ...]


def witness_of(
    search: Search,
    state: int,
    ways: tuple[Way, Way],
    only: tuple[tuple[BreachKey, ...], tuple[BreachKey, ...]],
) -> Witness:
    """Show the race of a state."""
    system = search.system
    before = search.way_to(state)
    path = path_along(system, before)
    one, other = (
        WitnessOrder(path_along(system, (*before, *way.ordinals), way.breach), len(before), keys)
        for way, keys in zip(ways, only, strict=True)
    )
    differences: tuple[Difference, ...] = ()
    if one.breach is None and other.breach is None:
        ends = [way.end for way in ways]
        assert ends[0] is not None
        assert ends[1] is not None
        differences = tuple(_differences(system, search.states[ends[0]], search.states[ends[1]]))
    time = one.steps[0].time if one.steps else system.start_time
    return Witness(path, time, (one, other), differences, tuple(_swaps(one.steps, other.steps)))


def _swaps(one: Sequence[PathStep], other: Sequence[PathStep]) -> Iterator[Swap]:
    """Find the pairs of messages of one rebec that come in different orders."""
    served = [_served(one), _served(other)]
    for rebec in served[0]:
        first, second = served[0][rebec], served[1].get(rebec, [])
        for place, name in enumerate(first):
            for later in first[place + 1 :]:
                if name in second and later in second[: second.index(name)]:
                    yield Swap(rebec, name, later)


def _served(steps: Sequence[PathStep]) -> dict[str, list[str]]:
    """Give what each rebec serves, each message once."""
    found: dict[str, dict[str, None]] = {}
    for step in steps:
        if step.kind == "message":
            arguments = ", ".join(map(_text, step.arguments))
            name = f"{step.server}({arguments}) from {step.sender}"
            found.setdefault(step.rebec, {})[name] = None
    return {rebec: list(names) for rebec, names in found.items()}


def _differences(system: TransitionSystem, one: State, two: State) -> Iterator[Difference]:
    for position, rebec in enumerate(system.runner.rebecs):
        first: Local = one[position]
        second: Local = two[position]
        if first is second:
            continue
        hidden = system.locals.left_out(position)
        names = system.runner.names[position]
        values = zip(shown_variables(first), shown_variables(second), strict=True)
        encoded = zip(first.variables, second.variables, strict=True)
        for place, (name, (old, new), (one_value, other_value)) in enumerate(
            zip(names, values, encoded, strict=True)
        ):
            if one_value != other_value and place not in hidden:
                yield Difference(f"{rebec}.{written_name(rebec, name)}", old, new)
        if first.clock != second.clock:
            yield Difference(f"{rebec} is busy for", first.clock, second.clock)
        waiting, other = Counter(first.bag), Counter(second.bag)
        if waiting != other:
            yield Difference(
                f"on the way to {rebec}",
                [_message(system, position, each) for each in (waiting - other).elements()],
                [_message(system, position, each) for each in (other - waiting).elements()],
            )


def _message(system: TransitionSystem, owner: int, message: Waiting) -> str:
    arguments = ", ".join(map(_text, map(shown_value, message.arguments)))
    server = system.runner.server_of(owner, message).name
    text = f"{server}({arguments}) from {system.runner.sender_of(message)}"
    if message.arrival > 0:
        text += f" in {message.arrival}"
    if message.deadline != NO_DEADLINE:
        text += f", deadline in {message.deadline}"
    return text


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
