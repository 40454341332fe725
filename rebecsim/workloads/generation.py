"""Generate workloads: after Lublin and Feitelson, by resampling a log, and of container jobs.

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

After N. Zakay and D. G. Feitelson, "Workload resampling for performance evaluation of parallel job
schedulers" (Concurrency and Computation 26(12), 2014): a user of the result does what one of the
log's did, some whole weeks earlier or later. The dependencies between a user's jobs and the
daily and weekly cycles stay; the users who are active together change. The authors treat users of
a few weeks and of the whole log differently; here all move around the log's weeks as on a ring.

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
from math import log2
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rebecsim.wording import suggestion
from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.workload import Integers, Workload, with_later_clock, with_load

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


_WEEK = 7 * 86_400


def resample(
    log: Workload, *, seed: int | np.random.SeedSequence, users: int | None = None
) -> Workload:
    """Draw a workload with `users` users, as many as the log has if not given.

    Users are drawn with replacement, each job of theirs with them, and numbered from 1 as drawn.
    The result lasts as many whole weeks as the log begun, its load grows with `users`. Waits are
    unknown, as are preceding jobs. The same arguments give the same workload. Raises WorkloadError
    for a log that names no users, and for a number of users below 1.
    """
    names, owner = np.unique(log.user, return_inverse=True)
    if (names < 0).any():
        raise WorkloadError("the log does not name the users of all its jobs")
    count = len(names) if users is None else users
    if count < 1:
        raise WorkloadError(f"{count} users: at least 1 is needed")
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    rng = np.random.default_rng(root)
    begin = log.submit[0]
    weeks = int((log.submit[-1] - begin) // _WEEK) + 1
    drawn = rng.integers(len(names), size=count)
    shifts = rng.integers(weeks, size=count) * _WEEK
    of_user = np.split(
        np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner, minlength=len(names)))[:-1]
    )
    chosen = [of_user[user] for user in drawn]
    jobs = np.concatenate(chosen)
    numbers = np.repeat(np.arange(1, count + 1), [len(each) for each in chosen])
    moved = (log.submit[jobs] - begin + shifts[numbers - 1]) % (weeks * _WEEK)
    order = np.argsort(moved, kind="stable")
    unknown = np.full(len(jobs), -1, dtype=np.int64)
    source = log.header.get("Computer", "a log")
    return log.select(jobs[order]).with_columns(
        submit=moved[order],
        job=np.arange(1, len(jobs) + 1),
        user=numbers[order],
        wait=unknown,
        preceding=unknown.copy(),
        think_time=unknown.copy(),
        header={
            **with_later_clock(log.header, int(begin)),
            "MaxJobs": str(len(jobs)),
            "MaxRecords": str(len(jobs)),
            "Conversion": f"{source}, its users resampled; "
            f"seed entropy {root.entropy}, spawn key {root.spawn_key}",
        },
        skipped={},
    )


DrawnAs = Literal["uniform", "exponential", "constant"]
"""How the values of a column lie between their bounds."""

_MEMORY_STEP = 100
_DSS_HOST = "/default-rack/node2354434"
_DSS_END = 200_000
_SHAPES: dict[str, DrawnAs] = {each: each for each in get_args(DrawnAs)}
_TEXT = re.compile(r"([^:]*):(\d{1,12})(?:-(\d{1,12}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spread:
    """Whole numbers between two bounds, the upper one left out where they are uniform."""

    shape: DrawnAs
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise WorkloadError(f"{self}: should be 0 or more, with the smaller number first")

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
                f"{text}: {found[1]!r} is not a shape; {suggestion(found[1], _SHAPES)}"
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
            raise WorkloadError(f"memory {self.memory}: use a multiple of 100 MB")


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
    """Random numbers, with a stream of its own for each column."""

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
                f"{spread}: DSS draws this without a seed; give a value, as constant:{spread.low}"
            )
        return np.full(count, spread.low)


def _stretched(values: np.ndarray, spread: Spread) -> Integers:
    return _whole(values * (spread.high - spread.low) / values.max() + spread.low)


def _whole(values: np.ndarray) -> Integers:
    return values.astype(np.int64)
