"""Choosing tasks to kill for pools that have been below their share for too long."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rebecsim.clusters.kit.hadoop import Claim, fair_shares
from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress
from rebecsim.clusters.mapreduce.schedulers.fair.pool import PoolShare
from rebecsim.clusters.mapreduce.schedulers.scheduler import Preemption

_SECOND = 1_000_000  # microseconds
_PARTS = 1000  # of a slot: fair shares are no whole slots


def set_fair_shares(pools: Collection[PoolShare], slots: int) -> None:
    """Compute what each pool should have now."""
    claims = [
        Claim(pool.weight, pool.wanted_least * _PARTS, pool.demand * _PARTS) for pool in pools
    ]
    for pool, share in zip(pools, fair_shares(slots * _PARTS, claims), strict=True):
        pool.fair_share = share / _PARTS


def missing(pool: PoolShare, fair_timeout: float, now: int) -> int:
    """Give how many slots are to be freed for a pool."""
    due = 0
    if now - pool.at_least > pool.timeout * _SECOND:
        due = pool.wanted_least - pool.running
    if now - pool.at_half > fair_timeout * _SECOND:
        due = max(due, int(min(pool.fair_share, pool.demand)) - pool.running)
    return max(due, 0)


Task = tuple[JobInProgress, SlotKind, int]


def to_kill(
    pools: Mapping[str, PoolShare], kind: SlotKind, starts: Mapping[Task, Sequence[int]], due: int
) -> list[Preemption]:
    """Choose tasks of pools that have more than their fair share, the youngest first.

    `starts` says when the attempts of running tasks began. No pool is brought below its share.
    """
    left = {name: pool.running for name, pool in pools.items()}
    young = sorted(
        (-begun, job.job.number, number, job)
        for (job, of, number), begins in starts.items()
        if of is kind
        for begun in begins[-1:]
    )
    chosen: list[Preemption] = []
    for _, _, number, job in young:
        if len(chosen) == due:
            break
        name = job.job.queue
        if left[name] > pools[name].fair_share:
            left[name] -= 1
            chosen.append(Preemption(job, kind, number))
    return chosen
