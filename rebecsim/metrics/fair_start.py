"""Fair start times: was a job held up by jobs that came after it?

G. Sabin, G. Kochhar and P. Sadayappan, "Job fairness in non-preemptive job scheduling" (ICPP
2004): a job's fair start time is when it starts if nobody comes after it, under the same policy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.job import Integers, Workload
from rebecsim.workloads.schedule import Schedule

__all__ = ["fair_slowdown", "fair_start_times", "unfairness"]


def fair_start_times(
    workload: Workload, run: Callable[[Workload], Schedule], jobs: Integers | None = None
) -> Integers:
    """Give the fair start times of some jobs, of all if none are given; seconds.

    `run` schedules a workload under the policy in question. It is asked once per job, for the
    workload up to this one, so the cost grows with the square of the length of the log: of a long
    one, ask for some jobs (indices). Jobs submitted at the same second but below it in the log
    count as coming after it.
    """
    chosen = np.arange(len(workload)) if jobs is None else jobs
    every = np.arange(len(workload))
    starts = [run(workload.select(every[: job + 1])).start[job] for job in chosen.tolist()]
    return np.array(starts, dtype=np.int64)


def unfairness(start: Integers, fair_start: Integers) -> Integers:
    """Give how much later than fair each job started: seconds, below 0 if it started earlier."""
    return start - fair_start


def fair_slowdown(
    start: Integers, fair_start: Integers, submit: Integers, runtime: Integers
) -> NDArray[np.float64]:
    """Give the response time of each job over the response time of its fair start.

    Both last for `runtime`, at least 1 s. Above 1, later jobs held it up.
    """
    taken = start + runtime - submit
    fair = fair_start + runtime - submit
    return np.asarray(taken / fair, dtype=np.float64)
