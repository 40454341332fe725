"""Keep the jobs of a workload as columns; slice and scale them.

A workload of a million jobs is a dozen and a half arrays, not a million objects. The columns are
those of the Standard Workload Format (Chapin et al., "Benchmarks and Standards for the Evaluation
of Parallel Job Schedulers", JSSPP 1999; version 2.2 of the Parallel Workloads Archive), and one
more: `processors`, how many processors a job takes on the machine.

Slicing and scaling change a log as little as possible: jobs keep their numbers, users, sizes and
order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebecsim.workloads.files import WorkloadError

Integers = NDArray[np.int64]

UNKNOWN = -1
"""The value of a field that a log does not know."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Workload:
    """Jobs of a log or of a generator, in the order of their submission.

    Every column has one value per job; -1 is unknown. Times are whole seconds. The arrays are
    read-only.

    Attributes:
        job: number of the job in its log; unique.
        submit: when the job was submitted, from the log's beginning.
        wait: how long it waited on the machine that was logged, or in a simulated schedule.
        run: how long it ran, at least 1.
        processors: how many processors it takes, at least 1: as requested, or as allocated where
            the request is unknown, or the other way round (`CleaningRules.size`).
        capacity: processors of the machine: of the log's header, or as given; where neither is
            known, of the largest job.
        allocated: processors that it was given.
        cpu_time: processor time used per processor, the only column that may be fractional.
        memory_used: KB per processor.
        requested_processors: as in the log.
        requested_time: the user's estimate of `run`, the time limit on most machines.
        requested_memory: KB per processor.
        status: 0 failed, 1 completed, 5 cancelled.
        user, group, executable, queue, partition: numbers of the log; queue 0 is interactive.
        preceding: job that had to end before this one was submitted.
        think_time: seconds between that end and this submission.
        header: comments of the log by their name; values of a repeated name are lines.
        skipped: rows of the log that are not jobs here, by reason.
    """

    job: Integers
    submit: Integers
    wait: Integers
    run: Integers
    allocated: Integers
    cpu_time: NDArray[np.float64]
    memory_used: Integers
    requested_processors: Integers
    requested_time: Integers
    requested_memory: Integers
    status: Integers
    user: Integers
    group: Integers
    executable: Integers
    queue: Integers
    partition: Integers
    preceding: Integers
    think_time: Integers
    processors: Integers
    capacity: int
    header: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    skipped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        count = len(self.submit)
        for name in (*COLUMNS, "processors"):
            column = getattr(self, name)
            kind = np.float64 if name == "cpu_time" else np.int64
            if column.shape != (count,) or column.dtype != kind:
                raise ValueError(f"{name} should be {count} values of {kind.__name__}")
            column.setflags(write=False)
        if self.capacity < 1:
            raise ValueError(f"a machine of {self.capacity} processors")
        object.__setattr__(self, "header", MappingProxyType(dict(self.header)))
        object.__setattr__(self, "skipped", MappingProxyType(dict(self.skipped)))

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled, and schedules travel to worker processes that draw.
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        plain: dict[str, Any] = {
            name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items()
        }
        return partial(Workload, **plain), ()

    @classmethod
    def of(
        cls,
        submit: ArrayLike,
        run: ArrayLike,
        processors: ArrayLike,
        *,
        capacity: int | None = None,
        header: Mapping[str, str] | None = None,
        **columns: ArrayLike,
    ) -> Workload:
        """Make a workload of what is known; jobs are numbered from 1 and the rest is unknown.

        `capacity` is that of the largest job if it is not given. Raises WorkloadError for a
        workload without jobs, and for values that no job can have: a submission before time 0 or
        before the one of the job ahead, a run time or a number of processors below 1, a job
        larger than the machine.
        """
        given = {"submit": submit, "run": run, "processors": processors, **columns}
        arrays: dict[str, Any] = {name: _column(name, values) for name, values in given.items()}
        count = len(arrays["submit"])
        if count == 0:
            raise WorkloadError("a workload needs at least one job")
        taken = arrays["processors"]
        machine = int(taken.max()) if capacity is None else capacity
        _require_jobs(arrays["submit"], arrays["run"], taken, machine)
        arrays.setdefault("job", np.arange(1, count + 1))
        arrays.setdefault("requested_processors", taken.copy())
        for name in COLUMNS:
            kind = np.float64 if name == "cpu_time" else np.int64
            arrays.setdefault(name, np.full(count, UNKNOWN, dtype=kind))
        return cls(capacity=machine, header=header or {}, **arrays)

    def __len__(self) -> int:
        return len(self.submit)

    @property
    def estimate(self) -> Integers:
        """The requested times, and the run times of the jobs that have none; seconds."""
        return np.where(self.requested_time > 0, self.requested_time, self.run)

    @property
    def area(self) -> Integers:
        """Processors times run time of each job: processor seconds."""
        return self.processors * self.run

    @property
    def memory(self) -> Integers:
        """Memory of each job: KB, requested, or used where the request is unknown, or else 0."""
        known = np.where(self.requested_memory > 0, self.requested_memory, self.memory_used)
        return np.maximum(known, 0) * self.processors

    def select(self, jobs: NDArray[Any]) -> Workload:
        """Give the jobs of a mask or of an array of indices, in that order.

        `skipped` and `header` are those of the whole.
        """
        return self.with_columns(
            **{name: getattr(self, name)[jobs] for name in (*COLUMNS, "processors")}
        )

    def with_columns(self, **changed: Any) -> Workload:
        """Give the same workload with other columns, header or capacity."""
        return replace(self, **changed)


COLUMNS = tuple(
    each.name
    for each in fields(Workload)
    if each.name not in ("processors", "capacity", "header", "skipped")
)
"""The columns of the Standard Workload Format, in its order."""


def _column(name: str, values: ArrayLike) -> NDArray[Any]:
    if name not in (*COLUMNS, "processors"):
        raise TypeError(f"a workload has no column {name!r}")
    array = np.asarray(values)
    if name == "cpu_time":
        return array.astype(np.float64)
    if array.size and not np.can_cast(array.dtype, np.int64):
        raise TypeError(f"{name} should be whole numbers, not {array.dtype}")
    return array.astype(np.int64)


def _require_jobs(submit: Integers, run: Integers, processors: Integers, capacity: int) -> None:
    wrong = (
        (submit < 0, "is submitted before time 0"),
        (np.diff(submit, prepend=submit[:1]) < 0, "is submitted before the job ahead of it"),
        (run < 1, "has a run time below 1 s"),
        (processors < 1, "takes no processor"),
        (processors > capacity, f"is larger than the machine of {capacity} processors"),
    )
    for jobs, problem in wrong:
        if jobs.any():
            raise WorkloadError(f"job {int(np.argmax(jobs)) + 1} {problem}")


_CLOCK = ("UnixStartTime", "StartTime", "EndTime")


def offered_load(workload: Workload) -> float:
    """Give the share of the machine that the jobs ask for while they are being submitted.

    This is the sum of processors times run time over capacity times the time from the first to the
    last submission. It may exceed 1; it is infinite where all jobs come at once.
    """
    span = int(workload.submit[-1] - workload.submit[0])
    work = float(workload.area.sum())
    return work / (workload.capacity * span) if span else float("inf")


def scale_load(workload: Workload, factor: float) -> Workload:
    """Let jobs come `factor` times as fast: times between submissions are divided by it.

    The offered load grows by the factor, but for the rounding of times down to whole seconds. The
    first submission stays where it is; sizes and run times are left alone, as their distributions
    are the log's. The daily cycle is squeezed along, so the header no longer says when the log
    began. Waits of the log are no longer true and become unknown.

    Raises WorkloadError unless the factor is above 0 and times stay below 2^53 s.
    """
    if not 0 < factor < float("inf"):
        raise WorkloadError(f"the load factor should be above 0, not {factor:g}")
    first = workload.submit[0]
    stretched = (workload.submit - first) / factor
    if stretched[-1] >= 2.0**53:
        raise WorkloadError(f"a load factor of {factor:g} makes the times of the log too large")
    submit = first + np.floor(stretched).astype(np.int64)
    return workload.with_columns(
        submit=submit,
        wait=np.full_like(submit, -1),
        header=_without_clock(workload.header),
    )


def with_load(workload: Workload, load: float) -> Workload:
    """Stretch or squeeze the times between submissions to an offered load; see `scale_load`.

    Raises WorkloadError for a load that is not above 0, and if all jobs come at once.
    """
    present = offered_load(workload)
    if present == float("inf"):
        raise WorkloadError("all jobs are submitted at once, so their load cannot be changed")
    if not 0 < load < float("inf"):
        raise WorkloadError(f"the offered load should be above 0, not {load:g}")
    return scale_load(workload, load / present)


def window(workload: Workload, begin: int, end: int | None = None) -> Workload:
    """Give the jobs that are submitted from `begin` until before `end`, seconds of the log.

    Submit times are counted from `begin` on, and so is the clock of the header. Raises
    WorkloadError if there is no such job.
    """
    last = workload.submit[-1] + 1 if end is None else end
    chosen = _some(
        workload,
        (workload.submit >= begin) & (workload.submit < last),
        f"no job is submitted from {begin} s until before {last} s",
    )
    return chosen.with_columns(
        submit=chosen.submit - begin, header=with_later_clock(workload.header, begin)
    )


def cut(
    workload: Workload,
    *,
    begin: int = 0,
    end: int | None = None,
    users: Collection[int] | None = None,
    queues: Collection[int] | None = None,
    without_users: Collection[int] | None = None,
    without_queues: Collection[int] | None = None,
    first: int | None = None,
) -> Workload:
    """Give the jobs of a time, then of some users and queues, then the first of them.

    Users and queues are those that are given, without those that are left out.

    What is not given, or empty, leaves all. Raises WorkloadError if no job is left, and if one of
    the users or queues has no job.
    """
    if begin or end is not None:
        workload = window(workload, begin, end)
    for kind, numbers, leave_out in (
        ("user", users, False),
        ("queue", queues, False),
        ("user", without_users, True),
        ("queue", without_queues, True),
    ):
        if numbers:
            workload = _of(workload, kind, numbers, leave_out)
    return workload if first is None else first_jobs(workload, first)


def first_jobs(workload: Workload, count: int) -> Workload:
    """Give the first jobs, at most `count` of them. Raises WorkloadError for a count below 1."""
    return _some(workload, np.arange(len(workload)) < count, "no job is chosen")


def with_later_clock(header: Mapping[str, str], seconds: int) -> dict[str, str]:
    """Give the header of a log that begins some seconds later."""
    begin = header.get("UnixStartTime", "")
    moved = _without_clock(header)
    if re.fullmatch(r"\d{1,15}", begin):
        moved["UnixStartTime"] = str(int(begin) + seconds)
    return moved


def _without_clock(header: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in header.items() if key not in _CLOCK}


def _of(workload: Workload, kind: str, chosen: Collection[int], leave_out: bool) -> Workload:
    column = getattr(workload, kind)
    strange = sorted(set(chosen) - set(np.unique(column).tolist()))
    if strange:
        raise WorkloadError(f"the workload has no job of {kind} {', '.join(map(str, strange))}")
    jobs = np.isin(column, list(chosen), invert=leave_out)
    return _some(workload, jobs, f"no job of another {kind} is left" if leave_out else "no job")


def _some(workload: Workload, jobs: NDArray[np.bool_], problem: str) -> Workload:
    if not jobs.any():
        raise WorkloadError(problem)
    return workload.select(jobs)
