"""Find positions in TOML texts, and change one value while the other lines stay.

`tomllib` gives values without positions, and writes nothing. This module reads a text once more for
positions alone, so that errors can point to lines and edits keep comments. It expects a text that
`tomllib` has accepted, except for `most_parts`, which reads any text in time proportional to its
length.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

FieldPath = tuple[str | int, ...]
"""The way to a value: keys of tables and indices of arrays, e.g. ("arrivals", 0, "count")."""

_TOKEN = re.compile(
    r'''
      (?P<string> """(?:\\.|[^\\])*?(?:"{3,5}|\\?\Z) | \'\'\'.*?(?:'{3,5}|\Z)
                | "(?:\\.|[^"\\\n])*+"? | '[^'\n]*+'? )
    | (?P<comment> \#[^\n]* )
    | (?P<newline> \n )
    | (?P<sign> [\[\]{}=,.] )
    | (?P<bare> [^\s\[\]{}=,.\#"']+ )
    ''',
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def most_parts(text: str) -> int:
    """Return the number of parts of the longest dotted key, 3 for `a.b.c`; at least 1.

    Each part is a table within a table, so the time to parse a key grows with their square.
    """
    most = dots = 0
    for token in _tokens(text):
        if token.text == "." and token.kind == "sign":
            dots += 1
            most = max(most, dots)
        elif token.kind not in ("bare", "string"):
            dots = 0
    return most + 1


def key_lines(text: str) -> Mapping[FieldPath, int]:
    """Return the line, counted from 1, of every table header and every key of a valid TOML text.

    Keys within inline tables and array elements are not listed; `line_of` finds their key.
    """
    lines: dict[FieldPath, int] = {}
    for entry in entries_of(text):
        if entry.is_header:
            lines.setdefault(entry.table[: entry.named], entry.first)
            lines[entry.table] = entry.first
        else:
            for length in range(len(entry.table) + 1, len(entry.path) + 1):
                lines.setdefault(entry.path[:length], entry.first)
    return lines


class Entry(NamedTuple):
    """A header or a `key = value` of a TOML text.

    `table` is the table that it stands in, or that a header begins; `named` says how many parts of
    its path the header of a list of tables has, whose last part is the place in that list.
    """

    path: FieldPath
    table: FieldPath
    named: int
    first: int
    last: int
    is_header: bool


def entries_of(text: str) -> Iterator[Entry]:
    """Give the headers and pairs of a valid TOML text, with the lines that each takes."""
    table: FieldPath = ()
    arrays: dict[FieldPath, int] = {}
    for statement in _statements(text):
        first, end = statement[0], statement[-1]
        lines = first.line, end.line + end.text.count("\n")
        if first.text == "[" and first.kind == "sign":
            is_array = statement[1].text == "[" and statement[1].line == first.line
            table = _resolve(_keys(statement), arrays)
            named = len(table)
            if is_array:
                arrays[table] = arrays.get(table, -1) + 1
                table = (*table, arrays[table])
            yield Entry(table, table, named, *lines, True)
        else:
            yield Entry((*table, *_keys(statement)), table, len(table), *lines, False)


def line_of(path: FieldPath, lines: Mapping[FieldPath, int]) -> int | None:
    """Return the line of the value at `path`, or of the nearest one around it; None without any.

    A key with dots may stand there in quotes, or as a key in tables.
    """
    apart = (step.split(".") if isinstance(step, str) else [step] for step in path)
    dotted: FieldPath = tuple(part for parts in apart for part in parts)
    while path and path not in lines:
        path = path[:-1]
    while len(dotted) > len(path) and dotted not in lines:
        dotted = dotted[:-1]
    return lines.get(max(path, dotted, key=len))


def _statements(text: str) -> Iterator[list[_Token]]:
    """Split the text into headers and `key = value` pairs, which may take several lines."""
    statement: list[_Token] = []
    depth = 0
    for token in _tokens(text):
        if token.kind == "newline":
            if depth == 0 and statement:
                yield statement
                statement = []
        elif token.kind != "comment":
            statement.append(token)
            if token.kind == "sign":
                depth += (token.text in "[{") - (token.text in "]}")
    if statement:
        yield statement


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        yield _Token(match.lastgroup or "", match[0], line)
        line += match[0].count("\n")


def _keys(statement: list[_Token]) -> list[str]:
    """Return the dotted key of a header (between its brackets) or of a pair (before the `=`)."""
    keys: list[str] = []
    for token in statement:
        if token.text == "=" and token.kind == "sign":
            break
        if token.kind == "bare":
            keys.append(token.text)
        elif token.kind == "string":
            keys.append(str(tomllib.loads(f"key = {token.text}")["key"]))
    return keys


def _resolve(keys: list[str], arrays: Mapping[FieldPath, int]) -> FieldPath:
    """Return the path of a header; a key that names an array of tables means its last table."""
    path: FieldPath = ()
    for position, key in enumerate(keys, start=1):
        path = (*path, key)
        if path in arrays and position < len(keys):
            path = (*path, arrays[path])
    return path


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
