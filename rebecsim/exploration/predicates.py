"""Compile expressions and formulas over the variables of rebecs to functions of a state.

A `PredicateWriter` reads the states of a search; other readers of states derive their own writer
from `PropertyWriter`.

An expression is parsed and checked by `rebecsim.lang`; as those of message servers, it is written
in Python from its checked tree, so no text of a user is ever executed.

Forms of formulas that have names of their own are replaced by the plain operators. The patterns
among them are those of M. B. Dwyer, G. S. Avrunin, J. C. Corbett, "Patterns in property
specifications for finite-state verification" (ICSE 1999), over the whole run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from rebecsim import actors
from rebecsim.errors import UserError
from rebecsim.exploration.states.rebec_states import SpecialFloat
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.generate.code import HELPERS, Code, ModelNames, Range, integer
from rebecsim.generate.expressions import ExpressionWriter
from rebecsim.lang import CheckedProperties, Symbol, syntax
from rebecsim.lang.checked import INT, REAL, ArrayType, RebecType
from rebecsim.lang.properties import (
    Bound,
    Connective,
    Formula,
    Negation,
    Proposition,
    Temporal,
    TemporalProperty,
)
from rebecsim.lang.syntax import Expression
from rebecsim.lang.traversal import walk

Function = Callable[[Any], Any]
"""A compiled expression: gives its value in a state."""

_MANY = 100
"""Parentheses from which on an expression is a function of its own: Python nests only so many."""


class AbstractedVariableError(UserError):
    """An expression reads a variable that has been left out of the state."""


class PropertyWriter(ExpressionWriter):
    """Compiles the expressions of one checked property file; a subclass says how to read states."""

    identity: Mapping[str, str] = {"==": "==", "!=": "!="}

    def __init__(self, properties: CheckedProperties) -> None:
        model = replace(
            properties.model,
            types=properties.types,
            symbols=properties.symbols,
            constants=properties.constants,
        )
        owner = next(iter(model.classes.values()))  # no class has these expressions: any will do
        super().__init__(model, owner, ModelNames(model))
        self._properties = properties
        self._given: dict[str, Any] = {name: getattr(actors, name) for name in HELPERS}

    @abstractmethod
    def _rebec(self, name: str) -> str:
        """Write what refers to the rebec of this name."""

    @abstractmethod
    def _variable(self, node: syntax.Member, rebec: str, symbol: Symbol) -> str:
        """Write what reads a state variable of the rebec of this name; `state` is the state."""

    @abstractmethod
    def _name_of(self, reference: Any) -> str:
        """Give the name of the rebec that a value refers to."""

    def compile(self, node: syntax.Expression) -> Function:
        """Give the function that evaluates an expression in a state.

        The function raises UserError, naming the place, where the expression has no value.
        """
        return self._compiled(self.text(node))

    def _compiled(self, text: str) -> Function:
        found: Function = eval(f"lambda state: {text}", self._given)  # noqa: S307 - checked
        return found

    def _noted(self, value: Any) -> str:
        """Give what a value is called in the text."""
        name = f"_given_{len(self._given)}"
        self._given[name] = value
        return name

    def write(self, node: syntax.Expression) -> Code:
        """Write an expression; where there may be no value, an error names the place."""
        if id(node) in self._properties.constants:
            known = self._properties.constants[id(node)]
            return integer(known) if type(known) is int else Code(self._noted(known))
        if isinstance(node, syntax.Member):
            return self._member(node)
        code, failing = super().write(node), self._failing(node)
        if failing is None and code.text.count("(") < _MANY:
            return code
        value = self._compiled(code.text)
        return self._apart(value if failing is None else _guarded(value, failing), code.range)

    def _apart(self, value: Function, known: Range | None) -> Code:
        """Write what a function of the state gives."""
        return Code(f"{self._noted(value)}(state)", range=known)

    def _failing(self, node: syntax.Expression) -> syntax.Expression | None:
        """Give where arithmetic may have no value; an index that may not is looked at apart."""
        kind = self.model.type_of(node)
        match node:
            case syntax.Binary("/" | "%") if kind == INT:
                return node
            case syntax.Cast(_, operand) if self.model.type_of(operand) in REAL:
                return None if kind in REAL else operand
        return None

    def _name(self, node: syntax.Name) -> Code:
        symbol = self._properties.symbol_of(node)
        if symbol.kind == "definition":
            return self.write(self._properties.definition(symbol.name).expression)
        return Code(self._rebec(symbol.name))

    def _member(self, node: syntax.Member) -> Code:
        name, symbol = self._properties.member_of(node)
        if symbol.kind == "known":
            checked = self._properties.model
            instance = next(each for each in checked.instances if each.name == name)
            known = checked.classes[instance.class_name].known_rebecs
            place = [each.name for each in known].index(symbol.name)
            return Code(self._rebec(instance.bindings[place]))
        return self._ranged(self._variable(node, name, symbol), node)

    def _element(self, node: syntax.Index) -> str:
        kind = self.model.type_of(node.array)
        assert isinstance(kind, ArrayType)

        array, index = self.compile(node.array), self._compiled(self.text(node.index, INT))

        def element(state: Any) -> Any:
            position = index(state)
            if not 0 <= position < kind.length:
                raise _no_value(node, f"the index {position} is outside the array")
            return plain_value(array(state)[position])

        return self._apart(element, None).text

    def _instance_of(self, node: syntax.InstanceOf) -> Code:
        checked = self._properties.model
        fitting = {
            instance.name
            for instance in checked.instances
            if checked.classes[instance.class_name].is_a(node.type.name)
        }

        def is_one(reference: Any) -> bool:
            return reference is not None and self._name_of(reference) in fitting

        return Code(f"{self._noted(is_one)}({self.text(node.operand)})")

    def _cast(self, node: syntax.Cast) -> Code:
        if isinstance(self.model.type_of(node), RebecType):
            return self.write(node.operand)
        return super()._cast(node)


class PredicateWriter(PropertyWriter):
    """Compiles the expressions of one checked property file for one transition system."""

    def __init__(
        self,
        properties: CheckedProperties,
        system: TransitionSystem,
        abstracted: tuple[frozenset[str], ...],
    ) -> None:
        super().__init__(properties)
        self._references = system.runner.values.references
        self._runner = system.runner
        self._abstracted = abstracted
        self.reads: set[int] = set()
        """The rebecs whose part of a state the compiled expressions look at."""

    def _rebec(self, name: str) -> str:
        return self._noted(next(each for each in self._references if each.name == name))

    def _variable(self, node: syntax.Member, rebec: str, symbol: Symbol) -> str:
        owner = next(each.index for each in self._references if each.name == rebec)
        position = self._runner.place_of(owner, symbol.name)
        if self._runner.names[owner][position] in self._abstracted[owner]:
            raise AbstractedVariableError(
                f"{node.span.file}:{node.span.line}:{node.span.column}: {rebec}.{symbol.name} is "
                "left out of the state, so no property can depend on it"
            )
        self.reads.add(owner)
        text = f"state[{owner}].variables[{position}]"
        return f"{self._noted(plain_value)}({text})" if symbol.type in REAL else text

    def _name_of(self, reference: Any) -> str:
        return str(reference.name)


def plain_value(value: Any) -> Any:
    """Give a value of a state as it is outside of it."""
    if isinstance(value, SpecialFloat):
        return float("nan") if value is SpecialFloat.NAN else -0.0
    return value


def _guarded(value: Function, node: syntax.Expression) -> Function:
    """Turn an error of arithmetic into one that names the place."""

    def guarded(state: Any) -> Any:
        try:
            return value(state)
        except ArithmeticError as error:
            raise _no_value(node, str(error)) from error

    return guarded


def _no_value(node: syntax.Expression, problem: str) -> UserError:
    span = node.span
    return UserError(f"{span.file}:{span.line}:{span.column}: {problem} in a reachable state")


Comparison = Literal["<=", "<", ">=", ">", "=="]


class TimeBound(NamedTuple):
    """A bound on the time until something happens."""

    comparison: Comparison
    limit: int


def weak(bound: TimeBound) -> TimeBound:
    """Write a strict bound as one that is not; time is whole."""
    match bound.comparison:
        case "<":
            return TimeBound("<=", bound.limit - 1)
        case ">":
            return TimeBound(">=", bound.limit + 1)
    return bound


FormulaKind = Literal["ltl", "tctl"]

_ALWAYS = {"ltl": "G", "tctl": "AG"}
_EVENTUALLY = {"ltl": "F", "tctl": "AF"}


def plain(formula: Formula, kind: FormulaKind) -> Formula:
    """Write a formula of a logic without named forms."""
    match formula:
        case Proposition():
            return formula
        case Negation(operand):
            return replace(formula, operand=plain(operand, kind))
        case Connective(_, left, right):
            return replace(formula, left=plain(left, kind), right=plain(right, kind))
        case Temporal(operator, _, operands):
            made = tuple(plain(each, kind) for each in operands)
            return _written_out(replace(formula, operands=made), operator, kind)


def _written_out(formula: Temporal, operator: str, kind: FormulaKind) -> Formula:
    always = replace(formula, operator=_ALWAYS[kind], bound=None)
    eventually = replace(formula, operator=_EVENTUALLY[kind])
    match operator, formula.operands:
        case "LeadsTo", (cause, effect):
            answered = replace(eventually, operands=(effect,))
            return replace(always, operands=(Connective("||", Negation(cause), answered),))
        case "Recurs", (operand,):
            return replace(always, operands=(replace(eventually, operands=(operand,)),))
        case "Precedes", (first, then):
            return replace(formula, operator="W", operands=(Negation(then), first))
    return formula


class StateProposition(NamedTuple):
    """A condition on states, and the rebecs whose parts of the state it looks at."""

    holds: Callable[[State], bool]
    reads: frozenset[int]


@dataclass(frozen=True)
class PosedFormula:
    """A formula about the states of a model.

    Attributes:
        name: what the file calls it.
        kind: its logic.
        place: where it stands, as `FILE:LINE`.
        formula: its tree, without named forms.
        conditions: what its propositions mean.
        numbers: the place there of each proposition, by its expression.
        bounds: the values of its bounds.
    """

    name: str
    kind: FormulaKind
    place: str
    formula: Formula
    conditions: tuple[StateProposition, ...]
    numbers: dict[Expression, int]
    bounds: dict[Bound, TimeBound]

    def number_of(self, proposition: Proposition) -> int:
        """Give the place of a proposition."""
        return self.numbers[proposition.expression]

    @property
    def reads(self) -> frozenset[int]:
        """The rebecs whose parts of the state its propositions look at."""
        return frozenset().union(*(each.reads for each in self.conditions))


def posed_formulas(
    checked: CheckedProperties,
    system: TransitionSystem,
    left_out: tuple[frozenset[str], ...],
) -> Iterator[PosedFormula]:
    """Compile the formulas of a file. `left_out` are variables that states do not have."""
    yield from (_posed(each, "ltl", checked, system, left_out) for each in checked.tree.ltl)
    yield from (_posed(each, "tctl", checked, system, left_out) for each in checked.tree.tctl)


def _posed(
    each: TemporalProperty,
    kind: FormulaKind,
    checked: CheckedProperties,
    system: TransitionSystem,
    left_out: tuple[frozenset[str], ...],
) -> PosedFormula:
    numbers: dict[Expression, int] = {}
    conditions: list[StateProposition] = []
    bounds: dict[Bound, TimeBound] = {}
    for node in walk(each.formula):
        if isinstance(node, Proposition) and node.expression not in numbers:
            compiler = PredicateWriter(checked, system, left_out)
            holds = compiler.compile(node.expression)
            numbers[node.expression] = len(conditions)
            conditions.append(StateProposition(holds, frozenset(compiler.reads)))
        elif isinstance(node, Bound):
            limit = checked.constants[id(node.limit)]
            assert isinstance(limit, int)
            bounds[node] = TimeBound(node.operator, limit)
    tree = plain(each.formula, kind)
    place = f"{each.span.file}:{each.span.line}"
    return PosedFormula(each.name, kind, place, tree, tuple(conditions), numbers, bounds)
