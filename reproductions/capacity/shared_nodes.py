"""The counts of tables 5.2 to 5.4: reduces that share nodes, stragglers, and delayed maps.

The thesis does not say what a straggler is; here it is a map that takes 1.5 times the median of the
maps of its job, or longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.mapreduce.figures.jobs import Integers
from rebecsim.clusters.mapreduce.figures.stored import read_columns
from rebecsim.clusters.mapreduce.figures.tables import ATTEMPTS, JOBS
from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.running.runner import PlannedRun
from rebecsim.studies.study import PlannedCell

_STRAGGLER = 1.5


@dataclass(frozen=True)
class TaskTimes:
    """Nodes and times of the tasks of one kind of a job (microseconds), of shape (tasks,)."""

    node: Integers
    start: Integers
    end: Integers


@dataclass(frozen=True)
class JobTasks:
    """A job with its tasks."""

    program: str
    user: str
    queue: str
    submit: int
    maps: TaskTimes
    reduces: TaskTimes


RunTasks = Sequence[JobTasks]
"""The jobs of one run."""


def read_tasks(run: PlannedRun, cell: PlannedCell) -> list[RunTasks]:
    """Read the jobs of each replication. Raises ResultsError for a missing or damaged file."""
    jobs, attempts = (read_columns(run.results, cell, name) for name in (JOBS, ATTEMPTS))
    return [
        list(_of_replication(jobs, attempts, replication))
        for replication in np.unique(jobs[REPLICATION]).tolist()
    ]


def _of_replication(
    jobs: Mapping[str, NDArray[Any]], attempts: Mapping[str, NDArray[Any]], replication: int
) -> Iterator[JobTasks]:
    mine = attempts[REPLICATION] == replication
    for place in np.flatnonzero(jobs[REPLICATION] == replication).tolist():
        of_job = mine & (attempts["job"] == jobs["job"][place])
        kinds = (of_job & (attempts["kind"].astype(str) == kind) for kind in ("map", "reduce"))
        maps, reduces = (
            TaskTimes(*(attempts[name][chosen] for name in ("node", "start", "end")))
            for chosen in kinds
        )
        program, user, queue = (str(jobs[name][place]) for name in ("family", "user", "queue"))
        yield JobTasks(program, user, queue, int(jobs["submit"][place]), maps, reduces)


def pairings(runs: Sequence[RunTasks]) -> dict[tuple[str, str], tuple[int, int]]:
    """Count, by program and user, the runs in which no reduce of a job shared its node.

    And, beside them, those in which one did: a reduce of another job ran there at the same time.
    """
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for run in runs:
        for job in run:
            shared = any(_meet(job.reduces, other.reduces) for other in run if other is not job)
            isolated, paired = found.get((job.program, job.user), (0, 0))
            found[job.program, job.user] = isolated + (not shared), paired + shared
    return found


def _meet(some: TaskTimes, others: TaskTimes) -> bool:
    same = some.node[:, None] == others.node[None, :]
    together = (some.start[:, None] < others.end[None, :]) & (
        others.start[None, :] < some.end[:, None]
    )
    return bool((same & together).any())


def stragglers(run: RunTasks) -> int:
    """Count the maps of a run that straggle."""
    times = [job.maps.end - job.maps.start for job in run]
    return sum(int((each >= _STRAGGLER * np.median(each)).sum()) for each in times)


def has_delayed_maps(run: RunTasks) -> bool:
    """Whether a job has maps before one of its queue and program, submitted earlier, has all.

    Section 4.2.2: it gets a map or two when it is submitted, and no more until the maps of the
    earlier job have ended.
    """
    return any(
        job.maps.start.min() < earlier.maps.start.max()
        for job in run
        for earlier in run
        if earlier.submit < job.submit
        and (earlier.queue, earlier.program) == (job.queue, job.program)
    )
