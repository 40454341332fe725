"""Keep what all parts of the checker share: findings, names in scope, types, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rebecsim.distributions import Distribution
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    ANY_REBEC,
    BOOLEAN,
    BYTE,
    INT,
    NULL,
    NUMERIC,
    PRIMITIVES,
    REAL,
    TIMER,
    ArrayType,
    CheckedClass,
    CheckedInterface,
    Dialect,
    RebecType,
    Symbol,
    Type,
    Value,
    arithmetic_type,
)
from rebecsim.lang.errors import FOREIGN_WORDS, TYPE_HINTS, Diagnostic, diagnose
from rebecsim.lang.syntax import Span
from rebecsim.wording import closest_name, counted

_FEW = 6
"""As many names are listed when none of them is likely."""


def name_hint(name: str, known: Iterable[str], words: Iterable[str]) -> str | None:
    """Which of the known names or words was meant; or else the known names, if they are few."""
    names = list(dict.fromkeys(known))
    close = closest_name(name, [*names, *words])
    if close is not None:
        return f"did you mean `{close}`?"
    if not names or len(names) > _FEW:
        return None
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(f'`{each}`' for each in names)}"


def signature(name: str, parameters: Sequence[syntax.Parameter]) -> str:
    """`buy(Customer customer, int[2] seats)`."""
    return f"{name}({', '.join(f'{_written(each.type)} {each.name}' for each in parameters)})"


def _written(node: syntax.TypeName) -> str:
    if not node.dimensions:
        return node.name
    from rebecsim.lang.printer import print_type  # few signatures have arrays

    return print_type(node)


def mismatch_hint(found: Type, expected: Type) -> str | None:
    """What to do about a value of a type that does not fit."""
    if expected == BOOLEAN and found in NUMERIC:
        return "a boolean is `true` or `false`; a comparison such as `... != 0` is boolean"
    if found == BOOLEAN and expected in NUMERIC:
        return "declare it as boolean, or write `(... ? 1 : 0)`"
    if found == NULL:
        return "only variables of a reactive class can be null"
    return None


def member_hint(owner: CheckedClass, name: str) -> str | None:
    """What to write for a method or message server that is used like a variable."""
    if name in owner.methods:
        return f"`{name}` is a method: write `{name}(...)`"
    if any(server.name == name for server in owner.servers):
        return f"`{name}` is a message server: write `self.{name}(...)`"
    return None


_GUESSES = 50
"""Unknown names for which the known ones are searched; more of them are no misspellings."""

BUILTINS: dict[str, Type] = {
    "sender": ANY_REBEC,
    "now": INT,
    "currentMessageArrival": INT,
    "currentMessageDeadline": INT,
    "currentMessageWaitingTime": INT,
}
"""Names with a meaning of their own; `self` has the type of the class it stands in."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that nothing has: what it should be the name of, and the names there are.

    `words` are those of the language, which may be meant but are not worth a list.
    """

    what: str
    name: str
    known: Iterable[str] = ()
    words: Iterable[str] = ()


@dataclass
class Findings:
    """What the checker finds out: mistakes, and the side tables of `CheckedModel`."""

    dialect: Dialect
    from_python: bool = False
    class_names: frozenset[str] = frozenset()
    interface_names: frozenset[str] = frozenset()
    classes: dict[str, CheckedClass] = field(default_factory=dict)
    interfaces: dict[str, CheckedInterface] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    incomplete: set[str] = field(default_factory=set)
    """Classes of which something is not known after a mistake, such as an unknown base class."""
    spoilt: dict[str, set[str]] = field(default_factory=dict)
    """Variables of each class that are declared, but with a mistake."""
    types: dict[int, Type] = field(default_factory=dict)
    symbols: dict[int, Symbol] = field(default_factory=dict)
    constants: dict[int, Value] = field(default_factory=dict)
    choice_sites: dict[int, int] = field(default_factory=dict)
    declared_types: dict[int, Type] = field(default_factory=dict)
    super_constructors: dict[int, syntax.Constructor | None] = field(default_factory=dict)
    distributions: dict[int, Distribution] = field(default_factory=dict)
    open_ends: set[int] = field(default_factory=set)
    """Bodies of methods that can end without the value that they should give."""
    functions: set[int] = field(default_factory=set)
    misplaced: set[int] = field(default_factory=set)
    """Types that are written where they have no place, and that has been reported."""
    used_results: frozenset[str] = frozenset()
    """Methods whose value something is done with."""
    class_constants: dict[str, dict[str, Value]] = field(default_factory=dict)
    """The numbers and booleans that are constants of each class, inherited ones, too."""
    copied: dict[tuple[str, str], str] = field(default_factory=dict)
    """Of a class and a member that it inherits with other constants, the class of its text."""
    named: dict[int, str] = field(default_factory=dict)
    """The constants whose distributions stand in their places."""
    choice_streams: dict[int, int] = field(default_factory=dict)

    def report(self, code: str, span: Span, hint: str | None = None, /, **values: object) -> None:
        """Note a mistake and go on; `hint` fits the case better than that of the message."""
        found = diagnose(code, span, hint, **values)
        (self.diagnostics if found.severity == "error" else self.warnings).append(found)

    def report_count(self, node: syntax.Node, name: str, takes: int, found: int, as_: str) -> None:
        """Note a wrong number of arguments; `as_` is how what takes them is declared."""
        expected = counted(takes, "argument")
        values = {"name": name, "expected": expected, "found": found, "signature": as_}
        self.report("argument-count", node.span, **values)

    def report_twice(self, what: str, name: str, span: Span, first: Span) -> None:
        """Note that something of this name is declared already, in that place."""
        file = "" if first.file == span.file else f"{first.file}, "
        self.report("duplicate", span, what=what, name=name, place=f"{file}line {first.line}")

    def whole_number(self, node: syntax.Expression) -> int | None:
        """The value of an expression that has been checked; None if it is no constant int."""
        value = self.constants.get(id(node))
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def report_unknown(
        self, code: str, span: Span, unknown: Unknown, hint: str | None = None, /, **values: object
    ) -> None:
        """Note a name that nothing has, once, and which of the known ones may be meant by it.

        `hint` fits better than a guess.
        """
        place = (unknown.what, unknown.name)
        if place in self.unknown:
            return
        self.unknown.add(place)
        if hint is None and len(self.unknown) <= _GUESSES:
            hint = name_hint(unknown.name, unknown.known, unknown.words)
        self.report(code, span, hint, name=unknown.name, **values)


@dataclass(frozen=True, slots=True)
class Scope:
    """Names and what they mean; a name that is not here is looked for in the scope around."""

    outer: Scope | None = None
    symbols: dict[str, Symbol] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    spoilt: set[str] = field(default_factory=set)

    def outwards(self) -> Iterator[Scope]:
        """Give this scope and those around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, name: str) -> Symbol | None:
        """What a name means here; None if nothing."""
        scope: Scope | None = self
        while scope is not None:  # asked for at every name
            if name in scope.symbols:
                return scope.symbols[name]
            scope = scope.outer
        return None

    def spoil(self, name: str) -> None:
        """Note that a name is declared with a mistake, so that its uses are not mistakes, too."""
        self.spoilt.add(name)

    def is_spoilt(self, name: str) -> bool:
        """Whether what a name means here is not known after a mistake in its declaration."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.spoilt or name in scope.symbols:
                return name in scope.spoilt
            scope = scope.outer
        return False

    def names(self) -> list[str]:
        """All names that mean something here, the innermost first."""
        return list(dict.fromkeys(name for each in self.outwards() for name in each.symbols))

    def declare(self, symbol: Symbol, span: Span) -> None:
        """Give a name its meaning in this scope."""
        self.symbols[symbol.name] = symbol
        self.places[symbol.name] = span

    def place_of_local(self, name: str) -> Span | None:
        """The place of the parameter or local variable of that name around here, if any."""
        scope = next((each for each in self.outwards() if name in each.symbols), None)
        if scope is None or scope.symbols[name].kind not in ("local", "parameter"):
            return None
        return scope.places[name]


@dataclass(frozen=True, slots=True)
class Body:
    """Where an expression stands: what kind of body, of which class, with which result."""

    kind: Literal["constant", "constructor", "server", "method", "property"]
    name: str
    owner: CheckedClass | None = None
    result: Type | None = None

    @property
    def where(self) -> str:
        """The name of the class, or of the body where there is no class around it."""
        return self.name if self.owner is None else self.owner.name


def is_a(findings: Findings, name: str, ancestor: str) -> bool:
    """Whether a class or interface is another, extends it or implements it, directly or not."""
    if name == ancestor or name in findings.incomplete:
        return True
    if name in findings.interfaces:
        return ancestor in findings.interfaces[name].ancestors
    checked = findings.classes.get(name)
    return checked is not None and checked.is_a(ancestor)


def related(findings: Findings, one: str, other: str) -> bool:
    """Whether a rebec can be both, of two classes or interfaces."""
    return any(each.is_a(one) and each.is_a(other) for each in findings.classes.values())


def assignment_problem(findings: Findings, found: Type, expected: Type) -> str | None:
    """The code of the error that a value of one type makes in a variable of another, or None."""
    if found == expected:
        return None
    if found in NUMERIC and expected in NUMERIC:
        return "narrowing" if found in REAL and expected not in REAL else None
    if isinstance(expected, RebecType):
        if found == NULL:
            return None
        if isinstance(found, RebecType):
            if is_a(findings, found.name, expected.name) or expected == ANY_REBEC:
                return None
            if found == ANY_REBEC or related(findings, found.name, expected.name):
                return "downcast"
    return "mismatch"


def common_type(findings: Findings, left: Type, right: Type) -> Type | None:
    """The type that holds values of both types; None if there is none."""
    if left == right:
        return left
    if left in NUMERIC and right in NUMERIC:
        return arithmetic_type(left, right)
    if BOOLEAN in (left, right):
        return None
    for wide, narrow in ((left, right), (right, left)):
        if assignment_problem(findings, narrow, wide) is None:
            return wide
    return None


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


Declared = syntax.Constructor | syntax.MessageServer | syntax.Method


def type_signature(findings: Findings, node: Declared) -> str:
    """The types of the parameters, and the result of a method before them: `int (byte[2], A)`."""
    shown = (
        str(kind) if isinstance(kind, ArrayType) else each.type.name
        for each in node.parameters
        for kind in [findings.declared_types.get(id(each.type))]
    )
    parameters = f"({', '.join(shown)})"
    if not isinstance(node, syntax.Method):
        return parameters
    result = "void" if node.return_type is None else node.return_type.name
    return f"{result} {parameters}"


def differ(findings: Findings, one: Declared, other: Declared) -> bool:
    """Whether two members have other types of parameters, or another result."""
    return type_signature(findings, one) != type_signature(findings, other)


def parameter_type(findings: Findings, node: syntax.Parameter) -> Type | None:
    """The type of a parameter, whose lengths have been folded if it is an array."""
    known = findings.declared_types.get(id(node.type))
    return known if known is not None or node.type.dimensions else resolve_type(findings, node.type)


def no_array(findings: Findings, node: syntax.TypeName, what: str) -> None:
    """Report a type that is an array."""
    if node.dimensions:
        findings.report("array-here", node.span, what=what)
