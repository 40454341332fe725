"""Choose the constructor that a list of argument types calls."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedClass
from rebecsim.lang.checking.hints import signature
from rebecsim.lang.checking.scopes import Findings, assignment_problem
from rebecsim.lang.checking.type_names import resolve_type
from rebecsim.lang.syntax import Span
from rebecsim.lang.types import Type


def resolve_constructor(
    findings: Findings, checked: CheckedClass, found: Sequence[Type | None], span: Span
) -> syntax.Constructor | None:
    """The constructor of a class that takes arguments of these types.

    The one with the most parameters of exactly the type of their argument wins. A class without
    constructors takes no arguments. Reports an error, and gives None, if none or several fit.
    """
    if None in found or (not found and not checked.constructors):
        return None
    fitting: dict[int, list[syntax.Constructor]] = {}
    for constructor in checked.constructors:
        expected = _types(findings, constructor)
        if _fits(findings, found, expected):
            exact = sum(a == b for a, b in zip(found, expected, strict=True))
            fitting.setdefault(exact, []).append(constructor)
    shown = ", ".join(str(kind) for kind in found)
    if not fitting:
        signatures = [f"`{signature(each.name, each.parameters)}`" for each in checked.constructors]
        expected_text = " and ".join(signatures) or f"`{checked.name}()`"
        findings.report(
            "no-constructor", span, owner=checked.name, found=shown, expected=expected_text
        )
        return None
    best = fitting[max(fitting)]
    if len(best) > 1:
        findings.report("constructor-ambiguous", span, owner=checked.name, found=shown)
        return None
    return best[0]


def _types(findings: Findings, constructor: syntax.Constructor) -> list[Type | None]:
    return [resolve_type(findings, parameter.type) for parameter in constructor.parameters]


def _fits(
    findings: Findings, found: Sequence[Type | None], expected: Sequence[Type | None]
) -> bool:
    if len(found) != len(expected):
        return False
    return all(
        a is None or b is None or assignment_problem(findings, a, b) is None
        for a, b in zip(found, expected, strict=True)
    )
