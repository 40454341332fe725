"""The parameters of constructors, message servers and methods, and how they are shown."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checked import Symbol
from rebecsim.lang.checking.scopes import Findings
from rebecsim.lang.checking.type_names import resolve_type
from rebecsim.lang.types import Type

Declared = syntax.Constructor | syntax.MessageServer | syntax.Method


def type_signature(node: Declared) -> str:
    """The types of the parameters, and the result of a method before them: `int (byte, A)`."""
    parameters = f"({', '.join(parameter.type.name for parameter in node.parameters)})"
    if not isinstance(node, syntax.Method):
        return parameters
    result = "void" if node.return_type is None else node.return_type.name
    return f"{result} {parameters}"


def parameter_symbols(findings: Findings, node: Declared) -> tuple[Symbol, ...]:
    """The parameters whose types are known; reports those that are not, and arrays."""
    kinds = parameter_types(findings, node.parameters)
    return tuple(
        Symbol("parameter", parameter.name, kind)
        for parameter, kind in zip(node.parameters, kinds, strict=True)
        if kind is not None
    )


def parameter_types(
    findings: Findings, parameters: tuple[syntax.Parameter, ...]
) -> list[Type | None]:
    """The types of parameters; reports unknown ones and arrays."""
    for parameter in parameters:
        no_array(findings, parameter.type, "a parameter")
    return [resolve_type(findings, parameter.type) for parameter in parameters]


def no_array(findings: Findings, node: syntax.TypeName, what: str) -> None:
    """Report a type that is an array."""
    if node.dimensions:
        findings.report("array-here", node.span, what=what)
