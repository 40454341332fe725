"""JSON values that follow each other in a file without commas, as traces of YARN have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rebecsim.workloads.errors import WorkloadError

_BLANK = re.compile(r"\s*")


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a file, one behind the other or in one array, each with its line.

    Raises WorkloadError, with file and line, for what is no JSON, also where it ends in the middle,
    for a value that is no object, a key that an object has twice, and a file without an object.
    Raises OSError when the file cannot be read.
    """
    count = 0
    for line, value in _values(path):
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                shown = json.dumps(each)[:40]
                raise WorkloadError.at(path, line, f"should be an object in braces, not {shown}")
            count += 1
            yield line, each
    if not count:
        raise WorkloadError(f"{path}: nothing in the file")


def _values(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path}: no text in UTF-8, at byte {error.start}") from None
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
    line, counted = 1, 0
    position = _end_of_blank(text, 0)
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise WorkloadError.at(path, error.lineno, _problem(text, error, line)) from None
        except (_TwiceError, _NoNumberError) as error:
            raise WorkloadError.at(path, line, f"in the object from here, {error}") from None
        except RecursionError:
            raise WorkloadError.at(path, line, "brackets within brackets, too deep") from None
        yield line, value
        position = _end_of_blank(text, end)


def _problem(text: str, error: json.JSONDecodeError, begun: int) -> str:
    if not text[error.pos :].strip():
        return f"the file ends in the middle of the object that begins in line {begun}"
    return f"no JSON: {error.msg[0].lower()}{error.msg[1:]}, column {error.colno}"


class _TwiceError(ValueError):
    """A key stands twice in an object."""


class _NoNumberError(ValueError):
    """A constant that Python would read as a number, as NaN."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _TwiceError(f"{twice!r} stands twice")
    return found


def _no_number(text: str) -> None:
    raise _NoNumberError(f"{text} is no number of JSON")


def _end_of_blank(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position
