"""The kinds of values that state variables hold, and how values are written.

A timer that runs is kept as the time of its start, which does not change while time passes; what a
model and its users see is how long it has been running.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rebecsim.arithmetic import (
    double_quotient as double_quotient,
    float32 as float32,
    float_quotient as float_quotient,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    power as power,
    quotient as quotient,
    remainder as remainder,
    square_root as square_root,
    truncate as truncate,
)
from rebecsim.distributions import distribution as distribution


@dataclass(frozen=True)
class Kind:
    """A kind of value: its name in Rebeca, and the value before the first assignment."""

    name: str
    initial: Any

    def default(self) -> Any:
        """Give the value of a variable before its first assignment."""
        return self.initial

    def __getitem__(self, length: int) -> Array:
        """`Int[3]` is an array of three ints; `Int[3][2]` has two elements of that kind."""
        return Array(self, length)


@dataclass(frozen=True)
class Array:
    """A fixed number of elements of one kind, a Python list at run time.

    >>> rs.Array(rs.Int, 3).length
    3
    """

    element: Kind | Array
    length: int

    def default(self) -> list[Any]:
        """Give a new list with every element at its default."""
        return [self.element.default() for _ in range(self.length)]

    def __getitem__(self, length: int) -> Array:
        return Array(self, length)

    @property
    def name(self) -> str:
        """The kind as Rebeca writes it."""
        lengths, element = f"[{self.length}]", self.element
        while isinstance(element, Array):
            lengths += f"[{element.length}]"
            element = element.element
        return element.name + lengths


Int = Kind("int", 0)
Short = Kind("short", 0)
Byte = Kind("byte", 0)
Boolean = Kind("boolean", False)
Float = Kind("float", 0.0)
Double = Kind("double", 0.0)
Reference = Kind("rebec", None)


STOPPED = -1
"""The value of a timer that does not run."""


@dataclass(frozen=True, slots=True)
class Since:
    """A timer that runs, by its start in the local time of its rebec."""

    start: int


def duration(timer: Since | int, now: int) -> int:
    """Give how long a timer has been running at a local time, STOPPED if it does not run."""
    return now - timer.start if isinstance(timer, Since) else STOPPED


def durations(value: Any, now: int) -> Any:
    """Give the value of a variable with durations in the place of running timers."""
    if isinstance(value, Since):
        return duration(value, now)
    return [durations(each, now) for each in value] if type(value) is list else value


Timer = Kind("Timer", STOPPED)


class Constant:
    """Something that never changes, and that rebecs may therefore share: a job, a machine.

    Exploration takes it for equal to itself only. Two that may be arguments of the same message
    are told apart by their texts.
    """

    __slots__ = ()


class StatePart:
    """Part of the state of one rebec, as a queue with its methods: what it holds is state.

    Its attributes are numbers, texts, constants, rebecs, other parts, and lists, dicts, counters,
    deques and tuples of these, named or not; or it is a dict itself. No two rebecs share one, nor
    do two variables of a rebec. Its text is what traces and counterexamples show.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return type(self).__name__


_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


class Unordered(dict[_Key, _Item]):
    """A dict whose order means nothing: two with the same items are the same state."""

    __slots__ = ()


def plain(value: Any) -> Any:
    """Give a value as it stands in a file: what JSON has no form for, as a rebec, becomes text."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and value - value == 0.0:  # neither infinite nor NaN
        return value
    return str(value)


def value_text(value: object) -> str:
    """Give a value as Rebeca writes it."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case list() | tuple():
            return f"[{', '.join(map(value_text, value))}]"
        case Constant():
            text = str(value)
            is_short = len(text) <= _LONGEST and type(value).__repr__ is not object.__repr__
            return text if is_short else type(value).__name__
    return str(value)


_LONGEST = 200
"""Characters of what never changes, as a configuration; a longer one goes by its class."""


def call_text(server: str, parameters: Sequence[str], arguments: Sequence[object]) -> str:
    """Give a message with the names of its arguments, where they are known: `buy(customer=ann)`."""
    texts = list(map(value_text, arguments))
    if len(parameters) == len(texts):
        texts = [f"{name}={text}" for name, text in zip(parameters, texts, strict=True)]
    return f"{server}({', '.join(texts)})"


def drawn_text(drawn: Iterable[object]) -> str:
    """Give the values that choices have drawn."""
    return ", ".join(map(value_text, drawn))


def change_texts(changed: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Give each variable with its new value."""
    return tuple(f"{name} = {value_text(value)}" for name, value in changed)
