"""The mix of long and small jobs in three patterns of submission.

Chauhan (2013), section 4.4.3: each queue gets the same jobs in the same order at the same times, a
second apart. Which type comes first within "long" and "small" is not said there; it is the lowest
here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

from rebecsim.clusters.mapreduce.job import MapReduceJob
from rebecsim.clusters.mapreduce.workloads.arrivals import SECOND
from rebecsim.clusters.mapreduce.workloads.families import BLOCK, MIX, JobFamily

Pattern = Literal["separated", "interleaved", "apart"]
"""All long jobs first; four small ones before each long one; or this, and small jobs go to queues
of their own."""

JOBS_OF_QUEUE = 50
"""So many jobs have whole numbers of each type."""

_SMALL_PER_LONG = 4


def mix_of_queue(rounds: int = 1) -> tuple[JobFamily, ...]:
    """Give the jobs of a queue by type, the lowest first: 50 for each round."""
    return tuple(
        family for family in MIX for _ in range(rounds * family.percent * JOBS_OF_QUEUE // 100)
    )


def ordered(families: Sequence[JobFamily], pattern: Pattern) -> tuple[JobFamily, ...]:
    """Put the jobs of a queue into the order of a pattern."""
    long = [family for family in families if family.is_long]
    small = [family for family in families if not family.is_long]
    if pattern == "separated":
        return (*long, *small)
    found: list[JobFamily] = []
    for number, family in enumerate(long):
        begin = number * _SMALL_PER_LONG
        found += [*small[begin : begin + _SMALL_PER_LONG], family]
    return (*found, *small[len(long) * _SMALL_PER_LONG :])


def mix_jobs(
    pattern: Pattern,
    queues: Sequence[str],
    small_queues: Sequence[str] = (),
    *,
    gap: float = 1.0,
    rounds: int = 1,
    block: int = BLOCK,
) -> tuple[MapReduceJob, ...]:
    """Give the jobs of the mix, by time and then by queue; each has a user of its own.

    Args:
        pattern: in which order jobs come.
        queues: each gets all jobs; under `apart`, the long ones.
        small_queues: under `apart`, the small jobs that would go to the queue at the same place.
        gap: between two jobs of a queue (seconds).
        rounds: how many times 50 jobs a queue gets.
        block: bytes that a map reads.
    """
    found: list[MapReduceJob] = []
    submitted = _submitted(ordered(mix_of_queue(rounds), pattern), pattern, queues, small_queues)
    for number, (place, queue, family) in enumerate(submitted):
        found.append(
            MapReduceJob(
                number=number,
                family=family.name,
                user=f"user{number}",
                queue=queue,
                submit=round(place * gap * SECOND),
                splits=(block,) * family.maps,
                reduces=family.reduces,
                costs=family.costs,
            )
        )
    return tuple(found)


def _submitted(
    families: Sequence[JobFamily],
    pattern: Pattern,
    queues: Sequence[str],
    small_queues: Sequence[str],
) -> Iterator[tuple[int, str, JobFamily]]:
    """Give when in the order, to which queue, and what."""
    places = small_queues if pattern == "apart" else queues
    for (place, family), (queue, small) in itertools.product(
        enumerate(families), zip(queues, places, strict=True)
    ):
        yield place, queue if family.is_long else small, family
