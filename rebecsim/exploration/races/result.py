"""The result of a search for races, with a witness of each.

A witness is the way to the state, the two orders, and how their results differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from rebecsim.exploration.checks import Bound
from rebecsim.exploration.paths import (
    Path,
    PathStep,
    path_along,
    shown_value,
    shown_variables,
    written_name,
)
from rebecsim.exploration.properties import Deciding
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.effects import Breach, BreachKey
from rebecsim.exploration.states.rebec_states import NO_DEADLINE, Local, Waiting
from rebecsim.exploration.states.transitions import Mode, State, TransitionSystem
from rebecsim.exploration.symmetry import symmetries


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
    text = f"{server}({arguments}) from {system.runner.name_of(message.sender)}"
    if message.arrival > 0:
        text += f" in {message.arrival}"
    if message.deadline != NO_DEADLINE:
        text += f", deadline in {message.deadline}"
    return text


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


RaceKind = Literal["inevitable", "avoidable", "observed", "results", "undecided", "while", "joins"]
RACE_KINDS: tuple[RaceKind, ...] = get_args(RaceKind)
"""What can come of a race, the worst first; see `rebecsim.exploration.races`."""

RaceBound = Bound | Literal["pairs"]
"""The limits that may end a search for races; "pairs" is that of pairs of states to follow."""

_HARMFUL: frozenset[RaceKind] = frozenset({"inevitable", "avoidable"})


class Contender(NamedTuple):
    """One of two services in a race: the rebec, its message server and who sent the message."""

    rebec: str
    server: str
    sender: str

    def __str__(self) -> str:
        return f"{self.rebec}.{self.server} from {self.sender}"


class Distance(NamedTuple):
    """How far something lies behind the state of a race, in steps and in model time."""

    steps: int
    time: int


@dataclass(frozen=True)
class RaceGroup:
    """The races of two kinds of services.

    `kind` is the worst that comes of any of them, `races` how many there are: pairs of messages,
    over all states. `breaches` are what can go wrong after one order and not after the other,
    for each of the two orders: the first contender first, and the second one first. `distance` is
    how far away the first breach of the witness is, or for kind "while" at most how long the
    orders differ. The witness shows a race of this kind, and of these one that is found soonest.
    `matters` tells whether the order decides something that lasts, a violation or a result.
    """

    contenders: tuple[Contender, Contender]
    kind: RaceKind
    races: int
    breaches: tuple[tuple[BreachKey, ...], tuple[BreachKey, ...]]
    distance: Distance | None
    witness: Witness
    matters: bool

    @property
    def id(self) -> str:
        """A name that stays the same as long as rebecs and message servers keep theirs."""
        return "~".join(f"{each.rebec}.{each.server}<{each.sender}" for each in self.contenders)

    @property
    def is_harmful(self) -> bool:
        """Whether something is violated after one of the orders."""
        return self.kind in _HARMFUL


class Decision(NamedTuple):
    """The last step that could have avoided a breach: the one taken, and the alternative.

    `by_order`: the two are different messages; otherwise it is a choice.
    """

    taken: Path
    instead: Path
    by_order: bool


@dataclass(frozen=True)
class Unexplained:
    """A breach that can come and that no race of the list decides.

    Without a `decision` it is inevitable. `breach` is the one that a run to it shows.
    """

    key: BreachKey
    breach: Breach
    decision: Decision | None


@dataclass(frozen=True)
class Races:
    """The races of a model, the worst groups first, and how much of it was looked at.

    `pairs` counts the pairs of steps that could be taken in both orders, of which `commuting` come
    to the same. `followed` counts the pairs of states that were followed to see what comes of the
    others. `bounds` are those that kept from looking further: if there are any, there may be
    races that were not found. `abstraction` names the variables left out of the state; those in
    `deciding` decide something, so there may be other races with them. `observed` is what was
    looked at. `is_complete` says whether all states are known, so that no race is missing;
    `unfinished` counts the groups that were not followed to the end. `alike` puts groups together
    that differ by an exchange of rebecs only, as their places in `groups`, the one shown first.
    `in_constructor` is a breach before anything else happens; there are no races then. `memory` is
    the most memory the process took up, in bytes. `cut` says of each distribution which values were
    tried, if these were not all.
    """

    model: str
    mode: Mode
    abstraction: tuple[str, ...]
    observed: tuple[str, ...]
    groups: tuple[RaceGroup, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    states: int = 0
    pairs: int = 0
    commuting: int = 0
    followed: int = 0
    bounds: tuple[RaceBound, ...] = ()
    alike: tuple[tuple[int, ...], ...] = ()
    in_constructor: Breach | None = None
    deciding: tuple[Deciding, ...] = ()
    is_complete: bool = True
    unfinished: int = 0
    memory: int = 0
    cut: tuple[str, ...] = ()

    @property
    def is_harmful(self) -> bool:
        """Whether something is violated, after one order of a race or without any."""
        return (
            any(group.is_harmful for group in self.groups)
            or bool(self.unexplained)
            or self.in_constructor is not None
        )

    @property
    def is_decided(self) -> bool:
        """Whether all that could be harmful was followed."""
        return not self.bounds and all(group.kind != "undecided" for group in self.groups)


def alike(system: TransitionSystem, groups: Sequence[RaceGroup]) -> tuple[tuple[int, ...], ...]:
    """Put groups together, by their places, that some symmetry of the model takes to each other."""
    names = [str(rebec) for rebec in system.runner.rebecs]
    exchanges = [
        {name: names[image] for name, image in zip(names, renaming.images, strict=True)}
        for renaming in symmetries(system)
    ]
    found: dict[tuple[object, ...], list[int]] = {}
    for place, group in enumerate(groups):
        images = min(
            sorted(_renamed(each, exchange) for each in group.contenders) for exchange in exchanges
        )
        found.setdefault((group.kind, *images), []).append(place)
    return tuple(map(tuple, found.values()))


def _renamed(contender: Contender, exchange: dict[str, str]) -> Contender:
    sender = exchange.get(contender.sender, contender.sender)  # it may be no rebec
    return Contender(exchange[contender.rebec], contender.server, sender)
