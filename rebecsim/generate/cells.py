"""Lay out the variables of a rebec as flat cells, for compiled code."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.lang.checked import CheckedClass, Symbol
from rebecsim.lang.types import ArrayType, Type


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
