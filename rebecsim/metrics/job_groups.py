"""Groups of jobs with one expected end: bags of tasks and workflows."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.job import Integers, Workload

JobGrouping = Literal["job", "bag", "workflow"]
"""Each job by itself, or with those of its bag of tasks, or of its workflow."""


def bags_of(workload: Workload, gap: int) -> Integers:
    """Give the bag of each job, numbered from 0.

    A bag is the jobs of one user of which each is submitted at most `gap` seconds after the one
    before it (A. Iosup et al., "The characteristics and performance of groups of jobs in grids",
    Euro-Par 2007, section 2).
    """
    order = np.argsort(workload.user, kind="stable")
    user, submit = workload.user[order], workload.submit[order]
    begins = (np.diff(user, prepend=user[:1]) != 0) | (np.diff(submit, prepend=submit[:1]) > gap)
    bag = np.empty(len(workload), dtype=np.int64)
    bag[order] = np.cumsum(begins)
    return bag


def workflows_of(workload: Workload) -> Integers:
    """Give the workflow of each job, by the index of one of its jobs.

    Jobs are of one workflow if the log says that one comes after the other (field 17, the preceding
    job). Raises WorkloadError for a log that says so of no job.
    """
    place = {number: index for index, number in enumerate(workload.job.tolist())}
    before = [place.get(number) for number in workload.preceding.tolist()]
    if not any(each is not None for each in before):
        raise WorkloadError(
            "no job of the log has a preceding job (field 17), so there are no workflows; "
            "group jobs singly or by bag"
        )
    root = list(range(len(before)))

    def first_of(job: int) -> int:
        while root[job] != job:
            root[job] = job = root[root[job]]
        return job

    for job, other in enumerate(before):
        if other is not None:
            root[first_of(job)] = first_of(other)
    return np.array([first_of(job) for job in range(len(root))], dtype=np.int64)
