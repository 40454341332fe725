"""Cleaning: which rows of a log are usable jobs.

A row that breaks a rule is skipped and counted under the rule's reason; a row that breaks several
counts under the first. The rules are one table, `RULES`, in the order in which they are asked.
Partial executions and zero run times are those of the archive's own guidance (Feitelson, Tsafrir
and Krakov, "Experience with using the Parallel Workloads Archive", JPDC 74(10), 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.files import ROWS
from rebecsim.wording import counted
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.workload import COLUMNS, UNKNOWN, Integers, Workload

_PARTIAL = (2, 3, 4)


@dataclass(frozen=True, slots=True)
class CleaningRules:
    """How rows are read, and what is asked of one beyond a submission, a run time and processors.

    Attributes:
        size: which field says how many processors a job takes; the other one does where that one
            is unknown. Logs differ by the processors that were not asked for but came along.
        fits_machine: a job may not be larger than the machine.
        sort: put rows in the order of submission, instead of skipping a row that was submitted
            before one above it.
        needs_wait: a row must have a wait, as rows of a schedule do.
    """

    size: Literal["requested", "allocated"] = "requested"
    fits_machine: bool = True
    sort: bool = False
    needs_wait: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class LogRows:
    """What the rules read: columns of all rows of a log, and the size of the machine."""

    job: Integers
    submit: Integers
    wait: Integers
    run: Integers
    processors: Integers
    status: Integers
    capacity: int | None

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Give the names of the columns."""
        return tuple(each.name for each in fields(cls) if each.name != "capacity")

    def select(self, kept: Integers) -> LogRows:
        """Give some of the rows, by their indices."""
        chosen = {name: getattr(self, name)[kept] for name in self.columns()}
        return LogRows(**chosen, capacity=self.capacity)


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are skipped.

    Attributes:
        reason: its name in counts.
        meaning: what such a row is, and why it is not a usable job.
        breaks: gives the rows that break the rule.
        applies: whether the rule is asked at all.
    """

    reason: str
    meaning: str
    breaks: Callable[[LogRows], NDArray[np.bool_]]
    applies: Callable[[CleaningRules], bool] = lambda rules: True


def _larger(rows: LogRows) -> NDArray[np.bool_]:
    if rows.capacity is None:
        return np.zeros(len(rows.job), dtype=bool)
    return rows.processors > rows.capacity


def _repeated(rows: LogRows) -> NDArray[np.bool_]:
    repeated = np.ones(len(rows.job), dtype=bool)
    repeated[np.unique(rows.job, return_index=True)[1]] = False
    return repeated


RULES = (
    Rule(
        "partial execution",
        "status 2, 3 or 4: a part of a job between checkpoints; the whole job has its own row",
        lambda rows: np.isin(rows.status, _PARTIAL),
    ),
    Rule(
        "submission unknown",
        "submit time below 0",
        lambda rows: rows.submit < 0,
    ),
    Rule(
        "run time unknown",
        "run time -1: the log does not say when the job ended",
        lambda rows: rows.run == -1,
    ),
    Rule(
        "end before start",
        "run time below -1",
        lambda rows: rows.run < -1,
    ),
    Rule(
        "no run time",
        "run time 0: cancelled, or over within the second; its slowdown is undefined",
        lambda rows: rows.run == 0,
    ),
    Rule(
        "processors unknown",
        "neither requested nor allocated processors above 0",
        lambda rows: rows.processors < 1,
    ),
    Rule(
        "larger than the machine",
        "more processors than the machine has: it would wait for ever",
        _larger,
        lambda rules: rules.fits_machine,
    ),
    Rule(
        "wait unknown",
        "wait below 0, in a schedule",
        lambda rows: rows.wait < 0,
        lambda rules: rules.needs_wait,
    ),
    Rule(
        "job number repeated",
        "the number of a job above it",
        _repeated,
    ),
    Rule(
        "submitted earlier than the job above",
        "submit times going back: the log's order is that of submission",
        lambda rows: rows.submit < np.maximum.accumulate(rows.submit),
        lambda rules: not rules.sort,
    ),
)


def clean(rows: LogRows, rules: CleaningRules) -> tuple[Integers, dict[str, int]]:
    """Give the indices of the rows that are jobs, in the order of submission, and the counts.

    The counts have a reason for each rule that some row broke. A rule is asked about the rows
    that broke none before, so that a damaged row cannot make those below it look wrong.
    """
    kept = np.arange(len(rows.job))
    left = rows
    skipped = {}
    for rule in RULES:
        broken = rule.breaks(left) if rule.applies(rules) else np.zeros(len(kept), dtype=bool)
        if broken.any():
            skipped[rule.reason] = int(np.count_nonzero(broken))
            kept = kept[~broken]
            left = rows.select(kept)
    if rules.sort:
        kept = kept[np.argsort(left.submit, kind="stable")]
    return kept, skipped


def cleaned_workload(
    path: Path,
    columns: Mapping[str, NDArray[Any]],
    header: Mapping[str, str],
    capacity: int | None,
    rules: CleaningRules,
) -> Workload:
    """Make a workload of the columns of a log, with those of its rows that are jobs.

    A job takes the processors that it requested, or those that it was allocated where the request
    is unknown; the other way round with `rules.size`. Raises WorkloadError if there is no job.
    """
    whole = dict(columns)
    requested, allocated = whole["requested_processors"], whole["allocated"]
    first, second = (requested, allocated) if rules.size == "requested" else (allocated, requested)
    whole["processors"] = np.where(first > 0, first, second)
    rows = LogRows(**{name: whole[name] for name in LogRows.columns()}, capacity=capacity)
    jobs, skipped = clean(rows, rules)
    if not len(jobs):
        counts = "".join(f"; {count} skipped: {reason}" for reason, count in skipped.items())
        raise WorkloadError(f"{path}: no usable job in the log{counts}")
    if len(jobs) < len(rows.job) or (np.diff(jobs) < 0).any():
        whole = {name: values[jobs] for name, values in whole.items()}
    return Workload(
        **whole,
        capacity=capacity or int(whole["processors"].max()),
        header=header,
        skipped=skipped,
    )


def skipped_lines(skipped: Mapping[str, int]) -> list[str]:
    """Say how many rows of a log were skipped, and why."""
    return [f"{counted(count, 'row')} skipped: {reason}" for reason, count in skipped.items()]


_JOBS_AT_ONCE = 5_000

_NAMED = ("user", "group", "queue", "executable")
"""Columns whose values are names in logs of PBS and Slurm."""


def columns_of(
    path: Path, jobs: Iterable[dict[str, Any]]
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Give jobs by column, which takes a tenth of the memory; what they do not say is unknown.

    Users, groups, queues and executables come by name, and are numbered from 1 as they come. Their
    numbers and names are given as lines of a header. Raises LimitError for too many jobs.
    """
    numbers: dict[str, dict[str, int]] = {name: {} for name in _NAMED}
    parts = [_columns([], numbers)]
    count, left = 0, iter(jobs)
    while some := list(islice(left, _JOBS_AT_ONCE)):
        parts.append(_columns(some, numbers))
        count += len(some)
        ROWS.require(count, path)
    header = {
        name.capitalize(): "\n".join(f"{number} {text}" for text, number in numbers[name].items())
        for name in _NAMED[:3]
    }
    return {name: np.concatenate([each[name] for each in parts]) for name in COLUMNS}, header


def _columns(
    jobs: list[dict[str, Any]], numbers: dict[str, dict[str, int]]
) -> dict[str, NDArray[Any]]:
    for job in jobs:
        for name, known in numbers.items():
            text = job.pop(name)
            if text:
                job[name] = known.setdefault(text, len(known) + 1)
    return {
        name: np.array(
            [each.get(name, UNKNOWN) for each in jobs],
            dtype=np.float64 if name == "cpu_time" else np.int64,
        )
        for name in COLUMNS
    }


def workload_of_columns(
    path: Path,
    columns: dict[str, NDArray[Any]],
    names: Mapping[str, str],
    processors: int | None,
    rules: CleaningRules | None,
) -> Workload:
    """Make a workload of the columns of a log of PBS or Slurm, whose times are since 1970.

    Submissions are counted from the first one, which the header says, beside the names. Jobs are
    always sorted. Without `processors`, the machine has as many as were in use at once. Raises
    WorkloadError if there is no job.
    """
    asked = rules or CleaningRules()
    header = {**_counted_from_the_first(columns), **names}
    capacity = _most_at_once(columns) if processors is None else processors
    sorting = CleaningRules(asked.size, asked.fits_machine, True, asked.needs_wait)
    return cleaned_workload(path, columns, header, capacity, sorting)


def _counted_from_the_first(columns: dict[str, Any]) -> dict[str, str]:
    """Count submissions from the first one, in place; give the header that says when that was."""
    submit = columns["submit"]
    known = submit > 0
    if not known.any():
        return {}
    first = int(submit[known].min())
    columns["submit"] = np.where(known, submit - first, UNKNOWN)
    return {"UnixStartTime": str(first)}


def _most_at_once(columns: Mapping[str, Integers]) -> int | None:
    """Give the most processors that jobs of the log had at once; None if nothing is known."""
    taken = np.maximum(columns["allocated"], columns["requested_processors"])
    ran = (columns["wait"] >= 0) & (columns["run"] > 0) & (taken > 0)
    if not ran.any():
        return None
    taken = taken[ran]
    begin = (columns["submit"] + columns["wait"])[ran]
    times = np.concatenate([begin + columns["run"][ran], begin])
    order = np.lexsort((np.repeat([0, 1], len(taken)), times))  # ends before starts
    return int(np.cumsum(np.concatenate([-taken, taken])[order]).max())
