"""Define the types of Timed Rebeca."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class PrimitiveType:
    """`int` (32 bits), `short` (16), `byte` (8, signed), `boolean`, `float` or `double` (IEEE).

    Also `Timer`, whose values only the operations on timers can read and change.
    """

    name: Literal["int", "short", "byte", "boolean", "float", "double", "Timer"]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class RebecType:
    """A reference to an instance of a reactive class (or of a class that extends it), or null."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A fixed number of elements; arrays of arrays have an array as element."""

    element: Type
    length: int

    def __str__(self) -> str:
        lengths = f"[{self.length}]"
        element = self.element
        while isinstance(element, ArrayType):
            lengths += f"[{element.length}]"
            element = element.element
        return f"{element}{lengths}"


@dataclass(frozen=True, slots=True)
class VoidType:
    """What a method without a value, or sending a message, gives."""

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class NullType:
    """The type of `null`, which fits every rebec type."""

    def __str__(self) -> str:
        return "null"


Type = PrimitiveType | RebecType | ArrayType | VoidType | NullType

INT = PrimitiveType("int")
SHORT = PrimitiveType("short")
BYTE = PrimitiveType("byte")
BOOLEAN = PrimitiveType("boolean")
FLOAT = PrimitiveType("float")
DOUBLE = PrimitiveType("double")
TIMER = PrimitiveType("Timer")
VOID = VoidType()
NULL = NullType()

PRIMITIVES: dict[str, PrimitiveType] = {
    kind.name: kind for kind in (INT, SHORT, BYTE, BOOLEAN, FLOAT, DOUBLE)
}
REAL = frozenset({FLOAT, DOUBLE})
NUMERIC = frozenset({INT, SHORT, BYTE}) | REAL


def arithmetic_type(left: Type, right: Type) -> PrimitiveType:
    """The type that two numbers are computed and compared in, as in Java and C++."""
    kinds = {left, right}
    return DOUBLE if DOUBLE in kinds else FLOAT if FLOAT in kinds else INT


ANY_REBEC = RebecType("ReactiveClass")
"""What `sender` is: a rebec of a class that only a cast can tell; no class has this name."""
