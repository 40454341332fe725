"""The state of a cluster at a tick, and the parts of it that may be forgotten.

A state holds, for each AppMaster, in how many ticks it can be given a job if its update is late by
then (0: it is free, 1: its update is due now), and for each slot the waiting job. Forgotten are:

* counters: what is counted is a reward of the step in which it is decided. A job that is handed out
  ends after as many time units as its length and its deadline say, and so it is counted then.
* which of several AppMasters is which, if they have the same speed and draw and stand beside one
  another: the ResourceManager asks them one after the other, and they do the same.
* how long a job is that cannot be done in time any more, even if all updates come before the tick
  and nothing else comes, under policies that do not look at lengths: it takes until its deadline
  and is missed. (Jobs that go before it can only make it later, since with AppMasters of one speed
  none begins earlier when another one ends later.)
* when the deadline of a job is that is met even if all updates come behind the tick, under FIFO,
  where no other job can come before it: the earliest such deadline takes its place.
* which of the slots jobs are in, under policies by deadline, if no two jobs that differ can ever
  have the same deadline: then the slot never decides.
* what comes behind the last tick: when a job ends that ends then, and which job it is that can
  neither begin nor be missed by then.
* the time, where arrivals and lengths go on as before.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeGuard

import numpy as np

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import (
    ClusterConfiguration,
    Configuration,
    Power,
    cycled,
    speed_ratio,
)
from rebecsim.clusters.dispatch.policies import BUILTIN_DISPATCH_POLICIES
from rebecsim.errors import UserError
from rebecsim.native.arrays import Integers, Table, layout_for, words_of

POLICY_NUMBERS = {each.name: place for place, each in enumerate(BUILTIN_DISPATCH_POLICIES)}
"""What loops call the policies: EDF 0, FIFO 1, MDF 2, PRIORITY 3, LLF 4, MLF 5, SJF 6."""

_BY_DEADLINE = ("EDF", "MDF", "PRIORITY")
_SEES_NO_LENGTHS = (*_BY_DEADLINE, "FIFO")

_MOST_WAYS = 4_096
"""Most ways in which the jobs of one tick may come."""

_MOST_TIES = 1_000
"""Most ways in which ties of one tick may turn out."""

_MOST_TICKS = 10_000


class Tables(NamedTuple):
    """What compiled loops know of a cluster.

    Attributes:
        layout: word, shift and mask of each part of a state: the phase, AppMasters, slots.
        sizes: AppMasters, slots, phases, classes of jobs, policy, whether slots are sorted, whether
            it is looked ahead which jobs must be late, longest deadline, whether ties are open.
        groups: for each group of AppMasters that are alike, the first and the one behind the last.
        busy: how long a job of each class takes on each group; shape (classes, groups).
        shortest: the least of those.
        late: the class that a job of each class gets when it is too late.
        high: whether a class is one of high priority.
        lengths: the length of each class.
        ways: for each phase and number of empty slots, the first way jobs come and the one behind.
        jobs: what comes in each way: deadline times classes plus class, 0 for nothing.
    """

    layout: Table
    sizes: Integers
    groups: Table
    busy: Table
    shortest: Integers
    late: Integers
    high: Integers
    lengths: Integers
    ways: Table
    jobs: Table


@dataclass(frozen=True)
class OrderedCluster:
    """A cluster whose orders are looked at.

    The last way in which jobs come is that none does, as it is before the first tick.

    Attributes:
        tables: what it does.
        chances: how likely each way is in which jobs come.
        periods: after how many ticks arrivals and lengths go on as before.
        watts: of each group, what an AppMaster draws more with a job than without.
        most_arrivals: jobs that come at each tick, at most.
        last: the time of the last tick.
        idle: what all AppMasters draw without jobs, times the length of a time unit.
        has_power: whether that is known.
    """

    tables: Tables
    chances: np.ndarray
    periods: int
    watts: tuple[float, ...]
    most_arrivals: tuple[int, ...]
    last: int
    idle: float
    has_power: bool

    @property
    def words(self) -> int:
        """Words of a state."""
        return words_of(self.tables.layout)

    @property
    def most_ways(self) -> int:
        """Ways in which the jobs of one tick come, at most."""
        return int((self.tables.ways[:, 1] - self.tables.ways[:, 0]).max())

    @property
    def most_actions(self) -> int:
        """Ways to go on in one state, at most."""
        sizes = self.tables.sizes
        ways = math.prod(int(behind - first) + 1 for first, behind in self.tables.groups)
        return ways * (_ties(sizes) if sizes[8] else 1)

    @property
    def idle_states(self) -> int:
        """How many states there are in which no job waits, at one point of the pattern."""
        sizes = [int(behind - first) for first, behind in self.tables.groups]
        return math.prod(
            math.comb(int(most) + size, size)
            for size, most in zip(sizes, self.tables.busy.max(axis=0), strict=True)
        )

    def with_ties(self, are_open: bool) -> OrderedCluster:
        """Give the same cluster where slots decide ties, or where it is open who does.

        In the latter it is forgotten which slots jobs are in, so there are fewer states, but for
        small clusters, where both ways of a tie may bring new ones. What is counted lies between
        what comes of it if each tie turns out for the least and if for the most, as in any run each
        turns out in one way. Where slots never decide, and where AppMasters differ, they are not
        forgotten.
        """
        sizes = self.tables.sizes.copy()
        if sizes[8] and not are_open:
            sizes[5] = sizes[8] = False
        elif are_open and not sizes[5] and self._may_forget_slots:
            sizes[5] = sizes[8] = True
        return replace(self, tables=self.tables._replace(sizes=sizes))

    @property
    def _may_forget_slots(self) -> bool:
        sizes = self.tables.sizes
        is_by_deadline = sizes[4] in [POLICY_NUMBERS[each] for each in _BY_DEADLINE]
        return is_by_deadline and len(self.tables.groups) == 1 and _ties(sizes) <= _MOST_TIES


class _Job(NamedTuple):
    length: int
    is_high: bool


def is_known_by_ticks(configuration: ClusterConfiguration) -> TypeGuard[Configuration]:
    """Whether the rule of a cluster is known here, and not only to its model."""
    return isinstance(configuration, Configuration) and configuration.policy in POLICY_NUMBERS


def cluster_of(
    configuration: Configuration, ticks: int, law: ChoiceLaw = "fair", power: Power | None = None
) -> OrderedCluster:
    """Make the tables of a configuration.

    Raises UserError for policies of plug-ins, whose rule is known to their models only, and where
    too much is drawn in one tick.
    """
    if configuration.policy not in POLICY_NUMBERS:
        raise UserError(
            f"{configuration.policy}: only its Rebeca model knows its rule; use `message_orders`"
        )
    if ticks > _MOST_TICKS:
        raise UserError(f"exact orders allow at most {_MOST_TICKS} ticks, not {ticks}")
    drawn = [_jobs_at(configuration, time, law) for time in range(ticks)]
    counts = [_drawn(configuration.arrivals.alternatives(t), law) for t in range(ticks)]
    period = _period(list(zip(map(_frozen, drawn), map(_frozen, counts), strict=True)))
    classes = _classes(drawn)
    draws = power if power is not None and power.is_given else None
    groups, watts = _groups(configuration, draws)
    speeds = cycled(configuration.speeds or (1.0,), configuration.app_masters)
    busy = np.array(
        [[_busy(job.length, speeds[first]) for first, _ in groups] for job in classes], np.int64
    )
    deadlines = {length: deadline_of(length, configuration.epsilon) for length, _ in classes}
    numbers = {job: place for place, job in enumerate(classes)}
    late = [numbers[_Job(0, job.is_high)] for job in classes]
    ways, jobs, chances = _ways(configuration, drawn[:period], counts[:period], numbers, deadlines)
    most_code = (max(deadlines.values()) + 1) * len(classes)
    largest = period - 1, *[int(busy.max())] * configuration.app_masters
    layout = layout_for([*largest, *[most_code] * configuration.queue_size])
    sizes = (
        configuration.app_masters,
        configuration.queue_size,
        period,
        len(classes),
        POLICY_NUMBERS[configuration.policy],
        configuration.policy in _BY_DEADLINE and not _can_tie(drawn, deadlines),
        configuration.policy in _SEES_NO_LENGTHS and len(set(speeds)) == 1,
        max(deadlines.values()),
        False,
    )
    tables = Tables(
        layout=layout,
        sizes=np.array(sizes, np.int64),
        groups=np.array(groups, np.int64),
        busy=busy,
        shortest=busy.min(axis=1),
        late=np.array(late, np.int64),
        high=np.array([job.is_high for job in classes], np.int64),
        lengths=np.array([job.length for job in classes], np.int64),
        ways=ways,
        jobs=jobs,
    )
    arrivals = tuple(max(each) for each in counts)
    idle = sum(cycled(draws.idle, configuration.app_masters)) * draws.time_unit if draws else 0.0
    has_power = draws is not None
    return OrderedCluster(tables, chances, period, watts, arrivals, ticks - 1, idle, has_power)


def deadline_of(length: int, epsilon: float) -> int:
    """Give the deadline of a new job, in single precision as the models have it."""
    return int(np.float32(length) * (np.float32(1) + np.float32(epsilon))) + 1


def _ties(sizes: Integers) -> int:
    """Give in how many ways ties of a tick may turn out at most: which kinds are handed out."""
    return math.comb(int(sizes[3] + sizes[0]) - 1, int(sizes[0]))


def _drawn(alternatives: Sequence[int], law: ChoiceLaw) -> dict[int, float]:
    """Give how likely each value is."""
    count = len(alternatives)
    found: defaultdict[int, float] = defaultdict(float)
    for place, value in enumerate(alternatives):
        weight = 1 / count
        if law == "rmc":
            weight = (2 if place == count - 1 else 1) / (count + 1)
        found[value] += weight
    return dict(found)


def _jobs_at(configuration: Configuration, time: int, law: ChoiceLaw) -> dict[_Job, float]:
    """Give how likely a job that comes then is which."""
    lengths = _drawn(configuration.lengths.alternatives(time), law)
    high = configuration.high_priority
    matters = configuration.dispatch_policy.uses_priority or high.decides_lengths
    if not (configuration.draws_priorities and matters):
        return {_Job(length, False): chance for length, chance in lengths.items()}
    found: dict[_Job, float] = {}
    for length, chance in lengths.items():
        for value, weight in _drawn(high.values, law).items():
            is_high = value <= high.probability
            kept = high.length if is_high and high.length else length
            job = _Job(kept, is_high and configuration.dispatch_policy.uses_priority)
            found[job] = found.get(job, 0.0) + chance * weight
    return found


def _frozen(values: dict[_Job, float] | dict[int, float]) -> tuple[tuple[object, float], ...]:
    return tuple(values.items())


def _period(sequence: Sequence[object]) -> int:
    """Give after how many entries a sequence goes on as before; its length if it never does."""
    count = len(sequence)
    return next(
        (
            n
            for n in range(1, count)
            if all(sequence[i] == sequence[i - n] for i in range(n, count))
        ),
        count,
    )


def _classes(drawn: Sequence[dict[_Job, float]]) -> list[_Job]:
    """Give what jobs there are; those too late, whose length does not matter, first."""
    jobs = sorted({job for each in drawn for job in each})
    late = sorted({_Job(0, job.is_high) for job in jobs})
    return list(dict.fromkeys([*late, *jobs]))


def _groups(
    configuration: Configuration, power: Power | None
) -> tuple[list[tuple[int, int]], tuple[float, ...]]:
    """Give AppMasters beside one another that are alike, and what each of a group draws more."""
    count = configuration.app_masters
    speeds = cycled(configuration.speeds or (1.0,), count)
    more = [0.0] * count
    if power is not None:
        draws = zip(cycled(power.idle, count), cycled(power.busy, count), strict=True)
        more = [(busy - idle) * power.time_unit for idle, busy in draws]
    groups, watts, first = list[tuple[int, int]](), list[float](), 0
    for (_, extra), some in itertools.groupby(zip(speeds, more, strict=True)):
        behind = first + len(list(some))
        groups.append((first, behind))
        watts.append(extra)
        first = behind
    return groups, tuple(watts)


def _busy(length: int, speed: float) -> int:
    return math.ceil(length / speed_ratio(speed))


def _can_tie(drawn: Sequence[dict[_Job, float]], deadlines: dict[int, int]) -> bool:
    """Whether two jobs that differ can have their deadline at the same time."""
    seen: dict[int, _Job] = {}
    for time, jobs in enumerate(drawn):
        for job in jobs:
            if seen.setdefault(time + deadlines[job.length], job) != job:
                return True
    return False


def _ways(
    configuration: Configuration,
    drawn: Sequence[dict[_Job, float]],
    counts: Sequence[dict[int, float]],
    numbers: dict[_Job, int],
    deadlines: dict[int, int],
) -> tuple[Table, Table, np.ndarray]:
    """Lay out in which ways jobs come, for each phase and number of empty slots that matters."""
    slots = configuration.queue_size
    most = min(max(max(each) for each in counts), slots)
    bounds, rows, chances = list[tuple[int, int]](), list[list[int]](), list[float]()
    for jobs, count in zip(drawn, counts, strict=True):
        codes = {deadlines[j.length] * len(numbers) + numbers[j]: p for j, p in jobs.items()}
        if len(codes) ** most > _MOST_WAYS:
            raise UserError(
                f"exact orders: up to {most} jobs come at once, of {len(codes)} kinds, which are "
                f"more than {_MOST_WAYS} ways"
            )
        for empty in range(most + 1):
            ways: dict[tuple[int, ...], float] = {}
            for number, chance in count.items():
                for some in itertools.product(codes, repeat=min(number, empty)):
                    likely = math.prod(codes[each] for each in some)
                    ways[some] = ways.get(some, 0.0) + chance * likely
            bounds.append((len(rows), len(rows) + len(ways)))
            rows += [[*way, *[0] * (most - len(way))] for way in ways]
            chances += ways.values()
    rows.append([0] * most)
    chances.append(1.0)
    jobs_of = np.array(rows, np.int64).reshape(len(rows), most)
    return np.array(bounds, np.int64), jobs_of, np.array(chances)
