"""Jobs that are drawn: programs that search, compute or index, over inputs of sizes of a power law.

These are the families that the simulator MRPERF draws its jobs from. A search reads much and leaves
next to nothing; computing takes many cycles of each byte and leaves several bytes for one; an index
is a part of its input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rebecsim.clusters.mapreduce.job import JobCosts
from rebecsim.clusters.mapreduce.workloads.families import BENCHMARKS

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
