"""Delay scheduling: a job skips a limited number of offers that are too far from its data.

A chance is that the job is asked for a map while a slot of a node is free. They are counted from
the last map that the job was given in the rack of its split.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress, Locality
from rebecsim.clusters.mapreduce.schedulers.asking import map_of
from rebecsim.clusters.mapreduce.schedulers.capacity.settings import (
    CapacitySettings,
    OffSwitchRule,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment
from rebecsim.clusters.mapreduce.tracker import TrackerSlots


@dataclass(frozen=True, slots=True)
class Delay:
    """How long jobs of a cluster wait for a place near their data.

    Attributes:
        nodes: of the cluster, those that are alive.
        in_rack: chances that pass before a map may run on another node of its rack.
        factor: of the chances that pass before it may run anywhere.
        counts_remaining: whether a job with few maps left waits shorter.
    """

    nodes: int
    in_rack: int = 0
    factor: float = 1.0
    counts_remaining: bool = False

    @classmethod
    def of(cls, settings: CapacitySettings, nodes: int) -> Delay:
        """Take the delay from the settings."""
        remaining = settings.off_switch_rule is OffSwitchRule.REMAINING
        factor = settings.locality_wait_factor if remaining else 1.0
        return cls(nodes, settings.node_locality_delay, factor, remaining)

    def offer(
        self, job: JobInProgress, tracker: TrackerSlots, furthest: Locality, now: int
    ) -> Assignment | None:
        """Ask a job for a map to be run on a node, no further from its split than this."""
        job.opportunities += 1
        level = self._allowed(job, furthest)
        found = map_of(job, tracker, level, now)
        if found is not None and not found.is_far:
            job.opportunities = 0
        return found

    def _allowed(self, job: JobInProgress, furthest: Locality) -> Locality:
        if job.opportunities <= self.in_rack:
            return Locality.NODE
        if furthest is Locality.OFF_SWITCH and job.opportunities > self.in_rack + self._wait(job):
            return Locality.OFF_SWITCH
        return Locality.RACK

    def _wait(self, job: JobInProgress) -> float:
        if not self.counts_remaining:
            return self.nodes
        left = job.job.maps - job.finished[SlotKind.MAP]
        return min(left, self.nodes) * self.factor
