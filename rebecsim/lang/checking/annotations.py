"""Check @priority and @globalPriority: their places and their values."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import Body, Findings, Scope

_NAMES = ("priority", "globalPriority")
_SMALL = tuple(name.lower() for name in _NAMES)


def server_priorities(
    findings: Findings, node: syntax.MessageServer, env: Scope
) -> tuple[int | None, int | None]:
    """The priority and the global priority of a message server; None where there is none."""
    values = _values(findings, node.annotations, env)
    return values.get("priority"), values.get("globalPriority")


def class_annotations(findings: Findings, node: syntax.ReactiveClass, env: Scope) -> None:
    """Check the annotations of a class. A @priority there orders nothing, as in RMC."""
    _no_global(findings, node.annotations, "a reactive class")
    _values(findings, node.annotations, env)


def instance_priority(findings: Findings, node: syntax.Instance, env: Scope) -> int | None:
    """The priority of a rebec of main; None if it has none."""
    _no_global(findings, node.annotations, "a rebec")
    return _values(findings, node.annotations, env).get("priority")


def _no_global(findings: Findings, annotations: tuple[syntax.Annotation, ...], what: str) -> None:
    for annotation in annotations:
        if annotation.name == "globalPriority":
            findings.report("annotation-place", annotation.span, what=what)


def _values(
    findings: Findings, annotations: tuple[syntax.Annotation, ...], env: Scope
) -> dict[str, int]:
    checker = ExpressionChecker(findings, Body("constant", "annotation"))
    values: dict[str, int] = {}
    for annotation in annotations:
        name = annotation.name
        if name.lower() in _SMALL and name not in _NAMES:
            meant = _NAMES[_SMALL.index(name.lower())]
            findings.report("annotation-capital", annotation.span, name=name, meant=meant)
            continue
        if name not in _NAMES:
            findings.report("annotation-unknown", annotation.span, name=name)
            continue
        if findings.dialect == "core":
            findings.report("core-priority", annotation.span, name=name)
            continue
        if name in values:
            findings.report("annotation-twice", annotation.span, name=name)
        values[name] = _value(findings, annotation, checker, env)
    return values


def _value(
    findings: Findings, annotation: syntax.Annotation, checker: ExpressionChecker, env: Scope
) -> int:
    node = annotation.value
    if node is not None:
        if checker.value(node, env) is None:
            return 0
        value = findings.whole_number(node)
        if value is not None:
            return value
    findings.report("annotation-value", annotation.span, name=annotation.name)
    return 0
