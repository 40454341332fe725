"""Which waiting jobs age: all from their eligibility on, or as many at a time as limits allow."""

from __future__ import annotations

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.limits import LimitBook
from rebecsim.clusters.slurm.records import Record


class Aging(StatePart):
    """Lets jobs age."""

    def __init__(self, limits: LimitBook) -> None:
        self.limits = limits
        self._young: list[Record] = []  # eligible, and no pass has seen them
        self._barred: list[Record] = []  # those that a limit keeps from aging

    def admit(self, record: Record) -> None:
        """Take a job that is eligible now."""
        self._young.append(record)

    def age(self, now: int) -> None:
        """Let jobs age that no pass has seen before, as far as limits allow."""
        young, self._young = self._young, []
        if not self.limits.limits_age:
            for record in young:
                record.accrue = record.begin
            return
        barred, self._barred = self._barred, []
        for since, records in ((now, barred), (-1, young)):
            for record in records:
                if record.state != "PENDING" or record.accrue >= 0:
                    continue
                qos = record.entries[0].place.spec.qos
                if self.limits.may_age(record, qos):
                    record.accrue = max(since, record.begin)
                    self.limits.age(record, qos)
                else:
                    self._barred.append(record)

    def stop(self, record: Record) -> None:
        """Note that a job does not wait any more."""
        if record.accrue >= 0:
            self.limits.age(record, record.entries[0].place.spec.qos, -1)
