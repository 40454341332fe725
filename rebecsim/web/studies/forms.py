"""Forms of scenarios: fields from the schema of a kind, and edits of the text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rebecsim.errors import UserError
from rebecsim.files import NESTING, LimitError
from rebecsim.studies.scenario import unit_of
from rebecsim.studies.scenario_files import FieldPath, field_name, most_parts
from rebecsim.studies.toml_edits import toml_value, with_value
from rebecsim.web.studies.scenarios import values_of

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
        """Its name in forms and messages."""
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
    """Write a field's value in a scenario; empty if it has none."""
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
    """Give the value at a place; None without one."""
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


Schema = Mapping[str, Any]

_DEEPEST = 5
_MOST_ENTRIES = 40
"""Tables of a list that are shown as fields; longer lists are written as TOML."""
_PLAIN = frozenset({"string", "integer", "number", "boolean"})


def fields_of(schema: Schema, values: Mapping[str, Any]) -> tuple[FormField, ...]:
    """Give the fields of a scenario; its kind is not one, as it decides which there are."""
    form = _Form(schema, values)
    return tuple(each for each in form.table(schema, (), "") if each.path != ("kind",))


@dataclass(frozen=True)
class _Form:
    """Makes the fields of a scenario from the `whole` schema of its kind."""

    whole: Schema
    values: Mapping[str, Any]

    def table(self, schema: Schema, path: FieldPath, unit: str) -> Iterator[FormField]:
        """Give the fields of a table that has a `unit`, for those in it that take it from there."""
        required = schema.get("required", ())
        for name, about in schema.get("properties", {}).items():
            its_unit = unit_of(about, unit) or ""
            yield self._field(about, (*path, name), name in required, its_unit)

    def _field(self, about: Schema, path: FieldPath, required: bool, unit: str) -> FormField:
        said, optional = self._resolved(about)
        shape = self._shape(said, path)
        given: dict[str, Any] = {
            "help": str(about.get("description") or said.get("description") or ""),
            "required": required,
            "optional": optional,
            "unit": unit,
        }
        if shape == "table":
            return FormField(path, shape, inner=tuple(self.table(said, path, unit)), **given)
        if shape == "tables":
            kinds = self._kinds(said)
            inner = tuple(self._entries(kinds, path, unit))
            new = _beginning(kinds)
            return FormField(path, shape, inner=inner, new=new, **given)
        entry = self._resolved(_entry_of(said))[0] if shape == "list" else said
        return FormField(
            path,
            shape,
            default=written(about.get("default")),
            hint=_hint(entry, "each " if shape == "list" else ""),
            choices=tuple(map(str, entry.get("enum", ()))) if shape == "choice" else (),
            **given,
        )

    # --- lists of tables -----------------------------------------------------------------------

    def _kinds(self, said: Schema) -> list[Schema]:
        """Give the tables that may stand in a list; none if other things may."""
        items = self._resolved(said.get("items", {}))[0]
        kinds: list[Schema] = list(items.get("oneOf", (items,)))
        tables = [each for each in kinds if each.get("type") == "object" and "properties" in each]
        told_apart = len(tables) == 1 or all(_names_of(each) for each in tables)
        return tables if len(tables) == len(kinds) and told_apart else []

    def _entries(self, kinds: Sequence[Schema], path: FieldPath, unit: str) -> Iterator[FormField]:
        for place, entry in enumerate(value_at(self.values, path) or ()):
            own = (*path, place)
            if len(kinds) == 1:
                inner, about = tuple(self.table(kinds[0], own, unit)), ""
            else:
                inner, about = self._told_apart(kinds, entry, own, unit)
            yield FormField(own, "entry", help=about, inner=inner)

    def _told_apart(
        self, kinds: Sequence[Schema], entry: Mapping[str, Any], path: FieldPath, unit: str
    ) -> tuple[tuple[FormField, ...], str]:
        """Give the fields of a table of one of several kinds, and what its kind is."""
        key = next(iter(_names_of(kinds[0])))
        keys = {
            name: frozenset(each["properties"])
            for each in kinds
            for name in _names_of(each).get(key, ())
        }
        deciding = FormField(
            (*path, key),
            "choice",
            help="decides which options follow",
            required=True,
            choices=tuple(keys),
            keys=keys,
        )
        named = entry.get(key)
        kind = next((each for each in kinds if named in _names_of(each).get(key, ())), None)
        if kind is None:
            return (deciding,), ""
        others = (each for each in self.table(kind, path, unit) if each.path[-1] != key)
        about = str(kind.get("description", "")).partition("\n\n")[0]
        return (deciding, *others), " ".join(about.split())

    # --- shapes --------------------------------------------------------------------------------

    def _resolved(self, about: Schema) -> tuple[Schema, bool]:
        """Follow a reference; give the schema without None, and whether None is allowed."""
        optional = False
        if "anyOf" in about:
            others = [each for each in about["anyOf"] if each.get("type") != "null"]
            optional = len(others) < len(about["anyOf"])
            about = others[0] if len(others) == 1 else {"description": about.get("description", "")}
        if "$ref" in about:
            about = self.whole["$defs"].get(about["$ref"].rpartition("/")[2], {})
        return about, optional

    def _shape(self, said: Schema, path: FieldPath) -> Shape:
        kind = said.get("type")
        if "enum" in said:
            return "choice"
        if kind == "object" and "properties" in said and len(path) < _DEEPEST:
            return "table"
        if kind == "array":
            if _entry_of(said).get("type") in _PLAIN:
                return "list"
            fits = self._kinds(said) and _are_tables(value_at(self.values, path))
            return "tables" if fits else "toml"
        if kind == "string":
            return "lines" if said.get("maxLength", 0) > 500 else "text"
        if kind == "boolean":
            return "flag"
        return kind if kind in ("integer", "number") else "toml"


def _are_tables(value: object) -> bool:
    """Whether what a scenario has, if anything, can be shown as so many groups of fields."""
    if value is None:
        return True
    if not isinstance(value, list) or len(value) > _MOST_ENTRIES:
        return False
    return all(isinstance(each, Mapping) for each in value)


def _names_of(table: Schema) -> dict[str, tuple[str, ...]]:
    """Give the keys that tell a table from others by fixed texts, and these texts."""
    found: dict[str, tuple[str, ...]] = {}
    for key, about in table["properties"].items():
        names = (about["const"],) if "const" in about else tuple(about.get("enum", ()))
        if names and all(isinstance(each, str) for each in names) and "default" in about:
            found[key] = names
    return found


def _beginning(kinds: Sequence[Schema]) -> Mapping[str, object]:
    if len(kinds) == 1:
        return {}
    key, names = next(iter(_names_of(kinds[0]).items()))
    return {key: names[0]}


def _entry_of(said: Schema) -> Schema:
    """Give the schema of a list's entries; of a tuple, that of the first."""
    several: Sequence[Schema] = said.get("prefixItems", ())
    if several:
        return several[0] if all(each == several[0] for each in several) else {}
    items: Schema = said.get("items", {})
    return items


def _hint(said: Schema, each: str) -> str:
    """Say which values are allowed."""
    if "enum" in said:
        return f"{each}one of {', '.join(map(str, said['enum']))}" if each else ""
    low, high = said.get("minimum"), said.get("maximum", said.get("exclusiveMaximum"))
    if low is None and high is None:
        return ""
    if high is None or high >= 2**40:
        return f"{each}at least {low:,}" if low is not None else ""
    return f"{each}at most {high:,}" if low is None else f"{each}{low:,} to {high:,}"


def with_field(text: str, of: FormField | None, typed: str) -> str:
    """Put what was typed into a field into a text; a field or a text that is none changes nothing.

    Where the field decides which keys there are beside it, those that are no more are taken out.
    Raises UserError for what cannot be read.
    """
    values = values_of(text)
    if of is None or of.shape in ("tables", "entry") or values is None:
        return text
    if typed == shown(of, values):
        return text
    value = read(of, typed)
    text = with_value(text, of.path, value)
    if of.keys and isinstance(value, str):
        beside = value_at(values, of.path[:-1])
        for key in set(beside) - of.keys.get(value, frozenset(beside)):
            text = with_value(text, (*of.path[:-1], key), None)
    return text


def with_table(text: str, of: FormField | None) -> str:
    """Add a table to a list, if the field is a list, or take it out, if it is a table of one."""
    if of is None or of.shape not in ("tables", "entry"):
        return text
    if of.shape == "entry":
        return with_value(text, of.path, None)
    return with_value(text, (*of.path, len(of.inner)), of.new)
