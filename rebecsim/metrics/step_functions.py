"""Step functions of time, such as usage, queue length and overdue jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.job import Integers


@dataclass(frozen=True, slots=True, eq=False)
class StepFunction:
    """A function of time that is 0 at first, then `values[i]` from `times[i]` to `times[i + 1]`.

    Attributes:
        times: moments of change, ascending, without repetition; seconds.
        values: of the same shape; the last one, 0, holds for ever.
    """

    times: Integers
    values: Integers

    def at(self, moments: Integers) -> Integers:
        """Give the values at some moments; at a moment of change, the new one."""
        return np.concatenate(([0], self.values))[np.searchsorted(self.times, moments, "right")]

    def means(self, edges: NDArray[Any]) -> NDArray[np.float64]:
        """Give the mean over each window between two edges, ascending: exact, no sampling."""
        whole = self.integral(edges)
        return np.asarray(np.diff(whole) / np.diff(edges), dtype=np.float64)

    def integral(self, moments: NDArray[Any]) -> NDArray[np.float64]:
        """Give the integral from the first change to each of the moments."""
        if not len(self.times):
            return np.zeros(len(moments))
        sums = np.concatenate(([0.0], np.cumsum(np.diff(self.times) * self.values[:-1])))
        return np.asarray(np.interp(moments, self.times, sums), dtype=np.float64)


def count_over_time(begin: Integers, end: Integers, weight: Integers | int = 1) -> StepFunction:
    """Give the sum of the weights of the intervals that are open, as a function of time.

    Intervals are from `begin` until before `end`, seconds; those without a length do not count.
    Running jobs weighted by their processors give the usage of a machine, waiting jobs the length
    of its queue. Raises ValueError for an interval that ends before it begins.
    """
    weights = np.broadcast_to(np.asarray(weight, dtype=np.int64), begin.shape)
    if (end < begin).any():
        raise ValueError("an interval ends before it begins")
    times, place = np.unique(np.concatenate((begin, end)), return_inverse=True)
    changes = np.zeros(len(times), dtype=np.int64)
    np.add.at(changes, place, np.concatenate((weights, -weights)))
    changed = changes != 0
    return StepFunction(times[changed], np.cumsum(changes[changed]))
