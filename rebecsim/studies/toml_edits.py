"""Write TOML, and change one value of a text while the other lines stay."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from rebecsim.studies.scenario_files import Entry, FieldPath, entries_of

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def with_value(text: str, path: FieldPath, value: object) -> str:
    """Set a value of a valid TOML text, or take it out if it is None.

    A path that ends with a place in a list of tables means that table; the place behind the last
    one adds a table. Other lines stay as they are; where that cannot be done, as with tables that
    are written in several places, the whole text is written anew, without its comments.
    """
    wanted = _changed(tomllib.loads(text), path, value)
    try:
        edited = _edited(text, path, value, wanted)
        if tomllib.loads(edited) == wanted:
            return edited
    except tomllib.TOMLDecodeError:
        pass
    return toml_text(wanted)


def toml_text(values: Mapping[str, Any]) -> str:
    """Write a TOML text. Values that are None are left out."""
    return "\n".join(_lines(values, ())).strip("\n") + "\n"


def toml_value(value: object) -> str:
    """Write a value on one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case dict():
            pairs = (f"{_key(k)} = {toml_value(v)}" for k, v in value.items() if v is not None)
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
        case _:
            return repr(value) if isinstance(value, float) else str(value)


def _changed(values: dict[str, Any], path: FieldPath, value: object) -> dict[str, Any]:
    changed = copy.deepcopy(values)
    table: Any = changed
    for key, following in pairwise(path):
        if isinstance(key, str) and key not in table:
            if value is None:
                return changed
            table[key] = [] if isinstance(following, int) else {}
        table = table[key]
    last: Any = path[-1]
    if isinstance(last, int):
        table[last : last + 1] = [] if value is None else [value]
        if not table:
            return _changed(changed, path[:-1], None)
    elif value is None:
        table.pop(last, None)
    else:
        table[last] = value
    return changed


def _edited(text: str, path: FieldPath, value: object, wanted: Mapping[str, Any]) -> str:
    """Change the lines of the value, or of what it stands in, or put in a line."""
    lines = text.removesuffix("\n").split("\n")  # as TOML counts them
    entries = list(entries_of(text))
    for entry in entries:
        if not entry.is_header and entry.path == path[: len(entry.path)]:
            whole = _found(wanted, entry.path)
            written = [] if whole is None else [_pair(entry, whole)]
            return _joined([*lines[: entry.first - 1], *written, *lines[entry.last :]])
    if isinstance(path[-1], int):
        return _joined(_with_table(lines, entries, path, value))
    if value is None:
        return text
    inner = path
    while (place := _place(entries, inner[:-1], len(lines))) is None and _is_listed(inner[:-1]):
        inner = inner[:-1]  # a table of an entry of a list is written into that
    if place is None:
        header = f"[{'.'.join(map(_key, path[:-1]))}]"
        return _joined([*lines, "", header, f"{_key(path[-1])} = {toml_value(value)}"])
    pair = f"{_key(inner[-1])} = {toml_value(_found(wanted, inner))}"
    return _joined([*lines[:place], pair, *lines[place:]])


def _with_table(
    lines: list[str], entries: list[Entry], path: FieldPath, value: object
) -> list[str]:
    """Take out a table of a list, or put one behind the others."""
    own = [each for each in entries if each.table[: len(path)] == path]
    if value is None:
        first, last = own[0].first - 1, max(each.last for each in own)
        gap = first > 0 and not lines[first - 1].strip()
        return [*lines[: first - gap], *lines[last:]]
    assert isinstance(value, Mapping)
    assert not own, "a table that is there is changed key by key"
    before = [each.last for each in entries if _is_before(each.table, path)]
    place = max(before) if before else len(lines)
    header = f"[[{'.'.join(_key(key) for key in path if isinstance(key, str))}]]"
    return [*lines[:place], "", header, *_lines(value, path), *lines[place:]]


def _is_before(table: FieldPath, path: FieldPath) -> bool:
    """Whether a new table of a list goes after a table: its last one, or the one around both."""
    *list_of, number = path
    behind = (*list_of, int(number) - 1)
    around = path[:-2]
    return table[: len(path)] == behind or (_is_listed(around) and table[: len(around)] == around)


def _is_listed(path: FieldPath) -> bool:
    return any(isinstance(key, int) for key in path)


def _found(values: Mapping[str, Any], path: FieldPath) -> Any:
    """Give a value; None where there is none."""
    found: Any = values
    for key in path:
        try:
            found = found[key]
        except LookupError:
            return None
    return found


def _place(entries: list[Entry], table: FieldPath, end: int) -> int | None:
    """Give how many lines stand before a new pair of a table; None where the table is not there."""
    inside = [each for each in entries if each.table == table]
    if inside:
        return max(each.last for each in inside)
    if table:
        return None
    headers = [each.first for each in entries if each.is_header]
    return min(headers) - 1 if headers else end


def _pair(entry: Entry, value: object) -> str:
    keys = [str(key) for key in entry.path[len(entry.table) :]]
    return f"{'.'.join(map(_key, keys))} = {toml_value(value)}"


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _key(key: str | int) -> str:
    text = str(key)
    return text if _BARE.fullmatch(text) else toml_value(text)


def _lines(values: Mapping[str, Any], path: FieldPath) -> Iterator[str]:
    """Give the pairs of a table, then the tables below it."""
    below: list[tuple[str, Any]] = []
    for key, value in values.items():
        is_list = isinstance(value, list | tuple) and bool(value)
        if isinstance(value, Mapping) or (is_list and all(isinstance(v, Mapping) for v in value)):
            below.append((key, value))
        elif value is not None:
            yield f"{_key(key)} = {toml_value(value)}"
    for key, value in below:
        name = ".".join(_key(each) for each in (*path, key) if isinstance(each, str))
        for each in [value] if isinstance(value, Mapping) else value:
            yield ""
            yield f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
            yield from _lines(each, (*path, key))
