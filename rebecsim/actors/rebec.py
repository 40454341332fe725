"""What a rebec is: a class with known rebecs, state variables and message servers.

A reactive class is a subclass of `Rebec`:

    class Customer(Rebec, queue_size=5):
        office: Office = known_rebec()
        tickets: int = state_variable(Int)

        def __init__(self, start: int) -> None:
            self.think(after=start)

        @message_server
        def think(self) -> None:
            self.office.buy(self, after=1, deadline=12)

Calling a message server sends a message, to whichever rebec it is called on; the body runs when
the message is served. A class may have, in the place of `__init__`, a message server `initial`:
then its rebecs start with that message in their bags. Everything else is plain Python: other
methods are Rebeca's synchronous methods and run at once.
"""

from __future__ import annotations

import functools
import inspect
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from rebecsim.actors.values import Array, Kind, Since, duration
from rebecsim.actors.violations import (
    AssertionFailedError,
    IndexOutOfBoundsError,
    NegativeTimeError,
    NotWholeTimeError,
    Verdict,
    Violation,
)
from rebecsim.distributions import Distribution, Weighted

if TYPE_CHECKING:
    from rebecsim.actors.system import System

LOWEST_PRIORITY = 2**31 - 1
"""The priority of whatever has none declared; smaller numbers go first."""

LATEST_DEADLINE = 2**31 - 1
"""What `current_message_deadline` says for a message without a deadline."""


@dataclass(frozen=True)
class StateVariable:
    """The declaration of a state variable."""

    kind: Kind | Array
    name: str = ""
    rebeca_name: str = ""
    initial: Any = None

    def default(self) -> Any:
        """Give the value before the constructor; a new list for an array."""
        return self.kind.default() if self.initial is None else _lists(self.initial)


@dataclass(frozen=True)
class KnownRebec:
    """The declaration of a known rebec."""

    name: str = ""


@dataclass(frozen=True, eq=False)
class MessageServer:
    """A message server of a class: its body, and how it takes its turn."""

    name: str
    handler: Callable[..., None]
    number: int
    priority: int = LOWEST_PRIORITY
    global_priority: int = LOWEST_PRIORITY

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in Rebeca.

        An underscore at the end only keeps a name in Python from meaning something else there.
        """
        names = tuple(inspect.signature(self.handler).parameters)[1:]
        return tuple(name.removesuffix("_") or name for name in names)


def state_variable(kind: Kind | Array, *, initial: Any = None, rebeca_name: str = "") -> Any:
    """Declare a state variable; `rebeca_name` where Rebeca's name is not possible in Python.

    `initial` is the value it starts with, that of an array as a tuple; None: 0, false or null.

    >>> class Lamp(rs.Rebec, queue_size=2):
    ...     on: bool = rs.state_variable(rs.Boolean, initial=True)
    """
    return StateVariable(kind, rebeca_name=rebeca_name, initial=initial)


def _lists(value: Any) -> Any:
    return [_lists(each) for each in value] if isinstance(value, tuple) else value


def known_rebec() -> Any:
    """Declare a known rebec; main binds it.

    >>> class Caller(rs.Rebec, queue_size=2):
    ...     office: rs.Rebec = rs.known_rebec()
    """
    return KnownRebec()


@overload
def message_server(handler: Callable[..., None], /) -> Callable[..., None]: ...
@overload
def message_server(
    *, priority: int | None = None, global_priority: int | None = None, rebeca_name: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]: ...
def message_server(
    handler: Callable[..., None] | None = None,
    *,
    priority: int | None = None,
    global_priority: int | None = None,
    rebeca_name: str = "",
) -> Any:
    """Make a method a message server: calling it sends a message instead of running it.

    A call takes, beside the arguments, `after` (time units until the message arrives, default 0)
    and `deadline` (time units from the sending until it must be served, default never).

    >>> class Bell(rs.Rebec, queue_size=2):
    ...     @rs.message_server
    ...     def ring(self) -> None:
    ...         self.ring(after=5)
    """
    if handler is None:
        return functools.partial(
            message_server,
            priority=priority,
            global_priority=global_priority,
            rebeca_name=rebeca_name,
        )

    @functools.wraps(handler)
    def send(self: Rebec, *arguments: Any, after: int = 0, deadline: int | None = None) -> None:
        if type(after) is not int or (deadline is not None and type(deadline) is not int):
            raise no_time(f"{self}.{name}", after if type(after) is not int else deadline)
        self._system.send(self, self._servers[name], arguments, after, deadline)

    name = handler.__name__
    send.__message_server__ = (  # type: ignore[attr-defined]
        rebeca_name or name,
        handler,
        LOWEST_PRIORITY if priority is None else priority,
        LOWEST_PRIORITY if global_priority is None else global_priority,
    )
    return send


class Interface:
    """The base of interfaces: message servers, without bodies, that classes promise to have.

    A class implements one by naming it behind `Rebec` or the class that it extends:
    `class Sensor(Rebec, Source, queue_size=3)`. Known rebecs may be of an interface.
    """


class Rebec:
    """The base of every reactive class. `queue_size` is the capacity of the bag.

    A class that does not give a queue size inherits it. Attributes with a leading underscore
    belong to the engines.

    >>> class Lamp(rs.Rebec, queue_size=2):
    ...     on: bool = rs.state_variable(rs.Boolean)
    ...
    ...     def __init__(self) -> None:
    ...         self.switch()
    ...
    ...     @rs.message_server
    ...     def switch(self) -> None:
    ...         self.on = not self.on
    >>> rs.explore(rs.Model("lamp", (rs.Instance("lamp", Lamp),))).states
    2
    """

    # What engines need is in the object itself, which takes less memory and fewer looks at it.
    __slots__ = ("_bag", "_index", "_name", "_now", "_priority", "_servers", "_system")

    __state_variables__: tuple[StateVariable, ...] = ()
    __known_rebecs__: tuple[KnownRebec, ...] = ()
    __servers__: dict[str, MessageServer]
    __promised__: frozenset[str] = frozenset()
    __queue_size__: int = 1

    _system: System
    _bag: Bag
    _now: int
    _name: str
    _index: int
    _priority: int
    _servers: dict[str, MessageServer]

    def __init_subclass__(
        cls, queue_size: int | None = None, rebeca_name: str = "", **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if rebeca_name:  # where Rebeca's name is not possible in Python
            cls.__name__ = rebeca_name
        if queue_size is not None:
            if queue_size < 1:
                raise ValueError(f"{cls.__name__}: the queue size must be at least 1")
            cls.__queue_size__ = queue_size
        own = vars(cls)
        cls.__state_variables__ += tuple(
            replace(declared, name=name, rebeca_name=declared.rebeca_name or name)
            for name, declared in own.items()
            if isinstance(declared, StateVariable)
        )
        cls.__known_rebecs__ += tuple(
            KnownRebec(name) for name, declared in own.items() if isinstance(declared, KnownRebec)
        )
        cls.__servers__ = _servers(cls, getattr(cls, "__servers__", {}))
        cls.__promised__ = frozenset(
            name
            for promising in cls.__mro__
            if issubclass(promising, Interface)
            for name, attribute in vars(promising).items()
            if hasattr(attribute, "__message_server__")
        )

    def __init__(self) -> None:
        """Send the first messages; called once, in the order of main."""

    @property
    def now(self) -> int:
        """The rebec's local time, in model time units."""
        return self._now

    @property
    def sender(self) -> Rebec | None:
        """Who sent the message being served; None in a constructor and for `initial`."""
        return self._system.message[4]

    @property
    def current_message_arrival(self) -> int:
        """When the message being served arrived."""
        return self._system.message[0]

    @property
    def current_message_deadline(self) -> int:
        """Until when the message being served had to be served."""
        deadline = self._system.message[6]
        return LATEST_DEADLINE if deadline is None else deadline

    @property
    def current_message_waiting_time(self) -> int:
        """How long the message being served has waited in the bag."""
        return self._system.started - self._system.message[0]

    def delay(self, duration: int) -> None:
        """Compute for `duration` time units; what is sent later is sent at the later time.

        Raises NegativeTimeError for a negative duration.
        """
        if type(duration) is not int:
            raise no_time(f"{self}: a delay", duration)
        if duration < 0:
            raise NegativeTimeError(f"a delay of {duration} time units; use 0 or more")
        self._now += duration

    def started_timer(self) -> Since:
        """Give a timer that starts now; in a constructor at 0, as that takes no time."""
        return Since(self._now if self._system.serving else 0)

    def timer_value(self, timer: Since | int) -> int:
        """Give how long a timer has been running, or -1 if it does not run."""
        return duration(timer, self._now)

    def choose(
        self, *alternatives: Any, site: int = 0, weights: Sequence[float] | None = None
    ) -> Any:
        """Choose one of the alternatives, nondeterministically.

        One that is a distribution, such as `rs.exponential(10)`, is drawn from in simulations.

        `weights` says how likely each one is: numbers above 0 that add up to 1. Without them, the
        choice law does. Raises ValueError for other weights.

        `site` numbers the places of choice in a class: each has a random stream of its own, so
        that models which differ elsewhere still draw the same values here.
        """
        if weights is not None:
            alternatives = Weighted(alternatives, weights)
        elif len(alternatives) == 1 and type(alternatives[0]) is Distribution:
            alternatives = alternatives[0]
        return alternatives[self._system.choose(self, alternatives, site)]

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>"


def no_time(what: str, value: object) -> NotWholeTimeError:
    """Make the error for a time that is no whole number; `what` has it."""
    return NotWholeTimeError(f"{what}: time must be a whole number of units, not {value!r}")


def _servers(cls: type[Rebec], inherited: dict[str, MessageServer]) -> dict[str, MessageServer]:
    """Lay the message servers flat, base class first; an overriding one keeps its number."""
    servers = dict(inherited)
    for name, attribute in vars(cls).items():
        declared = getattr(attribute, "__message_server__", None)
        if declared is not None:
            number = servers[name].number if name in servers else len(servers)
            shown, handler, priority, global_priority = declared
            servers[name] = MessageServer(shown, handler, number, priority, global_priority)
    return servers


INITIAL_SENDER = "main"
"""What stands for the sender of an `initial` message, which no rebec sends."""


PlainMessage = tuple[int, int, int, "MessageServer", "Rebec | None", tuple[Any, ...], "int | None"]
"""The fields of a `Message` in their order, as they wait in a bag.

One is made for each message that is sent, in a fifth of the time that one with names takes.
"""


class Message(NamedTuple):
    """A message on its way to, or waiting at, a rebec. Times are absolute model time units.

    The order of the fields is the order of a bag: by arrival, then by the priority of the message
    server, then by the order of sending. The sequence number is unique, so that comparing two
    messages never reaches the fields behind it. An `initial` message has no sender.
    """

    arrival: int
    priority: int
    sequence: int
    server: MessageServer
    sender: Rebec | None
    arguments: tuple[Any, ...]
    deadline: int | None

    @property
    def sent_by(self) -> str:
        """The name of the sender."""
        return INITIAL_SENDER if self.sender is None else self.sender._name

    def __str__(self) -> str:
        arguments = ", ".join(str(argument) for argument in self.arguments)
        return f"{self.server.name}({arguments})"


class QueueOverflowError(Violation):
    """A message was sent to a rebec whose queue is full."""

    verdict: Verdict = "queue overflow"

    def __init__(self, message: Message, capacity: int) -> None:
        super().__init__(f"no place for {message} in a queue of {capacity}")
        self.message = message


class Bag:
    """The messages of one rebec, sorted, at most `capacity` of them.

    Messages that have not arrived yet occupy their place from the moment of sending.
    """

    __slots__ = ("capacity", "messages")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.messages: list[PlainMessage] = _list_of_one()

    def put(self, message: PlainMessage, reserved: int = 0) -> None:
        """Add a message; `reserved` places are taken by the message being executed.

        Raises QueueOverflowError when the bag is full.
        """
        if len(self.messages) + reserved >= self.capacity:
            raise QueueOverflowError(Message(*message), self.capacity)
        insort(self.messages, message)

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return starmap(Message, self.messages)


def _list_of_one() -> list[Any]:
    """Give an empty list that keeps memory for one thing.

    Others get and free it whenever something comes and goes, and most bags hold no more than one
    message: where there are thousands of them, that takes as long as all else.
    """
    made = [None]
    made.pop()
    return made


Value = TypeVar("Value")
Class = TypeVar("Class", bound=Rebec | Interface)


def require(condition: bool, text: str = "") -> None:
    """Check an assertion of the model. Raises AssertionFailedError with the text if it is false.

    >>> rs.require(1 + 1 == 2, "numbers add up")
    """
    if not condition:
        raise AssertionFailedError(text)


def element(index: int, length: int, line: int | str) -> int:
    """Give back an array index that is in range; `line` is the one in the model's text.

    Raises IndexOutOfBoundsError otherwise: unlike in Python, negative indices are out of bounds.
    """
    if 0 <= index < length:
        return index
    raise IndexOutOfBoundsError(index, line)


def copied(array: Iterable[Any]) -> list[Any]:
    """Give a copy of an array and of all arrays in it, as an argument."""
    return [copied(each) if isinstance(each, list | tuple) else each for each in array]


def store(array: list[Value], index: int, value: Value) -> Value:
    """Assign an element and give the value, as an assignment inside an expression does."""
    array[index] = value
    return value


def assign(rebec: Rebec, name: str, value: Value) -> Value:
    """Assign a state variable and give the value."""
    setattr(rebec, name, value)
    return value


def refer(rebec: Rebec | Interface | None, reactive_class: type[Class]) -> Class | None:
    """Cast a reference to a class. Raises AssertionFailedError for a rebec of another class."""
    if rebec is None or isinstance(rebec, reactive_class):
        return rebec
    raise AssertionFailedError(
        f"{rebec} is a {type(rebec).__name__}, not a {reactive_class.__name__}"
    )
