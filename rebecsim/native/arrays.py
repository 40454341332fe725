"""The arrays that compiled functions take, arrays that grow, and states packed into words.

Arrays are contiguous; those of one kind differ in what they hold and in their dimensions. Arrays
that belong together are the fields of a named tuple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray


class ArrayType(NamedTuple):
    """What an array holds, and how many dimensions it has.

    It stands beside NumPy's own type, whose insides differ between versions of NumPy.
    """

    element: type[np.generic]
    dimensions: int


Integers = Annotated[NDArray[np.int64], ArrayType(np.int64, 1)]
Table = Annotated[NDArray[np.int64], ArrayType(np.int64, 2)]
Cube = Annotated[NDArray[np.int64], ArrayType(np.int64, 3)]
ShortTable = Annotated[NDArray[np.int32], ArrayType(np.int32, 2)]
Numbers = Annotated[NDArray[np.uint32], ArrayType(np.uint32, 1)]
NumberTable = Annotated[NDArray[np.uint32], ArrayType(np.uint32, 2)]
Narrow = Annotated[NDArray[np.int32], ArrayType(np.int32, 1)]
Bytes = Annotated[NDArray[np.uint8], ArrayType(np.uint8, 1)]
Streams = Annotated[NDArray[np.uint64], ArrayType(np.uint64, 2)]
Flags = Annotated[NDArray[np.bool_], ArrayType(np.bool_, 1)]

Step = Annotated[Callable[..., None], "step"]
"""The compiled step of a model."""


class Leaf(NamedTuple):
    """A number, an array of this many dimensions, or a step."""

    element: str
    dimensions: int = 0


class Fields(NamedTuple):
    """A named tuple."""

    owner: type
    parts: tuple[Leaf | Fields, ...]


Kind = Leaf | Fields


class Signature(NamedTuple):
    """What a compiled function takes and gives."""

    result: Kind | None
    arguments: tuple[Kind, ...]


def signature_of(function: Callable[..., Any], text: str = "") -> Signature:
    """Read the annotations of a function, or a text like `void(int64, float64[::1])`."""
    if text:
        found = re.findall(r"(\w+)(\[[^]]*\])?", text)
        kinds = [Leaf(name, 1 + part.count(",") if part else 0) for name, part in found]
        kinds = [
            Leaf("bool", each.dimensions) if each.element == "boolean" else each for each in kinds
        ]
        return Signature(None if kinds[0].element == "void" else kinds[0], tuple(kinds[1:]))
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    given = None if result is NoneType else _kind_of(result)
    return Signature(given, tuple(map(_kind_of, hints.values())))


@cache
def _kind_of(hint: Any) -> Kind:
    """Give what an annotation says: of a union, what its first member says."""
    if hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True).values()
        return Fields(hint, tuple(map(_kind_of, fields)))
    kind, *noted = get_args(hint) or (hint,)
    if noted == ["step"]:
        return Leaf("step")
    if hasattr(hint, "__metadata__"):
        ((element, dimensions),) = noted
        return Leaf(np.dtype(element).name, dimensions)
    return Leaf(np.dtype(kind).name)


# --- in compiled code ----------------------------------------------------------------------------


def room(element: type[np.generic], shape: int | tuple[int, ...]) -> Any:
    """Make an array of zeros; in compiled code it lasts until the function ends."""
    return np.zeros(shape, element)


def copied(cells: Integers, first: int, length: int) -> Integers:
    """Copy a part of an array; in compiled code the copy lasts until the function ends."""
    return cells[first : first + length].copy()


def rows(table: Table, first: int, count: int) -> Table:
    """Give so many rows of a table, from the first on."""
    return table[first : first + count]


def prefetch(table: Table, row: int | np.int64) -> None:
    """Let the processor fetch a row of a table that is needed soon."""


def pick(values: tuple[Any, ...], place: int) -> Any:
    """Give one of some values of one type; the place is not checked in compiled code."""
    return values[place]


def call(step: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Call the step of a model, with integers and arrays."""
    step(*arguments)


def ranges(first: Integers, count: Integers) -> Integers:
    """Give the numbers of the rows first, first + 1, ... of each range, one after the other."""
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(int(count.sum()), dtype=np.int64)


class IntegerRows:
    """Rows of integers, appended one by one. `array` has more rows than are in use.

    How many are is in `counts`, at this `place`, where compiled code can count on.
    """

    def __init__(self, width: int, counts: Integers, place: int) -> None:
        self.array: Integers = np.empty((64, width), np.int64)
        self._counts = counts
        self._place = place

    def __len__(self) -> int:
        return int(self._counts[self._place])

    def append(self, *values: int) -> int:
        """Add a row and give its number."""
        number = len(self)
        if number == len(self.array):
            self.grow()
        self.array[number] = values
        self._counts[self._place] = number + 1
        return number

    def grows(self, coming: int) -> bool:
        """Whether there is no room for so many more."""
        return len(self) + coming > len(self.array)

    def grow(self) -> None:
        """Make room for twice as many rows."""
        larger = np.empty((2 * len(self.array), self.array.shape[1]), np.int64)
        larger[: len(self)] = self.array[: len(self)]
        self.array = larger


class NumberedRows(IntegerRows):
    """Rows that belong to rebecs, those of each of them numbered from 1 on, in the last column.

    Attributes:
        numbers: how many rows each rebec has; shape (rebecs,).
        at: the row of each number; shape (rebecs, more than the largest number).
    """

    def __init__(self, rebecs: int, width: int, counts: Integers, place: int) -> None:
        super().__init__(width, counts, place)
        self.numbers = np.zeros(rebecs, np.int64)
        self.at = np.zeros((rebecs, 64), np.int32)

    def append_to(self, owner: int, *values: int) -> int:
        """Add a row of a rebec, without its number, and give where it is."""
        number = int(self.numbers[owner]) + 1
        if number == self.at.shape[1]:
            self.grow_numbers()
        row = self.append(*values, number)
        self.numbers[owner] = number
        self.at[owner, number] = row
        return row

    def grows_numbers(self, coming: int) -> bool:
        """Whether a rebec may get a number that there is no room for, when so many come."""
        return bool(self.numbers.max() + coming >= self.at.shape[1])

    def grow_numbers(self) -> None:
        """Make room for larger numbers."""
        self.at = np.concatenate([self.at, np.zeros_like(self.at)], axis=1)

    def number_of(self, row: int) -> int:
        """Give the number of a row."""
        return int(self.array[row, -1])

    def row_at(self, owner: int, number: int) -> int:
        """Give the row of a number of a rebec."""
        return int(self.at[owner, number])


WIDEST = 62
"""The most bits of one part; more would not leave room for a sign."""

_WORD = 63


def layout_for(largest: Sequence[int]) -> NDArray[np.int64]:
    """Lay out parts of a state that take values from 0 to `largest`, at least.

    Gives an array of shape (parts, 3): word, shift and mask of each. The bits that are left in
    the last word go to the parts that may soon need them, those with the largest values first.
    Raises OverflowError for a value of more than 62 bits.
    """
    widths = [max(int(value).bit_length(), 1) for value in largest]
    if max(widths) > WIDEST:
        raise OverflowError(f"a part of a state needs {max(widths)} bits")
    words = _pack(widths)[-1][0]
    by_size = sorted(range(len(widths)), key=lambda part: -widths[part])
    for part in (*by_size, *by_size):
        widths[part] += 1
        if widths[part] > WIDEST or _pack(widths)[-1][0] > words:
            widths[part] -= 1
    return np.array(
        [
            (word, shift, (1 << width) - 1)
            for (word, shift), width in zip(_pack(widths), widths, strict=True)
        ],
        dtype=np.int64,
    )


def _pack(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Give word and shift of each part: in order, none across two words."""
    places: list[tuple[int, int]] = []
    word = shift = 0
    for width in widths:
        if shift + width > _WORD:
            word, shift = word + 1, 0
        places.append((word, shift))
        shift += width
    return places


def packed(parts: NDArray[np.int64], layout: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pack states, an array of shape (states, parts), into words: shape (states, words)."""
    words = np.zeros((len(parts), words_of(layout)), dtype=np.int64)
    for part, (word, shift, _) in enumerate(layout.tolist()):
        words[:, word] |= parts[:, part] << shift
    return words


def relaid(
    states: NDArray[np.int64], old: NDArray[np.int64], layout: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Pack states of one layout, shape (states, words), into another."""
    parts = [(states[:, word] >> shift) & mask for word, shift, mask in old.tolist()]
    return packed(np.stack(parts, axis=1), layout)


def words_of(layout: NDArray[np.int64]) -> int:
    """Give how many words a state takes."""
    return int(layout[-1, 0]) + 1
