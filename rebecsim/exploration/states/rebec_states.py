"""The state of one rebec, interned: equal states of a rebec are one object.

A state of the system is a tuple of these, so that comparing and hashing it costs no more than
comparing and hashing as many pointers, and the outcomes of a rebec are computed once per state of
the rebec and not once per state of the system. That is sound because rebecs share nothing: what
a message server does depends on the variables, clock and message of its own rebec alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Sized
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.actors import Constant, Rebec, Since
from rebecsim.actors.semantics import count_alternatives, due_at
from rebecsim.exploration.states.structures import (
    PLAIN as PLAIN,
    Structure,
    encode_structure,
    is_structure,
)

if TYPE_CHECKING:
    from rebecsim.exploration.states.effects import Outcome, Sending
    from rebecsim.exploration.states.suspension import Suspension


class UnsuitableValueError(TypeError):
    """A value that cannot be part of a state: mutable, or not comparable by its contents."""


class Reference:
    """A rebec inside a state, by its position in main; there is one object for each rebec."""

    __slots__ = ("index", "name")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name

    def __repr__(self) -> str:
        return self.name


class SpecialFloat(Enum):
    """Floats for which `==` is no identity: -0.0 equals 0.0, and NaN does not equal itself.

    Everything else of IEEE 754 is stored as the Python float it is.
    """

    NAN = "NaN"
    MINUS_ZERO = "-0.0"


class _Mixed(tuple[Any, ...]):
    """A list in which some values look different inside a state; other lists are plain tuples."""

    __slots__ = ()


class _Fixed(tuple[Any, ...]):
    """A Python tuple."""

    __slots__ = ()


class Values:
    """Encodes and decodes the values of one system of rebecs.

    Timers are kept relative to the time of the state they are part of; `time` is that time, for
    the values that are encoded or decoded next.
    """

    def __init__(self, rebecs: tuple[Rebec, ...]) -> None:
        self._rebecs = rebecs
        self.time = 0
        self.references = tuple(Reference(rebec._index, str(rebec)) for rebec in rebecs)

    def encode(self, value: Any) -> Any:
        """Give the immutable form. Raises UnsuitableValueError for a value that has none."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is float:
            if value == 0.0 and math.copysign(1.0, value) < 0.0:
                return SpecialFloat.MINUS_ZERO
            return SpecialFloat.NAN if value != value else value
        if kind is list:
            if PLAIN.issuperset(map(type, value)):
                return tuple(value)
            return _Mixed(map(self.encode, value))
        if kind is tuple:
            return _Fixed(map(self.encode, value))
        if kind is Since:
            return Since(value.start - self.time)
        if isinstance(value, Rebec):
            return self.references[value._index]
        if isinstance(value, Enum | Constant):
            return value
        if is_structure(value):
            return encode_structure(value, self.encode, rank)
        raise UnsuitableValueError(
            f"a {kind.__name__} cannot be part of a state; use numbers, booleans, strings, "
            "members of an Enum, rebecs, lists, dicts, deques or tuples of these, or a StatePart"
        )

    def decode(self, value: Any) -> Any:
        """Give the value that was encoded; lists are new ones."""
        kind = type(value)
        if kind in PLAIN or kind is float:
            return value
        if kind is tuple:
            return list(value)
        if kind is _Mixed:
            return list(map(self.decode, value))
        if kind is _Fixed:
            return tuple(map(self.decode, value))
        if kind is Reference:
            return self._rebecs[value.index]
        if kind is Since:
            return Since(value.start + self.time)
        if kind is Structure:
            return value.decoded(self.decode)
        if kind is SpecialFloat:
            return math.nan if value is SpecialFloat.NAN else -0.0
        return value


def earlier(value: Any, units: int) -> Any:
    """Give the value of a timer, or an array of them, as it is seen `units` later."""
    if isinstance(value, Since):
        return Since(value.start - units)
    is_array = isinstance(value, list | tuple)
    return type(value)(earlier(each, units) for each in value) if is_array else value


def runs_timer(value: Any) -> bool:
    """Whether a timer runs in an encoded value of a timer or an array of them."""
    return isinstance(value, Since) or (isinstance(value, tuple) and any(map(runs_timer, value)))


def rank(value: Any) -> tuple[int, Any]:
    """Give a key that puts any two encoded values into one order, the same in every process."""
    match value:
        case None:
            return 0, 0
        case bool() | int() | float():
            return 1, value
        case Reference():
            return 2, value.index
        case SpecialFloat():
            return 3, value.value
        case str():
            return 4, value
        case Enum():
            return 5, str(value)
        case Since():
            return 7, value.start
        case Constant():
            return 8, str(value)
        case Structure():
            return 9, value.key(rank)
        case _:
            return 6, tuple(map(rank, value))


NEVER = 1 << 62
"""The next time of a rebec that has nothing to do; later than any time."""

NO_DEADLINE = math.inf

NO_SENDER = -1
"""Stands for the position of the sender of an `initial` message, which is no rebec."""


class Waiting(NamedTuple):
    """A message in a bag, times relative to the time of the state, rebecs as their positions.

    The fields are in the order of a canonical bag: arrival, priority and number of the message
    server, sender, deadline, arguments. `order` ranks the arguments, which may be of any kind.
    """

    arrival: int
    priority: int
    number: int
    sender: int
    deadline: int | float
    order: tuple[Any, ...]
    arguments: tuple[Any, ...]

    def earlier(self, units: int) -> Waiting:
        """Give the message as it is seen `units` later."""
        arrival, priority, number, sender, deadline, order, arguments = self
        return Waiting(
            arrival - units, priority, number, sender, deadline - units, order, arguments
        )


Bag = tuple[Waiting, ...]


class Local:
    """The state of one rebec; times are relative to the time of the system's state.

    `clock` is how long the rebec stays busy (floating time only), `next` when it can act, NEVER
    if it has no message. The rest is filled in when it is first needed: `outcomes` of its
    messages at the time `outcomes_at`, `received` and `shifted` are neighbours of this state.
    """

    __slots__ = (
        "bag",
        "clock",
        "next",
        "outcomes",
        "outcomes_at",
        "owner",
        "received",
        "shifted",
        "suspension",
        "urgency",
        "variables",
    )

    def __init__(
        self,
        owner: int,
        variables: tuple[Any, ...],
        clock: int,
        suspension: Suspension | None,
        bag: Bag,
    ) -> None:
        self.owner = owner
        self.variables = variables
        self.clock = clock
        self.suspension = suspension
        self.bag = bag
        self.next = NEVER
        self.urgency = 0
        self.outcomes: tuple[Outcome, ...] | None = None
        self.outcomes_at = 0
        self.received = _NONE_RECEIVED
        self.shifted = _NONE_SHIFTED

    def add_received(self, sending: Sending, after: Local | None) -> None:
        """Note the state with one more message; None if the bag is full."""
        if self.received is _NONE_RECEIVED:
            self.received = {}
        self.received[sending] = after

    def add_shifted(self, units: int, later: Local) -> None:
        """Note the state some time later."""
        if self.shifted is _NONE_SHIFTED:
            self.shifted = {}
        self.shifted[units] = later


# Shared and always empty: many states are met once, and a dictionary of their own costs memory.
_NONE_RECEIVED: dict[Sending, Local | None] = {}
_NONE_SHIFTED: dict[int, Local] = {}


class LocalStore:
    """All states of rebecs met so far.

    `timers` holds, for each rebec, the positions of its variables that are timers, `abstracted` the
    positions of variables that are left out of identity: of variables that differ in these only,
    those first met stand for all.
    """

    def __init__(
        self,
        rebecs: Sequence[Rebec],
        abstracted: Sequence[frozenset[int]],
        core: bool,
        uses_global_priority: bool,
        timers: Sequence[tuple[int, ...]],
    ) -> None:
        self._timers = timers
        self._priorities = [rebec._priority for rebec in rebecs]
        self._abstracted = abstracted if any(abstracted) else None
        self._representatives: list[dict[tuple[Any, ...], tuple[Any, ...]]] = [{} for _ in rebecs]
        self._core = core
        self._known: list[dict[tuple[Any, ...], Local]] = [{} for _ in rebecs]
        self._bags: list[dict[Bag, Bag]] = [{} for _ in rebecs]  # one object for equal ones
        self._global_urgencies = (
            [
                [server.global_priority for server in type(rebec).__servers__.values()]
                for rebec in rebecs
            ]
            if uses_global_priority
            else None
        )

    @property
    def abstracts(self) -> bool:
        """Whether variables are left out of identity."""
        return self._abstracted is not None

    def left_out(self, owner: int) -> frozenset[int]:
        """Give the positions of the variables of a rebec that are left out of identity."""
        return self._abstracted[owner] if self._abstracted is not None else frozenset()

    def tables(self) -> Iterator[Sized]:
        """Give the dictionaries that grow with the number of states of rebecs."""
        yield from self._known
        yield from self._bags
        yield from self._representatives

    def intern(
        self,
        owner: int,
        variables: tuple[Any, ...],
        clock: int,
        suspension: Suspension | None,
        bag: Bag,
    ) -> Local:
        """Give the one object for a state of a rebec; the bag must be in canonical order."""
        if self._abstracted is not None:
            variables = self.represented(owner, variables)
        identity = None if suspension is None else suspension.identity
        known = self._known[owner]
        local = known.get((variables, clock, identity, bag))
        if local is None:
            bag = self._bags[owner].setdefault(bag, bag)
            local = Local(owner, variables, clock, suspension, bag)
            known[variables, clock, identity, bag] = local
            self._complete(local)
        return local

    def represented(self, owner: int, variables: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give the variables of a rebec that stand for these."""
        if self._abstracted is None:
            return variables
        left_out = self._abstracted[owner]
        compared = tuple(
            None if position in left_out else value for position, value in enumerate(variables)
        )
        return self._representatives[owner].setdefault(compared, variables)

    def _complete(self, local: Local) -> None:
        """Note when the rebec can act next and how urgent it is then."""
        head: Waiting | None = None
        suspension, clock = local.suspension, local.clock
        if suspension is not None:
            head, local.next = suspension.message, suspension.resume
        elif local.bag:
            head, local.next = local.bag[0], due_at(clock, local.bag)
        local.urgency = self.urgency(local.owner, head)

    def urgency(self, owner: int, head: Waiting | None) -> int:
        """Give the priority of a rebec that serves this message next, as `semantics.urgency` does.

        The order of a bag puts first the message whose server decides.
        """
        if self._global_urgencies is not None and head is not None:
            return self._global_urgencies[owner][head.number]
        return self._priorities[owner]

    def first_of(self, bag: Bag) -> Bag:
        """Give the messages that may be served, as `rebecsim.actors.alternatives` does."""
        return bag[: count_alternatives(bag, self._core)]

    def arrange(self, messages: Bag) -> Bag:
        """Put messages, given in the order of sending, into canonical order."""
        if len(messages) < 2:
            return messages
        if self._core:
            return tuple(sorted(messages, key=lambda message: message.priority))
        return tuple(sorted(messages))

    def later(self, owner: int, variables: tuple[Any, ...], units: int) -> tuple[Any, ...]:
        """Give the variables of a rebec as they are seen `units` later: timers run on."""
        timers = self._timers[owner]
        if not timers:
            return variables
        return tuple(
            [
                earlier(value, units) if place in timers else value
                for place, value in enumerate(variables)
            ]
        )

    def ticks(self, owner: int, variables: tuple[Any, ...]) -> bool:
        """Whether a timer of a rebec runs."""
        return any(runs_timer(variables[place]) for place in self._timers[owner])

    def shift(self, local: Local, units: int) -> Local:
        """Give the state of a rebec as it is `units` later, when nothing has happened to it."""
        owner, suspension = local.owner, local.suspension
        shifted = self.intern(
            owner,
            self.later(owner, local.variables, units),
            max(local.clock - units, 0),
            None if suspension is None else suspension.earlier(units),
            tuple([message.earlier(units) for message in local.bag]),
        )
        local.add_shifted(units, shifted)
        return shifted
