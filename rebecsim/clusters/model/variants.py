"""Variants of a model: its constants and constructor arguments with other values.

A model in Rebeca is changed in its syntax tree, which is then printed; one in Python gets other
arguments when its rebecs are made. No text is ever put together from values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.actors import Instance, Model
from rebecsim.clusters.model.scenario import Swept
from rebecsim.errors import UserError
from rebecsim.generate.module import build_model, python_model
from rebecsim.lang import CheckedModel, Dialect, check_source, print_model, syntax
from rebecsim.lang.checked import BOOLEAN, PRIMITIVES, REAL, TIMER, PrimitiveType
from rebecsim.lang.checking.calls import NotConstantError, convert
from rebecsim.lang.reading.imports import whole_model
from rebecsim.lang.traversal import INT_MAX
from rebecsim.steps import understood
from rebecsim.studies.sweeps import Changes
from rebecsim.trust import is_program
from rebecsim.wording import suggestion

if TYPE_CHECKING:
    from rebecsim.clusters.model.expressions import Expression

MODEL_SUFFIXES = (".rebeca", ".py")
"""How the names of models end."""

_MADE_BY_A_PROGRAM = "# A model that a program made, which alone can run it"
_MADE: dict[str, Model] = {}
"""The models that this program made itself, by the texts in their place."""

_LITERALS: Mapping[type, Callable[[Swept], syntax.Expression]] = {
    bool: lambda value: syntax.BoolLiteral(bool(value)),
    int: lambda value: syntax.IntLiteral(int(value)),
    float: lambda value: syntax.FloatLiteral(float(value)),
}


@dataclass(frozen=True)
class ModelText:
    """A model as text, which is all that a worker process needs of it.

    Attributes:
        file: its name; one that ends in `.py` is a program.
        text: what it holds.
        core: whether it is read as Core Rebeca.
        arguments: of a model in Python, the constructor arguments that are others.
    """

    file: str
    text: str
    core: bool = False
    arguments: Changes = ()

    @property
    def is_python(self) -> bool:
        """Whether it is a program in Python."""
        return is_program(self.file)

    @property
    def dialect(self) -> Dialect:
        """What it is read as, unless it says something else itself."""
        return "core" if self.core else "timed"

    def with_changes(self, changes: Changes) -> ModelText:
        """Give the variant with these values, which fit; see `sweep_fault`."""
        if not changes:
            return self
        if self.is_python:
            return replace(self, arguments=changes)
        opened = open_text(self)
        tree, _ = whole_model(self.text, self.file)
        for name, value in changes:
            tree = _changed(tree, opened, name, value)
        mark = "// rebeca: core\n" if opened.model.core else ""
        return replace(self, text=mark + print_model(tree))


@dataclass(frozen=True)
class Opened:
    """A model that can be run, with what its names mean.

    Attributes:
        model: its rebecs.
        checked: its checked tree; of Python that has no meaning in Rebeca no more than the names
            of rebecs and variables.
        is_python: whether it is a program in Python.
        against: why Python has no meaning in Rebeca; empty if it has.
    """

    model: Model
    checked: CheckedModel
    is_python: bool
    against: str = ""

    def expression(self, text: str) -> Expression:
        """Give an expression that fits the model. Raises RebecaError for one that does not."""
        from rebecsim.clusters.model.expressions import Expression  # which takes a parser

        return Expression(text, self.model, self.checked)


def text_in_place_of(model: Model) -> str:
    """Give a text for a model that the running program made, so that `open_text` knows it again.

    It is known in this process only. As far as Python knows it, the text holds the source of the
    classes as comments, for readers of a record.
    """
    for text, known in _MADE.items():
        if known is model:
            return text
    lines = [f"{_MADE_BY_A_PROGRAM}: its number {len(_MADE) + 1}."]
    for owner in dict.fromkeys(each.reactive_class for each in model.instances):
        with suppress(OSError, TypeError):  # classes typed at a prompt have no source
            lines += ["#", *(f"# {line}" for line in inspect.getsource(owner).splitlines())]
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    _MADE[text] = model
    return text


@lru_cache(maxsize=8)  # the tasks of a variant come one after the other
def open_text(source: ModelText) -> Opened:
    """Read a model. Raises RebecaError or LoadError; a `.py` file is executed."""
    if source.is_python:
        if source.text not in _MADE and source.text.startswith(_MADE_BY_A_PROGRAM):
            raise UserError(
                f"{source.file}: was made by a program, and is no longer there; run that program "
                "again"
            )
        model = _MADE.get(source.text) or python_model(source.text, Path(source.file))
        for name, value in source.arguments:
            model = _with_argument(model, name, value)
        steps, against = understood(model)
        if steps is None:
            from rebecsim.exploration import vocabulary

            steps = vocabulary(model)
        return Opened(model, steps, True, against)
    checked = check_source(source.text, source.file, source.dialect)
    return Opened(build_model(checked, Path(source.file).name), checked, False)


# --- what can be swept -------------------------------------------------------------------------


def sweep_fault(opened: Opened, name: str, values: tuple[Any, ...]) -> str | None:
    """Say why a constant or an argument cannot have these values; None if it can."""
    rebec, point, parameter = name.partition(".")
    try:
        if point:
            allowed = _argument_kind(opened, rebec, parameter)
        else:
            allowed = _constant_kind(opened, name)
    except UserError as error:
        return _class_constant(opened, parameter or name) or str(error)
    fault = next((value for value in values if not _fits(value, allowed)), None)
    if fault is None:
        return None
    shown = str(fault).lower() if isinstance(fault, bool) else f"{fault!r}"
    return f"{shown} is not of type {allowed}, which {name} takes"


def _class_constant(opened: Opened, name: str) -> str | None:
    """Say of a constant of a class why it cannot have other values; None for another name."""
    for owner, checked in opened.checked.classes.items():
        if not opened.is_python and name in checked.constants:
            return (
                f"is a constant of the class {owner}; give it the value of an env constant before "
                "the classes, and change that one"
            )
    return None


def _constant_kind(opened: Opened, name: str) -> PrimitiveType:
    if opened.is_python:
        raise UserError(
            "a model in Python has no env constants; name a constructor argument, as in "
            "`rebec.parameter`"
        )
    symbol = opened.checked.env.get(name)
    if symbol is None:
        known = [*opened.checked.env, *_arguments(opened)]
        raise UserError(f"there is no env constant of this name; {_hint(name, known)}")
    if not isinstance(symbol.type, PrimitiveType):
        raise UserError(f"is an array ({symbol.type}), which cannot be swept")
    return symbol.type


def _argument_kind(opened: Opened, rebec: str, parameter: str) -> PrimitiveType:
    if rebec not in opened.model.positions:
        raise UserError(f"there is no rebec {rebec}; {_hint(rebec, opened.model.positions)}")
    if opened.is_python:
        return _python_kind(opened.model, rebec, parameter)
    instance = opened.checked.instances[opened.model.positions[rebec]]
    for each in instance.parameters:
        if each.name == parameter:
            kind = PRIMITIVES.get(each.type.name)
            if kind is None or each.type.dimensions:
                raise UserError(f"is a {each.type.name}, which cannot be swept")
            return kind
    names = [each.name for each in instance.parameters]
    raise UserError(_no_parameter(rebec, instance.class_name, parameter, names))


def _no_parameter(rebec: str, owner: str, parameter: str, names: list[str]) -> str:
    hint = _hint(parameter, names) if names else "it takes no arguments"
    return f"{rebec} is a {owner}, which takes no argument {parameter}; {hint}"


def _hint(name: str, known: Mapping[str, object] | list[str]) -> str:
    return suggestion(name, list(known)) if known else "the model has none"


def _arguments(opened: Opened) -> Iterator[str]:
    for instance in opened.checked.instances:
        for each in instance.parameters:
            yield f"{instance.name}.{each.name}"


def _fits(value: object, kind: PrimitiveType) -> bool:
    if not isinstance(value, int | float):
        return False
    if kind == BOOLEAN or isinstance(value, bool):
        return kind == BOOLEAN and isinstance(value, bool)
    if kind == TIMER:
        return False
    if kind in REAL:
        try:
            convert(value, kind)
        except (NotConstantError, OverflowError):
            return False
        return not isinstance(value, int) or abs(value) <= INT_MAX
    return isinstance(value, int) and abs(value) <= INT_MAX and convert(value, kind) == value


# --- models in Rebeca ----------------------------------------------------------------------------


def _changed(tree: syntax.Model, opened: Opened, name: str, value: Swept) -> syntax.Model:
    rebec, point, parameter = name.partition(".")
    if not point:
        return replace(
            tree,
            env_variables=tuple(
                replace(each, value=_literal(value, opened, name)) if each.name == name else each
                for each in tree.env_variables
            ),
        )
    checked = opened.checked.instances[opened.model.positions[rebec]]
    place = [each.name for each in checked.parameters].index(parameter)

    def edited(each: syntax.Instance) -> syntax.Instance:
        if each.name != rebec:
            return each
        arguments = list(each.arguments)
        arguments[place] = _literal(value, opened, name)
        return replace(each, arguments=tuple(arguments))

    return replace(tree, instances=tuple(map(edited, tree.instances)))


def _literal(value: Swept, opened: Opened, name: str) -> syntax.Expression:
    """Write a value as an expression of the type that it is for."""
    rebec, point, parameter = name.partition(".")
    kind = _argument_kind(opened, rebec, parameter) if point else _constant_kind(opened, name)
    if kind in REAL:
        size: syntax.Expression = syntax.FloatLiteral(abs(float(value)), kind.name == "float")
    else:
        size = _LITERALS[type(value)](value if isinstance(value, bool) else abs(value))
    return syntax.Unary("-", size) if value < 0 else size


# --- models in Python ----------------------------------------------------------------------------


def _parameters(instance: Instance) -> list[str]:
    """Name the arguments of a rebec: those of its constructor or of `initial`."""
    initial = instance.reactive_class.__servers__.get("initial")
    if initial is not None:
        return list(initial.parameters)
    constructor = getattr(instance.reactive_class, instance.constructor)
    return list(inspect.signature(constructor).parameters)[1:]


def _python_kind(model: Model, rebec: str, parameter: str) -> PrimitiveType:
    """Give the type of an argument by the value that it has."""
    instance = model.instances[model.positions[rebec]]
    names = _parameters(instance)
    if parameter not in names:
        owner = instance.reactive_class.__name__
        raise UserError(_no_parameter(rebec, owner, parameter, names))
    place = names.index(parameter)
    if place >= len(instance.arguments):
        raise UserError(f"{rebec} is given no {parameter} in the model; give it one")
    value = instance.arguments[place]
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int | float):
        return PRIMITIVES["int" if isinstance(value, int) else "double"]
    raise UserError(f"{parameter} of {rebec} is {value!r}, which is not a number, true or false")


def _with_argument(model: Model, name: str, value: Swept) -> Model:
    rebec, _, parameter = name.partition(".")

    def edited(each: Instance) -> Instance:
        if each.name != rebec:
            return each
        arguments = list(each.arguments)
        arguments[_parameters(each).index(parameter)] = value
        return replace(each, arguments=tuple(arguments))

    return replace(model, instances=tuple(map(edited, model.instances)))
