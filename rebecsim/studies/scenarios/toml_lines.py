"""Find the line of each key of a TOML text, so that an error can point there.

`tomllib` gives values without positions. This module reads the text once more for positions alone;
it expects a text that `tomllib` has accepted, except for `most_parts`, which reads any text in time
proportional to its length.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
