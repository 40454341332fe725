"""Convert values of variables and arguments to immutable, hashable parts of a state, and back."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

from rebecsim.actors import Rebec, Since

PLAIN = frozenset({int, bool, str, type(None)})
"""Types of values that are the same inside and outside of a state."""


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


class OddFloat(Enum):
    """Floats that `==` does not tell apart as a program can, or does not find equal to themselves.

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
    whatever is encoded or decoded next.
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
                return OddFloat.MINUS_ZERO
            return OddFloat.NAN if value != value else value
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
        if isinstance(value, Enum):
            return value
        raise UnsuitableValueError(
            f"a {kind.__name__} cannot be part of a state; use numbers, booleans, strings, "
            "members of an Enum, rebecs, and lists or tuples of these"
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
        if kind is OddFloat:
            return math.nan if value is OddFloat.NAN else -0.0
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
        case OddFloat():
            return 3, value.value
        case str():
            return 4, value
        case Enum():
            return 5, str(value)
        case Since():
            return 7, value.start
        case _:
            return 6, tuple(map(rank, value))
