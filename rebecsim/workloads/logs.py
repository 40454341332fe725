"""Read logs of batch machines and their schedules, and export them as CSV or Parquet."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.extras import require
from rebecsim.files import ROWS
from rebecsim.workloads.cleaning import CleaningRules, cleaned_workload
from rebecsim.workloads.files import LARGEST, WorkloadError, replacing, text_lines
from rebecsim.workloads.sacct import is_sacct_log, read_sacct
from rebecsim.workloads.swf import is_pbs_log, read_pbs, read_swf, write_swf
from rebecsim.workloads.workload import COLUMNS, UNKNOWN, Integers, Workload

Named = Literal["user", "queue"]
"""Columns whose numbers may have names in the header."""


def read_log(
    path: Path, *, processors: int | None = None, rules: CleaningRules | None = None
) -> Workload:
    """Read a log: of PBS or Torque, of Slurm, or CSV, if its first line says so, or SWF.

    Raises what `read_pbs`, `read_sacct`, `read_csv` and `read_swf` raise.
    """
    known = ((is_pbs_log, read_pbs), (is_csv, read_csv), (is_sacct_log, read_sacct))
    read = next((reader for is_such, reader in known if is_such(path)), read_swf)
    return read(path, processors=processors, rules=rules)


def is_csv(path: Path) -> bool:
    """Whether a log is a table of jobs, as `write_workload` writes it. Raises OSError."""
    return set(_NEEDED) <= set(_cells(next(text_lines(path), (0, ""))[1]))


def _cells(line: str) -> list[str]:
    return [each.strip().strip('"') for each in line.split(",")]


def read_csv(
    path: Path, *, processors: int | None = None, rules: CleaningRules | None = None
) -> Workload:
    """Read a table of jobs in CSV, plain or gzip; columns that it lacks are unknown.

    The machine has `processors`, or as many as the largest job. Raises WorkloadError, with file
    and line, for a row of another length and for text in place of a number; LimitError for too
    large a file or too many jobs; OSError when the file cannot be read.
    """
    rows: list[list[float]] = []
    names: list[str] = []
    for line, text in text_lines(path):
        cells = _cells(text)
        if not names:
            names = cells
            continue
        try:
            row = [float(each) for each in cells]
        except ValueError:
            row = [np.inf]
        if not all(abs(each) < LARGEST for each in row):
            raise WorkloadError.at(path, line, f"not a row of numbers: {text:.60}")
        rows.append(row)
        if len(cells) != len(names):
            problem = f"{len(cells)} columns, but the first line has {len(names)}"
            raise WorkloadError.at(path, line, problem)
        ROWS.require(len(rows), path)
    table = np.array(rows).reshape(-1, len(names))
    found = {name: table[:, place] for place, name in enumerate(names)}
    unknown = np.full(len(rows), float(UNKNOWN))
    columns: dict[str, Any] = {name: found.get(name, unknown) for name in COLUMNS}
    asked = columns["requested_processors"]
    columns["requested_processors"] = np.where(asked > 0, asked, found["processors"])
    for name in COLUMNS:
        columns[name] = columns[name].astype(np.float64 if name == "cpu_time" else np.int64)
    return cleaned_workload(path, columns, {}, processors, rules or CleaningRules())


_NEEDED = ("job", "submit", "run", "processors")
"""Columns that a table of jobs has at least."""


def names_of(workload: Workload, column: Named) -> dict[str, int]:
    """Give the numbers of users or queues by their names, as far as the header has these.

    A line of the header is `Queue: 3 batch`; further words describe the queue.
    """
    lines = workload.header.get(column.capitalize(), "").split("\n")
    found = (re.match(r"(\d{1,15})[:\s]+(\S+)", line) for line in lines)
    return {each[2]: int(each[1]) for each in found if each}


def labels_of(workload: Workload, column: Named) -> dict[int, str]:
    """Give what to call users or queues: by their numbers, their names, or the numbers as text."""
    numbers = np.unique(getattr(workload, column)).tolist()
    named = {number: name for name, number in names_of(workload, column).items()}
    return {number: named.get(number, str(number)) for number in numbers}


def numbers_of(workload: Workload, column: Named, wanted: Iterable[int | str]) -> list[int]:
    """Give the numbers of users or queues that are named, or given by their numbers already.

    Raises WorkloadError for a name that the log does not have.
    """
    names = names_of(workload, column)
    return [_number(each, column, names) for each in wanted]


def _number(wanted: int | str, column: Named, names: dict[str, int]) -> int:
    if isinstance(wanted, int):
        return wanted
    if wanted in names:
        return names[wanted]
    if re.fullmatch(r"-?\d{1,15}", wanted):
        return int(wanted)
    known = _some(names) if names else "it has only numbers"
    raise WorkloadError(f"the log has no {column} called {wanted!r}; {known}")


def _some(names: Collection[str]) -> str:
    shown = list(names)[:8]
    return f"known are {', '.join(shown)}{', ...' if len(names) > len(shown) else ''}"


FORMS = (".swf", ".swf.gz", ".csv", ".csv.gz", ".parquet")
"""How names of files may end."""


def require_form(path: Path) -> str:
    """Give how the name of a file ends. Raises WorkloadError if a workload cannot be such a file,
    or if there is no directory for it.
    """
    form = next((each for each in FORMS if path.name.endswith(each)), None)
    if form is None:
        raise WorkloadError(
            f"{path}: the name of a workload should end with one of {', '.join(FORMS)}"
        )
    if not form.startswith(".swf"):
        require(f"{path}: the form {form}", "pyarrow")
    if not path.parent.is_dir():
        raise WorkloadError(f"{path}: there is no directory {path.parent}")
    return form


def write_workload(workload: Workload, path: Path) -> None:
    """Write a workload in the form that the name of the file asks for.

    CSV and Parquet have the columns of SWF and `processors`, unknown values as -1, and no header.
    The file is whole or not there. Raises WorkloadError for another name, OSError when the file
    cannot be written.
    """
    form = require_form(path)
    if form.startswith(".swf"):
        write_swf(workload, path)
        return
    import pyarrow
    from pyarrow import csv, parquet

    table = pyarrow.table({name: getattr(workload, name) for name in (*COLUMNS, "processors")})
    with replacing(path) as file:
        if form == ".parquet":
            parquet.write_table(table, file)
        else:
            csv.write_csv(table, file)


_AS_LOGGED: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A workload and when each of its jobs ran.

    Nothing is said here about whether a machine could run it: that is for a validator to find out.

    Attributes:
        workload: the jobs.
        start: when each job began, whole seconds on the clock of `workload.submit`.
        duration: how long each ran, whole seconds; as logged (`workload.run`) if not given. It is
            less where a job was killed at its time limit.
        policy: name of the policy, for tables and pictures.
        fair_start: when each would have begun if no job had been submitted after it, seconds; None
            where it was not looked for.
    """

    workload: Workload
    start: Integers
    duration: Integers = field(default_factory=lambda: _AS_LOGGED)
    policy: str = ""
    fair_start: Integers | None = None

    def __post_init__(self) -> None:
        if self.duration is _AS_LOGGED:
            object.__setattr__(self, "duration", self.workload.run)
        for name in ("start", "duration"):
            column = getattr(self, name)
            if column.shape != (len(self.workload),) or column.dtype != np.int64:
                raise ValueError(f"{name} should be {len(self.workload)} values of int64")
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.workload)

    @property
    def end(self) -> Integers:
        """When each job ended; seconds."""
        return self.start + self.duration

    @property
    def wait(self) -> Integers:
        """How long each job waited; seconds."""
        return self.start - self.workload.submit

    def select(self, jobs: NDArray[Any]) -> Schedule:
        """Give the schedule of the jobs of a mask or of an array of indices, in that order."""
        chosen = self.workload.select(jobs)
        fair = None if self.fair_start is None else self.fair_start[jobs]
        return Schedule(chosen, self.start[jobs], self.duration[jobs], self.policy, fair)


def read_schedule(path: Path, *, processors: int | None = None) -> Schedule:
    """Read the schedule that a log holds: in SWF, or that of a machine under PBS, Torque or Slurm.

    Field 3 is the wait, field 4 the time that a job ran, field 5 the processors that it was
    allocated; those requested count where this is unknown.

    Rows may come in any order, as other tools write them in the order of starts or ends; the jobs
    are in the order of submission here. Rows without a wait are skipped and counted. `processors`
    is the size of the machine, instead of the header's. Raises what `read_log` raises.
    """
    rules = CleaningRules(size="allocated", sort=True, needs_wait=True, fits_machine=False)
    workload = read_log(path, processors=processors, rules=rules)
    return Schedule(workload, workload.submit + workload.wait, policy=path.name)


def write_schedule(schedule: Schedule, path: Path) -> None:
    """Write a schedule as SWF: its waits, its durations, its processors as the allocated ones.

    What jobs requested stays as it was. Raises what `write_swf` raises.
    """
    jobs = schedule.workload
    ran = jobs.with_columns(run=schedule.duration, allocated=jobs.processors)
    write_swf(ran, path, waits=schedule.wait)
