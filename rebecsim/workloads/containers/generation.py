"""Synthetic traces of container jobs: one class of tasks each, drawn column by column.

A column is uniform, exponential or constant between two bounds. Exponential numbers are stretched
so that the largest of the column is the upper bound. Each column has random numbers of its own, so
that another distribution of one leaves the others as they are.

With `like_dss`, the random numbers are those of DSS's generator: numpy's old ones, one after the
other for starts, tasks, durations and memories, and the file written of the jobs is the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from rebecsim.close_names import suggestion
from rebecsim.workloads.containers.jobs import ContainerJob, TaskClass
from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.job import Integers

DrawnAs = Literal["uniform", "exponential", "constant"]
"""How the values of a column lie between their bounds."""

_MEMORY_STEP = 100
_DSS_HOST = "/default-rack/node2354434"
_DSS_END = 200_000
_SHAPES: dict[str, DrawnAs] = {
    "uniform": "uniform",
    "exponential": "exponential",
    "constant": "constant",
}
_TEXT = re.compile(r"([^:]*):(\d{1,12})(?:-(\d{1,12}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spread:
    """Whole numbers between two bounds, the upper one left out where they are uniform."""

    shape: DrawnAs
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise WorkloadError(f"{self}: should be from 0 on, and the smaller number first")

    def __str__(self) -> str:
        return f"{self.shape}:{self.low}-{self.high}"

    @classmethod
    def of(cls, text: str) -> Spread:
        """Read one as in `uniform:10-200` or `constant:5`. Raises WorkloadError."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise WorkloadError(f"{text}: write it as uniform:10-200, or as constant:5")
        if found[1] not in _SHAPES:
            raise WorkloadError(
                f"{text}: {found[1]!r} is no shape; {suggestion(found[1], _SHAPES)}"
            )
        return cls(_SHAPES[found[1]], int(found[2]), int(found[3] or found[2]))


@dataclass(frozen=True, slots=True)
class TraceModel:
    """What a synthetic trace is drawn from.

    Attributes:
        jobs: how many.
        start: when a job is submitted (s).
        tasks: how many it has, at least 1.
        duration: of each task (s).
        memory: of each task, MB, in steps of 100.
    """

    jobs: int = 100
    start: Spread = Spread("uniform", 0, 600)
    tasks: Spread = Spread("exponential", 1, 50)
    duration: Spread = Spread("uniform", 10, 200)
    memory: Spread = Spread("uniform", 500, 8000)

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise WorkloadError(f"a trace of {self.jobs} jobs")
        if self.tasks.low < 1:
            raise WorkloadError(f"tasks {self.tasks}: a job needs at least 1 task")
        if self.memory.low < _MEMORY_STEP or self.memory.low % 100 or self.memory.high % 100:
            raise WorkloadError(f"memory {self.memory}: from 100 MB on, in steps of 100 MB")


def generate_containers(
    model: TraceModel, seed: int, *, like_dss: bool = False
) -> tuple[ContainerJob, ...]:
    """Draw the jobs of a trace, in the order of submission; with `like_dss` in that of drawing.

    The same arguments give the same jobs. Raises WorkloadError for a constant of two bounds with
    `like_dss`, since DSS draws it of no seed, and for a seed that it cannot have.
    """
    draws = _OldNumbers(seed) if like_dss else _ColumnNumbers(seed)
    memory = Spread(model.memory.shape, model.memory.low // 100, model.memory.high // 100)
    spreads = (model.start, model.tasks, model.duration, memory)
    starts, tasks, durations, memories = (
        draws.column(place, spread, model.jobs) for place, spread in enumerate(spreads)
    )
    if not like_dss:
        starts = np.sort(starts)
    columns = (starts * 1000, tasks, durations * 1000, memories * _MEMORY_STEP)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(_job(number, row, like_dss) for number, row in enumerate(rows))


def _job(number: int, row: Sequence[int], like_dss: bool) -> ContainerJob:
    start, count, duration, memory = row
    host, end = (_DSS_HOST, _DSS_END) if like_dss else ("", None)
    task = TaskClass("reduce", count, duration, memory, host=host)
    return ContainerJob(number, start, None, (task,), queue="sls_queue_1", end=end)


class _ColumnNumbers:
    """Random numbers of which each column has its own."""

    def __init__(self, seed: int) -> None:
        self._columns = np.random.SeedSequence(seed).spawn(len(fields(TraceModel)) - 1)

    def column(self, place: int, spread: Spread, count: int) -> Integers:
        """Draw the values of a column."""
        draws = np.random.default_rng(self._columns[place])
        if spread.shape == "uniform":
            return _whole(draws.uniform(spread.low, spread.high, count))
        if spread.shape == "exponential":
            return _stretched(draws.exponential(1.0, count), spread)
        return np.full(count, draws.integers(spread.low, spread.high, endpoint=True))


class _OldNumbers:
    """Random numbers of DSS's generator."""

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < 2**32:
            raise WorkloadError(f"a seed of DSS is from 0 to {2**32 - 1}, not {seed}")
        self._draws = np.random.RandomState(seed)

    def column(self, place: int, spread: Spread, count: int) -> Integers:
        """Draw the values of a column; columns have to be drawn in their order."""
        if spread.shape == "uniform":
            return _whole(self._draws.uniform(spread.low, spread.high, count))
        if spread.shape == "exponential":
            return _stretched(self._draws.exponential(1.0, count), spread)
        if spread.low < spread.high:
            raise WorkloadError(
                f"{spread}: DSS draws this from no seed; give the value, as constant:{spread.low}"
            )
        return np.full(count, spread.low)


def _stretched(values: np.ndarray, spread: Spread) -> Integers:
    return _whole(values * (spread.high - spread.low) / values.max() + spread.low)


def _whole(values: np.ndarray) -> Integers:
    return values.astype(np.int64)
