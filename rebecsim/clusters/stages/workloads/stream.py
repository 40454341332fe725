"""Streams of jobs: arrivals, earliest starts and deadlines.

What is drawn for arrivals, starts and deadlines comes from random numbers of its own each, so that
one can be changed and the others stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from rebecsim.clusters.stages.job import SECOND, StageJob, StageTask
from rebecsim.clusters.stages.laxity import sample_run, sequential_time
from rebecsim.clusters.stages.resources import StageResource, require_runnable

TaskDrawer = Callable[[np.random.Generator], tuple[StageTask, ...]]
"""Draws the tasks of the next job."""


class SampleTime(StrEnum):
    """What the laxity of a deadline is proportional to."""

    ON_RESOURCES = "resources"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Stream:
    """How jobs come.

    Attributes:
        jobs: how many.
        rate: of their arrivals, a Poisson process (1/s).
        reserved: the probability that a job may not start when it arrives, but later.
        reserved_ahead: by how much at most (s); whole seconds from 1 on are as likely.
        multiplier: the largest; a deadline is the earliest start and the sample time as many times
            as drawn between 1 and this.
        least_multiplier: the least, if not 1.
        sample: of which sample time.
        announced: jobs that may not start yet are submitted when they arrive; otherwise when they
            may start.
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
        """Draw how many times its sample time each job gets until its deadline."""
        between = self.least_multiplier, self.multiplier
        return [float(each) for each in draws.uniform(*between, self.jobs)]


@dataclass(frozen=True, slots=True)
class JobDraws:
    """Random numbers for each purpose."""

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
    """Draw the jobs of a stream, each of a family by its name; families are as likely.

    Deadlines are by the sample times on the resources.
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
    """Give a job until its start and so many sample times, rounded up to whole seconds.

    Raises UserError if no resource has a slot for some task.
    """
    require_runnable((job,), resources)
    if sample is SampleTime.SEQUENTIAL:
        time = sequential_time(job)
    else:
        time = sample_run(job, resources).duration
    deadline = ceil((job.start + time * multiplier) / SECOND) * SECOND
    return job.due(deadline)
