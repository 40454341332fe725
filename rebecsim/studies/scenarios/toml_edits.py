"""Changing one value of a TOML text, and leaving the rest as somebody wrote it."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from rebecsim.studies.scenarios.toml_lines import Entry, entries_of

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)

KeyPath = tuple[str, ...]
"""The way to a value through tables."""


def with_value(text: str, path: KeyPath, value: object) -> str:
    """Set a value of a valid TOML text, or take it out if it is None.

    Other lines stay as they are; where that cannot be done, as with tables that are written in
    several places, the whole text is written anew, without its comments.
    """
    wanted = _changed(tomllib.loads(text), path, value)
    try:
        edited = _edited(text, path, value, wanted)
        if tomllib.loads(edited) == wanted:
            return edited
    except (tomllib.TOMLDecodeError, KeyError):
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


def _changed(values: dict[str, Any], path: KeyPath, value: object) -> dict[str, Any]:
    changed = copy.deepcopy(values)
    table: Any = changed
    for key in path[:-1]:
        if value is None and key not in table:
            return changed
        table = table.setdefault(key, {})
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value
    return changed


def _edited(text: str, path: KeyPath, value: object, wanted: Mapping[str, Any]) -> str:
    """Change the lines of the value, or of what it stands in, or put in a line."""
    lines = text.removesuffix("\n").split("\n")  # as TOML counts them
    entries = list(entries_of(text))
    for entry in entries:
        if not entry.is_header and entry.path == path[: len(entry.path)]:
            whole: Any = wanted
            for key in entry.path if len(entry.path) < len(path) or value is not None else ():
                whole = whole[key]
            gone = value is None and len(entry.path) == len(path)
            written = [] if gone else [_pair(entry, whole)]
            return _joined([*lines[: entry.first - 1], *written, *lines[entry.last :]])
    if value is None:
        return text
    place = _place(entries, path[:-1], len(lines))
    pair = f"{_key(path[-1])} = {toml_value(value)}"
    if place is None:
        header = f"[{'.'.join(map(_key, path[:-1]))}]"
        return _joined([*lines, "", header, pair])
    return _joined([*lines[:place], pair, *lines[place:]])


def _place(entries: list[Entry], table: KeyPath, end: int) -> int | None:
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


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else toml_value(key)


def _lines(values: Mapping[str, Any], path: KeyPath) -> Iterator[str]:
    """Give the pairs of a table, then the tables below it."""
    below: list[tuple[str, Any]] = []
    for key, value in values.items():
        is_list = isinstance(value, list | tuple) and bool(value)
        if isinstance(value, Mapping) or (is_list and all(isinstance(v, Mapping) for v in value)):
            below.append((key, value))
        elif value is not None:
            yield f"{_key(key)} = {toml_value(value)}"
    for key, value in below:
        name = ".".join(map(_key, (*path, key)))
        for each in [value] if isinstance(value, Mapping) else value:
            yield ""
            yield f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
            yield from _lines(each, (*path, key))
