"""Options of commands as fields: of dataclasses, or of tables of scenarios, whose keys they are.

They may also be defaults of the parameters of a command: see `rebecsim.cli.app.grouped`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import cache
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

OPTION = "option"
"""What the option stands under in the metadata of a field of a dataclass."""


def key(table: type[BaseModel], name: str, text: str = "") -> Any:
    """Give a field of a dataclass of options, for the key of a table of scenarios.

    The option is called like the key, and has its default and its least value; one that is true or
    false is a flag. What is too large is refused with the scenario. `text` is the help, where it
    is not the description of the key.
    """
    found = table.model_fields[name]
    flag = [f"--{name.replace('_', '-')}"] if found.annotation is bool else []
    return field(default=found.default, metadata={OPTION: _option_of(table, name, text, *flag)})


def option(text: str, default: Any = None, *names: str, **more: Any) -> Any:
    """Give a field of a dataclass of options, for an option that is no key of a scenario.

    `text` is the help, `names` are those of the option if it is not called like the field, or has
    others; further arguments are those of `typer.Option`.
    """
    return field(default=default, metadata={OPTION: typer.Option(*names, help=text, **more)})


def argument(text: str, default: Any = MISSING, **more: Any) -> Any:
    """Give a field of a dataclass of options for what stands at its place, not behind a name."""
    shows = default is not MISSING and default is not None
    found = typer.Argument(help=text, **{"show_default": shows, **more})
    return field(default=default, metadata={OPTION: found})


def is_group(hint: object) -> bool:
    """Whether this is a class of options: a dataclass, or a table of scenarios."""
    return isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "model_fields"))


def options_of(group: Any) -> list[Parameter]:
    """Give the options of a class, in the order of its fields, as Typer has to see them."""
    if not is_dataclass(group):
        return [of_key(group, name) for name in group.model_fields]
    hints = get_type_hints(group, include_extras=True)
    return [parameter(each.name, hints[each.name], each) for each in fields(group)]


def parameter(name: str, hint: Any, default: object) -> Parameter:
    """Make a parameter as Typer has to see it; the default may be a field that has an option."""
    if isinstance(default, Field):
        made = default.metadata.get(OPTION)
        hint = hint if made is None else Annotated[hint, made]
        default = Parameter.empty if default.default is MISSING else default.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def of_key(table: type[BaseModel], name: str) -> Parameter:
    """Make the option of a key; a list is given by repeating it."""
    found = table.model_fields[name]
    default = Parameter.empty if found.is_required() else found.default
    if get_origin(found.annotation) is not tuple:
        return parameter(name, Annotated[found.annotation, _option_of(table, name)], default)
    entry: Any = get_args(found.annotation)[0]
    words = "|".join(map(str, get_args(entry))) if get_origin(entry) is Literal else None
    made = typer.Option(
        *(("--policy",) if name == "policies" else ()),
        help=f"{help_of(found)[:-1]}; repeatable.",
        metavar=words,
        show_default=False if found.is_required() else ", ".join(map(str, found.default)),
    )
    several: Any = list[str] if words else list[entry]  # Typer knows no lists of choices
    if found.is_required():
        return parameter(name, Annotated[several, made], default)
    return parameter(name, Annotated[several | None, made], None)


def help_of(found: FieldInfo) -> str:
    """Give the description of a key, and its unit, as a sentence."""
    from rebecsim.studies.scenario import with_unit

    said = with_unit(found.description or "", found.json_schema_extra)
    return f"{said[:1].upper()}{said[1:]}."


def _option_of(table: type[BaseModel], name: str, text: str = "", *names: str) -> Any:
    found = table.model_fields[name]
    said, shown = text or help_of(found), not found.is_required()
    return typer.Option(*names, min=_least(table, name), help=said, show_default=shown)


def _least(table: type[BaseModel], name: str) -> float | None:
    schema = _properties(table)[name]
    bounds = [each["minimum"] for each in (schema, *schema.get("anyOf", ())) if "minimum" in each]
    return bounds[0] if bounds else None


@cache
def _properties(table: type[BaseModel]) -> Mapping[str, Any]:
    properties: dict[str, Any] = table.model_json_schema()["properties"]
    return properties
