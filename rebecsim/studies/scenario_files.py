"""Find and parse scenario files, and say what is wrong with them: file, line, field, what to do.

Their values are validated elsewhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.errors import UserError
from rebecsim.files import NESTING, SOURCE, read_file
from rebecsim.studies.toml import FieldPath, key_lines, line_of, most_parts
from rebecsim.wording import closest_name, suggestion

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

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
        from rebecsim.studies.sweeps import with_sweep

        return replace(self, values=with_sweep(self.values, more))


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
