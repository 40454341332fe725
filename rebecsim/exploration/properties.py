"""Properties of every state, and the variables that a state may leave out.

Properties are invariants and the assertions of property files. An abstraction leaves a variable out
of the state: states that differ in it only count as one, and one of its values stands for all. That
is harmless for a variable that nothing reads, such as a counter for statistics. It is not where the
variable feeds a branch, an assertion, a message, a time, or another variable: then runs are lost,
and the errors in them. `decided_by` finds these places.

It reads the Python source of a class, also of one written from Rebeca, as
`rebecsim.exploration.analysis.deciding_reads` does. Other rebecs cannot read a variable while a
model is explored, and a constructor runs once, before anything is left out. Values are assumed to
have the declared types, so that they can be compared and computed with.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import EnumType
from functools import cache
from pathlib import PurePath
from types import FunctionType

from rebecsim import actors
from rebecsim.actors import Array, Model, Rebec
from rebecsim.actors.watchdog import SOURCE, line_of_rebeca
from rebecsim.errors import UserError
from rebecsim.exploration.analysis.absolute_time import (
    BACK_DOORS,
    function_of,
    functions_of,
    members_of,
    names_in,
)
from rebecsim.exploration.analysis.deciding_reads import (
    FunctionNode,
    Owner,
    decision_in,
    handed_out,
)
from rebecsim.exploration.predicates import (
    Function,
    PosedFormula,
    PredicateCompiler,
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

    def _compiler(self, checked: CheckedProperties) -> PredicateCompiler:
        return PredicateCompiler(checked, self._system, self._left_out.attributes)


@dataclass(frozen=True)
class Deciding:
    """A variable that is left out of the state, and what it decides: a phrase with its place."""

    variable: str
    what: str

    def __str__(self) -> str:
        return f"{self.variable} ({self.what})"


def decided_by(model: Model, left_out: Abstraction) -> tuple[Deciding, ...]:
    """Say of the variables left out what they decide; nothing of those that decide nothing."""
    found: dict[str, str] = {}
    for written, place, name in left_out.named:
        if written not in found:
            reactive_class = model.instances[place].reactive_class
            what = _Class(model, reactive_class, left_out.attributes[place]).decided_by(name)
            if what:
                found[written] = what
    return tuple(Deciding(*each) for each in found.items())


_TOTAL = frozenset(
    {"bool", "double_quotient", "float", "float32", "float_quotient", "int16", "int32", "int8"}
    | {"power", "square_root"}
)
"""Functions that give a value for any number."""


class _Class:
    """The functions of a reactive class, of which some variables are left out."""

    def __init__(self, model: Model, reactive_class: type[Rebec], left_out: frozenset[str]) -> None:
        self._class = reactive_class
        self._left_out = left_out
        functions = list(functions_of(reactive_class, model))
        own = {function_of(value) for _, value in members_of(self._class)}
        self._own = [(each, _tree_of(each)) for each in functions if each in own]
        self._others = [each for each in functions if each not in own]
        self._servers = frozenset(
            name for each in model.instances for name in each.reactive_class.__servers__
        )
        self._state = {
            each.name: each.kind.length if isinstance(each.kind, Array) else None
            for each in reactive_class.__state_variables__
        }

    def decided_by(self, name: str) -> str:
        """Say what a variable decides, or may decide; nothing if it decides nothing."""
        hidden = self._hidden(name)
        if hidden:
            return f"it may decide something: {hidden}"
        followed = {name}
        known = 0
        while known != len(followed):  # until no further variable gets a value made of it
            known = len(followed)
            for function, tree in self._own:
                assert tree is not None  # or it would be hidden
                found = decision_in(tree, self._owner(function), followed)
                if found is not None:
                    return f"it decides {found.what}, {_place(function, found.line)}"
        return ""

    def _hidden(self, name: str) -> str:
        """Say what keeps from seeing all that is done with a variable."""
        if "__" in name:  # Python has another name for it than the source
            return "its name is a private one"
        for member, value in members_of(self._class):
            if not _is_plain(value) and (
                function_of(value) is None or (isinstance(value, property) and value.fset)
            ):
                return f"{self._class.__name__}.{member} may read it"
        for function in (*(each for each, _ in self._own), *self._others):
            if names_in(function) & BACK_DOORS:
                return f"{function.__qualname__} may read it by its name"
        for function in self._others:
            if name in names_in(function):
                return f"{function.__qualname__} reads it"
        for function, tree in self._own:
            if tree is None:
                return f"{function.__qualname__} has no source to be read"
            if SOURCE in function.__globals__:  # what is written from Rebeca hands out names only
                continue
            line = handed_out(tree, self._servers)
            if line is not None:
                return f"the rebec is handed to what may read it, {_place(function, line)}"
        return ""

    def _owner(self, function: FunctionType) -> Owner:
        known = vars(builtins) | function.__globals__
        total = frozenset(name for name in _TOTAL if known.get(name) is _the_function(name))
        return Owner(self._state, self._left_out, self._servers, total)


def _the_function(name: str) -> object:
    """Give what one of `_TOTAL` is, asking the package, which imports what is asked for."""
    return vars(builtins)[name] if name in vars(builtins) else getattr(actors, name)


def _is_plain(value: object) -> bool:
    """Whether a member of a class is a value, which does nothing when it is read."""
    if isinstance(value, EnumType):
        return True
    return not callable(value) and (
        not hasattr(value, "__get__") or inspect.isgetsetdescriptor(value)
    )


# --- sources -------------------------------------------------------------------------------------


def _tree_of(function: FunctionType) -> FunctionNode | None:
    """Give the tree of a function; None for one without a source, or a lambda."""
    code = function.__code__
    return _trees_in(_source_of(function)).get((code.co_name, code.co_firstlineno))


@cache
def _trees_in(source: str) -> dict[tuple[str, int], FunctionNode]:
    """Give the functions in a text, by their names and first lines."""
    return {
        (node.name, min(each.lineno for each in (node, *node.decorator_list))): node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, FunctionNode)
    }


def _source_of(function: FunctionType) -> str:
    source = function.__globals__.get(SOURCE)
    if isinstance(source, str):
        return source
    try:
        return "".join(inspect.findsource(function.__code__)[0])
    except OSError:
        return ""


def _place(function: FunctionType, line: int) -> str:
    """Name the place in what the user has written."""
    source = function.__globals__.get(SOURCE)
    file = function.__code__.co_filename
    if isinstance(source, str):
        file = file.removeprefix("<python of ").removesuffix(">")
        return f"{file}:{line_of_rebeca(source, line)}"
    return f"{PurePath(file).name}:{line}"
