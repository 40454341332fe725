"""Properties of every state: invariants and the assertions of property files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rebecsim.actors import Model
from rebecsim.close_names import suggestion
from rebecsim.errors import UserError
from rebecsim.exploration.predicates import Function, PredicateCompiler
from rebecsim.exploration.states.outcome import Breach
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.exploration.temporal.formulas import PosedFormula, posed_formulas
from rebecsim.lang import CheckedModel, CheckedProperties, PropertyFile, check_property
from rebecsim.lang.properties import (
    AssertionProperty,
    TemporalProperty,
    check_condition,
    check_number,
)

Predicate = Callable[[State], bool]


@dataclass(frozen=True)
class Property:
    """A condition on states, the breach of a state that does not meet it, and which rebecs' parts
    of the state it looks at.
    """

    holds: Predicate
    breach: Breach
    reads: frozenset[int]


@dataclass(frozen=True)
class Abstraction:
    """Variables left out of the state: for each rebec their names in Python, and as written.

    `named` says which ones those are: as written, the place of the rebec, the name in Python.
    """

    attributes: tuple[frozenset[str], ...]
    written: tuple[str, ...]
    named: tuple[tuple[str, int, str], ...]


def abstraction(model: Model, names: Sequence[str]) -> Abstraction:
    """Find the variables that `rebec.variable` and `Class.variable` name.

    Raises UserError, naming the variables there are, for one that does not exist.
    """
    named: list[tuple[str, int, str]] = []
    for name in names:
        owner, _, variable = name.partition(".")
        before = len(named)
        for place, instance in enumerate(model.instances):
            reactive_class = instance.reactive_class
            if owner not in (instance.name, *(each.__name__ for each in reactive_class.__mro__)):
                continue
            named += [
                (name, place, declared.name)
                for declared in reactive_class.__state_variables__
                if declared.rebeca_name == variable
            ]
        if len(named) == before:
            raise UserError(
                f"abstraction: there is no {name!r}; {_variables_there_are(name, model)}"
            )
    attributes = tuple(
        frozenset(attribute for _, place, attribute in named if place == each)
        for each in range(len(model.instances))
    )
    return Abstraction(attributes, tuple(names), tuple(named))


def _variables_there_are(wanted: str, model: Model) -> str:
    names = [
        f"{instance.name}.{variable.rebeca_name}"
        for instance in model.instances
        for variable in instance.reactive_class.__state_variables__
    ]
    if not names:
        return "the model has no variables"
    return suggestion(wanted, names, f"the state variables are {', '.join(names)}")


def written_formulas(tree: PropertyFile) -> list[tuple[str, TemporalProperty]]:
    """Give the temporal formulas in a property file, each with its kind."""
    return [("LTL", each) for each in tree.ltl] + [("TCTL", each) for each in tree.tctl]


def chosen_properties(tree: PropertyFile, names: Sequence[str]) -> PropertyFile:
    """Keep the assertions and formulas of these names.

    Raises UserError, naming those there are, for one that does not exist.
    """
    known = [each.name for each in tree.assertions]
    known += [each.name for _, each in written_formulas(tree)]
    for name in names:
        if name not in known:
            raise UserError(
                f"{tree.span.file}: there is no property {name!r}; "
                + suggestion(name, known, f"the properties are {', '.join(known)}")
            )
    return replace(
        tree,
        assertions=tuple(each for each in tree.assertions if each.name in names),
        ltl=tuple(each for each in tree.ltl if each.name in names),
        tctl=tuple(each for each in tree.tctl if each.name in names),
    )


class Properties:
    """Checks property texts and files against a model and compiles them for its states.

    `checked` is the model as the language knows it.
    """

    def __init__(
        self, system: TransitionSystem, checked: CheckedModel, left_out: Abstraction
    ) -> None:
        self._system = system
        self._checked = checked
        self._left_out = left_out

    def condition(self, text: str, what: str) -> Predicate:
        """Compile one condition; `what` says in errors where it was given.

        Raises RebecaError, with the position, for a text that is wrong or does not fit the model.
        """
        checked, expression = check_condition(text, what, self._checked)
        return self._compiler(checked).compile(expression)

    def expression(self, text: str, what: str, is_condition: bool) -> Function:
        """Compile a condition, or a number.

        Raises as `condition` does, also for what is no number.
        """
        check = check_condition if is_condition else check_number
        checked, expression = check(text, what, self._checked)
        return self._compiler(checked).compile(expression)

    def invariant(self, text: str) -> Property:
        """Make a property of an expression that must be true in every state."""
        checked, expression = check_condition(text, "<invariant>", self._checked)
        compiler = self._compiler(checked)
        holds = compiler.compile(expression)
        return Property(holds, Breach("property violated", text), frozenset(compiler.reads))

    def checked(
        self, properties: PropertyFile | CheckedProperties, only: Sequence[str]
    ) -> CheckedProperties:
        """Check a property file, of which `only` some names are asked for, if any are given.

        Raises RebecaError for a file that does not fit the model, UserError for an unknown name.
        """
        checked = properties
        if isinstance(checked, PropertyFile):
            checked = check_property(checked, self._checked)
        if not only:
            return checked
        return replace(checked, tree=chosen_properties(checked.tree, only))

    def assertions(self, checked: CheckedProperties) -> list[Property]:
        """Make properties of the `Assertion` sections of a property file."""
        return [self._assertion(each, checked) for each in checked.tree.assertions]

    def formulas(self, checked: CheckedProperties) -> list[PosedFormula]:
        """Compile the `LTL` and `TCTL` sections of a property file."""
        return list(posed_formulas(checked, self._system, self._left_out.attributes))

    def _assertion(self, assertion: AssertionProperty, checked: CheckedProperties) -> Property:
        compiler = self._compiler(checked)
        holds = compiler.compile(assertion.expression)
        breach = Breach("assertion failed", assertion.name)
        return Property(holds, breach, frozenset(compiler.reads))

    def _compiler(self, checked: CheckedProperties) -> PredicateCompiler:
        return PredicateCompiler(checked, self._system, self._left_out.attributes)
