"""Compile expressions and formulas over the variables of rebecs to functions of a state.

A `PredicateCompiler` reads the states of a search; other readers of states derive their own
compiler from `ExpressionCompiler`.

An expression is parsed and checked by `rebecsim.lang`; only its checked tree is turned into
Python functions, so no text of a user is ever executed.

Forms of formulas that have names of their own are replaced by the plain operators. The patterns
among them are those of M. B. Dwyer, G. S. Avrunin, J. C. Corbett, "Patterns in property
specifications for finite-state verification" (ICSE 1999), over the whole run.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from rebecsim.actors import double_quotient, float32, int32, quotient, remainder, truncate
from rebecsim.arithmetic import int8, int16
from rebecsim.errors import UserError
from rebecsim.exploration.states.rebec_states import SpecialFloat
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.lang import CheckedProperties, Symbol, syntax
from rebecsim.lang.checked import (
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    NUMERIC,
    REAL,
    SHORT,
    ArrayType,
    Type,
    arithmetic_type,
)
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

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": quotient,
    "%": remainder,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda left, right: left << (right & 31),
    ">>": lambda left, right: left >> (right & 31),
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FIT: dict[Type, Callable[[Any], Any]] = {
    INT: int32,
    SHORT: int16,
    BYTE: int8,
    FLOAT: float32,
    DOUBLE: float,
}


class AbstractedVariableError(UserError):
    """An expression reads a variable that has been left out of the state."""


class ExpressionCompiler(ABC):
    """Compiles the expressions of one checked property file; a subclass says how to read states."""

    def __init__(self, properties: CheckedProperties) -> None:
        self._properties = properties

    @abstractmethod
    def _rebec(self, name: str) -> Function:
        """Give what refers to the rebec of this name."""

    @abstractmethod
    def _variable(self, node: syntax.Member, rebec: str, symbol: Symbol) -> Function:
        """Give what reads a state variable, or a known rebec, of the rebec of this name."""

    @abstractmethod
    def _name_of(self, reference: Any) -> str:
        """Give the name of the rebec that a value refers to."""

    def compile(self, node: syntax.Expression) -> Function:
        """Give the function that evaluates an expression in a state.

        The function raises UserError, naming the place, where the expression has no value.
        """
        constants = self._properties.constants
        if id(node) in constants:
            value = constants[id(node)]
            return lambda state: value
        match node:
            case syntax.Name():
                return self._name(node)
            case syntax.Member():
                return self._member(node)
            case syntax.Index():
                return self._index(node)
            case syntax.Unary():
                return self._unary(node)
            case syntax.Binary():
                return self._binary(node)
            case syntax.InstanceOf(operand, wanted):
                return self._instance_of(operand, wanted.name)
            case syntax.Conditional(condition, then, otherwise):
                kind = self._type(node)
                test, first = self.compile(condition), self._as(then, kind)
                second = self._as(otherwise, kind)
                return lambda state: first(state) if test(state) else second(state)
            case syntax.Cast(_, operand):
                return self._as(operand, self._type(node))
        raise AssertionError(f"the checker lets no {type(node).__name__} into a property")

    def _type(self, node: syntax.Expression) -> Type:
        return self._properties.types[id(node)]

    def _as(self, node: syntax.Expression, wanted: Type) -> Function:
        """Compile an expression whose value is converted to a type."""
        value, found = self.compile(node), self._type(node)
        if found == wanted or wanted not in NUMERIC:
            return value
        fit = _FIT[wanted]
        if found in REAL and wanted not in REAL:
            return _guarded(lambda state: fit(truncate(value(state))), node)
        return lambda state: fit(value(state))

    # --- names ---------------------------------------------------------------------------------

    def _name(self, node: syntax.Name) -> Function:
        symbol = self._properties.symbol_of(node)
        if symbol.kind == "definition":
            return self.compile(self._properties.definition(symbol.name).expression)
        return self._rebec(symbol.name)

    def _member(self, node: syntax.Member) -> Function:
        name, symbol = self._properties.member_of(node)
        if symbol.kind == "known":
            checked = self._properties.model
            instance = next(each for each in checked.instances if each.name == name)
            known = checked.classes[instance.class_name].known_rebecs
            place = [each.name for each in known].index(symbol.name)
            return self._rebec(instance.bindings[place])
        return self._variable(node, name, symbol)

    def _index(self, node: syntax.Index) -> Function:
        array, index = self.compile(node.array), self.compile(node.index)
        kind = self._type(node.array)
        assert isinstance(kind, ArrayType)
        length = kind.length

        def element(state: Any) -> Any:
            position = index(state)
            if not 0 <= position < length:
                raise _no_value(node, f"the index {position} is outside the array")
            return _plain(array(state)[position])

        return element

    def _instance_of(self, operand: syntax.Expression, name: str) -> Function:
        rebec, checked = self.compile(operand), self._properties.model
        fitting = {
            instance.name
            for instance in checked.instances
            if checked.classes[instance.class_name].is_a(name)
        }

        def is_one(state: Any) -> bool:
            reference = rebec(state)
            return reference is not None and self._name_of(reference) in fitting

        return is_one

    # --- operators -----------------------------------------------------------------------------

    def _unary(self, node: syntax.Unary) -> Function:
        operand = self.compile(node.operand)
        if node.operator == "!":
            return lambda state: not operand(state)
        if node.operator == "+":
            return operand
        fit = _FIT[self._type(node)]
        if node.operator == "-":
            return lambda state: fit(-operand(state))
        return lambda state: fit(~operand(state))

    def _binary(self, node: syntax.Binary) -> Function:
        symbol, kind = node.operator, self._type(node)
        if symbol in ("&&", "||"):
            left, right = self.compile(node.left), self.compile(node.right)
            if symbol == "&&":
                return lambda state: left(state) and right(state)
            return lambda state: left(state) or right(state)
        operands = self._type(node.left), self._type(node.right)
        both = set(operands)
        wanted = arithmetic_type(*operands) if both <= NUMERIC else kind
        left, right = self._as(node.left, wanted), self._as(node.right, wanted)
        if symbol in _COMPARISONS:
            compare = _COMPARISONS[symbol]
            return lambda state: compare(left(state), right(state))
        compute = _ARITHMETIC[symbol]
        if kind in REAL:
            if symbol == "/":
                compute = double_quotient
            fit = _FIT[kind]
            return lambda state: fit(compute(left(state), right(state)))
        if kind == INT:
            return _guarded(lambda state: int32(compute(left(state), right(state))), node)
        return lambda state: compute(left(state), right(state))


class PredicateCompiler(ExpressionCompiler):
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

    def _rebec(self, name: str) -> Function:
        reference = next(each for each in self._references if each.name == name)
        return lambda state: reference

    def _variable(self, node: syntax.Member, rebec: str, symbol: Symbol) -> Function:
        owner = next(each.index for each in self._references if each.name == rebec)
        position = self._runner.place_of(owner, symbol.name)
        if self._runner.names[owner][position] in self._abstracted[owner]:
            raise AbstractedVariableError(
                f"{node.span.file}:{node.span.line}:{node.span.column}: {rebec}.{symbol.name} is "
                "left out of the state, so no property can depend on it"
            )
        self.reads.add(owner)
        if symbol.type in REAL:
            return lambda state: _plain(state[owner].variables[position])
        return lambda state: state[owner].variables[position]

    def _name_of(self, reference: Any) -> str:
        return str(reference.name)


def _plain(value: Any) -> Any:
    if isinstance(value, SpecialFloat):
        return float("nan") if value is SpecialFloat.NAN else -0.0
    return value


def _guarded(function: Function, node: syntax.Expression) -> Function:
    """Turn an error of arithmetic into one that names the place."""

    def guarded(state: Any) -> Any:
        try:
            return function(state)
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
            compiler = PredicateCompiler(checked, system, left_out)
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
