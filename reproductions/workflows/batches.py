"""Standard errors of figures from few runs, or from evenly spread ones.

**Batches.** Two runs may have the same share of late jobs by chance, and one run says nothing of
how another one would differ. So each run is cut into batches of jobs that may start one behind the
other, which are long beside the time that a job is in the cluster: their means are nearly
independent (batch means: Schmeiser, Operations Research 30(3), 1982, who recommends ten to thirty).
Where few jobs are late, or none, batches hardly differ by chance: then the error is that of as many
independent jobs, with two late and two other ones added (Agresti and Coull, The American
Statistician 52(2), 1998).

**Spread runs.** Runs whose places are evenly spread (see `workloads.spread`) are surer than as many
independent ones: their error is by the differences of neighbours, the estimator v2 of Wolter
(Journal of the American Statistical Association 79(388), 1984).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    kept = _kept(jobs)
    runs = len(np.unique(kept.run))
    of_late = max(error_of_mean(kept.late, runs), kept.error_of_share)
    return {"late": 100 * of_late, "turnaround": error_of_mean(kept.turnaround, runs)}


def spread_errors(jobs: Path, place: Callable[[int], float]) -> Mapping[str, float]:
    """Give these standard errors by two runs or more, whose places are evenly spread.

    `place` gives that of a replication; runs have as many jobs.
    """
    kept = _kept(jobs)
    numbers = np.unique(kept.run).tolist()
    ordered = [kept.run == each for each in sorted(numbers, key=place)]
    of_late = error_of_neighbours([kept.late[each].mean() for each in ordered])
    return {
        "late": 100 * max(of_late, kept.error_of_share),
        "turnaround": error_of_neighbours([kept.turnaround[each].mean() for each in ordered]),
    }


@dataclass(frozen=True, slots=True)
class _Kept:
    """Jobs of a cell, run by run and in the order in which they may start: late or not, and s."""

    run: NDArray[np.int64]
    late: NDArray[np.bool_]
    turnaround: NDArray[np.float64]

    @property
    def error_of_share(self) -> float:
        """That of late jobs, were they independent of one another."""
        return error_of_share(int(self.late.sum()), len(self.late))


def _kept(jobs: Path) -> _Kept:
    columns = ["replication", "start", "deadline", "end"]
    table = pq.read_table(jobs, columns=columns)
    run, start, deadline, end = (np.asarray(table.column(each).to_numpy()) for each in columns)
    order = np.lexsort((start, run))
    return _Kept(run[order], (end > deadline)[order], ((end - start) / SECOND)[order])


def error_of_neighbours(means: Sequence[float]) -> float:
    """Give the standard error of the mean of two runs or more, by their means, in their order."""
    count = len(means)
    return math.sqrt(float(np.square(np.diff(means)).sum()) / (2 * (count - 1) * count))


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
