"""Find and parse scenario files, and say what is wrong with them: file, line, field, what to do.

Their values are validated elsewhere. `tomllib` gives values without positions, so a text is read
once more for positions alone: errors point to lines, and edits keep comments. That expects a text
that `tomllib` has accepted, except for `most_parts`, which reads any text in time proportional to
its length."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.errors import UserError
from rebecsim.files import NESTING, SOURCE, read_file
from rebecsim.wording import closest_name, suggestion

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

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


_LONGEST_QUOTE = 40


@dataclass(frozen=True, slots=True)
class ScenarioProblem:
    """One thing that is wrong, and where."""

    message: str
    field: str = ""
    line: int | None = None
    column: int | None = None


class ScenarioError(UserError):
    """A scenario that cannot be used.

    The text has one line per problem, `origin:line:column: field: message` without what is not
    known.
    """

    def __init__(self, origin: str, problems: Sequence[ScenarioProblem]) -> None:
        self.origin = origin
        self.problems = tuple(problems)
        super().__init__("\n".join(_sentence(origin, problem) for problem in self.problems))


class FieldError(UserError):
    """Keys of a scenario that do not fit what it names.

    Attributes:
        problems: which key, by its path, and what is wrong with it.
    """

    def __init__(self, problems: Sequence[tuple[FieldPath, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{field_name(path)}: {message}" for path, message in problems))


def field_problems(
    error: FieldError, lines: Mapping[FieldPath, int]
) -> tuple[ScenarioProblem, ...]:
    """Say on which line of its file each key stands."""
    return tuple(
        ScenarioProblem(message, field_name(path), line_of(path, lines))
        for path, message in error.problems
    )


def _sentence(origin: str, problem: ScenarioProblem) -> str:
    numbers = (str(number) for number in (problem.line, problem.column) if number is not None)
    place = ":".join((origin, *numbers))
    return ": ".join(part for part in (place, problem.field, problem.message) if part)


def problems_of(
    error: ValidationError,
    lines: Mapping[FieldPath, int],
    fields: Mapping[FieldPath, Mapping[str, str]],
) -> tuple[ScenarioProblem, ...]:
    """Return what a validation found wrong, in the order of the file.

    `lines` gives the lines of the keys (empty when there is no file). `fields` gives, for the path
    of each table, the keys it may have and what each means.
    """
    problems = []
    for details in error.errors(include_url=False):
        if _is_echo(details):
            continue
        path = _path(details)
        where = path[:-1] if details["type"] == "missing" else path
        message = _message(details, fields)
        problems.append(ScenarioProblem(message, field_name(path), line_of(where, lines)))
    return tuple(sorted(problems, key=lambda problem: problem.line or 0))


def _is_echo(details: ErrorDetails) -> bool:
    """Tell whether pydantic calls a list too short only because its entries have errors."""
    value = details["input"]
    return details["type"] == "too_short" and isinstance(value, Sized) and len(value) > 0


def _path(details: ErrorDetails) -> FieldPath:
    path = details["loc"]
    entry = details.get("ctx", {}).get("entry")
    return path if entry is None else (*path, entry)


def field_name(path: FieldPath) -> str:
    """Write a path as one would in code: arrivals[0].count."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step if step.isidentifier() else _quote(step)}"
    return text.removeprefix(".")


def _message(details: ErrorDetails, fields: Mapping[FieldPath, Mapping[str, str]]) -> str:
    kind, limits, value = details["type"], details.get("ctx", {}), details["input"]
    match kind:
        case "missing":
            return _missing(details["loc"], fields)
        case "extra_forbidden":
            return _unknown_key(details["loc"], fields)
        case "literal_error":
            return f"must be {limits['expected'].replace(chr(39), chr(34))}, found {_quote(value)}"
        case "value_error":
            return str(limits["error"])
        case "too_short":
            return "is empty; list at least one"
    if kind in _TYPES:
        return f"must be {_TYPES[kind]}, found {_quote(value)}"
    if kind in _LIMITS:
        phrase, key = _LIMITS[kind]
        return f"must be {phrase} {limits[key]:g}, found {_quote(value)}"
    return details["msg"]


_TYPES = {
    "int_type": "a whole number",
    "int_parsing_size": "a whole number of ordinary size",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": 'a text in quotes, like "this"',
    "tuple_type": "a list, like [1, 2]",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "string_pattern_mismatch": "a name of lower-case letters, digits and _, with a letter first",
}

_LIMITS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "multiple_of": ("a multiple of", "multiple_of"),
}


def _missing(loc: FieldPath, fields: Mapping[FieldPath, Mapping[str, str]]) -> str:
    meaning = fields.get(loc[:-1], {}).get(str(loc[-1]), "")
    return f"is missing ({meaning}); add it" if meaning else "is missing; add it"


def _unknown_key(loc: FieldPath, fields: Mapping[FieldPath, Mapping[str, str]]) -> str:
    return f"unknown key; {suggestion(str(loc[-1]), fields.get(loc[:-1], {}))}"


def _quote(value: object) -> str:
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


RANGE = frozenset({"from", "to", "step"})
"""The keys of a table that stands for a range of values, not for part of a key."""


def flat_keys(given: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Give the keys of a sweep with their values; tables in the table are parts of keys."""
    for name, value in given.items():
        key = f"{before}{name}"
        if isinstance(value, Mapping) and value and not RANGE & value.keys():
            yield from flat_keys(value, f"{key}.")
        else:
            yield key, value


@dataclass(frozen=True)
class ScenarioText:
    """What a scenario file says, not validated.

    Attributes:
        origin: how messages call it.
        values: its keys.
        lines: on which line each of them stands.
        folder: what paths in it start from.
    """

    origin: str
    values: Mapping[str, object]
    lines: Mapping[FieldPath, int]
    folder: Path

    def with_sweep(self, more: Mapping[str, Any]) -> ScenarioText:
        """Give the scenario with further keys swept, or with other values of them."""
        if not more:
            return self
        before = self.values.get("sweep", {})
        if not isinstance(before, Mapping):
            return self  # what is wrong with it is said when it is validated
        listed = {
            name: value if isinstance(value, list | tuple | Mapping) else [value]
            for name, value in more.items()
        }
        sweep = {**dict(flat_keys(before)), **listed}
        return replace(self, values={**self.values, "sweep": sweep})


def builtin_scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the package, in alphabetical order."""
    return tuple(_builtin_names())


def read_scenario_text(source: str | Path) -> ScenarioText:
    """Read a scenario: a built-in one by its name, or a TOML file by its path.

    Raises ScenarioError for a missing file, or one that is not TOML.
    """
    origin = str(source)
    folder = Path(source).parent
    if isinstance(source, str) and source in _builtin_names():
        origin = f"{source}.toml"
        folder = builtin_folder()
        content = (folder / origin).read_bytes()
    else:
        content = _read_file(Path(source))
    return scenario_text(origin, _decoded(origin, content), folder)


def scenario_text(origin: str, text: str, folder: Path) -> ScenarioText:
    """Read a scenario from a text, not validated.

    Raises ScenarioError for text that is not TOML, LimitError for keys of too many parts.
    """
    NESTING.require(most_parts(text), origin)
    return ScenarioText(origin, _parsed(origin, text), key_lines(text), folder)


def _builtin_names() -> list[str]:
    names = (entry.name for entry in builtin_folder().iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def builtin_folder() -> Path:
    """Give the folder of the built-in scenarios."""
    return Path(str(resources.files("rebecsim.models"))) / "scenarios"


def _read_file(path: Path) -> bytes:
    origin = str(path)
    if path.is_dir():
        raise ScenarioError(origin, [ScenarioProblem("is a directory; name a scenario file in it")])
    if not path.exists():
        raise ScenarioError(origin, [ScenarioProblem(_no_such_scenario(origin))])
    if not path.is_file():
        raise ScenarioError(origin, [ScenarioProblem("is not a regular file; name a TOML file")])
    try:
        return read_file(path, SOURCE)
    except OSError as error:
        raise ScenarioError(
            origin, [ScenarioProblem(f"cannot be read: {error.strerror}")]
        ) from error


def _no_such_scenario(origin: str) -> str:
    known = _builtin_names()
    close = closest_name(origin, known)
    hint = f"did you mean {close}? " if close else ""
    return (
        f"no such file, and no built-in scenario of that name; {hint}"
        f"built-in scenarios are {', '.join(known)}"
    )


def _decoded(origin: str, content: bytes) -> str:
    """Return the text with the line ends of TOML, which knows LF and CR LF."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = "is not UTF-8 text; save the file as UTF-8"
        raise ScenarioError(origin, [ScenarioProblem(message, line=line)]) from error


def _parsed(origin: str, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, and ValueError for a number of absurd length
        message = str(error)
        place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
        problem = ScenarioProblem(f"not valid TOML: {message}")
        if place:
            message = f"not valid TOML: {message[: place.start()]}"
            problem = ScenarioProblem(message, line=int(place[1]), column=int(place[2]))
        raise ScenarioError(origin, [problem]) from error
    except RecursionError as error:
        message = "not a scenario: lists or tables are nested too deeply"
        raise ScenarioError(origin, [ScenarioProblem(message)]) from error
