"""The fields of a form for scenarios of a kind, made from its schema.

A table is a group of fields, a list of numbers or words is one line. What has another shape, such
as a list of tables, is written as TOML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rebecsim.errors import UserError
from rebecsim.studies.scenarios.toml_edits import KeyPath, toml_value
from rebecsim.studies.scenarios.units import unit_of

Shape = Literal["text", "lines", "integer", "number", "flag", "choice", "list", "table", "toml"]

_DEEPEST = 4
_PLAIN = frozenset({"string", "integer", "number", "boolean"})


@dataclass(frozen=True)
class FormField:
    """A key of a scenario: `default`, `hint` and `unit` are texts for people.

    A table has `inner` fields; it has a value of its own, whether it is there, only if it is
    `optional`.
    """

    path: KeyPath
    shape: Shape
    help: str
    default: str = ""
    hint: str = ""
    unit: str = ""
    required: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    inner: tuple[FormField, ...] = field(default=())

    @property
    def name(self) -> str:
        """What forms call it."""
        return ".".join(self.path)

    @property
    def label(self) -> str:
        """Its key in words."""
        return self.path[-1].replace("_", " ")


def fields_of(schema: Mapping[str, Any]) -> tuple[FormField, ...]:
    """Give the fields of a scenario; its kind is not one, as it decides which there are."""
    return tuple(each for each in _table(schema, schema, (), "") if each.path != ("kind",))


def every_field(fields: tuple[FormField, ...]) -> Iterator[FormField]:
    """Give all fields, those of tables behind their table."""
    for each in fields:
        yield each
        yield from every_field(each.inner)


def shown(of: FormField, values: Mapping[str, Any]) -> str:
    """Write what a scenario has for a field; nothing where it has nothing."""
    value: Any = values
    for key in of.path:
        if not isinstance(value, Mapping) or key not in value:
            return ""
        value = value[key]
    if of.shape == "table":
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
    if of.shape == "table":
        return {}
    if of.shape in ("text", "lines", "choice"):
        return text.replace("\r\n", "\n")
    if of.shape == "list" and not text.startswith("["):
        return [_word(each.strip()) for each in text.split(",") if each.strip()]
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError) as error:
        what = {"integer": "a whole number", "number": "a number", "flag": "true or false"}
        raise UserError(f"must be {what.get(of.shape, 'written as TOML')}") from error


def _word(text: str) -> object:
    """Read an entry of a list: a number if it is one."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text.strip("\"'")
    return value if isinstance(value, bool | int | float | str) else text


def _is_bare(value: object) -> bool:
    """Whether an entry of a list can be written without quotes, and is then read as it was."""
    if isinstance(value, str):
        return bool(value) and not set(value) & set(",[]\"'\n") and _word(value) == value
    return isinstance(value, bool | int | float)


def _table(
    schema: Mapping[str, Any], whole: Mapping[str, Any], path: KeyPath, unit: str
) -> Iterator[FormField]:
    """Give the fields of a table that has a `unit`, for those in it that take it from there."""
    required = schema.get("required", ())
    for name, about in schema.get("properties", {}).items():
        its_unit = unit_of(about, unit) or ""
        yield _field(about, whole, (*path, name), name in required, its_unit)


def _field(
    about: Mapping[str, Any], whole: Mapping[str, Any], path: KeyPath, required: bool, unit: str
) -> FormField:
    said, optional = _resolved(about, whole)
    text = str(about.get("description") or said.get("description") or "")
    default = about.get("default")
    given: dict[str, Any] = {
        "help": text,
        "required": required,
        "optional": optional,
        "unit": unit,
    }
    shape = _shape(said, len(path))
    if shape == "table":
        inner = tuple(_table(said, whole, path, unit))
        return FormField(path, shape, inner=inner, **given)
    entry = _resolved(said.get("items", {}), whole)[0] if shape == "list" else said
    return FormField(
        path,
        shape,
        default=_written(default),
        hint=_hint(entry, "each " if shape == "list" else ""),
        choices=tuple(map(str, entry.get("enum", ()))) if shape == "choice" else (),
        **given,
    )


def _resolved(about: Mapping[str, Any], whole: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Follow a reference, and leave out that a value may be none; say if it may."""
    optional = False
    if "anyOf" in about:
        others = [each for each in about["anyOf"] if each.get("type") != "null"]
        optional = len(others) < len(about["anyOf"])
        about = others[0] if len(others) == 1 else {"description": about.get("description", "")}
    if "$ref" in about:
        about = whole["$defs"][about["$ref"].rpartition("/")[2]]
    return about, optional


def _shape(said: Mapping[str, Any], depth: int) -> Shape:
    kind = said.get("type")
    if "enum" in said:
        return "choice"
    if kind == "object" and "properties" in said and depth < _DEEPEST:
        return "table"
    if kind == "array":
        items = said.get("items", {})
        return "list" if items.get("type") in _PLAIN else "toml"
    if kind == "string":
        return "lines" if said.get("maxLength", 0) > 500 else "text"
    if kind == "boolean":
        return "flag"
    return kind if kind in ("integer", "number") else "toml"


def _hint(said: Mapping[str, Any], each: str) -> str:
    """Say which values there may be."""
    if "enum" in said:
        return f"{each}one of {', '.join(map(str, said['enum']))}" if each else ""
    low, high = said.get("minimum"), said.get("maximum", said.get("exclusiveMaximum"))
    if low is None and high is None:
        return ""
    if high is None or high >= 2**40:
        return f"{each}at least {low:,}" if low is not None else ""
    return f"{each}at most {high:,}" if low is None else f"{each}{low:,} to {high:,}"


def _written(default: object) -> str:
    if default is None or default in ("", [], {}):
        return ""
    if isinstance(default, str):
        return default
    if isinstance(default, list) and all(map(_is_bare, default)):
        return ", ".join(each if isinstance(each, str) else toml_value(each) for each in default)
    return toml_value(default)
