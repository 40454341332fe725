"""Streams of jobs and closed problems: tasks of MapReduce jobs, arrivals, starts and deadlines.

Arrivals, starts and deadlines have random streams of their own, so changing one leaves the others.

In a closed problem all jobs arrive at time 0, and some may start later: the five batch workloads of
Lim (PhD thesis, Carleton University, Table 3.3). Times are seconds; integers are uniform from 1 to
a bound. A deadline is the earliest start plus the sum of all tasks times a uniform multiplier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from rebecsim.clusters.kit.hadoop import Claim, fair_shares
from rebecsim.clusters.stages.estimates import EstimateErrors, with_estimates
from rebecsim.clusters.stages.job import SECOND, StageJob, StageTask, TaskKind
from rebecsim.clusters.stages.laxity import sample_run, sequential_time
from rebecsim.clusters.stages.resources import StageResource, identical_typed, require_runnable

TaskDrawer = Callable[[np.random.Generator], tuple[StageTask, ...]]
"""Draws the tasks of the next job."""


class SampleTime(StrEnum):
    """What the laxity of a deadline is proportional to."""

    ON_RESOURCES = "resources"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Stream:
    """An open stream of jobs.

    Attributes:
        jobs: number of jobs.
        rate: rate of their Poisson arrivals (1/s).
        reserved: probability that a job may start only some time after it arrives.
        reserved_ahead: longest such time (s), uniform from 1.
        multiplier: upper bound of the deadline multiplier. A deadline is the earliest start plus
            the sample time times a uniform multiplier.
        least_multiplier: lower bound of the multiplier.
        sample: the sample time that deadlines are based on.
        announced: whether such jobs are submitted on arrival, not at their earliest start.
    """

    jobs: int
    rate: float
    reserved: float = 0.5
    reserved_ahead: int = 50_000
    multiplier: float = 5.0
    least_multiplier: float = 1.0
    sample: SampleTime = SampleTime.ON_RESOURCES
    announced: bool = True

    def arrivals(self, draws: np.random.Generator) -> list[int]:
        """Draw when jobs arrive (ms)."""
        gaps = draws.exponential(SECOND / self.rate, self.jobs)
        return [round(each) for each in gaps.cumsum().tolist()]

    def offsets(self, draws: np.random.Generator) -> list[int]:
        """Draw how long after its arrival each job may start (ms)."""
        later = draws.random(self.jobs) < self.reserved
        ahead = draws.integers(1, max(self.reserved_ahead, 1), self.jobs, endpoint=True)
        return [int(each) * SECOND for each in np.where(later, ahead, 0)]

    def multipliers(self, draws: np.random.Generator) -> list[float]:
        """Draw the deadline multiplier of each job."""
        between = self.least_multiplier, self.multiplier
        return [float(each) for each in draws.uniform(*between, self.jobs)]


@dataclass(frozen=True, slots=True)
class JobDraws:
    """Independent random streams, one for each purpose."""

    tasks: np.random.Generator
    arrivals: np.random.Generator
    starts: np.random.Generator
    deadlines: np.random.Generator
    estimates: np.random.Generator

    @classmethod
    def of(cls, seed: np.random.SeedSequence) -> JobDraws:
        """Make them from a seed."""
        return cls(*(np.random.default_rng(each) for each in seed.spawn(5)))


def stream_of(
    stream: Stream,
    families: Sequence[tuple[str, TaskDrawer]],
    resources: Sequence[StageResource],
    draws: JobDraws,
) -> Iterator[StageJob]:
    """Draw the jobs of a stream; families are equally likely.

    Deadlines are based on sample times on the resources.
    """
    choices = draws.tasks.integers(len(families), size=stream.jobs).tolist()
    arrivals = stream.arrivals(draws.arrivals)
    offsets = stream.offsets(draws.starts)
    multipliers = stream.multipliers(draws.deadlines)
    for number in range(stream.jobs):
        family, drawn = families[choices[number]]
        start = arrivals[number] + offsets[number]
        submitted = arrivals[number] if stream.announced else start
        bare = StageJob(number, submitted, start, start, drawn(draws.tasks), family)
        yield with_deadline(bare, resources, multipliers[number], stream.sample)


def with_deadline(
    job: StageJob,
    resources: Sequence[StageResource],
    multiplier: float,
    sample: SampleTime = SampleTime.ON_RESOURCES,
) -> StageJob:
    """Set a deadline: the start plus a multiple of the sample time, rounded up to whole seconds.

    Raises UserError if no resource has a slot for some task.
    """
    require_runnable((job,), resources)
    if sample is SampleTime.SEQUENTIAL:
        time = sequential_time(job)
    else:
        time = sample_run(job, resources).duration
    deadline = ceil((job.start + time * multiplier) / SECOND) * SECOND
    return job.due(deadline)


def map_reduce_tasks(maps: list[int], reduces: list[int]) -> tuple[StageTask, ...]:
    """Make the tasks of a MapReduce job from the durations of its maps and reduces (ms).

    The barrier is a dummy, which keeps the number of edges linear.
    """
    first = [
        StageTask(place, each, (), TaskKind.MAP, 1, f"map {place}")
        for place, each in enumerate(maps)
    ]
    if not reduces:
        return tuple(first)
    gate = len(first)
    barrier = StageTask(gate, 0, tuple(range(gate)), phase=1, name="barrier")
    second = [
        StageTask(gate + 1 + place, each, (gate,), TaskKind.REDUCE, 2, f"reduce {place}")
        for place, each in enumerate(reduces)
    ]
    return (*first, barrier, *second)


@dataclass(frozen=True, slots=True)
class SyntheticMapReduce:
    """Jobs of Lim's generic workload, or with smaller bounds of the one for Hadoop.

    Integers are uniform from 1 to a bound. A reduce takes three times the sum of the maps divided
    by the number of reduces, rounded up, plus some seconds of its own.

    Attributes:
        maps: upper bound of the maps of a job, whose number bounds its reduces.
        longest_map: upper bound of a map's time (s).
        reduce_extra: upper bound of a reduce's extra seconds.
    """

    maps: int = 100
    longest_map: int = 50
    reduce_extra: int = 10

    def expected_tasks(self, jobs: int) -> int:
        """Return the mean number of tasks that so many jobs have, their barriers among them."""
        maps = (1 + self.maps) / 2
        return round(jobs * (maps + (1 + maps) / 2 + 1))

    def tasks(self, draws: np.random.Generator) -> tuple[StageTask, ...]:
        """Draw the tasks of a job."""
        count = int(draws.integers(1, self.maps, endpoint=True))
        reduces = int(draws.integers(1, count, endpoint=True))
        maps = draws.integers(1, self.longest_map, count, endpoint=True)
        share = -(-3 * int(maps.sum()) // reduces)
        extra = draws.integers(1, self.reduce_extra, reduces, endpoint=True)
        return map_reduce_tasks(
            [each * SECOND for each in maps.tolist()],
            [(share + each) * SECOND for each in extra.tolist()],
        )


FACEBOOK_TYPES = (
    *((1, 0, 380), (2, 0, 160), (10, 3, 140), (50, 0, 80), (100, 0, 60), (200, 50, 60)),
    *((400, 0, 40), (800, 180, 40), (2400, 360, 20), (4800, 0, 20)),
)
"""Of a trace of October 2009: maps, reduces, and how many of 1,000 jobs are so."""

_FACEBOOK_MAP = 9.9511, 1.6764
_FACEBOOK_REDUCE = 12.375, 1.6262
"""Mean and variance of the logarithm of durations (ms)."""


class FacebookMapReduce:
    """Jobs like those at Facebook (Verma et al. 2012): ten types, log-normal durations.

    Each thousand jobs has a fixed number of each type; types are equally likely until used up.
    """

    def __init__(self) -> None:
        self._left: list[int] = []

    def expected_tasks(self, jobs: int) -> int:
        """Return about how many tasks so many jobs have together, their barriers among them."""
        thousands, rest = divmod(jobs, 1_000)
        drawn = fair_shares(rest, [Claim(most=count) for *_, count in FACEBOOK_TYPES])
        return sum(
            (thousands * count + drawn[place]) * (maps + reduces + (reduces > 0))
            for place, (maps, reduces, count) in enumerate(FACEBOOK_TYPES)
        )

    def tasks(self, draws: np.random.Generator) -> tuple[StageTask, ...]:
        """Draw the tasks of a job."""
        maps, reduces = self.next_type(draws)
        return map_reduce_tasks(
            _log_normal(draws, *_FACEBOOK_MAP, maps),
            _log_normal(draws, *_FACEBOOK_REDUCE, reduces),
        )

    def next_type(self, draws: np.random.Generator) -> tuple[int, int]:
        """Draw how many maps and reduces the next job has."""
        if not any(self._left):
            self._left = [count for _, _, count in FACEBOOK_TYPES]
        there = [place for place, count in enumerate(self._left) if count]
        chosen = there[int(draws.integers(len(there)))]
        self._left[chosen] -= 1
        return FACEBOOK_TYPES[chosen][:2]


_WORD_COUNT_MAPS = (8, 16, 32)
_WORD_COUNT_REDUCES = 9
_WORD_COUNT_MAP = 63.5
_WORD_COUNT_REDUCE = 3.0
_WORD_COUNT_SPREAD = 0.1


class WordCount:
    """Jobs that count words of 512 MB, 1 GB or 2 GB, with a map for each 64 MB, and nine reduces.

    Task times have not been published. Here a map takes 63.5 s, which keeps ten map slots as busy
    as was measured (79 to 95 % at 1/150 to 1/125 jobs per second), and a reduce 3 s for each map,
    both within 10 %.
    """

    def expected_tasks(self, jobs: int) -> int:
        """Return the mean number of tasks that so many jobs have, their barriers among them."""
        maps = sum(_WORD_COUNT_MAPS) / len(_WORD_COUNT_MAPS)
        return round(jobs * (maps + _WORD_COUNT_REDUCES + 1))

    def tasks(self, draws: np.random.Generator) -> tuple[StageTask, ...]:
        """Draw the tasks of a job."""
        maps = _WORD_COUNT_MAPS[int(draws.integers(len(_WORD_COUNT_MAPS)))]
        times = (_WORD_COUNT_MAP, maps), (_WORD_COUNT_REDUCE * maps, _WORD_COUNT_REDUCES)
        spread = 1 - _WORD_COUNT_SPREAD, 1 + _WORD_COUNT_SPREAD
        drawn = [
            [round(mean * SECOND * each) for each in draws.uniform(*spread, count).tolist()]
            for mean, count in times
        ]
        return map_reduce_tasks(*drawn)


def _log_normal(draws: np.random.Generator, mean: float, variance: float, count: int) -> list[int]:
    times = draws.lognormal(mean, float(np.sqrt(variance)), count)
    return [max(1, round(each)) for each in times.tolist()]


@dataclass(frozen=True, slots=True)
class ClosedWorkload:
    """A batch of MapReduce jobs and its resources.

    Attributes:
        count: number of jobs.
        latest: upper bound of the earliest starts.
        multiplier: upper bound of the deadline multiplier.
        maps: maps of a job, or their upper bound if drawn.
        reduces: reduces of a job; None: drawn, up to the number of maps.
        longest_map: upper bound of a map's time.
        longest_reduce: upper bound of a reduce's time; None: reduces share the sum of the maps.
        resources: number of resources.
        slots: map slots of each resource, and as many reduce slots.
        draws_maps: whether the number of maps is drawn.
        starts: earliest starts, if not drawn.
    """

    count: int
    latest: int
    multiplier: float
    maps: int
    reduces: int | None
    longest_map: int
    longest_reduce: int | None
    resources: int
    slots: int = 2
    draws_maps: bool = False
    starts: tuple[int, ...] = ()

    def on(self) -> tuple[StageResource, ...]:
        """Make the resources."""
        return identical_typed(self.resources, self.slots, self.slots)

    def jobs(self, draws: JobDraws, errors: EstimateErrors | None = None) -> tuple[StageJob, ...]:
        """Draw the jobs; with errors, deadlines are based on users' estimates."""
        starts = self._starts(draws.starts)
        multipliers = draws.deadlines.uniform(1, self.multiplier, len(starts)).tolist()
        tasks = [self._tasks(draws.tasks, errors, draws.estimates) for _ in starts]
        return tuple(
            self._due(number, start, multipliers[number], tasks[number])
            for number, start in enumerate(starts)
        )

    def _starts(self, draws: np.random.Generator) -> list[int]:
        drawn = draws.integers(1, self.latest, self.count, endpoint=True).tolist()
        return list(self.starts or drawn)

    def _tasks(
        self,
        draws: np.random.Generator,
        errors: EstimateErrors | None,
        of_estimates: np.random.Generator,
    ) -> tuple[StageTask, ...]:
        count = _to(draws, self.maps) if self.draws_maps else self.maps
        maps = draws.integers(1, self.longest_map, count, endpoint=True).tolist()
        reduces = _to(draws, count) if self.reduces is None else self.reduces
        if self.longest_reduce is None:
            times = [-(-sum(maps) // reduces)] * reduces
        else:
            times = draws.integers(1, self.longest_reduce, reduces, endpoint=True).tolist()
        in_ms = [[SECOND * each for each in seconds] for seconds in (maps, times)]
        return with_estimates(map_reduce_tasks(*in_ms), errors, of_estimates)

    def _due(
        self, number: int, start: int, multiplier: float, tasks: tuple[StageTask, ...]
    ) -> StageJob:
        begin = SECOND * start
        bare = StageJob(number, 0, begin, begin, tasks, "map_reduce")
        return with_deadline(bare, self.on(), multiplier, SampleTime.SEQUENTIAL)


def _to(draws: np.random.Generator, most: int) -> int:
    return int(draws.integers(1, most, endpoint=True))


CLOSED_WORKLOADS = {
    "small_1": ClosedWorkload(5, 50, 5, 10, 3, 15, 50, 10),
    "small_2": ClosedWorkload(5, 50, 2, 15, None, 15, 75, 25, draws_maps=True),
    "medium": ClosedWorkload(10, 50, 2, 10, 5, 25, 75, 15),
    "large_1": ClosedWorkload(2, 500, 2, 100, 30, 15, 50, 25, slots=4, starts=(0, 500)),
    "large_2": ClosedWorkload(50, 1500, 2, 100, None, 10, None, 50, draws_maps=True),
}
"""By name, in the order of the table."""
