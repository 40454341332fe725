"""Families of jobs, the mix of long and small jobs, drawn jobs, and times of submission.

The types and patterns of the mix are those of Chauhan, thesis, University of Saskatchewan, 2013,
table 4.1 and section 4.4.3, which takes their shares from studies of clusters at Yahoo and
Facebook. Each queue gets the same jobs in the same order at the same times, a second apart. The
thesis leaves open what starting a task and sorting cost: these are TeraSort's, as MRPERF has them.
Nor does it say which type comes first within "long" and "small"; it is the lowest here.

Drawn jobs are of the families that the simulator MRPERF draws its jobs from, over inputs of sizes
of a power law. A search reads much and leaves next to nothing. Computing takes many cycles of each
byte and leaves several bytes for one. An index is a part of its input.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rebecsim.clusters.mapreduce.job import MEBIBYTE, SECOND, JobCosts, MapReduceJob

BLOCK = 64 * MEBIBYTE
"""Default block size of the file system (bytes)."""


@dataclass(frozen=True, slots=True)
class JobFamily:
    """A family of equal jobs.

    Attributes:
        name: name of the family.
        nature: what such jobs do, in words.
        percent: share of the jobs of the mix (%).
        maps: maps of each job.
        reduces: reduces of each job.
        costs: costs of their tasks.
        is_long: whether they count as long jobs in the mix.
    """

    name: str
    nature: str
    percent: int
    maps: int
    reduces: int
    costs: JobCosts
    is_long: bool


def _long(
    number: int, nature: str, percent: int, tasks: tuple[int, int], costs: JobCosts
) -> JobFamily:
    return JobFamily(f"type{number}", nature, percent, *tasks, costs, True)


def _small(number: int, percent: int, maps: int) -> JobFamily:
    costs = JobCosts(map=1, map_ratio=1, reduce=1, reduce_ratio=1)
    return JobFamily(f"type{number}", "small job", percent, maps, 1, costs, False)


MIX: tuple[JobFamily, ...] = (
    _long(
        *(1, "data transformation", 8, (100, 15)),
        JobCosts(map=5, map_ratio=1, reduce=40, reduce_ratio=1),
    ),
    _long(
        *(2, "aggregate and expand", 6, (200, 1)),
        JobCosts(map=40, map_ratio=0.025, reduce=5, reduce_ratio=3),
    ),
    _long(
        *(3, "expand and aggregate", 4, (400, 30)),
        JobCosts(map=40, map_ratio=3, reduce=40, reduce_ratio=0.025),
    ),
    _long(
        *(4, "data summary", 2, (800, 8)),
        JobCosts(map=20, map_ratio=0.075, reduce=20, reduce_ratio=0.0005),
    ),
    _small(5, 48, 1),
    _small(6, 24, 2),
    _small(7, 8, 10),
)
"""The types of the mix, in their order."""

BENCHMARKS: Mapping[str, JobCosts] = {
    "sort": JobCosts(map=10, reduce=10),
    "terasort": JobCosts(),
    "wordcount": JobCosts(map=200, map_ratio=1.5, combine_ratio=0.1, reduce=40, reduce_ratio=0.5),
}
"""Programs that clusters are measured with. TeraSort's costs are MRPERF's; a sort of the same bytes
does less to each, and counting words does much more, and leaves less. Those two are ours."""


def splits_of(size: int, block: int = BLOCK) -> tuple[int, ...]:
    """Cut an input into blocks, the last of them perhaps smaller; an empty one is one byte."""
    whole, rest = divmod(max(size, 1), block)
    return (block,) * whole + ((rest,) if rest else ())


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


RandomFamily = Literal["terasort", "search", "compute", "index"]
RANDOM_FAMILIES: tuple[RandomFamily, ...] = get_args(RandomFamily)

_SEARCH = 4.0, 400.0
_COMPUTE = 400.0, 4000.0
_INDEX = 0.02, 0.5
_LEAST_BLOCKS, _MOST_BLOCKS = 10, 400
_ZIPF = 1.5
_MOST_REDUCES = 1 / 5
"""Of the maps."""


@dataclass(frozen=True, slots=True)
class DrawnJob:
    """What is drawn for a job: its family, how many tasks it has, and what these cost."""

    family: RandomFamily
    maps: int
    reduces: int
    costs: JobCosts


def drawn_jobs(
    count: int, families: tuple[RandomFamily, ...], draws: np.random.Generator
) -> list[DrawnJob]:
    """Draw jobs; each family is as likely."""
    return [_drawn(families[int(draws.integers(len(families)))], draws) for _ in range(count)]


def _drawn(family: RandomFamily, draws: np.random.Generator) -> DrawnJob:
    maps = int(np.clip(draws.zipf(_ZIPF), _LEAST_BLOCKS, _MOST_BLOCKS))
    reduces = max(int(draws.uniform(0, maps * _MOST_REDUCES)), 1)
    return DrawnJob(family, maps, reduces, _costs(family, draws))


def _costs(family: RandomFamily, draws: np.random.Generator) -> JobCosts:
    match family:
        case "terasort":
            return BENCHMARKS["terasort"]
        case "search":
            ratio = draws.uniform(0, 0.0001)
            return JobCosts(map=_log_uniform(_SEARCH, draws), map_ratio=float(ratio))
        case "compute":
            ratio = draws.uniform(1, 10)
            return JobCosts(map=_log_uniform(_COMPUTE, draws), map_ratio=float(ratio))
        case "index":
            return JobCosts(map_ratio=_log_uniform(_INDEX, draws))


def _log_uniform(bounds: tuple[float, float], draws: np.random.Generator) -> float:
    low, high = map(math.log, bounds)
    return math.exp(draws.uniform(low, high))
