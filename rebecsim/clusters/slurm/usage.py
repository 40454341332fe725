"""What accounts and users have used, as the multifactor plug-in counts it: decayed, by periods.

Every period the usage decays, and what running jobs used since the last one is added. At the end of
a job its rest is added at once. Beside billing seconds, the wall time and the TRES that limits are
about are counted in the same way.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import DAY, PriorityParameters

Reals = NDArray[np.float64]

BILLING, WALL = "billing", "wall"


class Running(NamedTuple):
    """What a running job adds: who it is of, since when, and its rates, of shape (kinds,)."""

    association: int
    qos: tuple[int, ...]
    start: int
    rates: Reals

    @classmethod
    def of(cls, association: int, qos: tuple[int, ...], start: int, rates: list[float]) -> Running:
        """Make one from a list of rates."""
        return cls(association, qos, start, np.array(rates))


class PastUsage(StatePart):
    """Usage of associations and QOS, in the order of `kinds`; the first one is billing seconds.

    Attributes:
        kinds: what is counted: `billing`, `wall` and names of TRES.
        associations, qos: shapes (kinds, associations) and (kinds, QOS).
        last: when the last period ended, seconds.
    """

    def __init__(
        self, accounts: Accounts, parameters: PriorityParameters, kinds: tuple[str, ...]
    ) -> None:
        self.kinds = (BILLING, WALL, *(each for each in kinds if each != BILLING))
        self.accounts = accounts
        shape = len(self.kinds), len(accounts.associations)
        self.associations: Reals = np.zeros(shape)
        self.associations[0] = [each.usage for each in accounts.associations]
        self.qos: Reals = np.zeros((len(self.kinds), len(accounts.qos)))
        kept = [
            number for number, each in enumerate(accounts.qos.values()) if "NoDecay" in each.flags
        ]
        self._kept = np.array(kept, np.int64)
        half_life = parameters.decay_half_life
        self.factor = 1 - 0.693 / half_life if half_life else 1.0
        self.reset = parameters.usage_reset
        self.last = 0
        self.began = False
        self._rates: Reals = np.zeros(shape)  # of jobs that ran at the end of the last period
        self._qos_rates: Reals = np.zeros_like(self.qos)
        self._running: dict[int, Running] = {}
        self._new: dict[int, None] = {}

    def start(self, job: int, running: Running) -> None:
        """Note that a job uses something from now on."""
        self._running[job] = running
        self._new[job] = None

    def end(self, job: int, now: int) -> None:
        """Note that a job has ended, and add its rest."""
        running = self._running.pop(job)
        since = max(self.last, running.start)
        amount = self._grown(now - since) * running.rates
        for number in self._path(running.association):
            self.associations[:, number] += amount
        for number in running.qos:
            self.qos[:, number] += amount
        if job in self._new:
            del self._new[job]
            return
        if running.association >= 0:
            self._rates[:, running.association] -= running.rates
        for number in running.qos:
            self._qos_rates[:, number] -= running.rates

    def _path(self, association: int) -> tuple[int, ...]:
        return self.accounts.paths[association] if association >= 0 else ()

    def _grown(self, seconds: int) -> float:
        """Give how many seconds count of some that end now."""
        return float(seconds * self.factor**seconds)

    def period(self, now: int) -> None:
        """End a period: let usage decay, and add what running jobs have used in it."""
        passed = now - self.last if self.began else 0
        if self.began and _number(self.reset, now) != _number(self.reset, self.last):
            self.associations[:] = 0.0
            self.qos[:] = 0.0
        decay = self.factor**passed
        self.associations *= decay
        kept = self.qos[:, self._kept].copy()
        self.qos *= decay
        self.qos[:, self._kept] = kept
        added = self._rates * self._grown(passed)
        self.qos += self._qos_rates * self._grown(passed)
        for job in self._new:
            running = self._running[job]
            amount = self._grown(now - running.start) * running.rates
            if running.association >= 0:
                added[:, running.association] += amount
                self._rates[:, running.association] += running.rates
            for number in running.qos:
                self.qos[:, number] += amount
                self._qos_rates[:, number] += running.rates
        self._new.clear()
        for level in reversed(self.accounts.levels[1:]):
            np.add.at(added.T, self.accounts.parent[level], added[:, level].T)
        self.associations += added
        self.last, self.began = now, True


def _number(period: str, time: int) -> int:
    """Give the number of the period in which a time lies; usage is forgotten between two."""
    day = time // DAY
    if period == "DAILY":
        return day
    if period == "WEEKLY":
        return (day + 4) // 7  # the epoch was a Thursday; weeks begin on Sundays
    if period in ("MONTHLY", "QUARTERLY", "YEARLY"):
        date = datetime.fromtimestamp(time, UTC)
        months = {"MONTHLY": 1, "QUARTERLY": 3, "YEARLY": 12}[period]
        return (date.year * 12 + date.month - 1) // months
    return 0
