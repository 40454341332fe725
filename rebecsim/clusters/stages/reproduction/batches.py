"""How sure figures of few runs are, by the means of batches of their jobs.

Two runs may have the same share of late jobs by chance, and one run says nothing of how another one
would differ. So each run is cut into batches of jobs that may start one behind the other, which are
long beside the time that a job is in the cluster: their means are nearly independent (batch means:
Schmeiser, Operations Research 30(3), 1982, who recommends ten to thirty). Where few jobs are late,
or none, batches hardly differ by chance: then the error is that of as many independent jobs, with
two late and two other ones added (Agresti and Coull, The American Statistician 52(2), 1998).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.stages.job import SECOND

BATCHES = 20


def batch_errors(jobs: Path) -> Mapping[str, float]:
    """Give standard errors of the share of late jobs (%) and of the mean turnaround (s).

    `jobs` is the table of jobs of all runs of one cell, with columns in milliseconds.
    """
    columns = ["replication", "start", "deadline", "end"]
    table = pq.read_table(jobs, columns=columns)
    run, start, deadline, end = (np.asarray(table.column(each).to_numpy()) for each in columns)
    order = np.lexsort((start, run))
    late = (end > deadline)[order]
    turnaround = ((end - start) / SECOND)[order]
    runs = len(np.unique(run))
    of_late = max(error_of_mean(late, runs), error_of_share(int(late.sum()), len(late)))
    return {"late": 100 * of_late, "turnaround": error_of_mean(turnaround, runs)}


def error_of_share(count: int, total: int) -> float:
    """Give the standard error of the share `count / total` of independent events."""
    share = (count + 2) / (total + 4)
    return math.sqrt(share * (1 - share) / (total + 4))


def error_of_mean(values: NDArray[Any], runs: int) -> float:
    """Give the standard error of a mean by batches of `values`, of as many in each of some runs.

    `values`, at least two of each run, has the runs one behind the other. What differs between
    batches of a run counts, of which there are fewer if they had less than two values.
    """
    batches = min(BATCHES, max(len(values) // runs // 2, 2))
    parts = np.array_split(values, runs * batches)
    means = np.array([each.mean() for each in parts]).reshape(runs, batches)
    return math.sqrt(means.var(axis=1, ddof=1).mean() / (runs * batches))
