"""Read the types that the classes of a model are annotated with."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

from rebecsim.actors.rebec import Interface, KnownRebec, Rebec, StateVariable
from rebecsim.actors.values import Array, Kind, Reference
from rebecsim.lang.checked import (
    BOOLEAN,
    BYTE,
    DOUBLE,
    INT,
    NULL,
    PRIMITIVES,
    SHORT,
    TIMER,
    ArrayType,
    PrimitiveType,
    RebecType,
    Type,
)
from rebecsim.steps.pieces import Program, Signature
from rebecsim.steps.source import ClassSource, NotUnderstoodError, value_of_name

_PLAIN: dict[str, Type] = {"int": INT, "bool": BOOLEAN, "float": DOUBLE}


def type_of_annotation(program: Program, node: ast.expr, around: FunctionType) -> Type | None:
    """Give the type that an annotation in a function names; None if Rebeca has none like it."""
    match node:
        case ast.Constant(None):
            return NULL
        case ast.Constant(str() as text):
            try:
                return type_of_annotation(program, ast.parse(text, mode="eval").body, around)
            except SyntaxError:
                return None
        case ast.Name(name) if name in _PLAIN:
            return _PLAIN[name]
        case ast.Name() | ast.Attribute():
            return program.rebec_type(_class_named(program, node, around))
        case ast.BinOp(left, ast.BitOr(), right):
            kinds = {type_of_annotation(program, each, around) for each in (left, right)}
        case ast.Subscript(ast.Name("Optional") | ast.Attribute(_, "Optional"), inner):
            kinds = {type_of_annotation(program, inner, around)}
        case _:
            return None
    kinds -= {NULL}
    return kinds.pop() if len(kinds) == 1 else None


def _class_named(program: Program, node: ast.expr, around: FunctionType) -> Any:
    """Give what a name stands for: a class may be declared behind the one that names it."""
    if isinstance(node, ast.Attribute):
        owner = _class_named(program, node.value, around)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    assert isinstance(node, ast.Name)
    try:
        return value_of_name(node.id, around)
    except KeyError:  # a local of a function around, or a name for type checkers alone
        known = [each for each in program.names if each.__qualname__.split(".")[-1] == node.id]
        return known[0] if len(known) == 1 else None


def type_of_state(
    program: Program, source: ClassSource, declared: StateVariable, around: FunctionType | None
) -> Type:
    """Give the type of a state variable. Raises NotUnderstoodError."""
    kind: Kind | Array = declared.kind
    lengths = []
    while isinstance(kind, Array):
        lengths.append(kind.length)
        kind = kind.element
    found: Type | None = PRIMITIVES.get(kind.name)
    if found in (SHORT, BYTE):
        found = INT  # in Python nothing makes the values of such a variable shorter
    if kind.name == TIMER.name:
        found = TIMER
    if kind == Reference:
        annotation = source.annotation(declared.name)
        found = None if annotation is None else _referred(program, annotation, around)
        if found is None:
            raise source.refused(
                annotation or source.tree,
                f"the class of the rebec `{declared.name}` is unknown: annotate it",
            )
    assert found is not None
    for length in reversed(lengths):
        found = ArrayType(found, length)
    return found


def _referred(program: Program, node: ast.expr, around: FunctionType | None) -> RebecType | None:
    while isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        node = node.slice
    found = None if around is None else type_of_annotation(program, node, around)
    return found if isinstance(found, RebecType) else None


def type_of_known(
    program: Program,
    source: ClassSource,
    declared: KnownRebec,
    bound: set[type[Rebec]],
    around: FunctionType | None,
) -> Type:
    """Give the class of a known rebec; without an annotation, that of all which are bound to it.

    Raises NotUnderstoodError.
    """
    annotation = source.annotation(declared.name)
    found = None if annotation is None else _referred(program, annotation, around)
    if found is None and len(bound) == 1:
        found = program.rebec_type(next(iter(bound)))
    if found is None:
        raise source.refused(source.tree, f"the class of `{declared.name}` is unknown: annotate it")
    return found


def signature_of(
    program: Program, source: ClassSource, tree: ast.FunctionDef, function: FunctionType
) -> Signature:
    """Give the parameters of a function of a class. Raises NotUnderstoodError."""
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise source.refused(tree, f"`{tree.name}` has * or ** parameters")
    listed = [*arguments.posonlyargs, *arguments.args][1:]
    types: list[Type] = []
    for each in listed:
        found = None
        if each.annotation is not None:
            found = type_of_annotation(program, each.annotation, function)
        if not isinstance(found, PrimitiveType | RebecType):
            raise source.refused(each, f"the parameter `{each.arg}` has no type of Rebeca")
        types.append(found)
    without = len(listed) - len(arguments.defaults)
    defaults: tuple[ast.expr | None, ...] = (*[None] * without, *arguments.defaults)
    returns: Type | None = None
    if tree.returns is not None:
        returns = type_of_annotation(program, tree.returns, function)
        if returns is None:
            raise source.refused(
                tree.returns, f"`{ast.unparse(tree.returns)}` is not a type of Rebeca"
            )
        returns = None if returns == NULL else returns
    return Signature(tuple(each.arg for each in listed), tuple(types), defaults, returns)


def is_interface(owner: type) -> bool:
    """Whether a class is an interface, none of rebecs."""
    return issubclass(owner, Interface) and owner is not Interface and not issubclass(owner, Rebec)


def refused(owner: type, reason: str) -> NotUnderstoodError:
    """Make the error for a class as a whole."""
    return NotUnderstoodError(owner.__module__, 1, f"{owner.__qualname__}: {reason}")
