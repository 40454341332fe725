"""Slice and scale workloads.

The log changes as little as possible: jobs keep their numbers, users, sizes and order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.job import Workload

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
        raise WorkloadError(f"a load factor of {factor:g} stretches the log beyond all bounds")
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

    What is not given, or empty, leaves all. Raises as the functions for each.
    """
    if begin or end is not None:
        workload = window(workload, begin, end)
    if users:
        workload = of_users(workload, users)
    if queues:
        workload = of_queues(workload, queues)
    if without_users:
        workload = of_users(workload, without_users, leave_out=True)
    if without_queues:
        workload = of_queues(workload, without_queues, leave_out=True)
    return workload if first is None else first_jobs(workload, first)


def first_jobs(workload: Workload, count: int) -> Workload:
    """Give the first jobs, at most `count` of them. Raises WorkloadError for a count below 1."""
    return _some(workload, np.arange(len(workload)) < count, "no job is chosen")


def of_users(workload: Workload, users: Collection[int], *, leave_out: bool = False) -> Workload:
    """Give the jobs of some users, or of all others.

    Raises WorkloadError if one of these users has no job, and if no job is left.
    """
    return _of(workload, "user", workload.user, users, leave_out)


def of_queues(workload: Workload, queues: Collection[int], *, leave_out: bool = False) -> Workload:
    """Give the jobs of some queues, or of all others; else as `of_users`."""
    return _of(workload, "queue", workload.queue, queues, leave_out)


def with_later_clock(header: Mapping[str, str], seconds: int) -> dict[str, str]:
    """Give the header of a log that begins some seconds later."""
    begin = header.get("UnixStartTime", "")
    moved = _without_clock(header)
    if re.fullmatch(r"\d{1,15}", begin):
        moved["UnixStartTime"] = str(int(begin) + seconds)
    return moved


def _without_clock(header: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in header.items() if key not in _CLOCK}


def _of(
    workload: Workload,
    kind: str,
    column: NDArray[np.int64],
    chosen: Collection[int],
    leave_out: bool,
) -> Workload:
    strange = sorted(set(chosen) - set(np.unique(column).tolist()))
    if strange:
        raise WorkloadError(f"the workload has no job of {kind} {', '.join(map(str, strange))}")
    jobs = np.isin(column, list(chosen), invert=leave_out)
    return _some(workload, jobs, f"no job of another {kind} is left" if leave_out else "no job")


def _some(workload: Workload, jobs: NDArray[np.bool_], problem: str) -> Workload:
    if not jobs.any():
        raise WorkloadError(problem)
    return workload.select(jobs)
