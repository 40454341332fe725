"""The tables of the reference pages, made from the program itself.

A page says where a table stands by a line such as `<!--options:explore-->`. The table follows
after an empty line. `python -m tests.docs.tables` writes all tables anew.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from typer import Typer
from typer.models import ArgumentInfo, OptionInfo

from rebecsim.cli.app import all_commands, app
from rebecsim.clusters.batch.scenario import BatchScenario
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.studies.scenario import StudyScenario, unit_of
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
    for listed in all_commands().values():
        import_module(listed.module)
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


Row = tuple[str, ...]

_OPTIONS = ("Argument or option", "Value", "Meaning")
_KEYS = ("Key", "Value", "Meaning")
_SEVERAL = 3
"""An option that as many commands of a page have stands in a table of its own."""


def options_table(command: Command) -> str:
    """The arguments and options of a command, with what `--help` says about them.

    The last rows name those that are the same for several commands, and where they stand.
    """
    shared = _shared_options(command.page)
    rows = _option_rows(command)
    own = [row for row in rows if row not in shared]
    elsewhere = []
    for other in _before(command):
        same = [row for row in own if row in _option_rows(other)]
        if len(same) >= _SEVERAL:
            own = [row for row in own if row not in same]
            name = other.words[-1]
            elsewhere.append((_names(same), "", f"as for [{name}](#{name})"))
    if also := [row for row in rows if row in shared]:
        elsewhere.append((_names(also), "", "see [several commands](#options-of-several-commands)"))
    return _table(_OPTIONS, [*own, *elsewhere])


def shared_options_table(page: str) -> str:
    """The options that several commands of a page have."""
    return _table(_OPTIONS, sorted(_shared_options(REFERENCE / f"{page}.md"), key=_by_name))


@cache
def _shared_options(page: Path) -> frozenset[Row]:
    rows = Counter(row for each in COMMANDS if each.page == page for row in _option_rows(each))
    return frozenset(row for row, count in rows.items() if count >= _SEVERAL)


def _before(command: Command) -> list[Command]:
    on_page = [each for each in COMMANDS if each.page == command.page]
    return on_page[: on_page.index(command)]


@cache
def _option_rows(command: Command) -> tuple[Row, ...]:
    return tuple(
        (f"`{each.shown}`", _value_and_default(each), each.info.help or "")
        for each in parameters_of(command.function)
    )


def _value_and_default(parameter: CommandParameter) -> str:
    if parameter.default is True:
        return f"on; off by `--no-{parameter.shown.removeprefix('--')}`"
    told = parameter.info.show_default
    default = told if isinstance(told, str) else _default_of(parameter)
    if default and default != "required":
        default = f"default {default}"
    return "; ".join(filter(None, (_value_of(parameter), default)))


def _names(rows: Iterable[Row]) -> str:
    return ", ".join(row[0] for row in rows)


def _by_name(row: Row) -> tuple[str, Row]:
    return row[0].strip("`-").lower(), row


def _default_of(parameter: CommandParameter) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return "required"
    return "" if default is None or default is False else f"`{default}`"


def _value_of(parameter: CommandParameter) -> str:
    kinds = [kind for kind in _kinds(parameter.kind) if kind is not NoneType]
    if get_origin(kinds[0]) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kinds[0]))
    kind = (get_args(kinds[0]) or kinds)[0]
    if kind is bool:
        return ""
    if kind in (int, float):
        least, most = parameter.info.min, parameter.info.max
        number = "integer" if kind is int else "number"
        if most is not None:
            return f"{number} {least:g}..{most:g}"
        return number if least is None else f"{number} ≥ {least:g}"
    if issubclass(kind, StrEnum):
        return ", ".join(f"`{value}`" for value in kind)
    return {Path: "path", str: "text"}[kind]


def _kinds(kind: Any) -> tuple[Any, ...]:
    return (kind,) if get_origin(kind) is Literal else get_args(kind) or (kind,)


def keys_table(model: type[BaseModel]) -> str:
    """The keys of a table of a scenario file: type, range, unit, default and meaning.

    Of a whole scenario, the last row names the keys that are the same in every kind.
    """
    rows = _key_rows(model)
    common = set(_common_keys()) & set(rows) if issubclass(model, StudyScenario) else set()
    own = [row for row in rows if row not in common]
    if common:
        names = _names(row for row in rows if row in common)
        own.append((names, "", "see [every kind](scenario.md#keys-of-every-kind)"))
    return _table(_KEYS, own)


def common_keys_table(_: str = "") -> str:
    """The keys that are the same in scenarios of every kind."""
    return _table(_KEYS, _common_keys())


def _common_keys() -> list[Row]:
    others = _key_rows(BatchScenario)
    return [row for row in _key_rows(Scenario) if row in others]


@cache
def _key_rows(model: type[BaseModel]) -> tuple[Row, ...]:
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    rows = []
    for name, field in model.model_fields.items():
        if name == "pattern" and "const" in schema["properties"][name] | {"const": ""}:
            continue
        default = "required" if name in required else _default(field.default)
        about = schema["properties"][name]
        value = ", ".join(filter(None, (_type(about), unit_of(about))))
        value = "; ".join(filter(None, (value, default)))
        rows.append((f"`{name}`", value, field.description or ""))
    return tuple(rows)


def _default(value: Any) -> str:
    assert value is not PydanticUndefined
    if isinstance(value, BaseModel) or value in (None, "", (), [], {}):
        return ""
    return f"default `{json.dumps(value)}`"


def policies_table(policies: Iterable[Any]) -> str:
    """The built-in policies of a kind, each with its rule."""
    return _table(("Name", "Rule"), ((f"`{each.name}`", each.description) for each in policies))


def metrics_table(measures: Iterable[Any]) -> str:
    """The figures of a kind, each with its unit and what it is."""
    metrics = [each.metric for each in measures]
    return _table(
        ("Figure", "Unit", "Meaning"),
        ((f"`{each.name}`", each.unit or "none", each.note) for each in metrics),
    )


def views_table(tables: dict[str, Iterable[str]]) -> str:
    """The tables that a kind keeps of every run, each with its columns."""
    rows = (
        (f"`{name}`", ", ".join(f"`{each}`" for each in columns))
        for name, columns in tables.items()
    )
    return _table(("Table", "Columns"), rows)


def _command_table(words: str) -> str:
    (command,) = (each for each in COMMANDS if str(each) == words.replace("-", " "))
    return options_table(command)


def _named(path: str) -> Any:
    """What stands under a name in `rebecsim.clusters` or a module of it."""
    module, _, name = f"rebecsim.clusters.{path}".rpartition(".")
    return getattr(import_module(module), name)


GENERATED: dict[str, Callable[[str], str]] = {
    "options": _command_table,
    "shared-options": shared_options_table,
    "keys": lambda path: keys_table(_named(path)),
    "common-keys": common_keys_table,
    "policies": lambda path: policies_table(_named(path)),
    "metrics": lambda path: metrics_table(_named(path)),
    "views": lambda path: views_table(_named(path)),
}
"""What a marker in a page stands for, by the word before its colon."""

_MARKER = re.compile(
    r"^(?P<marker><!--(?P<kind>[\w-]+):(?P<of>\S+)-->)\n+(?:\|.*\n)*\n*", re.MULTILINE
)


def written(text: str) -> str:
    """The text of a page with the tables of its markers as they should be."""
    tables = _MARKER.sub(
        lambda found: f"{found['marker']}\n\n{GENERATED[found['kind']](found['of'])}\n", text
    )
    return tables.rstrip("\n") + "\n"


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "$ref" in schema or schema.get("allOf"):
        return "table"
    if "anyOf" in schema:  # a value or nothing
        return _type(schema["anyOf"][0])
    match schema["type"]:
        case "array" if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        case "array":
            items = schema["items"]
            inner = "tables" if "oneOf" in items or "$ref" in items else _type(items)
            return f"list of {inner}"
        case "integer":
            return f"integer{_range(schema)}"
        case "number":
            return f"number{_range(schema)}"
        case "object":
            return "table"
        case "boolean":
            return "boolean"
        case "string":
            pattern = schema.get("pattern")
            return f"text that matches `{pattern}`" if pattern else "text"
    raise AssertionError(f"no words for {schema}")


def _range(schema: dict[str, Any]) -> str:
    steps = f", multiples of {schema['multipleOf']}" if "multipleOf" in schema else ""
    high = schema["maximum"] if "maximum" in schema else schema["exclusiveMaximum"] - 1
    if "minimum" not in schema:
        return f" above {_number(schema['exclusiveMinimum'])}, up to {_number(high)}{steps}"
    return f" {_number(schema['minimum'])}..{_number(high)}{steps}"


def _number(value: float) -> str:
    return f"{int(value) if value == int(value) else value:,}"


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"|{'|'.join(_cell(cell) for cell in line)}|\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def require_table(text: str, table: str, page: Path) -> None:
    """Assert that the text of a page has a table. The message is the table, to be put there."""
    assert table in text, f"{page.relative_to(ROOT)} should have the table\n\n{table}"


def main() -> None:
    """Write the tables of all reference pages anew."""
    for page in sorted(REFERENCE.glob("*.md")):
        page.write_text(written(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
