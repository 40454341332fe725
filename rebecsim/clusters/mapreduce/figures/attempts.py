"""Attempts of tasks as columns, and the figures of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

KINDS = ("map", "reduce")
LOCALITIES = ("", "node", "rack", "remote")
"""Reduces have none."""
OUTCOMES = ("running", "succeeded", "killed", "lost", "output lost")

NODE_LOCAL, RACK_LOCAL, REMOTE = 1, 2, 3
SUCCEEDED, OUTPUT_LOST = OUTCOMES.index("succeeded"), OUTCOMES.index("output lost")
_SECOND = 1_000_000


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
        """Give how long slots of a kind were held, from a time on (s)."""
        held = (self.kind == kind) & (self.end > begin)
        return float((self.end[held] - np.maximum(self.start[held], begin)).sum() / _SECOND)

    def ran_there(self, locality: int) -> NDArray[np.int64]:
        """Give the jobs of the maps, once for each, that ran so far from their splits.

        Of a map with several attempts it is the first that counts.
        """
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
        """How many second attempts were begun."""
        return int(self.backup.sum())

    @property
    def useful_backups(self) -> int:
        """How many of them ended first."""
        return int((self.backup & np.isin(self.outcome, (SUCCEEDED, OUTPUT_LOST))).sum())
