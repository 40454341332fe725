"""A model as a whole: its rebecs and their known rebecs, and a running system of them.

A running system has its messages in bags, or in a `Calendar`.
"""

from __future__ import annotations

import sys
from bisect import insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from types import CodeType
from typing import Any, Generic, NoReturn, TypeVar

from rebecsim.actors.rebec import LOWEST_PRIORITY, Bag, Message, MessageServer, PlainMessage, Rebec
from rebecsim.actors.violations import (
    AssertionFailedError,
    IndexOutOfBoundsError,
    ModelCodeError,
    NegativeTimeError,
    Violation,
    raised,
)
from rebecsim.actors.watchdog import watching_constructors
from rebecsim.errors import UserError

Choose = Callable[[Rebec, Sequence[Any], int], int]
"""Resolves a choice: (rebec, alternatives, choice site) -> index of the alternative."""

Put = Callable[[Rebec, PlainMessage, bool], None]
"""Puts a message into the bag of its receiver: (receiver, message, whether it is at work)."""


Entry = TypeVar("Entry", bound=tuple[Any, ...])

NEVER = sys.maxsize
"""Later than any moment; integers compare faster with it than with infinity."""


class ModelError(UserError):
    """A model's classes and instances do not fit together."""


@dataclass(frozen=True)
class RebecNamed:
    """A constructor argument that is the rebec of this name."""

    name: str


@dataclass(frozen=True)
class Instance:
    """One rebec of main: its name, class, the names of the rebecs it knows, its arguments.

    The arguments are those of the constructor or of the message `initial`; `RebecNamed("x")`
    stands for the rebec x. A class with several constructors has them as methods; `constructor`
    names the one to call.

    >>> rs.Instance("ann", rs.Rebec).name
    'ann'
    """

    name: str
    reactive_class: type[Rebec]
    knows: Sequence[str] = ()
    arguments: Sequence[Any] = ()
    priority: int = LOWEST_PRIORITY
    constructor: str = "__init__"


@dataclass(frozen=True)
class Model:
    """The classes and instances of a model; `start` makes a system of fresh rebecs.

    `core` chooses the untimed semantics of Core Rebeca, queues instead of bags.
    `globally_ordered` says that a class without rebecs has a global priority, which, as one of
    any class, makes the priorities of messages order the rebecs. Raises ModelError when names are
    taken twice, unknown, or do not match the known rebecs of the class.

    >>> rs.Model("empty", ()).instances
    ()
    """

    name: str
    instances: tuple[Instance, ...]
    core: bool = False
    globally_ordered: bool = False
    positions: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "instances", tuple(self.instances))
        positions = {instance.name: place for place, instance in enumerate(self.instances)}
        if len(positions) < len(self.instances):
            raise ModelError(f"model {self.name}: two rebecs have the same name")
        object.__setattr__(self, "positions", positions)
        for instance in self.instances:
            self._check(instance)

    def _check(self, instance: Instance) -> None:
        wanted = [known.name for known in instance.reactive_class.__known_rebecs__]
        if len(wanted) != len(instance.knows):
            raise ModelError(
                f"{instance.name}: {instance.reactive_class.__name__} knows "
                f"{len(wanted)} rebecs ({', '.join(wanted)}), not {len(instance.knows)}"
            )
        for name in instance.knows:
            if name not in self.positions:
                raise ModelError(f"{instance.name}: there is no rebec {name!r} to know")
        reactive_class = instance.reactive_class
        constructed = reactive_class.__init__ is not Rebec.__init__
        if constructed and "initial" in reactive_class.__servers__:
            raise ModelError(
                f"{instance.name}: {reactive_class.__name__} has a message server `initial` and a "
                "constructor; remove one of them"
            )
        promised = reactive_class.__promised__
        missing = sorted(promised - reactive_class.__servers__.keys()) if promised else []
        if missing:
            raise ModelError(
                f"{instance.name}: {reactive_class.__name__} has no message server {missing[0]!r}, "
                "which one of its interfaces requires"
            )

    def start(self, choose: Choose | None = None) -> System:
        """Make the rebecs, bind them and run their constructors in order."""
        return System(self, choose)

    @property
    def uses_global_priority(self) -> bool:
        """Whether any message server has a global priority, which then orders the rebecs."""
        return self.globally_ordered or any(
            server.global_priority != LOWEST_PRIORITY
            for instance in self.instances
            for server in instance.reactive_class.__servers__.values()
        )


def _put_into_bag(receiver: Rebec, message: PlainMessage, at_work: bool) -> None:
    receiver._bag.put(message, at_work)


def _refuse_choice(rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
    raise ModelError(f"{rebec}: a constructor may not draw a choice")


def _construction(construct: Callable[..., None]) -> Message:
    """Give what stands for the message being served while a constructor runs."""
    return Message(0, 0, 0, MessageServer("constructor", construct, number=-1), None, (), None)


class System:
    """Rebecs at work: their bags and clocks, and the message being executed.

    What may happen next and what it does is in `rebecsim.actors.semantics`. `put` is how messages
    get into bags; an `Agenda` notes what it puts there.
    """

    __slots__ = (
        "actor",
        "choose",
        "constructing",
        "message",
        "model",
        "put",
        "rebecs",
        "sequence",
        "serving",
        "started",
        "uses_global_priority",
    )

    def __init__(self, model: Model, choose: Choose | None = None) -> None:
        self.model = model
        self.choose: Choose = _refuse_choice
        self.put: Put = _put_into_bag
        self.sequence = 0
        self.started = 0
        self.serving = False
        self.constructing = False
        self.actor: Rebec
        self.message: PlainMessage
        self.uses_global_priority = model.uses_global_priority
        self.rebecs: tuple[Rebec, ...] = tuple(
            self._make(instance, index) for index, instance in enumerate(model.instances)
        )
        for rebec, instance in zip(self.rebecs, model.instances, strict=True):
            for known, name in zip(type(rebec).__known_rebecs__, instance.knows, strict=True):
                setattr(rebec, known.name, self.rebec(name))
        with watching_constructors(self):
            for rebec, instance in zip(self.rebecs, model.instances, strict=True):
                self._construct(rebec, instance)
        self.choose = choose or _refuse_choice

    def _make(self, instance: Instance, index: int) -> Rebec:
        rebec = object.__new__(self._class_of(instance))
        rebec._system = self
        rebec._name = instance.name
        rebec._index = index
        rebec._priority = instance.priority
        rebec._servers = rebec.__servers__
        rebec._now = 0
        rebec._bag = Bag(instance.reactive_class.__queue_size__)
        for variable in instance.reactive_class.__state_variables__:
            setattr(rebec, variable.name, variable.default())
        return rebec

    def _class_of(self, instance: Instance) -> type[Rebec]:
        return instance.reactive_class

    def _construct(self, rebec: Rebec, instance: Instance) -> None:
        """Run a constructor, or put the message `initial`, which has no sender, into the bag.

        A delay in a constructor moves its later sends but leaves the rebec free.
        """
        arguments = tuple(map(self._argument, instance.arguments))
        self.actor = rebec
        initial = rebec.__servers__.get("initial")
        if initial is not None:
            self.sequence = number = self.sequence + 1
            rebec._bag.put(Message(0, initial.priority, number, initial, None, arguments, None))
            return
        construct = getattr(rebec, instance.constructor)
        if construct.__func__ is Rebec.__init__ and not arguments:
            return  # it does nothing
        self.message = message = _construction(construct)
        try:
            construct(*arguments)
        except (Violation, UserError, MemoryError):
            raise
        except Exception as error:  # whatever a model in Python raises
            raise failure_of(error, rebec, message, construct.__code__) from error
        rebec._now = 0

    def _argument(self, argument: Any) -> Any:
        return self.rebec(argument.name) if isinstance(argument, RebecNamed) else argument

    def rebec(self, name: str) -> Rebec:
        """Find a rebec by its name. Raises KeyError if there is none."""
        return self.rebecs[self.model.positions[name]]

    def send(
        self,
        receiver: Rebec,
        server: MessageServer,
        arguments: tuple[Any, ...],
        after: int,
        deadline: int | None,
    ) -> None:
        """Put a message from the rebec at work into the receiver's bag.

        Arrival and deadline count from the sender's local time. The message being executed still
        takes a place in its rebec's queue. Raises QueueOverflowError when the bag is full, and
        NegativeTimeError for a message that would arrive before it is sent.
        """
        sender = self.actor
        if after < 0:
            raise NegativeTimeError(
                f"{receiver}.{server.name}: after({after}) is in the past; use 0 or more"
            )
        now = sender._now
        self.sequence = sequence = self.sequence + 1
        message = (
            now + after,
            server.priority,
            sequence,
            server,
            sender,
            arguments,
            None if deadline is None else now + deadline,
        )
        put = self.put
        put(receiver, message, self.serving and receiver is sender)


def failure_of(error: Exception, rebec: Rebec, message: Message, code: CodeType) -> Exception:
    """Say what it means that this code, serving a message, raised an exception."""
    method = f'method "{rebec}.{message.server.name}"'
    if isinstance(error, IndexOutOfBoundsError):
        return AssertionFailedError(
            f"Array index out of bound: {error.index}, {method} line {error.line}"
        )
    if isinstance(error, ArithmeticError | NegativeTimeError | RecursionError):
        return AssertionFailedError(f"{error}, {method}")
    if isinstance(error, AttributeError) and error.obj is None:
        return AssertionFailedError(f"message to null, {method}")
    constructing = message.server.number < 0
    doing = "in its constructor" if constructing else f"serving {message}"
    reason = raised(error, code)
    return ModelCodeError(f"{rebec}, {doing}: {reason}", code.co_filename, reason)


class Attributes:
    """The attributes of one rebec, as its constructor has left them."""

    def __init__(self, rebec: Rebec) -> None:
        self._rebec = rebec
        self._names = frozenset(vars(rebec))
        self._known = [getattr(rebec, each.name) for each in type(rebec).__known_rebecs__]

    def check(self) -> None:
        """Raise ModelError if there are others now, or other known rebecs."""
        rebec = self._rebec
        known = [getattr(rebec, each.name, None) for each in type(rebec).__known_rebecs__]
        if vars(rebec).keys() != self._names or known != self._known:
            refuse_attributes(rebec, self._known)


def refuse_attributes(rebec: Rebec, bound: Sequence[Rebec]) -> NoReturn:
    """Raise ModelError: the attributes are others than before; `bound` were the known rebecs."""
    for known, before in zip(type(rebec).__known_rebecs__, bound, strict=True):
        if vars(rebec).get(known.name, before) is not before:
            raise ModelError(f"{rebec}: a message server changes the known rebec `{known.name}`")
    raise ModelError(
        f"{rebec}: a message server makes or deletes an attribute; declare it as a state variable"
    )


def ranks_of(urgencies: Iterable[int]) -> dict[int, int]:
    """Number the urgencies from the most urgent one on, which is the smallest."""
    return {urgency: rank for rank, urgency in enumerate(sorted(set(urgencies)))}


class Calendar(Generic[Entry]):
    """What is due, by its moment: the one queue behind all runs in Python.

    A moment is a time and a rank in one number: of several things due at one time, those of the
    lowest rank go first. What is sorted are these numbers, and only those at which something is
    due, however much is due then. Entries of one moment go by their numbers, which they begin with.

    The moment that is being served is `present`, at the `time`. What is put there, or at an earlier
    one, which becomes the present then, waits in `front` and needs no sorting. All others are of
    later moments; the first one of each is kept apart, as most are alone.
    """

    __slots__ = ("firsts", "front", "moments", "others", "present", "ranks", "time")

    def __init__(self, ranks: int = 1) -> None:
        self.ranks = ranks
        self.time = 0
        self.present = -1
        self.front: deque[Entry] = deque()
        self.moments: list[int] = []  # a heap
        self.firsts: dict[int, Entry] = {}
        self.others: defaultdict[int, list[Entry]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.front) + len(self.firsts) + sum(map(len, self.others.values()))

    def clear(self) -> None:
        """Forget all entries."""
        for each in (self.front, self.moments, self.firsts, self.others):
            each.clear()

    def put(self, moment: int, entry: Entry) -> None:
        """Put in an entry; mostly its number is larger than those of all others of its moment."""
        if moment > self.present:
            first = self.firsts.setdefault(moment, entry)
            if first is entry:  # most are alone
                heappush(self.moments, moment)
                return
            if entry < first:
                self.firsts[moment], entry = entry, first
            entries: deque[Entry] | list[Entry] = self.others[moment]
        else:
            if moment < self.present:
                self.precede(moment)
            entries = self.front
        if entries and entry < entries[-1]:
            insort(entries, entry)
        else:
            entries.append(entry)

    def precede(self, moment: int) -> None:
        """Make a moment the present that comes before what has been; the front is empty then."""
        if self.front:
            self.firsts[self.present], *others = self.front
            if others:
                self.others[self.present] = others
            self.front.clear()
            heappush(self.moments, self.present)
        self.present = moment
        self.time = moment // self.ranks

    def __iter__(self) -> Iterator[tuple[int, Entry]]:
        """Give all entries with their moments, in no order."""
        firsts = ((moment, (first,)) for moment, first in self.firsts.items())
        for moment, entries in ((self.present, self.front), *firsts, *self.others.items()):
            for entry in entries:
                yield moment, entry

    @property
    def next(self) -> tuple[int, int]:
        """The moment and number of the next entry; NEVER if there is none."""
        if self.front:
            return self.present, self.front[0][0]
        if not self.moments:
            return NEVER, 0
        return self.moments[0], self.firsts[self.moments[0]][0]

    @property
    def next_time(self) -> int:
        """The time of the next entry; NEVER, or nearly, if there is none."""
        return self.next[0] // self.ranks

    def taken(self, end: int = NEVER, number: int = 0) -> Iterator[Entry]:
        """Take out one entry after the other, as far as they come before this moment and number.

        What is put in meanwhile is taken in its turn.
        """
        front, moments, firsts, others = self.front, self.moments, self.firsts, self.others
        ranks, is_last = self.ranks, self.present >= end
        while True:
            while front:
                if is_last and self.next >= (end, number):
                    return
                yield front.popleft()
            if not moments:
                return
            moment = moments[0]
            if moment >= end:
                if self.next >= (end, number):
                    return
                is_last = True
            self.present = heappop(moments)
            self.time = moment if ranks == 1 else moment // ranks
            if others and moment in others:
                front += others.pop(moment)
            yield firsts.pop(moment)
