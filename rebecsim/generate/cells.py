"""Lay out the variables of a rebec as flat cells, and the numbers of a step, for compiled code.

A compiled step takes numbers as the array `params` instead of containing them. Each of its
functions has a row of numbers of its own there: env constants, lengths of arrays, where variables
lie behind arrays. So functions that differ in such numbers only are equal.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rebecsim.generate.code import Range
from rebecsim.lang import syntax
from rebecsim.lang.checked import REAL, ArrayType, CheckedClass, Elements, Symbol, Type, Value


@dataclass(frozen=True)
class Place:
    """A variable: its first cell, counted from the rebec's own first cell, and its type.

    It `moves` when it lies behind an array, whose length may differ between models that are
    otherwise the same.
    """

    offset: int
    type: Type
    moves: bool = False


@dataclass(frozen=True)
class ClassCells:
    """The cells of a rebec of one class: variables by their names in Rebeca, and how many cells."""

    places: dict[str, Place]
    size: int


def class_cells(checked: CheckedClass) -> ClassCells:
    """Lay out a class: its state variables, arrays last, then its known rebecs.

    Models that differ in the number of rebecs mostly differ in the lengths of the last arrays and
    in known rebecs, so that everything else lies at the same place in all of them.
    """
    state: list[Symbol] = sorted(
        checked.state_variables, key=lambda symbol: isinstance(symbol.type, ArrayType)
    )
    places: dict[str, Place] = {}
    size = 0
    moves = False
    for symbol in (*state, *checked.known_rebecs):
        places[symbol.name] = Place(size, symbol.type, moves)
        size += flat_length(symbol.type)
        moves = moves or isinstance(symbol.type, ArrayType)
    return ClassCells(places, size)


def flat_length(kind: Type) -> int:
    """Give the number of cells of a value of this type."""
    return kind.length * flat_length(kind.element) if isinstance(kind, ArrayType) else 1


def element_type(kind: Type) -> Type:
    """Give the type of the cells of an array, or the type itself."""
    return element_type(kind.element) if isinstance(kind, ArrayType) else kind


_Node = TypeVar("_Node", bound=syntax.Node)

Site = int | str
"""What a failure tells of: the line of an index, the text of an assertion, the name of a class."""


class StepTables:
    """What a step is given beside its text: all numbers, and what the numbers of sites mean."""

    def __init__(self, servers: int) -> None:
        self.params = [0] * servers
        """Begins with where the row of each message server starts."""
        self.sites: list[Site] = []


class FunctionNumbers:
    """The row of numbers of one function, while it is written."""

    def __init__(self, tables: StepTables) -> None:
        self._tables = tables
        self._values: list[int] = []
        self._known: dict[Hashable, str] = {}
        self._sites: list[Site] = []

    def number(self, key: Hashable, value: int) -> str:
        """Write a number of the row; the same one for the same key."""
        if key not in self._known:
            self._known[key] = _shown("numbers", len(self._values))
            self._values.append(value)
        return self._known[key]

    def table(self, key: Hashable, values: Sequence[int]) -> str:
        """Write where a table begins that lies beside the row; the same one for the same key."""
        if ("table", key) not in self._known:
            self.number(("table", key), self.place(values))
        return self._known["table", key]

    def place(self, values: Sequence[int]) -> int:
        """Put numbers beside the row and give where they begin."""
        self._tables.params += values
        return len(self._tables.params) - len(values)

    def site(self, about: Site) -> str:
        """Write the number of a place that can fail."""
        self.number("sites", 0)
        self._sites.append(about)
        return f"sites + {len(self._sites) - 1}" if len(self._sites) > 1 else "sites"

    def rows(self, run: StatementRun) -> tuple[str, str]:
        """Put the table of a run beside the row; gives where it begins and ends, as code."""
        if not run.columns:
            run.column([0] * run.length)
        first = len(self._tables.params)
        for row in zip(*run.columns, strict=True):
            self._tables.params += row
        last = len(self._tables.params)
        return self.number(("first", first), first), self.number(("last", first), last)

    def add_sites(self, about: Iterable[Site]) -> list[int]:
        """Number places that are told apart by the rows of a run."""
        first = len(self._tables.sites)
        self._tables.sites += about
        return list(range(first, len(self._tables.sites)))

    @property
    def header(self) -> list[str]:
        """What the function has to begin with: where its sites are."""
        return [f"sites = {self._known['sites']}"] if self._sites else []

    def close(self) -> int:
        """Put the row into the tables and give where it starts."""
        if self._sites:
            place = list(self._known).index("sites")
            self._values[place] = len(self._tables.sites)
            self._tables.sites += self._sites
        start = len(self._tables.params)
        self._tables.params += self._values
        return start


class StatementRun:
    """Statements one after the other that are equal but for numbers, known rebecs and choice sites.

    They are written once, in a loop over the rows of a table of what differs; here are its columns.
    """

    def __init__(
        self, name: str, alike: Mapping[int, Sequence[syntax.Node]], numbers: FunctionNumbers
    ) -> None:
        self._name = name
        self._alike = alike
        self._numbers = numbers
        self.columns: list[list[int]] = []

    @property
    def length(self) -> int:
        """How many statements the run has."""
        return len(next(iter(self._alike.values())))

    def nodes(self, node: _Node) -> Sequence[_Node]:
        """Give what stands in the place of a node of the first statement in each of them."""
        kind = type(node)
        return [each for each in self._alike[id(node)] if isinstance(each, kind)]

    def integers(self, node: syntax.IntLiteral) -> list[int]:
        """Give the integers that stand in the place of one of the first statement."""
        return [each.value for each in self.nodes(node)]

    def column(self, values: Iterable[int]) -> str:
        """Write the number of the current row, of these numbers of all rows."""
        self.columns.append(list(values))
        return _shown(self._name, len(self.columns) - 1)

    def site(self, node: syntax.Node, about: str | Callable[[syntax.Node], Site]) -> str:
        """Write the number of a place that can fail; what it is about may differ by row."""
        about_rows = [about if isinstance(about, str) else about(each) for each in self.nodes(node)]
        return self.column(self._numbers.add_sites(about_rows))

    @staticmethod
    def hull(values: Sequence[int]) -> Range:
        """Give the range of a column."""
        return Range(min(values), max(values))


def _shown(start: str, place: int) -> str:
    return f"params[{start} + {place}]" if place else f"params[{start}]"


def constant_cells(value: Value | Elements, kind: Type) -> list[int]:
    """Give the integers that stand for the value of an env constant."""
    if isinstance(kind, ArrayType):
        assert isinstance(value, tuple)
        return [cell for each in value for cell in constant_cells(each, kind.element)]
    assert isinstance(value, int | float)
    if kind not in REAL:
        return [int(value)]
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return [int(bits)]
