"""Properties of every state, and the variables that a state may leave out.

Properties are invariants and the assertions of property files. An abstraction leaves a variable out
of the state: states that differ in it only count as one, and one of its values stands for all. That
is harmless for a variable that nothing reads, such as a counter for statistics. It is not where the
variable feeds a branch, an assertion, a message, a time, or another variable: then runs are lost,
and the errors in them. `decided_by` finds these places.

It reads the checked tree of a model, as `rebecsim.exploration.analysis.deciding_reads` does; of
Python without one, any variable may decide something. A constructor runs once, before anything is
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.exploration.analysis.deciding_reads import decision_of
from rebecsim.exploration.predicates import (
    Function,
    PosedFormula,
    PredicateWriter,
    posed_formulas,
)
from rebecsim.exploration.states.effects import Breach
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.lang import (
    CheckedModel,
    CheckedProperties,
    PropertyFile,
    check_property,
)
from rebecsim.lang.properties import TemporalProperty, check_condition, check_number
from rebecsim.lang.syntax import Expression
from rebecsim.wording import suggestion

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

    def expression(self, text: str, what: str, is_condition: bool) -> Function:
        """Compile a condition, or a number; `what` says in errors where it was given.

        Raises RebecaError, with the position, for a text that is wrong or does not fit the model.
        """
        check = check_condition if is_condition else check_number
        checked, expression = check(text, what, self._checked)
        return self._compiler(checked).compile(expression)

    def invariant(self, text: str) -> Property:
        """Make a property of an expression that must be true in every state."""
        checked, expression = check_condition(text, "<invariant>", self._checked)
        return self._property(checked, expression, Breach("property violated", text))

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
        return [
            self._property(checked, each.expression, Breach("assertion failed", each.name))
            for each in checked.tree.assertions
        ]

    def formulas(self, checked: CheckedProperties) -> list[PosedFormula]:
        """Compile the `LTL` and `TCTL` sections of a property file."""
        return list(posed_formulas(checked, self._system, self._left_out.attributes))

    def _property(
        self, checked: CheckedProperties, expression: Expression, breach: Breach
    ) -> Property:
        compiler = self._compiler(checked)
        return Property(compiler.compile(expression), breach, frozenset(compiler.reads))

    def _compiler(self, checked: CheckedProperties) -> PredicateWriter:
        return PredicateWriter(checked, self._system, self._left_out.attributes)


@dataclass(frozen=True)
class Deciding:
    """A variable that is left out of the state, and what it decides: a phrase with its place."""

    variable: str
    what: str

    def __str__(self) -> str:
        return f"{self.variable} ({self.what})"


def decided_by(
    model: Model, left_out: Abstraction, checked: CheckedModel | None
) -> tuple[Deciding, ...]:
    """Say of the variables left out what they decide; nothing of those that decide nothing."""
    found: dict[str, str] = {}
    for written, place, name in left_out.named:
        reactive_class = model.instances[place].reactive_class
        if written in found:
            continue
        if checked is None:
            found[written] = (
                f"it may decide something: what {reactive_class.__name__} does is not understood"
            )
            continue
        shown = {each.name: each.rebeca_name for each in reactive_class.__state_variables__}
        own = checked.classes[checked.instances[place].class_name]
        hidden = frozenset(map(shown.__getitem__, left_out.attributes[place]))
        decision = decision_of(checked, own, shown[name], hidden)
        if decision is not None:
            what, span = decision
            found[written] = f"it decides {what}, {PurePath(span.file).name}:{span.line}"
    return tuple(Deciding(*each) for each in found.items())
