"""Parts of a rebec's state that have attributes and methods of their own, in and out of states.

A part is encoded as the tree of what it holds. What it holds twice, as a list that two attributes
name, is written once and referred to by its number, so that decoding shares it again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rebecsim.actors import StatePart

Code = Callable[[Any], Any]
"""Encodes or decodes what is no part, list, dict, counter, deque or tuple."""


@dataclass(frozen=True, slots=True)
class _Again:  # no tuple: it would be equal to one that holds the number
    """What was written before: its number, in the order of writing."""

    number: int


@dataclass(frozen=True, slots=True)
class _Held:
    """Something that can change: its class, and what it holds.

    Of a part these are the values of its attributes, of a dict its keys and values in turn.
    """

    kind: type
    names: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """An array of numpy; the one that is made of it again cannot be changed in place."""

    kind: str
    shape: tuple[int, ...]
    contents: bytes

    def decoded(self) -> Any:
        import numpy as np

        return np.frombuffer(self.contents, self.kind).reshape(self.shape)


class _Pair(tuple[Any, ...]):
    """A tuple, which never changes; what it holds may."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """A named tuple: its class, and what it holds."""

    kind: type
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """An encoded part."""

    held: _Held

    def decoded(self, decode: Code) -> StatePart:
        """Make the part anew."""
        part: StatePart = _Decoder(decode).decode(self.held)
        return part

    def mapped(self, change: Code) -> Structure:
        """Give the part with everything in it changed that is encoded by itself."""
        return Structure(_mapped(self.held, change))

    def key(self, rank: Code) -> Any:
        """Give a key by which encoded parts are ordered, the same in every process."""
        return _key(self.held, rank)


def encode_part(part: StatePart, encode: Code) -> Structure:
    """Encode a part. Raises what `encode` raises for a value that cannot be part of a state."""
    return Structure(_Encoder(encode).encode(part))


def _attributes(part: StatePart) -> Iterator[tuple[str, Any]]:
    """Give the attributes that have values, in a fixed order."""
    slots = (each.__dict__.get("__slots__", ()) for each in type(part).__mro__)
    names = {name for each in slots for name in ((each,) if isinstance(each, str) else each)}
    names |= getattr(part, "__dict__", {}).keys()
    return ((name, getattr(part, name)) for name in sorted(names) if hasattr(part, name))


class _Encoder:
    def __init__(self, encode: Code) -> None:
        self._encode = encode
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no number of an object is given again

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if kind is tuple:
            return _Pair(map(self.encode, value))
        if isinstance(value, tuple):
            return _Named(kind, tuple(map(self.encode, value)))
        if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
            return _Numbers(value.dtype.str, value.shape, value.tobytes())
        if not (kind in (list, dict, Counter, deque) or isinstance(value, StatePart)):
            return self._encode(value)
        number = self._numbers.get(id(value))
        if number is not None:
            return _Again(number)
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        names: tuple[str, ...] = ()
        values: Iterable[Any] = value
        if isinstance(value, StatePart):
            pairs = dict(_attributes(value))
            names, values = tuple(pairs), pairs.values()
        elif isinstance(value, dict):
            values = (each for pair in value.items() for each in pair)
        return _Held(kind, names, tuple(map(self.encode, values)))


class _Decoder:
    def __init__(self, decode: Code) -> None:
        self._decode = decode
        self._made: list[Any] = []

    def decode(self, value: Any) -> Any:
        if isinstance(value, _Again):
            return self._made[value.number]
        if isinstance(value, _Pair):
            return tuple(map(self.decode, value))
        if isinstance(value, _Named):
            return value.kind(*map(self.decode, value.values))
        if isinstance(value, _Numbers):
            return value.decoded()
        if not isinstance(value, _Held):
            return self._decode(value)
        kind: Any = value.kind
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
        case _Held() | _Named():
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
        case _Named():
            values = tuple(_key(each, rank) for each in value.values)
            return 5, value.kind.__qualname__, values
        case _Numbers():
            return 3, value.kind, value.shape, value.contents
    return 4, rank(value)
