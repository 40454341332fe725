"""Read logs of Slurm's jobs, as `sacct -a -X -D -P -o ALL` prints them: row by row, or a workload.

Only some of the columns are needed. Times are seconds since 1970 by the clock on the wall. Other
files of Slurm have the same amounts: times, memory, TRES, numbers with K, M and G.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rebecsim.wording import suggestion
from rebecsim.workloads.cleaning import CleaningRules, columns_of, workload_of_columns
from rebecsim.workloads.files import LARGEST, WorkloadError, text_lines
from rebecsim.workloads.workload import UNKNOWN, Workload

Read = TypeVar("Read")

_NEEDED = ("Submit", "Start", "End", "State", "User", "Partition")
_ONE_OF = (("JobIDRaw", "JobID"), ("TimelimitRaw", "Timelimit"), ("ReqTRES", "ReqCPUS"))
SACCT = "write the log by sacct -a -X -D -P -o ALL"
"""What to do about a log that lacks something."""
_FREE = ("constraints", "submitline", "jobname", "comment", "workdir", "admincomment", "licenses")
"""Columns whose text may have the `|` that separates columns."""
_RELATED = ("constraints", "submitline")
_Texts = tuple[tuple[str, str], ...]
_MOST_BARS = 60
"""The most `|` in the texts of a row."""
_PROGRAMS = {"salloc", "sbatch", "srun", "scrun", "sattach"}
_STATUS = {"COMPLETED": 1, "CANCELLED": 5, "PENDING": UNKNOWN, "RUNNING": UNKNOWN}

MINUTE, HOUR, DAY = 60, 3600, 86_400
_UNLIMITED = {"unlimited", "infinite", "-1"}
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
_DURATION = re.compile(
    r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?(?:\.\d*)?", re.ASCII
)
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)", re.ASCII)
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
NOT_SET = frozenset({"", "unknown", "none", "(null)", "n/a"})


def duration(text: str) -> int | None:
    """Read a time, seconds: `m`, `m:s`, `h:m:s`, `d-h`, `d-h:m`, `d-h:m:s`; None: unlimited.

    Raises ValueError, which says what is expected.
    """
    if text.strip().lower() in _UNLIMITED:
        return None
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError("a time is expected, as 90 (minutes), 1:30:00, 2-12:00:00 or UNLIMITED")
    days, *rest = (None if each is None else int(each) for each in found.groups())
    first, second, third = rest
    if days is not None:
        return days * DAY + (first or 0) * HOUR + (second or 0) * MINUTE + (third or 0)
    if third is not None:
        return (first or 0) * HOUR + (second or 0) * MINUTE + third
    return (first or 0) * MINUTE + (second or 0)


@lru_cache(maxsize=100_000)
def moment(text: str) -> int | None:
    """Read `YYYY-MM-DDTHH:MM:SS` as seconds since 1970 by the clock on the wall; None: not set.

    Raises ValueError, which says what is expected.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        if text.strip().lower() in NOT_SET:
            return None
        raise ValueError("a time as 2026-01-31T08:00:00 is expected; unset SLURM_TIME_FORMAT")
    year, month, day, *clock = (int(each) for each in found.groups())
    known = year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
    if not (known and clock[0] < 24 and max(clock) < 61):
        raise ValueError("there is no such day or hour")
    return calendar.timegm((year, month, day, *clock))


def megabytes(text: str) -> int:
    """Read an amount of memory, MB; without a unit it is in MB. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)([kmgtp]?)b?", text.strip().lower(), re.ASCII)
    if found is None:
        raise ValueError("memory is expected, in MB or as 4G")
    return int(float(found[1]) * _UNITS[found[2] or "m"] / _UNITS["m"])


def number(text: str) -> int:
    """Read a whole number, with K, M or G for powers of 1024. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,18})([kmgtp]?)", text.strip().lower(), re.ASCII)
    if found is None:
        raise ValueError("a whole number of 0 or more is expected")
    return int(found[1]) * _UNITS[found[2]]


def limit(text: str) -> int | None:
    """Read a whole number, or None for no limit. Raises ValueError."""
    return None if text.strip().lower() in _UNLIMITED else number(text)


def switch(text: str) -> bool:
    """Read yes or no. Raises ValueError."""
    word = text.strip().lower()
    if word in ("yes", "true", "1", "up", "on"):
        return True
    if word in ("no", "false", "0", "down", "off"):
        return False
    raise ValueError("YES or NO is expected")


def tres(text: str, factor: int = 1) -> dict[str, int]:
    """Read `cpu=16,mem=1000G,gres/gpu=8`: memory in MB; limits of -1 are left out.

    Each amount is multiplied by the factor: 60 makes seconds of minutes. Raises ValueError.
    """
    amounts: dict[str, int] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, found, value = part.partition("=")
        if not found:
            raise ValueError(f"{part!r:.40} is not of the form cpu=16")
        name = name.strip().lower() if "/" not in name else name.strip()
        if value.strip() == "-1":
            continue
        read = megabytes if name in ("mem", "bb", "vmem") else number
        amounts[name] = read(value) * factor
    return amounts


def weights(text: str) -> dict[str, float]:
    """Read weights of TRES, `CPU=1.0,Mem=0.25G,GRES/gpu=2.0`, memory per MB. Raises ValueError."""
    found: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, _, value = part.partition("=")
        match = re.fullmatch(r"(\d*\.?\d+)([kmgtp]?)", value.strip().lower(), re.ASCII)
        if match is None:
            raise ValueError(f"{part!r:.40} is not of the form CPU=1.0 or Mem=0.25G")
        unit = _UNITS[match[2]] / _UNITS["m"] if match[2] else 1.0
        key = name.strip().lower()
        if key not in ("mem", "vmem"):
            unit = float(_UNITS[match[2]])
        found[key] = float(match[1]) / unit
    return found


def names_of(text: str) -> tuple[str, ...]:
    """Split a list with commas."""
    return tuple(filter(None, text.split(",")))


def text_of(cell: str) -> str:
    """Give the text of a cell of a log; empty if it is not set."""
    return "" if cell.strip().lower() in NOT_SET else cell.strip()


class SacctRow(NamedTuple):
    """A row of a log: a run of a job. `cells` are by the names of columns in small letters."""

    path: Path
    line: int
    cells: dict[str, str]

    def wrong(self, column: str, problem: str) -> WorkloadError:
        """Make the error for a cell."""
        value = self.cells.get(column.lower(), "")
        return WorkloadError.at(self.path, self.line, f"{column}={value:.60}: {problem}")

    def _read(self, column: str, reader: Callable[[str], Read], default: str = "") -> Read:
        try:
            return reader(self.cells.get(column.lower(), "") or default)
        except ValueError as error:
            raise self.wrong(column, str(error)) from None

    def number(self) -> int:
        """Give the number of the job. Raises WorkloadError, as all that follow."""
        column = "JobIDRaw" if "jobidraw" in self.cells else "JobID"
        text = self.cells[column.lower()]
        if not _COUNT.fullmatch(text):
            hint = "add the column JobIDRaw" if column == "JobID" else "a number is expected"
            raise self.wrong(column, hint)
        return int(text)

    def moment(self, column: str) -> int | None:
        """Give a time; None: it is not set."""
        return self._read(column, moment)

    def submit(self) -> int:
        """Give the time of the submission."""
        found = self.moment("Submit")
        if found is None:
            raise self.wrong("Submit", "each job needs the time of its submission")
        return found

    def ran(self) -> tuple[int | None, int | None]:
        """Give start and end; a job that got no node has only an end, at which it was given up."""
        start, end = self.moment("Start"), self.moment("End")
        if start == end and not self.nodes:
            start = None
        return start, end

    @property
    def nodes(self) -> str:
        """The list of its nodes; empty: none."""
        text = self.cells.get("nodelist", "")
        return "" if text.lower() in NOT_SET or text == "None assigned" else text

    @property
    def state(self) -> str:
        """Such as COMPLETED, without who cancelled it."""
        return self.cells["state"].partition(" ")[0]

    def suspended(self) -> int:
        """Give for how long it was suspended, seconds."""
        return self._read("Suspended", duration, "0") or 0

    def limit(self) -> int | None:
        """Give its time limit, seconds; None: it has none of its own."""
        column = "TimelimitRaw" if self.cells.get("timelimitraw") else "Timelimit"
        text = self.cells.get(column.lower(), "")
        if not text or text.lower() in ("partition_limit", "unlimited"):
            return None
        return self._read(column, duration)

    def tres(self, column: str) -> dict[str, int]:
        """Give amounts by TRES, as `tres` does."""
        return self._read(column, tres)

    def whole(self, *columns: str) -> int:
        """Give a count: the first of some columns that is above 0, or else 0."""
        texts = (self.cells.get(each.lower(), "") for each in columns)
        return next((int(each) for each in texts if _COUNT.fullmatch(each) and int(each)), 0)

    def old_memory(self) -> tuple[str, int] | None:
        """Give the memory as older logs have it, `4Gn` of a node or `4Gc` of a CPU: n or c, MB."""
        text = self.cells.get("reqmem", "")
        if text[-1:] not in ("n", "c"):
            return None
        return text[-1], self._read("ReqMem", lambda text: megabytes(text[:-1]))


def is_sacct_log(path: Path) -> bool:
    """Whether the first line of a log has names of columns as sacct's. Raises OSError."""
    first = next(text_lines(path), (0, ";"))[1]
    if first.startswith(";"):
        return False
    return "|" in first or bool({"jobid", "jobidraw"} & set(re.split(r"[\s,;]+", first.lower())))


def sacct_rows(path: Path) -> Iterator[SacctRow]:
    """Read the rows of a log, plain or gzip, but for those of steps.

    Raises WorkloadError, with file and line, for a missing column and a row of another length;
    OSError when the file cannot be read.
    """
    header: list[str] = []
    for number, line in text_lines(path):
        cells = line.rstrip("\r").split("|")
        if not header:
            header = [each.strip().lower() for each in cells]
            _require_columns(path, number, header)
            continue
        if len(cells) != len(header):
            cells = _joined(cells, header)
        if not cells:
            count = line.count("|") + 1
            problem = f"{count} columns, but the header has {len(header)}; {SACCT}"
            raise WorkloadError.at(path, number, problem)
        found = dict(zip(header, cells, strict=True))
        if "." not in found.get("jobid", "") and "." not in found.get("jobidraw", ""):
            yield SacctRow(path, number, found)
    if not header:
        raise WorkloadError(f"{path}: the log is empty; {SACCT}")


def read_sacct(
    path: Path, *, processors: int | None = None, rules: CleaningRules | None = None
) -> Workload:
    """Read the jobs of a log, plain or gzip.

    Of a job that was requeued the last run counts, which waited since the first submission. A job
    that was cancelled before it started has the run time 0. The machine has `processors`; without
    it, as many as were in use at once by the log. The header has names and the first submission,
    as that of `read_pbs`, and jobs are sorted by submission.

    Raises WorkloadError, with file, line and column, for a missing column, a row of another length,
    a cell that cannot be read, and for a log without a job. Raises LimitError for too large a file
    or too many jobs; OSError when the file cannot be read.
    """
    submitted: dict[int, int] = {}
    columns, names = columns_of(path, (_record(row, submitted) for row in sacct_rows(path)))
    if not submitted:
        raise WorkloadError(f"{path}: the log has no job; {SACCT}")
    kept = np.sort(len(columns["job"]) - 1 - np.unique(columns["job"][::-1], return_index=True)[1])
    columns = {name: values[kept] for name, values in columns.items()}
    return workload_of_columns(path, columns, names, processors, rules)


def _record(row: SacctRow, submitted: dict[int, int]) -> dict[str, Any]:
    """Give what a row says, by the names of columns of a workload; see `submitted`, by number."""
    number, cells = row.number(), row.cells
    submit = submitted.setdefault(number, row.submit())
    start, end = row.ran()
    asked, got = row.tres("ReqTRES"), row.tres("AllocTRES")
    nodes = asked.get("node") or row.whole("ReqNodes", "NNodes") or 1
    requested = asked.get("cpu") or row.whole("ReqCPUS") or UNKNOWN
    allocated = got.get("cpu") or row.whole("AllocCPUS") or UNKNOWN
    run = UNKNOWN
    if end is not None:
        run = 0 if start is None else end - start - row.suspended()
    size = max(requested, allocated if requested < 1 else 0, 1)
    unit, memory = row.old_memory() or ("", asked.get("mem", 0))
    memory *= {"c": size, "n": nodes, "": 1}[unit]
    found = {
        "job": number,
        "submit": submit,
        "wait": UNKNOWN if start is None else start - submit,
        "run": run,
        "allocated": allocated,
        "requested_processors": requested,
        "requested_time": row.limit() or UNKNOWN,
        "requested_memory": -(-memory * 1024 // size) or UNKNOWN,
        "status": _STATUS.get(row.state, 0),
        "user": cells["user"],
        "group": cells.get("group", ""),
        "queue": cells["partition"],
        "executable": cells.get("jobname", ""),
    }
    for name, value in found.items():
        if isinstance(value, int) and value > LARGEST:
            problem = f"{name.replace('_', ' ')} is too large: {value:,}"
            raise WorkloadError.at(row.path, row.line, f"{problem:.60}")
    return found


def _require_columns(path: Path, line: int, header: list[str]) -> None:
    missing = [each for each in _NEEDED if each.lower() not in header]
    missing += ["/".join(e) for e in _ONE_OF if not {each.lower() for each in e} & set(header)]
    if missing:
        if len(header) == 1:
            raise WorkloadError.at(path, line, f"columns are not separated by |; {SACCT}")
        hint = suggestion(missing[0], header, "")
        problem = f"there is no column {', '.join(missing)}; {SACCT}"
        raise WorkloadError.at(path, line, f"{problem} ({hint})" if hint else problem)


def _joined(cells: list[str], header: list[str]) -> list[str]:
    """Put cells together whose text has a `|` of its own; empty: it cannot be done.

    Earlier columns get as many `|` as they can, so that the features of the job stand in its
    command line, if that can be.
    """
    bars = len(cells) - len(header)
    if not 0 < bars <= _MOST_BARS:
        return []
    places = [place for place, name in enumerate(header) if name in _FREE]
    ends = [*places[1:], len(header)]

    @cache
    def rest(index: int, used: int, texts: _Texts | None) -> list[str] | None:
        """Give the columns from a free one on, before which are so many `|`; None: there are none.

        `texts` are those that features and command line have before; None: they do not matter.
        """
        if index == len(places):
            return [] if used == bars and (texts is None or _is_explained(texts)) else None
        place, end = places[index], ends[index]
        for own in range(bars - used, -1, -1):
            begin = place + used
            text = "|".join(cells[begin : begin + own + 1])
            made = [text, *cells[begin + own + 1 : end + used + own]]
            if not all(map(_is_likely, header[place:end], made)):
                continue
            known = texts
            if texts is not None and header[place] in _RELATED:
                known = (*texts, (header[place], text))
                if len(known) == len(_RELATED):
                    if not _is_explained(known):
                        continue
                    known = None
            below = rest(index + 1, used + own, known)
            if below is not None:
                return made + below
        return None

    first = cells[: places[0]] if places else []
    if not places or not all(map(_is_likely, header, first)):
        return []
    found = rest(0, 0, ())
    found = rest(0, 0, None) if found is None else found
    return [] if found is None else first + found


def _is_explained(texts: _Texts) -> bool:
    """Whether the features of a job stand as a word in its command line."""
    given = dict(texts)
    word = re.escape(given.get("constraints", ""))
    return bool(re.search(rf"(?:[\s=\"'C]){word}(?:$|[\s\"'])", given.get("submitline", "")))


def _is_likely(column: str, text: str) -> bool:
    """Whether a cell may be of a column."""
    match column:
        case "submitline":
            return not text.strip() or PurePath(text.split(maxsplit=1)[0]).name in _PROGRAMS
        case "constraints":
            return " " not in text
        case "submit" | "start" | "end":
            return text.strip().lower() in NOT_SET or bool(_MOMENT.fullmatch(text))
        case "state":
            return text.partition(" ")[0].replace("_", "").isupper()
    return True
