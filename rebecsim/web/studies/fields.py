"""Show values of a scenario in the fields of a form, and read what was typed.

A table is a group of fields, and so is each table of a list; a list of numbers or words is one
line. What has another shape is written as TOML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rebecsim.errors import UserError
from rebecsim.limits import NESTING, LimitError
from rebecsim.studies.scenarios.scenario_errors import field_name
from rebecsim.studies.scenarios.toml_edits import toml_value
from rebecsim.studies.scenarios.toml_lines import FieldPath, most_parts

Group = Literal["table", "tables", "entry"]
Shape = Literal["text", "lines", "integer", "number", "flag", "choice", "list", "toml"] | Group
GROUPS = frozenset[Shape](("table", "tables", "entry"))
"""What has fields in it: a table, a list of tables, and one of these."""


@dataclass(frozen=True)
class FormField:
    """A key of a scenario: `default`, `hint` and `unit` are texts for people.

    A group has `inner` fields; a table has a value of its own, whether it is there, only if it is
    `optional`. A choice may decide which keys there are beside it: `keys` of each of its values.
    """

    path: FieldPath
    shape: Shape
    help: str
    default: str = ""
    hint: str = ""
    unit: str = ""
    required: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    inner: tuple[FormField, ...] = ()
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)
    new: Mapping[str, object] = field(default_factory=dict)
    """What a table begins with that is added to a list."""

    @property
    def name(self) -> str:
        """What forms call it, and messages."""
        return field_name(self.path)

    @property
    def label(self) -> str:
        """Its key in words; that of the list and a number for a table of a list."""
        last = self.path[-1]
        if isinstance(last, int):
            return f"{str(self.path[-2]).replace('_', ' ')} {last + 1}"
        return last.replace("_", " ")


def every_field(fields: tuple[FormField, ...]) -> Iterator[FormField]:
    """Give all fields, those of tables behind their table."""
    for each in fields:
        yield each
        yield from every_field(each.inner)


def shown(of: FormField, values: Mapping[str, Any]) -> str:
    """Write what a scenario has for a field; nothing where it has nothing."""
    value = value_at(values, of.path)
    if value is None:
        return ""
    if of.shape in GROUPS:
        return "yes"
    if of.shape in ("text", "lines", "choice") and isinstance(value, str):
        return value
    if of.shape == "list" and isinstance(value, list) and all(map(_is_bare, value)):
        return ", ".join(each if isinstance(each, str) else toml_value(each) for each in value)
    return toml_value(value)


def read(of: FormField, text: str) -> object:
    """Read what was typed into a field; None for nothing. Raises UserError."""
    if of.shape not in ("text", "lines"):
        text = text.strip()
    if not text:
        return None
    if of.shape in GROUPS:
        return {}
    if of.shape in ("text", "lines", "choice"):
        return text.replace("\r\n", "\n")
    if of.shape == "list" and not text.startswith("["):
        return [_word(each.strip()) for each in text.split(",") if each.strip()]
    try:
        return _parsed(text)
    except (ValueError, RecursionError) as error:
        what = {"integer": "a whole number", "number": "a number", "flag": "true or false"}
        raise UserError(f"must be {what.get(of.shape, 'written as TOML')}") from error


def _parsed(text: str) -> object:
    """Read a value of TOML. Raises LimitError, ValueError, RecursionError."""
    NESTING.require(most_parts(text))
    return tomllib.loads(f"value = {text}")["value"]


def value_at(values: Any, path: FieldPath) -> Any:
    """Give what stands at a place; None where nothing does."""
    for key in path:
        try:
            values = values[key]
        except (LookupError, TypeError):
            return None
    return values


def _word(text: str) -> object:
    """Read an entry of a list: a number if it is one."""
    try:
        value = _parsed(text)
    except (ValueError, RecursionError, LimitError):
        return text.strip("\"'")
    return value if isinstance(value, bool | int | float | str) else text


def _is_bare(value: object) -> bool:
    """Whether an entry of a list can be written without quotes, and is then read as it was."""
    if isinstance(value, str):
        return bool(value) and not set(value) & set(",[]\"'\n") and _word(value) == value
    return isinstance(value, bool | int | float)


def written(default: object) -> str:
    """Write a default for people; nothing where there is none."""
    if default is None or default in ("", [], {}):
        return ""
    if isinstance(default, str):
        return default
    if isinstance(default, list) and all(map(_is_bare, default)):
        return ", ".join(each if isinstance(each, str) else toml_value(each) for each in default)
    return toml_value(default)
