"""Parts of a rebec's state that have attributes and methods of their own, in and out of states.

A part is encoded as the tree of what it holds, written in one line: before what something holds
stands its form. What is held twice, as a list that two attributes name, is written once and
referred to by its number, so that decoding shares it again. One line of plain values is hashed and
compared in a fraction of the time that a tree of objects takes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Any

from rebecsim.actors import Constant, StatePart, Unordered

Code = Callable[[Any], Any]
"""Encodes or decodes what is no part, list, dict, counter, deque or tuple."""

PLAIN = frozenset({int, bool, str, type(None)})
"""Types of values that are the same inside and outside of a state."""

CHANGING = frozenset({list, dict, Counter, deque, Unordered})
"""What holds others and can change, beside parts."""


class _Form:
    """How something is written: its class, the names of its attributes, how many values follow.

    There is one object for each. Of a part the values are those of its attributes, of a dict its
    keys and values in turn. Of what was written before, `count` is the number, and nothing follows.
    """

    __slots__ = ("count", "kind", "names")

    def __init__(self, kind: type, names: tuple[str, ...], count: int) -> None:
        self.kind, self.names, self.count = kind, names, count

    def __reduce__(self) -> tuple[Any, ...]:
        return _form, (self.kind, self.names, self.count)


@cache
def _form(kind: type, names: tuple[str, ...], count: int) -> _Form:
    return _Form(kind, names, count)


class _Again:
    """The class in the form of what was written before."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    """An array of numpy."""

    kind: str
    shape: tuple[int, ...]
    contents: bytes

    def decoded(self) -> Any:
        import numpy as np

        return np.frombuffer(self.contents, self.kind).reshape(self.shape).copy()


@dataclass(frozen=True, slots=True)
class Structure:
    """An encoded part, or something else that is written by itself: a dict, a tuple with names."""

    line: tuple[Any, ...]

    def decoded(self, decode: Code) -> Any:
        """Make it anew."""
        return _Decoder(self.line, decode).decoded()

    def text(self, decode: Code) -> str:
        """Write what was encoded; what does not show what it holds is not made anew for that."""
        kind: Any = getattr(self.line[0], "kind", str)
        hides = getattr(kind, "__str__", None) is StatePart.__str__
        return str(kind.__name__) if hides else str(self.decoded(decode))

    def mapped(self, change: Code) -> Structure:
        """Give it with everything in it changed that is encoded by itself."""
        kept = _Form, _Numbers
        return Structure(
            tuple([each if isinstance(each, kept) else change(each) for each in self.line])
        )

    def key(self, rank: Code) -> Any:
        """Give a key by which structures are ordered, the same in every process."""
        return _key(iter(self.line), rank)


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
    encoder = _Encoder(encode, rank)
    encoder.write(value)
    return Structure(tuple(encoder.line))


@cache
def _slots(kind: type) -> tuple[str, ...]:
    slots = (each.__dict__.get("__slots__", ()) for each in kind.__mro__)
    names = {name for each in slots for name in ((each,) if isinstance(each, str) else each)}
    return tuple(sorted(names))


@cache
def _in_order(names: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*names, *own}))


def _attributes(part: StatePart) -> tuple[tuple[str, ...], list[Any]]:
    """Give the names of the attributes that have values, in a fixed order, and the values."""
    kind: Any = type(part)
    names = _slots(kind)
    own = getattr(part, "__dict__", None)
    if own:
        names = _in_order(names, tuple(own))
    try:
        return names, [getattr(part, name) for name in names]
    except AttributeError:
        names = tuple(name for name in names if hasattr(part, name))
        return names, [getattr(part, name) for name in names]


@cache
def _way(kind: type) -> str:
    """Say how values of a class are written."""
    if kind is tuple:
        return "tuple"
    if issubclass(kind, Constant):
        return "other"
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return "tuple"
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        return "array"
    if kind is Unordered:
        return "unordered"
    is_part = issubclass(kind, StatePart)
    if issubclass(kind, dict) and (kind in CHANGING or is_part):
        return "dict"
    if is_part:
        return "part"
    return "line" if kind in CHANGING else "other"


class _Encoder:
    def __init__(self, encode: Code, rank: Code) -> None:
        self.line: list[Any] = []
        self._encode, self._rank = encode, rank
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no number of an object is given again

    def write(self, value: Any) -> None:
        kind: Any = type(value)
        if kind in PLAIN:
            self.line.append(value)
            return
        way = _way(kind)
        if way == "other":
            self.line.append(self._encode(value))
            return
        names: tuple[str, ...] = ()
        if way != "tuple":
            number = self._numbers.setdefault(id(value), len(self._numbers))
            if number < len(self._kept):
                self.line.append(_form(_Again, (), number))
                return
            self._kept.append(value)
        if way == "array":
            self.line.append(_Numbers(value.dtype.str, value.shape, value.tobytes()))
            return
        held: Any = value
        if way == "part":
            names, held = _attributes(value)
        elif way == "dict":
            held = [each for pair in value.items() for each in pair]
        elif way == "unordered":
            held = self._in_order(value)
        line = self.line
        line.append(_form(kind, names, len(held)))
        for each in held:
            if type(each) in PLAIN:  # most are
                line.append(each)
            else:
                self.write(each)

    def _in_order(self, value: Unordered[Any, Any]) -> list[Any]:
        """Give the keys in their order, each with its value."""

        def key(of: Any) -> Any:
            alone = _Encoder(self._encode, self._rank)
            alone.write(of)
            return _key(iter(alone.line), self._rank)

        keys = sorted(((key(each), each) for each in value), key=itemgetter(0))
        return [each for _, of in keys for each in (of, value[of])]


class _Decoder:
    def __init__(self, line: tuple[Any, ...], decode: Code) -> None:
        self._line = iter(line)
        self._decode = decode
        self._made: list[Any] = []

    def decoded(self) -> Any:
        return self._held(1)[0]

    def _held(self, count: int) -> list[Any]:
        """Read so many values."""
        held: list[Any] = []
        for value in islice(self._line, count):
            kind = type(value)
            if kind is _Form:
                held.append(self._made_by(value))
            elif kind in PLAIN:
                held.append(value)
            elif kind is _Numbers:
                array = value.decoded()
                self._made.append(array)
                held.append(array)
            else:
                held.append(self._decode(value))
        return held

    def _made_by(self, form: _Form) -> Any:
        kind: Any = form.kind
        if kind is _Again:
            return self._made[form.count]
        way = _way(kind)
        if way == "tuple":
            held = self._held(form.count)
            return tuple(held) if kind is tuple else kind._make(held)
        made = kind.__new__(kind)
        self._made.append(made)
        held = self._held(form.count)
        if way == "part":
            for name, value in zip(form.names, held, strict=True):
                setattr(made, name, value)
        elif way == "line":
            made.extend(held)
        else:
            dict.update(made, zip(held[::2], held[1::2], strict=True))
        return made


def _key(line: Iterator[Any], rank: Code) -> Any:
    value = next(line)
    if isinstance(value, _Numbers):
        return 3, value.kind, value.shape, value.contents
    if not isinstance(value, _Form):
        return 4, rank(value)
    if value.kind is _Again:
        return 0, value.count
    held = tuple([_key(line, rank) for _ in range(value.count)])
    return (1, held) if value.kind is tuple else (2, value.kind.__qualname__, value.names, held)
