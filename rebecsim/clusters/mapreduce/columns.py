"""Jobs and attempts that have ended, as columns, and figures of any selection of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.mapreduce.job import SECOND

Integers = NDArray[np.int64]
Seconds = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JobColumns:
    """Jobs as columns, of shape (jobs,). Times are microseconds.

    Attributes:
        family, queue, user: names.
        submit: when a job is submitted.
        begin: when its first map gets a slot.
        maps_end: when its last map ends.
        reduces_begin: when its first reduce gets a slot; without reduces, the end of its maps.
        end: when its last task ends.
        node_local, rack_local, remote: how many of its maps ran how far from their splits.
    """

    family: NDArray[np.str_]
    queue: NDArray[np.str_]
    user: NDArray[np.str_]
    submit: Integers
    begin: Integers
    maps_end: Integers
    reduces_begin: Integers
    end: Integers
    node_local: Integers
    rack_local: Integers
    remote: Integers

    def __len__(self) -> int:
        return len(self.submit)

    def only(self, chosen: NDArray[np.bool_]) -> JobColumns:
        """Keep some of the jobs."""
        return JobColumns(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def of(self, family: str = "", queue: str = "") -> JobColumns:
        """Keep the jobs of a family, of a queue, or of both."""
        chosen = np.ones(len(self), dtype=bool)
        if family:
            chosen &= self.family == family
        if queue:
            chosen &= self.queue == queue
        return self.only(chosen)

    def after_warm_up(self, share: float) -> NDArray[np.bool_]:
        """Return which jobs count if this share of first jobs does not."""
        order = np.argsort(self.submit, kind="stable")
        counted = np.ones(len(self), dtype=bool)
        counted[order[: int(share * len(self))]] = False
        return counted

    @property
    def elapsed(self) -> Seconds:
        """From submission to end."""
        return np.asarray((self.end - self.submit) / SECOND)

    @property
    def waiting(self) -> Seconds:
        """From submission until the first map has a slot."""
        return np.asarray((self.begin - self.submit) / SECOND)

    @property
    def execution(self) -> Seconds:
        """From there to the end."""
        return np.asarray((self.end - self.begin) / SECOND)

    @property
    def map_time(self) -> Seconds:
        """From the first map's slot to the end of the last map."""
        return np.asarray((self.maps_end - self.begin) / SECOND)

    @property
    def reduce_time(self) -> Seconds:
        """From the first reduce's slot to the end; overlaps the maps."""
        return np.asarray((self.end - self.reduces_begin) / SECOND)


def throughput(jobs: JobColumns) -> float:
    """Give how many jobs of one run end in an hour, from the first submission to the last end."""
    span = int(jobs.end.max() - jobs.submit.min()) if len(jobs) else 0
    return 3600 * SECOND * len(jobs) / span if span else 0.0


def joined(parts: Sequence[JobColumns]) -> JobColumns:
    """Put the jobs of several runs one below the other."""
    names = [each.name for each in fields(JobColumns)]
    return JobColumns(*(np.concatenate([getattr(each, name) for each in parts]) for name in names))


def job_columns(table: Mapping[str, Any]) -> JobColumns:
    """Take jobs from the columns of a table."""
    return JobColumns(*(np.asarray(table[each.name]) for each in fields(JobColumns)))


def _response_ratio(jobs: JobColumns) -> float:
    return float((jobs.elapsed / jobs.execution).mean())


def _pooled_ratio(jobs: JobColumns) -> float:
    return float(jobs.elapsed.mean() / jobs.execution.mean())


def _variation(jobs: JobColumns) -> float:
    return float(jobs.execution.std(ddof=1) / jobs.execution.mean()) if len(jobs) > 1 else 0.0


def share_of_maps(jobs: JobColumns, which: str) -> float:
    """Return the share of maps that are `node_local`, `rack_local` or `remote` (%)."""
    total = int(jobs.node_local.sum() + jobs.rack_local.sum() + jobs.remote.sum())
    return 100 * int(getattr(jobs, which).sum()) / max(total, 1)


def _of_some(figure: Callable[[JobColumns], float]) -> Callable[[JobColumns], float]:
    return lambda jobs: figure(jobs) if len(jobs) else math.nan


_FIGURES: Mapping[str, Callable[[JobColumns], float]] = {
    "response_ratio": _response_ratio,
    "pooled_ratio": _pooled_ratio,
    "elapsed": lambda jobs: float(jobs.elapsed.mean()),
    "waiting": lambda jobs: float(jobs.waiting.mean()),
    "execution": lambda jobs: float(jobs.execution.mean()),
    "map_time": lambda jobs: float(jobs.map_time.mean()),
    "reduce_time": lambda jobs: float(jobs.reduce_time.mean()),
    "variation": _variation,
    "makespan": lambda jobs: float(jobs.end.max() / SECOND),
    "node_local": lambda jobs: share_of_maps(jobs, "node_local"),
    "rack_local": lambda jobs: share_of_maps(jobs, "rack_local"),
    "remote": lambda jobs: share_of_maps(jobs, "remote"),
}

JOB_FIGURES = {name: _of_some(figure) for name, figure in _FIGURES.items()}
"""Figures of some jobs of one run, by name: times in seconds, shares in percent, the makespan since
the beginning; not a number where there are no jobs. The response ratio is the mean over the jobs of
elapsed over execution; pooled, it is the ratio of the two means. The variation is that of execution
times: their standard deviation over their mean."""


KINDS = ("map", "reduce")
LOCALITIES = ("", "node", "rack", "remote")
"""Reduces have none."""
OUTCOMES = ("running", "succeeded", "killed", "lost", "output lost")

NODE_LOCAL, RACK_LOCAL, REMOTE = 1, 2, 3
SUCCEEDED, OUTPUT_LOST = OUTCOMES.index("succeeded"), OUTCOMES.index("output lost")


@dataclass(frozen=True, eq=False)
class AttemptColumns:
    """Attempts of a run, of shape (attempts,), in the order of jobs. Times are microseconds.

    Attributes:
        job: numbers of jobs.
        kind: places in `KINDS`.
        task: number among those of its kind in the job.
        node: where it runs.
        locality: places in `LOCALITIES`.
        start: when it was given its slot.
        end: when it gave it back.
        backup: whether another attempt of its task ran when it began.
        outcome: places in `OUTCOMES`.
    """

    job: Integers
    kind: Integers
    task: Integers
    node: Integers
    locality: Integers
    start: Integers
    end: Integers
    backup: NDArray[np.bool_]
    outcome: Integers

    def slot_time(self, kind: int, begin: int = 0) -> float:
        """Return how long slots of a kind were held from a time on (s)."""
        held = (self.kind == kind) & (self.end > begin)
        return float((self.end[held] - np.maximum(self.start[held], begin)).sum() / SECOND)

    def ran_there(self, locality: int) -> NDArray[np.int64]:
        """Return the job of each map with this locality, by its first attempt."""
        return np.asarray(self.job[(self.locality == locality) & self.is_first])

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """Which attempts are the first of their tasks."""
        keys = np.stack((self.job, self.kind, self.task, self.start))
        order = np.lexsort(keys[::-1])
        sorted_keys = keys[:3, order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)
        found = np.zeros(len(order), dtype=bool)
        found[order[is_new]] = True
        return found

    @property
    def launched_backups(self) -> int:
        """Number of second attempts."""
        return int(self.backup.sum())

    @property
    def useful_backups(self) -> int:
        """Number of second attempts that ended first."""
        return int((self.backup & np.isin(self.outcome, (SUCCEEDED, OUTPUT_LOST))).sum())
