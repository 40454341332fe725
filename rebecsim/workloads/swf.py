"""Read and write the Standard Workload Format.

A file has comments, `; Key: value`, and one row of 18 numbers per job; -1 is unknown. Rows are
parsed by the megabyte with numpy; only a piece with a mistake is read line by line, to name the
line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebecsim.limits import HEADER, ROWS
from rebecsim.workloads.cleaning import CleaningRules, cleaned_workload
from rebecsim.workloads.files import WorkloadError, replacing, whole_lines
from rebecsim.workloads.workload import COLUMNS, Workload

Table = NDArray[np.int64] | NDArray[np.float64]

_FIELDS = len(COLUMNS)
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LARGEST = 2.0**53
_ROWS_AT_ONCE = 10_000


def read_swf(
    path: Path, *, processors: int | None = None, rules: CleaningRules | None = None
) -> Workload:
    """Read the jobs of a log, plain or gzip.

    A job takes the processors that it requested, or those that it was allocated where the request
    is unknown; the other way round with `rules.size`. The machine has `processors`; without it
    MaxProcs of the header, or MaxNodes. Rows that are not jobs are skipped and counted in
    `skipped`, by the rules of `cleaning`.

    Raises WorkloadError, with file and line, for a file that is not in the format: another number
    of fields, text in place of a number, a fraction where seconds or counts stand, a line without
    end, compressed data that are cut off; and for a log without a single job. Raises LimitError for
    too large a file, too many jobs or comments; OSError when the file cannot be read.
    """
    comments: list[str] = []
    parts: list[Table] = []
    rows = length = seen = 0
    for first, text in whole_lines(path):
        parts.append(_rows(path, first, text, comments))
        rows += len(parts[-1])
        length += sum(map(len, comments[seen:]))
        seen = len(comments)
        ROWS.require(rows, path)
        HEADER.require(length, path)
    table = np.concatenate([np.empty((0, _FIELDS), dtype=np.int64), *parts])
    del parts
    whole: dict[str, Any] = {
        name: table[:, place].astype(np.float64 if name == "cpu_time" else np.int64)
        for place, name in enumerate(COLUMNS)
    }
    del table
    header = _header(comments)
    capacity = processors if processors is not None else _machine(header)
    return cleaned_workload(path, whole, header, capacity, rules or CleaningRules())


def write_swf(workload: Workload, path: Path, waits: ArrayLike | None = None) -> None:
    """Write a workload, with gzip if the file is named `.gz`.

    Field 3 is `waits`, whole seconds per job, or the workload's own. The header is the workload's
    with the size of the machine as MaxProcs. The file is whole or not there. Raises ValueError for
    waits of another shape, OSError when the directory cannot be written.
    """
    columns = {name: getattr(workload, name) for name in COLUMNS}
    if waits is not None:
        columns["wait"] = np.asarray(waits)
        if columns["wait"].shape != workload.wait.shape or columns["wait"].dtype.kind != "i":
            raise ValueError(f"waits should be {len(workload)} whole numbers")
    with replacing(path) as file:
        for line in _comment_lines(workload):
            file.write(f"{line}\n".encode())
        for first in range(0, len(workload), _ROWS_AT_ONCE):
            some = [columns[name][first : first + _ROWS_AT_ONCE] for name in COLUMNS]
            file.write("".join(_row_lines(some)).encode())


def _rows(path: Path, first: int, text: bytes, comments: list[str]) -> Table:
    """Give the rows of some whole lines, shape (rows, 18); comments are added to the list."""
    begin = 0
    while text.startswith(b";", begin):
        end = text.find(b"\n", begin) % (len(text) + 1)  # of the last line there is none
        comments.append(text[begin:end].decode("utf-8", "replace"))
        begin = end + 1
        first += 1
    text = text[begin:]
    values = _parsed(text) if text else None
    if values is not None and _every_line_has_all_fields(text):
        return values.reshape(-1, _FIELDS)
    rows = []
    for number, line in enumerate(text.split(b"\n"), start=first):
        stripped = line.strip()
        if stripped.startswith(b";"):
            comments.append(stripped.decode("utf-8", "replace"))
        elif stripped:
            rows.append(_row(path, number, stripped))
    return np.array(rows, dtype=np.float64).reshape(-1, _FIELDS)


def _parsed(text: bytes) -> Table | None:
    """Give the numbers of a text in their order, or None if something in it is wrong."""
    values = _numbers(text, np.int64)  # four times as fast as fractions
    if values is None:
        values = _numbers(text, np.float64)
    if values is None or values.size % _FIELDS or not _are_plain(values):
        return None
    return values


def _numbers(text: bytes, kind: type[np.generic]) -> Table | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy's word for text between numbers
        try:
            values: Table = np.fromstring(text, dtype=kind, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return values


def _are_plain(values: Table) -> bool:
    """Whether all numbers are exact, and whole where they should be."""
    if not ((values >= -_LARGEST) & (values <= _LARGEST)).all():
        return False
    fractional = values != np.floor(values)
    fractional[COLUMNS.index("cpu_time") :: _FIELDS] = False
    return not fractional.any()


def _every_line_has_all_fields(text: bytes) -> bool:
    """Whether each line has 18 words or none."""
    characters = np.frombuffer(text, dtype=np.uint8)
    blank = characters <= ord(" ")
    begins = ~blank
    begins[1:] &= blank[:-1]
    ends = np.append(np.flatnonzero(characters == ord("\n")), len(characters) - 1)
    words = np.diff(np.cumsum(begins)[ends], prepend=0)
    return bool(((words == _FIELDS) | (words == 0)).all())


def _row(path: Path, number: int, line: bytes) -> list[float]:
    words = line.split()
    if len(words) != _FIELDS:
        raise WorkloadError.at(
            path, number, f"{len(words):,} fields instead of {_FIELDS}; is the line cut off?"
        )
    return [
        _value(path, number, place, name, word)
        for place, (name, word) in enumerate(zip(COLUMNS, words, strict=True), start=1)
    ]


def _value(path: Path, number: int, place: int, name: str, word: bytes) -> float:
    where = f"field {place} ({name.replace('_', ' ')})"
    shown = word[:40].decode("utf-8", "replace")
    if not _NUMBER.fullmatch(word):
        raise WorkloadError.at(path, number, f"{where} should be a number, not {shown!r}")
    value = float(word)
    if abs(value) > _LARGEST:
        raise WorkloadError.at(path, number, f"{where} is too large: {shown}")
    if name != "cpu_time" and not value.is_integer():
        raise WorkloadError.at(path, number, f"{where} should be a whole number, not {shown}")
    return value


def _header(comments: list[str]) -> dict[str, str]:
    """Give the comments by their key. A line without a key belongs to the one above it."""
    header: dict[str, list[str]] = {}
    key = ""
    for comment in comments:
        text = comment.lstrip(";").strip()
        match = re.match(r"([A-Za-z][A-Za-z ]*):\s*(?!//)(.*)", text)
        if match:
            key, text = match[1], match[2].strip()
        if text:
            header.setdefault(key, []).append(text)
    return {key: "\n".join(lines) for key, lines in header.items()}


def _machine(header: Mapping[str, str]) -> int | None:
    """Give the processors of the machine, as the header has them."""
    for key in ("MaxProcs", "MaxNodes"):
        words = header.get(key, "").split()
        if words and re.fullmatch(r"\d{1,15}", words[0]) and int(words[0]) > 0:
            return int(words[0])
    return None


def _comment_lines(workload: Workload) -> Iterator[str]:
    header = {**workload.header, "MaxProcs": str(workload.capacity)}
    for key, text in header.items():
        for line in text.split("\n"):
            yield f"; {key}: {line}" if key else f"; {line}"


def _row_lines(columns: list[Table]) -> Iterator[str]:
    texts = [
        map(_shown, values.tolist()) if values.dtype.kind == "f" else map(str, values.tolist())
        for values in columns
    ]
    for row in zip(*texts, strict=True):
        yield " ".join(row) + "\n"


def _shown(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
