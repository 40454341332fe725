"""Read and write the Standard Workload Format, and read accounting logs of PBS and Torque.

A file has comments, `; Key: value`, and one row of 18 numbers per job; -1 is unknown. Rows are
parsed by the megabyte with numpy; only a piece with a mistake is read line by line, to name the
line.

Read accounting logs of PBS and Torque.

A log has a record a line, `MM/DD/YYYY HH:MM:SS;TYPE;ID;KEY=VALUE KEY=VALUE ...`. Records of type E,
of jobs that have ended, say all that a job of a workload has; the others are passed over.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebecsim.files import HEADER, ROWS
from rebecsim.workloads.cleaning import (
    CleaningRules,
    cleaned_workload,
    columns_of,
    workload_of_columns,
)
from rebecsim.workloads.files import LARGEST, WorkloadError, replacing, text_lines, whole_lines
from rebecsim.workloads.workload import COLUMNS, UNKNOWN, Workload

Table = NDArray[np.int64] | NDArray[np.float64]

_FIELDS = len(COLUMNS)
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
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
    if not ((values >= -float(LARGEST)) & (values <= float(LARGEST))).all():
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
    if abs(value) > LARGEST:
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


_RECORD = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;([^;]*);([^;]*);(.*)")
_FIELD = re.compile(r'([^\s=]+)=("[^"]*"|\S*)')
_KB = {"": 1 / 1024, "b": 1 / 1024, "kb": 1, "mb": 1 << 10, "gb": 1 << 20, "tb": 1 << 30}
_LONGEST_LINE = 1 << 22
"""Bytes: a job on thousands of processors names each of them."""

_NAMED = {"user": "user", "group": "group", "queue": "queue", "executable": "jobname"}
"""Columns whose values are names in the log."""


def is_pbs_log(path: Path) -> bool:
    """Whether the first line of a file, gzip or plain, is a record of an accounting log."""
    first = next(text_lines(path, _LONGEST_LINE), None)
    return first is not None and bool(_RECORD.match(first[1]))


def read_pbs(
    path: Path, *, processors: int | None = None, rules: CleaningRules | None = None
) -> Workload:
    """Read the jobs of an accounting log, plain or gzip.

    The machine has `processors`; without it, as many as were in use at once by the log. The header
    has the names of users, groups and queues, and the time at which the first job was submitted,
    from which times are counted. Rows are cleaned by the rules of `cleaning`; jobs are always
    sorted, as records come in the order of ends.

    Raises WorkloadError, with file and line, for a line that is not a record, for a wrong value
    of its field, and for a log without a single job. Raises LimitError for too large a file or too
    many jobs; OSError when the file cannot be read.
    """
    parts: set[int] = set()
    columns, names = columns_of(path, _jobs(path, parts))
    count = len(columns["job"])
    if not count:
        raise WorkloadError(f"{path}: no job has ended in this log: it has no record of type E")
    if parts and len(np.unique(columns["job"])) < count:
        columns["job"] = np.arange(1, count + 1)
        columns["preceding"] = np.full(count, UNKNOWN)
    return workload_of_columns(path, columns, names, processors, rules)


def _jobs(path: Path, parts: set[int]) -> Iterator[dict[str, Any]]:
    """Read the jobs that have ended, in the order of the log; add the numbers of those in parts."""
    for line, record in text_lines(path, _LONGEST_LINE):
        found = _RECORD.match(record)
        if found is None:
            raise WorkloadError.at(
                path,
                line,
                "not a record of an accounting log, which is "
                "MM/DD/YYYY HH:MM:SS;TYPE;ID;KEY=VALUE ...",
            )
        if found[1] == "E":
            yield _job(path, line, found[2], found[3], parts)


def _job(path: Path, line: int, identifier: str, text: str, parts: set[int]) -> dict[str, Any]:
    """Give what a record says of a job, under the names of columns."""
    fields = {key: value.strip('"') for key, value in _FIELD.findall(text)}

    def read(key: str, convert: Callable[[str], float]) -> int:
        if key not in fields:
            return UNKNOWN
        try:
            value = convert(fields[key])
            if abs(value) <= LARGEST:
                return int(value)
        except ValueError:
            pass
        problem = f"{key} has an impossible value: {fields[key][:40]!r}"
        raise WorkloadError.at(path, line, problem)

    number = re.match(r"(\d{1,15})(\[\d*\])?(?!\d)", identifier)
    if number is None:
        raise WorkloadError.at(path, line, f"a job without a number: {identifier[:40]!r}")
    submit = next(
        (time for key in ("etime", "qtime", "ctime") if (time := read(key, float)) > 0), UNKNOWN
    )
    start, end = read("start", float), read("end", float)
    job: dict[str, Any] = {
        "job": int(number[1]),
        "submit": submit,
        "wait": start - submit if start > 0 <= submit else UNKNOWN,
        "run": end - start if start > 0 < end else UNKNOWN,
        "allocated": read("exec_host", _slots) if "exec_host" in fields else UNKNOWN,
        "requested_processors": _requested(fields, read),
        "requested_time": read("Resource_List.walltime", _seconds),
        "status": {UNKNOWN: UNKNOWN, 0: 1}.get(read("Exit_status", float), 0),
    }
    taken = max(job["allocated"], job["requested_processors"], 1)
    if "resources_used.cput" in fields:
        job["cpu_time"] = read("resources_used.cput", _seconds) / taken
    for column, key in (
        ("memory_used", "resources_used.mem"),
        ("requested_memory", "Resource_List.mem"),
    ):
        if key in fields:
            job[column] = -(-read(key, _kilobytes) // taken)
    job |= {column: fields.get(key, "") for column, key in _NAMED.items()}
    if number[2] is not None:
        parts.add(job["job"])
    before = re.search(r":(\d{1,15})(?!\d)", fields.get("depend", ""))
    if before is not None:
        job["preceding"] = int(before[1])
    return job


def _requested(fields: Mapping[str, str], read: Callable[..., int]) -> int:
    """Give the processors that a job asked for, in the first of the ways in which it may have."""
    ways: tuple[tuple[str, Callable[[str], float]], ...] = (
        ("Resource_List.select", lambda text: _chunks(text, "ncpus")),
        ("Resource_List.nodes", lambda text: _chunks(text, "ppn")),
        ("Resource_List.ncpus", float),
        ("Resource_List.nodect", float),
    )
    return next((read(key, convert) for key, convert in ways if key in fields), UNKNOWN)


def _chunks(text: str, each: str) -> int:
    """Count the processors of a request like 2:ppn=8+1:ppn=4; a host by name counts once."""
    total = 0
    for chunk in text.split("+"):
        count, *_ = chunk.split(":")
        per = re.search(rf"(?:^|:){each}=(\d+)", chunk)
        total += (int(count) if count.isdigit() else 1) * (int(per[1]) if per else 1)
    return total


def _slots(text: str) -> int:
    """Count the processors of a list of hosts like a/0+a/1, a/0-3+b/0,2 and a/0*8+b/0*8."""
    total = 0
    for host in text.split("+"):
        _, _, slots = host.partition("/")
        slot, star, count = slots.partition("*")
        if star:
            total += int(count)
            continue
        for part in slot.split(",") if slot else [""]:
            low, dash, high = part.partition("-")
            total += int(high) - int(low) + 1 if dash else 1
    return total


def _seconds(text: str) -> float:
    """Read seconds, or MM:SS, HH:MM:SS or DD:HH:MM:SS."""
    parts = [float(part) for part in text.split(":")]
    units = (1, 60, 3600, 86_400)
    if len(parts) > len(units):
        raise ValueError(text)
    return sum(part * unit for part, unit in zip(reversed(parts), units, strict=False))


def _kilobytes(text: str) -> float:
    """Read a size with its unit, bytes without one; of words of the machine nothing is known."""
    found = re.fullmatch(r"(\d+)([kmgt]?b?)", text.lower())
    if found is None:
        raise ValueError(text)
    unit = found[2]
    return -(-int(found[1]) * _KB[unit if not unit or unit.endswith("b") else f"{unit}b"] // 1)
