"""Synthetic workloads after Lublin and Feitelson.

U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the
characteristics of rigid jobs", JPDC 63(11), 2003. The parameters are those that the authors give
for all jobs together, batch and interactive: `WHOLE_SAMPLE`.

* Size: serial, or 2^s with s two-stage uniform, rounded to a power of two for most jobs.
* Run time: e^g seconds with g hyper-gamma; the larger the job, the likelier the longer gamma.
* Arrival: e^g seconds apart with g gamma, on a clock that runs as fast as the hour is busy. How
  busy each half hour is, is a gamma distribution laid over the day. (The authors' program rounds
  each time between arrivals down, so that its days come half a second earlier with every job.)

Users are no part of the model: they have Zipf shares of the jobs here, each job drawn for itself.
Nor are estimates: requested times are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.job import Integers, Workload
from rebecsim.workloads.transform import with_load

_DAY = 86_400
_BUCKETS = 48
_FIRST_BUCKET = 11
"""The day of the daily cycle begins with this bucket, counted from 1: at five in the morning."""


@dataclass(frozen=True, slots=True)
class LublinModel:
    """The parameters of the model. A gamma is (shape, scale).

    Attributes:
        serial: probability of one processor.
        power_of_two: probability of a power of two above one.
        low: log2 of the smallest parallel size, a little below 1 so that 2 is not too rare.
        middle_below: the two stages meet at log2 of the machine's size less this.
        first_stage: probability of the stage of the smaller sizes.
        short, long: gammas of the log of the run time.
        short_by_size, short_base: probability of `short` for a job of n processors is
            short_by_size * n + short_base, within 0 and 1.
        gap: gamma of the log of the time between arrivals at the busiest hours.
        gap_all_day: factor on the shape of `gap`, from busiest hours to all.
        cycle: gamma of arrivals over the half hours of the day.
        most_log_run: log of the longest run time; larger ones are drawn again. About 45 hours.
        most_log_gap: log of the longest gap; larger ones are drawn again. About 5 days.
    """

    serial: float = 0.244
    power_of_two: float = 0.576
    low: float = 0.8
    middle_below: float = 2.5
    first_stage: float = 0.86
    short: tuple[float, float] = (4.2, 0.94)
    long: tuple[float, float] = (312.0, 0.03)
    short_by_size: float = -0.0054
    short_base: float = 0.78
    gap: tuple[float, float] = (10.2303, 0.4871)
    gap_all_day: float = 1.0225
    cycle: tuple[float, float] = (8.1737, 3.9631)
    most_log_run: float = 12.0
    most_log_gap: float = 13.0


WHOLE_SAMPLE = LublinModel()
"""The published parameters for jobs of all types."""


def generate(
    jobs: int,
    processors: int,
    *,
    seed: int | np.random.SeedSequence,
    load: float | None = None,
    users: int = 1,
    model: LublinModel = WHOLE_SAMPLE,
) -> Workload:
    """Draw a workload for a machine of `processors`.

    With `load`, times between arrivals are stretched to that offered load; without it they are the
    model's. The same arguments give the same workload, bit for bit. Raises WorkloadError for a
    machine of one processor, for fewer than two jobs, no user, or a load that is not above 0.
    """
    if processors < 2 or jobs < 2 or users < 1:
        raise WorkloadError("the model needs at least 2 processors, 2 jobs and 1 user")
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    arriving, sizing, running, owning = (np.random.default_rng(each) for each in root.spawn(4))
    sizes = _sizes(sizing, jobs, processors, model)
    workload = Workload.of(
        _arrivals(arriving, jobs, model),
        _run_times(running, sizes, model),
        sizes,
        capacity=processors,
        status=np.ones(jobs, dtype=np.int64),
        user=_users(owning, jobs, users),
        header={
            "Version": "2.2",
            "Computer": "synthetic, model of Lublin and Feitelson (JPDC 2003)",
            "MaxJobs": str(jobs),
            "MaxNodes": str(processors),
            "MaxProcs": str(processors),
            "Note": f"seed entropy {root.entropy}, spawn key {root.spawn_key}",
        },
    )
    return workload if load is None else with_load(workload, load)


def _sizes(rng: np.random.Generator, jobs: int, processors: int, model: LublinModel) -> Integers:
    high = log2(processors)
    middle = max(high - model.middle_below, model.low)
    first = rng.random(jobs) < model.first_stage
    place = rng.random(jobs)
    exponent = np.where(
        first, model.low + place * (middle - model.low), middle + place * (high - middle)
    )
    kind = rng.random(jobs)
    exponent[kind < model.serial] = 0.0
    rounded = kind < model.serial + model.power_of_two
    exponent[rounded] = np.floor(exponent[rounded] + 0.5)
    # A power of two above the machine is drawn where its size is not one itself.
    return np.minimum(np.floor(2.0**exponent + 0.5).astype(np.int64), processors)


def _run_times(rng: np.random.Generator, sizes: Integers, model: LublinModel) -> Integers:
    probability = np.clip(model.short_by_size * sizes + model.short_base, 0.0, 1.0)
    logs = np.full(len(sizes), np.inf)
    while (again := np.flatnonzero(logs > model.most_log_run)).size:
        short = rng.random(again.size) < probability[again]
        shape, scale = (
            np.where(short, *pair) for pair in zip(model.short, model.long, strict=True)
        )
        logs[again] = rng.gamma(shape, scale)
    seconds: Integers = np.exp(logs).astype(np.int64)
    return seconds


def _arrivals(rng: np.random.Generator, jobs: int, model: LublinModel) -> Integers:
    """Give the arrival times; seconds from midnight."""
    shape, scale = model.gap
    logs = np.full(jobs, np.inf)
    while (again := np.flatnonzero(logs > model.most_log_gap)).size:
        logs[again] = rng.gamma(shape * model.gap_all_day, scale, again.size)
    busy_clock = np.cumsum(np.exp(logs))
    day, within = np.divmod(busy_clock, _DAY)
    edges = np.linspace(0, _DAY, _BUCKETS + 1)
    shown = np.concatenate(([0.0], np.cumsum(_busyness(model)))) * (_DAY / _BUCKETS)
    times: NDArray[np.float64] = day * _DAY + np.interp(within, shown, edges)
    return times.astype(np.int64)


def _busyness(model: LublinModel) -> NDArray[np.float64]:
    """How much faster than on average jobs come in each half hour from midnight; the mean is 1."""
    from scipy.special import gammainc

    shape, scale = model.cycle
    edges = _FIRST_BUCKET - 0.5 + np.arange(_BUCKETS + 1)
    weights = np.diff(gammainc(shape, edges / scale))
    return np.roll(weights / weights.mean(), _FIRST_BUCKET - 1)


def _users(rng: np.random.Generator, jobs: int, users: int) -> Integers:
    """Give the user of each job, from 1: the k-th has a share of the jobs that falls as 1/k."""
    numbers: Integers = np.arange(1, users + 1)
    shares = 1.0 / numbers
    drawn: Integers = rng.choice(numbers, size=jobs, p=shares / shares.sum())
    return drawn
