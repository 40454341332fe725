"""What is known of a model in Python while its source is read: classes, values, ranges."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from rebecsim.actors.rebec import Interface, MessageServer, Rebec
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    BOOLEAN,
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SHORT,
    ArrayType,
    RebecType,
    Type,
)
from rebecsim.lang.syntax import Span, TypeName
from rebecsim.steps.source import ClassSource

INTEGERS = frozenset({INT, SHORT, BYTE})
FROM, TO = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Piece:
    """An expression of Rebeca that stands for one of Python.

    Attributes:
        tree: the expression.
        type: the type of its value; that of a Python float is double.
        low: a whole number that the value is never below, None if none is known.
        value: the value of a constant, as a tuple of one; empty where it is not known.
        pure: whether it may be written twice: it has no effect and always gives the same.
        single: the same value as a float, where it is one.
    """

    tree: syntax.Expression
    type: Type
    low: int | None = None
    value: tuple[Any, ...] = ()
    pure: bool = True
    single: syntax.Expression | None = None

    @property
    def is_natural(self) -> bool:
        """Whether it is a whole number that is not negative."""
        return self.low is not None and self.low >= 0


@dataclass(frozen=True)
class Signature:
    """The parameters of a message server, method or constructor, and what it gives."""

    names: tuple[str, ...]
    types: tuple[Type, ...]
    defaults: tuple[ast.expr | None, ...]
    returns: Type | None = None
    """None: nothing."""


@dataclass(frozen=True, eq=False)
class ClassFacts:
    """A class: its name in Rebeca, and by their names in Python what its rebecs have.

    State variables have a name in Rebeca and a type. What is inherited is included.
    """

    owner: type[Rebec]
    source: ClassSource
    name: str
    state: dict[str, tuple[str, Type]]
    known: dict[str, Type]
    servers: dict[str, MessageServer]
    methods: dict[str, FunctionType]


@dataclass
class Program:
    """All that is known of a model, while it is read until nothing new is found out.

    Attributes:
        classes: by class in Python.
        names: the name in Rebeca of each class and interface.
        env: constants: name in Rebeca -> declaration.
        types: of locals, by function and name.
        signed: whole numbers that may be negative: variables, parameters, results, locals.
        changed: whether types or signs have been found that were not known before.
        called: the methods that message servers call, and those that these call.
        sites: the choices, each with the number of its random stream.
        trees: functions, with what they make of fixed lists written out.
    """

    classes: dict[type, ClassFacts] = field(default_factory=dict)
    names: dict[type, str] = field(default_factory=dict)
    signatures: dict[FunctionType, Signature] = field(default_factory=dict)
    env: dict[str, syntax.EnvVariable] = field(default_factory=dict)
    types: dict[Hashable, Type] = field(default_factory=dict)
    signed: set[Hashable] = field(default_factory=set)
    changed: bool = False
    called: set[str] = field(default_factory=set)
    sites: list[tuple[syntax.Choice, int]] = field(default_factory=list)
    trees: dict[FunctionType, ast.FunctionDef] = field(default_factory=dict)
    _constants: dict[tuple[str, Any], str] = field(default_factory=dict)

    def note(self, key: Hashable, given: Piece) -> None:
        """Note the sign of a value that something may have."""
        if given.type in INTEGERS and not given.is_natural and key not in self.signed:
            self.signed.add(key)
            self.changed = True

    def note_call(self, name: str) -> None:
        """Note that a method is called."""
        if name not in self.called:
            self.called.add(name)
            self.changed = True

    def note_type(self, key: Hashable, given: Type) -> Type | None:
        """Note a type that a local has, and give the one for all its values; None: there is none.

        A local that is a whole number here and a float there is a float, as in Java.
        """
        before = self.types.get(key, given)
        joined = join(before, given)
        if joined is not None and (key not in self.types or joined != before):
            self.types[key] = joined
            self.changed = True
        return joined

    def low(self, key: Hashable) -> int | None:
        """Give 0 for a whole number that is never negative."""
        return None if key in self.signed else 0

    def constant(self, name: str, value: Any, span: Span) -> str | None:
        """Declare a constant of the module, and give its name in Rebeca; None: it is none."""
        items = tuple(value) if isinstance(value, list | tuple | range) else value
        kind = type_of_constant(items)
        if kind is None:
            return None
        key = (name, repr(items))
        if key not in self._constants:
            free = name
            while free in self.env or free in self.names.values():
                free += "_"
            initial = initial_of(items, span)
            self.env[free] = syntax.EnvVariable(type_name(kind, span), free, initial, span=span)
            self._constants[key] = free
        return self._constants[key]

    def rebec_type(self, found: object) -> RebecType | None:
        """Give the type of references to rebecs of a class or interface of the model."""
        if isinstance(found, type) and issubclass(found, Rebec | Interface) and found in self.names:
            return RebecType(self.names[found])
        return None


def join(one: Type, other: Type) -> Type | None:
    """Give the type of a variable that has values of two types."""
    if one == other:
        return one
    kinds = {one, other}
    if NULL in kinds:
        (other_one,) = kinds - {NULL}
        return other_one if isinstance(other_one, RebecType) else None
    if kinds <= INTEGERS:
        return INT
    if kinds <= INTEGERS | {DOUBLE, FLOAT}:
        return DOUBLE
    return None


def type_of_constant(value: Any) -> Type | None:
    """Give the type of a number, boolean, or tuple of them; None for anything else."""
    if isinstance(value, tuple):
        kinds = {type_of_constant(each) for each in value}
        if kinds == {INT, DOUBLE}:
            kinds = {DOUBLE}
        (kind,) = kinds if len(kinds) == 1 else (None,)
        return None if kind is None or not value else ArrayType(kind, len(value))
    if type(value) is bool:
        return BOOLEAN
    if type(value) is int:
        return INT if FROM <= value <= TO else None
    return DOUBLE if type(value) is float and value - value == 0 else None


def literal(value: Any, span: Span) -> syntax.Expression:
    """Write a constant."""
    if value is None:
        return syntax.NullLiteral(span=span)
    if isinstance(value, bool):
        return syntax.BoolLiteral(value, span=span)
    if value < 0 or (value == 0 and str(value).startswith("-")):
        return syntax.Unary("-", literal(-value, span), span=span)
    if isinstance(value, int):
        return syntax.IntLiteral(value, span=span)
    return syntax.FloatLiteral(value, span=span)


def initial_of(value: Any, span: Span) -> syntax.Initial:
    """Write a constant that may be an array."""
    if isinstance(value, tuple | list):
        return syntax.ArrayInitializer(tuple(initial_of(each, span) for each in value), span=span)
    return literal(value, span)


def constant(value: Any, span: Span) -> Piece | None:
    """Give the piece of a number, boolean or None that Rebeca has; None for anything else."""
    kind = NULL if value is None else type_of_constant(value)
    if kind is None or isinstance(kind, ArrayType):
        return None
    low = value if kind == INT else None
    return Piece(literal(value, span), kind, low, (value,))


def type_name(kind: Type, span: Span) -> TypeName:
    """Write a type."""
    lengths: list[syntax.Expression] = []
    while isinstance(kind, ArrayType):
        lengths.append(syntax.IntLiteral(kind.length, span=span))
        kind = kind.element
    return TypeName(str(kind), tuple(lengths), span=span)


def least(bounds: Iterable[int | None]) -> int | None:
    """Give the smallest of some lower bounds; None if one is not known."""
    known = list(bounds)
    return None if None in known else min(each for each in known if each is not None)
