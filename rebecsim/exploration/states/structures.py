"""Parts of a rebec's state that have attributes and methods of their own, in and out of states.

A part is encoded as the tree of what it holds. What it holds twice, as a list that two attributes
name, is written once and referred to by its number, so that decoding shares it again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import Any

from rebecsim.actors import Constant, StatePart, Unordered

Code = Callable[[Any], Any]
"""Encodes or decodes what is no part, list, dict, counter, deque or tuple."""

PLAIN = frozenset({int, bool, str, type(None)})
"""Types of values that are the same inside and outside of a state."""

CHANGING = frozenset({list, dict, Counter, deque, Unordered})
"""What holds others and can change, beside parts."""


@dataclass(frozen=True, slots=True)
class _Again:  # no tuple: it would be equal to one that holds the number
    """What was written before: its number, in the order of writing."""

    number: int


@dataclass(frozen=True, slots=True)
class _Held:
    """Something that can change, or a tuple with names: its class, and what it holds.

    Of a part these are the values of its attributes, of a dict its keys and values in turn.
    """

    kind: type
    names: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """An array of numpy."""

    kind: str
    shape: tuple[int, ...]
    contents: bytes

    def decoded(self) -> Any:
        import numpy as np

        return np.frombuffer(self.contents, self.kind).reshape(self.shape).copy()


class _Pair(tuple[Any, ...]):
    """A tuple, which never changes; what it holds may."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """An encoded part, or something else that is written by itself: a dict, a tuple with names."""

    held: _Held

    def decoded(self, decode: Code) -> Any:
        """Make it anew."""
        return _Decoder(decode).decode(self.held)

    def mapped(self, change: Code) -> Structure:
        """Give it with everything in it changed that is encoded by itself."""
        return Structure(_mapped(self.held, change))

    def key(self, rank: Code) -> Any:
        """Give a key by which structures are ordered, the same in every process."""
        return _key(self.held, rank)


def is_structure(value: Any) -> bool:
    """Whether something is encoded as a structure; lists and plain tuples are no structures."""
    kind = type(value)
    return kind is not list and (
        kind in CHANGING or isinstance(value, StatePart) or _is_named(value, kind)
    )


def _is_named(value: Any, kind: type) -> bool:
    return isinstance(value, tuple) and hasattr(kind, "_fields")


def encode_structure(value: Any, encode: Code, rank: Code) -> Structure:
    """Encode a structure; `rank` orders what `encode` gives, for dicts without an order.

    Raises what `encode` raises for a value that cannot be part of a state.
    """
    return Structure(_Encoder(encode, rank).encode(value))


def _attributes(part: StatePart) -> Iterator[tuple[str, Any]]:
    """Give the attributes that have values, in a fixed order."""
    kind: Any = type(part)
    names = _slots(kind)
    if own := getattr(part, "__dict__", None):
        names = tuple(sorted({*names, *own}))
    return ((name, getattr(part, name)) for name in names if hasattr(part, name))


@cache
def _slots(kind: type) -> tuple[str, ...]:
    slots = (each.__dict__.get("__slots__", ()) for each in kind.__mro__)
    names = {name for each in slots for name in ((each,) if isinstance(each, str) else each)}
    return tuple(sorted(names))


class _Encoder:
    def __init__(self, encode: Code, rank: Code) -> None:
        self._encode, self._rank = encode, rank
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no number of an object is given again

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:  # most are
            return value
        if kind is tuple:
            return _Pair(map(self.encode, value))
        if isinstance(value, Constant):
            return self._encode(value)
        if _is_named(value, kind):
            return _Held(kind, (), tuple(map(self.encode, value)))
        is_array = kind.__name__ == "ndarray" and kind.__module__ == "numpy"
        if not (is_array or kind in CHANGING or isinstance(value, StatePart)):
            return self._encode(value)
        number = self._numbers.get(id(value))
        if number is not None:
            return _Again(number)
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        if is_array:
            return _Numbers(value.dtype.str, value.shape, value.tobytes())
        names: tuple[str, ...] = ()
        values: Iterable[Any] = value
        if isinstance(value, StatePart) and not isinstance(value, dict):
            pairs = dict(_attributes(value))
            names, values = tuple(pairs), pairs.values()
        elif kind is Unordered:
            return _Held(kind, (), self._in_order(value))
        elif isinstance(value, dict):
            values = (each for pair in value.items() for each in pair)
        return _Held(kind, names, tuple(map(self.encode, values)))

    def _in_order(self, value: Unordered[Any, Any]) -> tuple[Any, ...]:
        """Give the keys in their order, each with its value."""
        keys = sorted(
            ((_key(self.encode(key), self._rank), key) for key in value),
            key=itemgetter(0),
        )
        return tuple(self.encode(each) for _, key in keys for each in (key, value[key]))


class _Decoder:
    def __init__(self, decode: Code) -> None:
        self._decode = decode
        self._made: list[Any] = []

    def decode(self, value: Any) -> Any:
        if type(value) in PLAIN:
            return value
        if isinstance(value, _Again):
            return self._made[value.number]
        if isinstance(value, _Pair):
            return tuple(map(self.decode, value))
        if isinstance(value, _Numbers):
            array = value.decoded()
            self._made.append(array)
            return array
        if not isinstance(value, _Held):
            return self._decode(value)
        kind: Any = value.kind
        if issubclass(kind, tuple):
            return kind._make(map(self.decode, value.values))
        made = kind.__new__(kind)
        self._made.append(made)
        values = map(self.decode, value.values)
        if isinstance(made, dict):
            dict.update(made, zip(values, values, strict=True))
        elif isinstance(made, StatePart):
            for name, each in zip(value.names, values, strict=True):
                setattr(made, name, each)
        else:
            made.extend(values)
        return made


def _mapped(value: Any, change: Code) -> Any:
    match value:
        case _Again() | _Numbers():
            return value
        case _Pair():
            return _Pair([_mapped(each, change) for each in value])
        case _Held():
            return replace(value, values=tuple([_mapped(each, change) for each in value.values]))
    return change(value)


def _key(value: Any, rank: Code) -> Any:
    match value:
        case _Again():
            return 0, value.number
        case _Pair():
            return 1, tuple(_key(each, rank) for each in value)
        case _Held():
            values = tuple(_key(each, rank) for each in value.values)
            return 2, value.kind.__qualname__, value.names, values
        case _Numbers():
            return 3, value.kind, value.shape, value.contents
    return 4, rank(value)
