"""The tables of the reference pages, made from the program itself."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from typer import Typer
from typer.models import ArgumentInfo, OptionInfo

from rebecsim.cli.commands import COMMANDS as LISTED, app
from rebecsim.studies.scenarios.units import unit_of
from tests.docs.markdown import ROOT

REFERENCE = ROOT / "docs/reference"


@dataclass(frozen=True)
class Command:
    """A command: the words that name it after `rebecsim`, and the function behind it."""

    words: tuple[str, ...]
    function: Callable[..., None]

    @property
    def page(self) -> Path:
        """The reference page that has a section for the command."""
        group = self.words[0] if len(self.words) > 1 else "command-line"
        return REFERENCE / f"{group}.md"

    def __str__(self) -> str:
        return " ".join(self.words)


def commands_of(application: Typer, words: tuple[str, ...] = ()) -> list[Command]:
    """All commands of an application, with those of the applications within it."""
    commands = [
        Command((*words, command.name or command.callback.__name__), command.callback)
        for command in application.registered_commands
        if command.callback is not None
    ]
    for group in application.registered_groups:
        assert isinstance(group.name, str)
        assert group.typer_instance is not None
        commands += commands_of(group.typer_instance, (*words, group.name))
    return commands


def registered_commands() -> list[Command]:
    """All commands of the program, whose modules are imported for that."""
    for listed in LISTED.values():
        import_module(f"rebecsim.cli.{listed.module}")
    return commands_of(app)


COMMANDS = registered_commands()


@dataclass(frozen=True)
class CommandParameter:
    """An argument or option of a command, as the program declares it."""

    name: str
    kind: Any
    default: Any
    info: ArgumentInfo | OptionInfo

    @property
    def shown(self) -> str:
        """How a command line writes it."""
        if isinstance(self.info, OptionInfo):
            # Inside Annotated, typer's first positional argument is the first name.
            names = [self.info.default, *(self.info.param_decls or ())]
            given = [each for each in names if isinstance(each, str) and each.startswith("-")]
            long = [each for each in given if each.startswith("--")]
            return (long or given or [f"--{self.name.replace('_', '-')}"])[0]
        return self.name.upper() + ("..." if get_origin(self.kind) is list else "")


def parameters_of(command: Callable[..., None]) -> list[CommandParameter]:
    """The arguments and options of a command."""
    defaults = inspect.signature(command).parameters
    return [
        CommandParameter(name, hint.__origin__, defaults[name].default, hint.__metadata__[-1])
        for name, hint in get_type_hints(command, include_extras=True).items()
        if name != "return"
    ]


def options_table(command: Callable[..., None]) -> str:
    """The arguments and options of a command, with what `--help` says about them."""
    rows = []
    for parameter in parameters_of(command):
        told = parameter.info.show_default
        shown = told if isinstance(told, str) else _default_of(parameter)
        help_text = parameter.info.help or ""
        rows.append((f"`{parameter.shown}`", _value_of(parameter), shown, help_text))
    return _table(("Argument or option", "Value", "Default", "Meaning"), rows)


def _default_of(parameter: CommandParameter) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return "required"
    return "" if default is None or default is False else f"`{default}`"


def _value_of(parameter: CommandParameter) -> str:
    kinds = [kind for kind in _kinds(parameter.kind) if kind is not NoneType]
    if get_origin(kinds[0]) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kinds[0]))
    kind = (get_args(kinds[0]) or kinds)[0]
    if kind is bool:
        return ""
    if kind in (int, float):
        least, most = parameter.info.min, parameter.info.max
        number = "integer" if kind is int else "number"
        if most is not None:
            return f"{number} from {least:g} to {most:g}"
        return number if least is None else f"{number}, at least {least:g}"
    if issubclass(kind, StrEnum):
        return " or ".join(f"`{value}`" for value in kind)
    return {Path: "path", str: "text"}[kind]


def _kinds(kind: Any) -> tuple[Any, ...]:
    return (kind,) if get_origin(kind) is Literal else get_args(kind) or (kind,)


def keys_table(model: type[BaseModel]) -> str:
    """The keys of a table of a scenario file: type, range, unit, default and meaning."""
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    rows = []
    for name, field in model.model_fields.items():
        if name == "pattern" and "const" in schema["properties"][name] | {"const": ""}:
            continue
        default = "required" if name in required else _default(field.default)
        about = schema["properties"][name]
        value = ", ".join(filter(None, (_type(about), unit_of(about))))
        rows.append((f"`{name}`", value, default, field.description or ""))
    return _table(("Key", "Value", "Default", "Meaning"), rows)


def _default(value: Any) -> str:
    assert value is not PydanticUndefined
    if isinstance(value, BaseModel):
        return "see below"
    return "" if value is None else f"`{json.dumps(value)}`"


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "$ref" in schema or schema.get("allOf"):
        return "table"
    if "anyOf" in schema:  # a value or nothing
        return _type(schema["anyOf"][0])
    match schema["type"]:
        case "array" if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        case "array":
            items = schema["items"]
            inner = "a table" if "oneOf" in items or "$ref" in items else _type(items)
            return f"list, each {inner}"
        case "integer":
            return f"integer{_range(schema)}"
        case "number":
            return f"number{_range(schema)}"
        case "object":
            return "table"
        case "boolean":
            return "`true` or `false`"
        case "string":
            pattern = schema.get("pattern")
            return f"text that matches `{pattern}`" if pattern else "text"
    raise AssertionError(f"no words for {schema}")


def _range(schema: dict[str, Any]) -> str:
    steps = f", multiples of {schema['multipleOf']}" if "multipleOf" in schema else ""
    high = schema["maximum"] if "maximum" in schema else schema["exclusiveMaximum"] - 1
    return f" {_number(schema['minimum'])} .. {_number(high)}{steps}"


def _number(value: float) -> str:
    return f"{int(value) if value == int(value) else value:,}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def require_table(text: str, table: str, page: Path) -> None:
    """Assert that the text of a page has a table. The message is the table, to be put there."""
    assert table in text, f"{page.relative_to(ROOT)} should have the table\n\n{table}"
