"""Asks a job for a task to be run on a node: one that waits, or a second attempt."""

from __future__ import annotations

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress, Locality
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment
from rebecsim.clusters.mapreduce.tracker import TrackerSlots


def map_of(
    job: JobInProgress, tracker: TrackerSlots, furthest: Locality, now: int
) -> Assignment | None:
    """Take a map from a job, no further from its split than this; backups may run anywhere only."""
    found = job.map_for(tracker, furthest)
    if found is not None:
        number, locality = found
        job.start_map(number)
        return Assignment(job, SlotKind.MAP, number, locality)
    if furthest is not Locality.OFF_SWITCH or job.speculator is None:
        return None
    backup = job.backup_for(SlotKind.MAP, tracker, now)
    if backup is None:
        return None
    job.start_backup(SlotKind.MAP)
    return Assignment(job, SlotKind.MAP, backup, None, True)


def reduce_of(job: JobInProgress, tracker: TrackerSlots, now: int) -> Assignment | None:
    """Take a reduce from a job, if it has one that may begin."""
    if job.offers_reduce():
        return Assignment(job, SlotKind.REDUCE, job.start_reduce(), None)
    if job.speculator is None:
        return None
    backup = job.backup_for(SlotKind.REDUCE, tracker, now)
    if backup is None:
        return None
    job.start_backup(SlotKind.REDUCE)
    return Assignment(job, SlotKind.REDUCE, backup, None, True)
