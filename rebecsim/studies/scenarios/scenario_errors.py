"""Errors of scenarios in words: file, line, field, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebecsim.close_names import suggestion
from rebecsim.errors import UserError
from rebecsim.studies.scenarios.toml_lines import FieldPath, line_of

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
