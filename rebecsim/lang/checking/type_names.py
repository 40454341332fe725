"""Resolve types as written: look up classes and fold the lengths of arrays."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checking.scopes import Findings, Unknown
from rebecsim.lang.habits import FOREIGN_WORDS, TYPE_HINTS
from rebecsim.lang.types import BYTE, PRIMITIVES, TIMER, ArrayType, RebecType, Type


def resolve_type(
    findings: Findings, node: syntax.TypeName, *, is_state: bool = False
) -> Type | None:
    """The type that a name without dimensions stands for; None (and a report) if unknown."""
    kind: Type | None = PRIMITIVES.get(node.name)
    if node.name in findings.class_names or node.name in findings.interface_names:
        kind = RebecType(node.name)
    if kind is None and node.name == "char":
        kind = BYTE  # the number of a character, as in C++
    if kind is None and node.name == TIMER.name:
        return _timer(findings, node, is_state)
    if kind is None:
        declared = sorted(findings.class_names | findings.interface_names)
        unknown = Unknown("type", node.name, (), [*PRIMITIVES, *declared])
        hint = TYPE_HINTS.get(node.name) or FOREIGN_WORDS.get(node.name)
        findings.report_unknown("unknown-type", node.span, unknown, hint)
    elif not node.dimensions:
        findings.declared_types[id(node)] = kind
    return kind


def _timer(findings: Findings, node: syntax.TypeName, is_state: bool) -> Type | None:
    """The type of timers, in state variables of timed models."""
    if is_state and findings.dialect == "timed":
        findings.declared_types[id(node)] = TIMER
        return TIMER
    code = "timer-place" if findings.dialect == "timed" else "core-time"
    if id(node) not in findings.misplaced:
        findings.misplaced.add(id(node))
        findings.report(code, node.span, word="Timer")
    return None


def resolve_with_lengths(
    findings: Findings,
    node: syntax.TypeName,
    lengths: list[int] | None,
    *,
    is_state: bool = False,
) -> Type | None:
    """The type of a declaration; `lengths` are its folded dimensions, None after a mistake.

    `is_state`: it is that of a state variable, which may be a timer.
    """
    kind = resolve_type(findings, node, is_state=is_state)
    if kind is None or lengths is None:
        return None
    for length in reversed(lengths):
        kind = ArrayType(kind, length)
    findings.declared_types[id(node)] = kind
    return kind
