"""Delay scheduling by time: a job waits for a node with its data, then for a rack."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebecsim.clusters.mapreduce.progress import JobInProgress, Locality


@dataclass(slots=True)
class _Wait:
    """How near its last map was, and how long it has been passed over since (microseconds)."""

    last: Locality = Locality.NODE
    waited: int = 0


@dataclass(slots=True)
class LocalityWaits:
    """How long jobs have waited; those count that were asked and gave nothing.

    Attributes:
        node: how long they wait for a node (microseconds).
        rack: how long they then wait for a rack (microseconds).
    """

    node: int
    rack: int
    _waits: dict[JobInProgress, _Wait] = field(default_factory=dict)
    _skipped: set[JobInProgress] = field(default_factory=set)
    _last: int = 0

    def pass_time(self, now: int) -> None:
        """Count the time since the last heartbeat for jobs that were passed over then."""
        for job in self._skipped:
            self._waits[job].waited += now - self._last
        self._skipped.clear()
        self._last = now

    def allowed(self, job: JobInProgress) -> Locality:
        """Say how far from its split the next map of a job may run."""
        wait = self._waits.setdefault(job, _Wait())
        if wait.last is Locality.NODE:
            if wait.waited < self.node:
                return Locality.NODE
            return Locality.RACK if wait.waited < self.node + self.rack else Locality.OFF_SWITCH
        if wait.last is Locality.RACK and wait.waited < self.rack:
            return Locality.RACK
        return Locality.OFF_SWITCH

    def launched(self, job: JobInProgress, locality: Locality) -> None:
        """Take note of where a map of a job runs."""
        self._waits[job] = _Wait(locality)

    def skip(self, job: JobInProgress) -> None:
        """Take note that a job was asked at this heartbeat, and was given nothing."""
        self._waits.setdefault(job, _Wait())
        self._skipped.add(job)

    def forget(self, job: JobInProgress) -> None:
        """Take note that a job has ended."""
        self._waits.pop(job, None)
        self._skipped.discard(job)
