"""Families of jobs: their numbers of tasks, and the costs of these.

The types of the mix are those of Chauhan, thesis, University of Saskatchewan, 2013, table 4.1,
which takes their shares from studies of clusters at Yahoo and Facebook. It leaves open what
starting a task and sorting cost: these are TeraSort's, as MRPERF has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebecsim.clusters.mapreduce.job import MEBIBYTE, JobCosts

BLOCK = 64 * MEBIBYTE
"""Bytes of a block of the file system, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class JobFamily:
    """Jobs that are alike.

    Attributes:
        name: of the family.
        nature: what such jobs do, in words.
        percent: of the jobs of the mix.
        maps: of each.
        reduces: of each.
        costs: of their tasks.
        is_long: whether the mix counts them among the long ones.
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
