"""Read property files and check them against a model.

Single expressions from a user are read and checked as in property files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from rebecsim.files import FORMULA, NESTING
from rebecsim.lang import syntax
from rebecsim.lang.checked import NUMERIC, CheckedModel, RebecType, Symbol, Type, Value
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import Body, Findings, Scope, Unknown
from rebecsim.lang.errors import (
    RebecaCheckError,
    RebecaSyntaxError,
    diagnose,
    in_order,
    read_source,
    syntax_error,
    with_source,
)
from rebecsim.lang.reading.parser import parse_expression, parse_property_sections
from rebecsim.lang.reading.tree_builder import PropertyItem, PropertySection
from rebecsim.lang.syntax import Expression, Name, Node, Span
from rebecsim.lang.traversal import children, walk


class Definition(Node):
    """`name = expression;` in `define`."""

    name: str
    expression: Expression


class AssertionProperty(Node):
    """`Name: expression;` in `Assertion`: it must hold after every message."""

    name: str
    expression: Expression


class Proposition(Node):
    """A boolean expression over the variables of the rebecs."""

    expression: Expression


class Negation(Node):
    """`!formula`."""

    operand: Formula


class Connective(Node):
    """`left && right` or `left || right`."""

    operator: Literal["&&", "||"]
    left: Formula
    right: Formula


class Bound(Node):
    """`time <= limit` of a TCTL operator; also with `<`, `>=`, `>` or `==`."""

    operator: Literal["<=", "<", ">=", ">", "=="]
    limit: Expression


class Temporal(Node):
    """`G(f)`, `U(f, g)`, `AG(time <= 10, f)`: an operator, its bound (TCTL only), its operands."""

    operator: str
    bound: Bound | None
    operands: tuple[Formula, ...]


Formula = Proposition | Negation | Connective | Temporal


class TemporalProperty(Node):
    """`Name: formula;` in `LTL` or `TCTL`."""

    name: str
    formula: Formula


class PropertyFile(Node):
    """A whole `.property` file; `sections` are the keywords in it and where they stand.

    `text` is what it was read from, of which errors quote lines.
    """

    definitions: tuple[Definition, ...]
    assertions: tuple[AssertionProperty, ...]
    ltl: tuple[TemporalProperty, ...]
    tctl: tuple[TemporalProperty, ...]
    sections: tuple[tuple[str, Span], ...] = ()
    text: str | None = field(default=None, compare=False, repr=False, kw_only=True)


_WITHOUT_PLACE: dict[type, str] = {
    syntax.Assignment: "an assignment",
    syntax.Increment: "an increment",
    syntax.Call: "a temporal operator or method call",
    syntax.Send: "a send",
    syntax.Choice: "a choice",
    syntax.OwnVariable: "`self`",
}


class PropertyExpressions(ExpressionChecker):
    """Also fills `members`: the instance and variable that each `rebec.variable` names."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings, Body("property", "the property file"))
        self.members: dict[int, tuple[str, Symbol]] = {}

    def check(self, node: syntax.Expression, scope: Scope) -> Type | None:
        """The type of an expression; None after a mistake."""
        what = _WITHOUT_PLACE.get(type(node))
        if what is not None:
            self.findings.report("property-expression", node.span, what=what)
            return None
        return super().check(node, scope)

    def _name(self, node: syntax.Name, scope: Scope) -> Type | None:
        name = node.identifier
        if scope.find(name) is None and not scope.is_spoilt(name):
            owners = [rebec for rebec in _rebecs(scope) if name in self._variables(rebec)]
            hint = f"write the rebec before it: `{owners[0].name}.{name}`" if owners else None
            unknown = Unknown("name of a property", name, scope.names())
            self.findings.report_unknown("property-name", node.span, unknown, hint)
            return None
        return super()._name(node, scope)

    def _member(self, node: syntax.Member, scope: Scope) -> Type | None:
        target = node.target
        name = target.identifier if isinstance(target, syntax.Name) else ""
        rebec = scope.find(name)
        if rebec is None or rebec.kind != "known":
            unknown = Unknown("rebec", name, [each.name for each in _rebecs(scope)])
            self.findings.report_unknown("property-rebec", target.span, unknown)
            return None
        variables = self._variables(rebec)
        symbol = variables.get(node.name)
        if symbol is None:
            unknown = Unknown(f"variable of {rebec.name}", node.name, variables)
            self.findings.report_unknown("property-variable", node.span, unknown, rebec=rebec.name)
            return None
        self.members[id(node)] = (rebec.name, symbol)
        return symbol.type

    def _variables(self, rebec: Symbol) -> dict[str, Symbol]:
        """The variables of a rebec that a property can read."""
        if not isinstance(rebec.type, RebecType):
            return {}
        checked = self.findings.classes[rebec.type.name]
        symbols = (*checked.state_variables, *checked.known_rebecs)
        return {symbol.name: symbol for symbol in symbols}


def _rebecs(scope: Scope) -> list[Symbol]:
    found = [scope.find(name) for name in scope.names()]
    return [symbol for symbol in found if symbol is not None and symbol.kind == "known"]


Section = Literal["LTL", "TCTL"]
_OPERATORS: dict[Section, dict[str, int]] = {
    "LTL": {"G": 1, "F": 1, "X": 1, "U": 2, "W": 2, "LeadsTo": 2, "Precedes": 2, "Recurs": 1},
    "TCTL": {"AG": 1, "AF": 1, "EG": 1, "EF": 1, "AU": 2, "EU": 2, "LeadsTo": 2, "Recurs": 1},
}
"""The temporal operators and named forms, and how many formulas each takes, bounds not counted."""
_BOUNDS = ("<=", "<", ">=", ">", "==")
_SEPARATORS = {"define": "=", "Assertion": ":", "LTL": ":", "TCTL": ":"}


@dataclass(frozen=True)
class CheckedProperties:
    """A property file that fits a model, and what its names mean there."""

    tree: PropertyFile
    model: CheckedModel
    members: dict[int, tuple[str, Symbol]] = field(default_factory=dict, repr=False)
    symbols: dict[int, Symbol] = field(default_factory=dict, repr=False)
    types: dict[int, Type] = field(default_factory=dict, repr=False)
    constants: dict[int, Value] = field(default_factory=dict, repr=False)

    def member_of(self, node: syntax.Member) -> tuple[str, Symbol]:
        """The instance and the state variable or known rebec that `rebec.variable` names."""
        return self.members[id(node)]

    def symbol_of(self, node: syntax.Name) -> Symbol:
        """What a name refers to: a definition, an env constant or (kind `known`) a rebec."""
        return self.symbols[id(node)]

    def definition(self, name: str) -> Definition:
        """The definition of that name; KeyError if there is none."""
        for definition in self.tree.definitions:
            if definition.name == name:
                return definition
        raise KeyError(name)


# --- reading -----------------------------------------------------------------------------------


def parse_property(text: str, file: str = "<string>") -> PropertyFile:
    """The tree of a property file; raises RebecaSyntaxError at the first mistake."""
    outer = parse_property_sections(text, file)
    try:
        return replace(_file(outer), text=text)
    except RebecaSyntaxError as error:
        raise RebecaSyntaxError(with_source(error.diagnostics, {file: text})) from None


def parse_property_file(path: str | Path) -> PropertyFile:
    """The tree of a `.property` file in UTF-8; OSError if it cannot be read."""
    return parse_property(read_source(path), str(path))


def _file(outer: PropertySection) -> PropertyFile:
    if outer.keyword != "property":
        raise syntax_error("property-word", outer.span, name=outer.keyword)
    sections: Sequence[PropertySection] = outer.items
    for section in sections:
        _check_section(section)
    return PropertyFile(
        tuple(
            Definition(item.name, item.expression, span=item.span)
            for item in _items(sections, "define")
        ),
        tuple(
            AssertionProperty(item.name, item.expression, span=item.span)
            for item in _items(sections, "Assertion")
        ),
        _formulas(sections, "LTL"),
        _formulas(sections, "TCTL"),
        tuple((section.keyword, section.span) for section in sections),
        span=outer.span,
    )


def _check_section(section: PropertySection) -> None:
    expected = _SEPARATORS.get(section.keyword)
    if expected is None:
        raise syntax_error("property-section", section.span, name=section.keyword)
    for item in section.items:
        if item.separator != expected:
            raise syntax_error(
                "property-separator",
                item.span,
                found=item.separator,
                name=item.name,
                expected=expected,
            )


def _items(sections: Sequence[PropertySection], keyword: str) -> list[PropertyItem]:
    return [item for section in sections if section.keyword == keyword for item in section.items]


def _formulas(
    sections: Sequence[PropertySection], keyword: Section
) -> tuple[TemporalProperty, ...]:
    return tuple(
        TemporalProperty(item.name, _formula(item.expression, keyword), span=item.span)
        for item in _items(sections, keyword)
    )


def _formula(node: Expression, section: Section) -> Formula:
    if not any(isinstance(part, syntax.Call) for part in walk(node)):
        return Proposition(node, span=node.span)
    if isinstance(node, syntax.Call):
        return _temporal(node, section)
    if isinstance(node, syntax.Unary) and node.operator == "!":
        return Negation(_formula(node.operand, section), span=node.span)
    if isinstance(node, syntax.Binary) and node.operator in ("&&", "||"):
        left, right = _formula(node.left, section), _formula(node.right, section)
        return Connective(node.operator, left, right, span=node.span)
    raise syntax_error("property-mixed", node.span)


def _temporal(node: syntax.Call, section: Section) -> Temporal:
    operators = _OPERATORS[section]
    if node.method not in operators:
        raise syntax_error(
            "property-temporal",
            node.span,
            name=node.method,
            section=section,
            operators=", ".join(operators),
        )
    arity = operators[node.method]
    arguments = node.arguments
    bound = None
    if section == "TCTL" and len(arguments) == arity + 1:
        bound = _bound(arguments[0], node.method)
        arguments = arguments[1:]
    if len(arguments) != arity:
        formulas = "one formula" if arity == 1 else "two formulas"
        before = "a time bound and " if section == "TCTL" else ""
        raise syntax_error(
            "property-arguments", node.span, name=node.method, expected=before + formulas
        )
    operands = tuple(_formula(argument, section) for argument in arguments)
    return Temporal(node.method, bound, operands, span=node.span)


def _bound(node: Expression, name: str) -> Bound:
    if (
        isinstance(node, syntax.Binary)
        and node.operator in _BOUNDS
        and node.left == syntax.Name("time")
    ):
        operator = cast(Literal["<=", "<", ">=", ">", "=="], node.operator)
        return Bound(operator, node.right, span=node.span)
    raise syntax_error("property-bound", node.span, name=name)


# --- checking ----------------------------------------------------------------------------------


def check_property(properties: PropertyFile, model: CheckedModel) -> CheckedProperties:
    """Resolve the names of a property file in a model and check that all formulas are boolean.

    Raises RebecaCheckError with all mistakes, in the order of the text, and LimitError for a
    formula that is too large once its definitions are put in.
    """
    findings = Findings(
        model.dialect,
        class_names=frozenset(model.classes),
        interface_names=frozenset(model.interfaces),
        classes=model.classes,
        interfaces=model.interfaces,
    )
    checker = PropertyExpressions(findings)
    _check_sections(findings, properties)
    scope = _model_names(model)
    _check_definitions(findings, checker, properties, scope)
    _check_names(findings, properties)
    for assertion in properties.assertions:
        checker.condition(assertion.expression, scope)
    for each in (*properties.ltl, *properties.tctl):
        _check_formula(findings, checker, each.formula, scope)
    if findings.diagnostics:
        texts = {} if properties.text is None else {properties.span.file: properties.text}
        raise RebecaCheckError(in_order(findings.diagnostics, texts))
    _require_small(properties)
    return CheckedProperties(
        properties,
        model,
        checker.members,
        findings.symbols,
        findings.types,
        findings.constants,
    )


def _check_sections(findings: Findings, properties: PropertyFile) -> None:
    """Refuse sections of the other dialect, where they are all that there is to check."""
    if properties.assertions:
        return
    for keyword, span in properties.sections:
        if keyword == "TCTL" and findings.dialect == "core":
            findings.report("property-tctl-core", span)


def _model_names(model: CheckedModel) -> Scope:
    scope = Scope(Scope(None, dict(model.env)))
    for instance in model.instances:
        symbol = Symbol("known", instance.name, RebecType(instance.class_name))
        scope.declare(symbol, instance.tree.span)
    return scope


def _check_definitions(
    findings: Findings, checker: PropertyExpressions, properties: PropertyFile, scope: Scope
) -> None:
    for definition in properties.definitions:
        found = checker.value(definition.expression, scope)
        if scope.find(definition.name) is not None:
            first = scope.places.get(definition.name, definition.span)
            findings.report_twice("name", definition.name, definition.span, first)
        elif definition.name == "time":
            findings.report("builtin-name", definition.span, name="time")
        else:
            if found is None:
                scope.spoil(definition.name)
            else:
                symbol = Symbol("definition", definition.name, found)
                scope.declare(symbol, definition.span)


def _require_small(properties: PropertyFile) -> None:
    """Raise LimitError if a formula has too many parts, or is nested too deep, written in full."""
    sizes: dict[str, tuple[int, int]] = {}
    for each in properties.definitions:
        sizes[each.name] = _size(each.expression, sizes, each.span)
    for assertion in properties.assertions:
        _size(assertion.expression, sizes, assertion.span)
    for formula in (*properties.ltl, *properties.tctl):
        _size(formula.formula, sizes, formula.span)


def _size(node: Node, sizes: Mapping[str, tuple[int, int]], span: Span) -> tuple[int, int]:
    """Give the parts and levels of an expression, those of definitions in it among them."""
    parts = levels = 0
    pending = [(node, 1)]
    while pending:
        each, level = pending.pop()
        more, below = sizes.get(each.identifier, (0, 0)) if isinstance(each, Name) else (0, 0)
        parts += 1 + more
        levels = max(levels, level + below)
        pending.extend((child, level + 1) for child in children(each))
    where = f"{span.file}:{span.line}"
    FORMULA.require(parts, where)
    NESTING.require(levels, where)
    return parts, levels


def _check_names(findings: Findings, properties: PropertyFile) -> None:
    places: dict[str, syntax.Span] = {}
    named: list[AssertionProperty | TemporalProperty] = [*properties.assertions]
    for item in [*named, *properties.ltl, *properties.tctl]:
        if item.name in places:
            findings.report_twice("property", item.name, item.span, places[item.name])
        places.setdefault(item.name, item.span)


def _check_formula(
    findings: Findings, checker: PropertyExpressions, formula: Formula, scope: Scope
) -> None:
    for node in walk(formula):
        if isinstance(node, Proposition):
            checker.condition(node.expression, scope)
        elif isinstance(node, Bound):
            found = checker.value(node.limit, scope)
            limit = findings.whole_number(node.limit)
            if found is not None and (limit is None or limit < 0):
                findings.report("property-limit", node.limit.span)


def check_condition(
    text: str, what: str, model: CheckedModel
) -> tuple[CheckedProperties, syntax.Expression]:
    """Read a condition over the variables of a model; `what` stands in the place of its file.

    Raises RebecaError, with the text and the column, for one that is wrong or does not fit.
    """
    expression = parse_expression(text, what)
    assertion = AssertionProperty(what, expression, span=expression.span)
    tree = PropertyFile((), (assertion,), (), (), text=text, span=expression.span)
    return check_property(tree, model), expression


def check_number(
    text: str, what: str, model: CheckedModel
) -> tuple[CheckedProperties, syntax.Expression]:
    """Read a number over the variables of a model; else as `check_condition`."""
    expression = parse_expression(text, what)
    definition = Definition("(number)", expression, span=expression.span)
    tree = PropertyFile((definition,), (), (), (), text=text, span=expression.span)
    checked = check_property(tree, model)
    found = checked.types[id(expression)]
    if found not in NUMERIC:
        wrong = diagnose("mismatch", expression.span, expected="a number", found=found)
        raise RebecaCheckError(in_order([wrong], {expression.span.file: text}))
    return checked, expression
