"""The configuration of a run, and how long tasks really take under it.

It says which behaviour of DSS a run repeats. Tasks take longer in less memory, and with errors that
schedulers do not know of. What is random is drawn from a stream for each job, or from one stream as
in DSS."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from itertools import count
from random import Random
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.yarn.containers import (
    LEAST_MEMORY,
    Application,
    Container,
    Launch,
    Task,
    hundreds,
)
from rebecsim.clusters.yarn.penalties import Penalty, penalty_named
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.studies.scenario import Table, within
from rebecsim.workloads.container_jobs import ContainerJob, TaskKind

MOST = 2**40
"""Most of an amount of memory (MB), cores or time (ms)."""


@dataclass(frozen=True, slots=True)
class Quirks:
    """What DSS does, one by one; without any, a run does what stands after the semicolon.

    Attributes:
        one_second: first heartbeats of nodes are spread over a second, and an AppMaster looks for
            its container every second, whatever the periods of heartbeats are; over the periods.
        last_rack: of the racks that become a node each, only the last one is there; all are.
        errors_twice: what errors of memory and bumps add to a task is added again when it is
            launched, if there is no error of its duration; it is added once.
        full_is_ideal: a container is elastic if its memory is not the ideal one, even if it is
            all that was asked for; if it is less than was asked for.
        memory_first: where resources are compared for gaps and timelines, cores count only if
            memories are equal; both must be enough.
        last_timeline: PEEK's timeline of a node takes what a job has there when the last of its
            containers is scheduled for what it has at most; the most at any time.
        elastic_everywhere: RACE_LOCKSTEP gives less memory on all nodes; on those that may.
        no_gaps_foreseen: RACE_LOCKSTEP's look ahead leaves gaps; it fills them as the cluster does.
        gaps_weighed: PEEK_EACH_ELASTIC looks ahead for every container that could end a gap, too,
            on the node with more free than it has; it does not.
        unforeseen_gone: an AppMaster whose end has not been foreseen counts as gone when gaps are
            looked for under PEEK; as one that stays.
        errors_foreseen: a look ahead has errors of durations of its own; it has none.
        unlooked: no look ahead is taken when a job is submitted that has waited for another; there
            is one.
        looks_again: when PEEK has looked ahead as a job was submitted, it looks again at its next
            period; only if something has happened.
        silent: SRTF counts no rejection of a task that does not fit, and looks no further at a
            heartbeat when the last job in its order has got its last container; it counts, and
            looks.
        asleep: nodes that have nothing to say sleep on when the next tasks of a job are others than
            before, or there are none; they are woken, as these may fit.
        raced_once: RACE_LOCKSTEP chooses when the first job is submitted; whenever one is.
        fixed_draws: what is random is drawn from generators with fixed seeds, whole numbers as
            Python 2 draws them; from the seed of the run, apart for every job.
    """

    one_second: bool = False
    last_rack: bool = False
    errors_twice: bool = False
    full_is_ideal: bool = False
    memory_first: bool = False
    last_timeline: bool = False
    elastic_everywhere: bool = False
    no_gaps_foreseen: bool = False
    gaps_weighed: bool = False
    unforeseen_gone: bool = False
    errors_foreseen: bool = False
    unlooked: bool = False
    looks_again: bool = False
    silent: bool = False
    asleep: bool = False
    raced_once: bool = False
    fixed_draws: bool = False


QUIRKS_OF_DSS = Quirks(**dict.fromkeys((each.name for each in fields(Quirks)), True))
"""All of them."""


ErrorSign = Literal["MIXED", "POSITIVE", "NEGATIVE"]
ErrorMode = Literal["CONSTANT", "RANDOM"]
RaceMetric = Literal["TOTAL_JRT", "MAKESPAN", "CDF_50", "CDF_75", "CDF_90", "CDF_99"]
PushBack = Literal["TIMELINE_CHECK_CURRENT_JOB", "PEEK_EACH_ELASTIC"]


@dataclass(frozen=True, slots=True)
class InjectedError:
    """An error of what the scheduler believes.

    Attributes:
        percent: of the true value, at most; None: there is no error. DSS draws one of 0 %, too.
        sign: whether what is true may be more, less, or both.
        mode: always the most there may be, or drawn.
    """

    percent: int | None = None
    sign: ErrorSign = "MIXED"
    mode: ErrorMode = "CONSTANT"

    def __bool__(self) -> bool:
        return self.percent is not None

    @property
    def lowest(self) -> int:
        """The least part of the largest error that may be drawn: 0 or -1."""
        return 0 if self.sign == "POSITIVE" else -1

    @property
    def highest(self) -> int:
        """The largest part of the largest error that may be drawn: 0 or 1."""
        return 0 if self.sign == "NEGATIVE" else 1


@dataclass(frozen=True, slots=True)
class Elasticity:
    """What is believed, and what is true, of tasks in less memory than they ask for.

    Other fields are keys of `[elasticity]`, and of `[errors]`.

    Attributes:
        penalty: of classes that have none of their own; None: they are not elastic.
        elastic_percent: the part of the nodes that may give less memory; None: all.
        most_needed: MB that a task needs at most with it; None: the memory of the largest node.
    """

    penalty: Penalty | None = None
    elastic_percent: int | None = None
    overestimated: tuple[float, float] = (1.0, 1.0)
    assumed_overestimate: float = 1.0
    memory_error: InjectedError = InjectedError()
    most_needed: int | None = None
    bump_error: InjectedError = InjectedError()
    duration_error: InjectedError = InjectedError()
    only_elastic: bool = False


class PoolTable(Table):
    """What a pool of FAIR and DRF should have: the jobs of a queue, or of a user who names none."""

    name: str = Field(min_length=1, description="of the queue or the user")
    weight: Annotated[float, within(0.001, 10**6)] = Field(
        1.0, description="how much it should have, compared to others"
    )
    least_memory: Annotated[int, within(0, MOST, "MB")] = Field(
        0, description="how much memory it gets before others get more"
    )
    least_cores: Annotated[int, within(0, MOST, "cores")] = Field(
        0, description="how many cores it gets before others get more, under DRF"
    )


@dataclass(frozen=True, slots=True)
class PlacementRules:
    """Where containers may run: keys of `[placement]`; a delay that is None never passes.

    Labels of nodes and of jobs count as soon as there are rules.
    """

    node_delay: int | None = 40
    rack_delay: int | None = 40
    most_per_node: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class YarnConfiguration(Constant):
    """How a cluster works. Times are milliseconds, memories MB.

    Other fields are keys of `[cluster]`.

    Attributes:
        scheduler: the name of its scheduler.
        elasticity: of memory, and errors.
        occupancy_interval: how often the occupancy is written down; 0: once, when the run begins;
            None: not at all.
        seed: of what is random.
        quirks: of DSS.
        placement: where containers may run; None: wherever they fit.
        queues: what a file of Hadoop's schedulers says; its scheduler is taken then.
        explains: whether it is noted which rule each application waits for, under a file of queues.
        race_metric: by what RACE_LOCKSTEP compares: the sum of the durations of jobs, the end of
            the last one, or a percentile of the durations.
    """

    scheduler: str = "REGULAR"
    node_heartbeat: int = 1000
    master_heartbeat: int = 1000
    master_memory: int = 1000
    master_cores: int = 1
    reservations: bool = False
    gaps: bool = False
    gaps_for_masters: bool = False
    assign_multiple: bool = False
    push_back: PushBack | None = None
    elasticity: Elasticity = field(default_factory=Elasticity)
    occupancy_interval: int | None = None
    seed: int = 0
    quirks: Quirks = field(default_factory=Quirks)
    pools: tuple[PoolTable, ...] = ()
    placement: PlacementRules | None = None
    race_metric: RaceMetric = "TOTAL_JRT"
    queues: QueueSettings | None = None
    explains: bool = False


_OVERESTIMATES, _ERRORS, _DURATIONS = 23482374928374, 24381092348021, 129831982379


class Draws(Protocol):
    """Gives generators of random numbers: for what, and for which job."""

    def overestimate(self, job: int) -> Random:
        """For the factor by which a job asks for more memory than is ideal."""

    def errors(self, job: int) -> Random:
        """For the errors of its memory, and of the bump of its penalty."""

    def durations(self, job: int, elastic: bool) -> Random:
        """For the errors of the durations of its elastic containers, or of its others."""


class SeededDraws:
    """Children of a seed, which depend on it, the job and the purpose, and on nothing else.

    So a job has the same errors whatever the scheduler, and in the order of its own containers.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def overestimate(self, job: int) -> Random:
        """Give a generator of its own."""
        return self._child(0, job)

    def errors(self, job: int) -> Random:
        """Give a generator of its own."""
        return self._child(1, job)

    def durations(self, job: int, elastic: bool) -> Random:
        """Give a generator of its own."""
        return self._child(3 if elastic else 2, job)

    def _child(self, purpose: int, job: int) -> Random:
        sequence = np.random.SeedSequence(self._seed, spawn_key=(purpose, job))
        return Random(int.from_bytes(sequence.generate_state(4).tobytes(), "little"))


class DrawsOfDss:
    """Generators with fixed seeds: one for all jobs, but for durations each job has its own."""

    def __init__(self) -> None:
        self._overestimates = Random(_OVERESTIMATES)
        self._errors = Random(_ERRORS)

    def overestimate(self, job: int) -> Random:
        """Give the same for all, in the order of the trace."""
        return self._overestimates

    def errors(self, job: int) -> Random:
        """Give the same for all, in the order of their starts."""
        return self._errors

    def durations(self, job: int, elastic: bool) -> Random:
        """Give one with the same seed for each."""
        return Random(_DURATIONS)


def draws_of(configuration: YarnConfiguration) -> Draws:
    """Give the generators of a run."""
    return DrawsOfDss() if configuration.quirks.fixed_draws else SeededDraws(configuration.seed)


def whole_between(drawn: float, low: int, high: int) -> int:
    """Give a whole number from `low` to `high` for one below 1, as Python 2 does."""
    return low + math.floor(drawn * (high - low + 1))


def applications_of(
    jobs: Sequence[ContainerJob], configuration: YarnConfiguration
) -> tuple[Application, ...]:
    """Make the applications of jobs: how much of the memory they ask for they need is drawn."""
    elasticity = configuration.elasticity
    draws = draws_of(configuration)
    low, high = elasticity.overestimated
    made = []
    for job in jobs:
        factor = 1.0
        if (low, high) != (1.0, 1.0):
            factor = low + (high - low) * draws.overestimate(job.number).random()
        tasks = [(_master(job, configuration), 1)]
        for each in sorted(job.classes, key=lambda task_class: task_class.priority):
            own = each.penalty is not None
            penalty = penalty_named(each.penalty or "", each.bump or 1.0) if own else None
            task = Task(
                each.kind,
                each.memory,
                each.cores,
                each.duration,
                max(int(each.memory / factor), LEAST_MEMORY),
                penalty or elasticity.penalty,
                each.host,
                each.priority,
            )
            tasks.append((task, each.count))
        tasks.sort(key=lambda item: not item[0].is_master)
        made.append(Application(job, tasks, _late(job, configuration)))
    return tuple(made)


def _late(job: ContainerJob, configuration: YarnConfiguration) -> tuple[TaskKind, ...]:
    """Say what a job asks for when all else has ended: reduces, under Hadoop's own schedulers.

    So does the AppMaster of the Scheduler Load Simulator (MRAMSimulator), with which their files
    are tried. The schedulers of DSS have no such rule.
    """
    waits = configuration.queues is not None and job.application == "mapreduce"
    return ("reduce",) if waits else ()


def _master(job: ContainerJob, configuration: YarnConfiguration) -> Task:
    """Make the task of an AppMaster: as large as the job says, or the configuration."""
    memory, cores = master_size(job, configuration)
    return Task("master", memory, cores, 0, memory)


def master_size(job: ContainerJob, configuration: YarnConfiguration) -> tuple[int, int]:
    """Give MB and cores of the container of a job's AppMaster."""
    memory, cores = job.master_memory, job.master_cores
    return (
        configuration.master_memory if memory is None else memory,
        configuration.master_cores if cores is None else cores,
    )


class DurationDraws(StatePart):
    """How many durations of an application have been drawn: elastic containers', and others'."""

    def __init__(self) -> None:
        self.of = {False: 0, True: 0}


class Errors(Constant):
    """Draws the errors of applications and of containers.

    `elastic` says whether the scheduler may give less memory, `largest` is the memory of a node.
    """

    def __init__(self, configuration: YarnConfiguration, elastic: bool, largest: int) -> None:
        self._elasticity = configuration.elasticity
        self._elastic = elastic
        most = configuration.elasticity.most_needed
        self._largest = largest if most is None else most
        self._erring = bool(self._elasticity.duration_error)
        self._adds_twice = configuration.quirks.errors_twice
        self._draws: Draws = draws_of(configuration)
        self._is_shared = configuration.quirks.fixed_draws
        self._streams: dict[Hashable, tuple[Random, list[float]]] = {}

    def submitted(self, application: Application, drawn: int) -> int:
        """Draw the errors of an application: of its memory, then of the bump of its penalty.

        `drawn` is how many have been drawn if all applications share a stream, and is given anew.
        """
        task = application.first_task
        if task is None or not (self._elasticity.memory_error or self._elasticity.bump_error):
            return drawn
        number = application.number
        key = None if self._is_shared else number
        places = count(drawn if self._is_shared else 0)

        def draw() -> float:
            return self._drawn(key, next(places), lambda: self._draws.errors(number))

        if self._elasticity.memory_error:
            error = self._whole(self._elasticity.memory_error, task.ideal, draw)
            needed = min(max(task.ideal + error, LEAST_MEMORY), self._largest)
            application.memory_error = needed - task.ideal
        if self._elasticity.bump_error and self._elastic:
            application.bump_error = self._bump_error(task.penalty, draw)
        return next(places) if self._is_shared else drawn

    def allocated(self, container: Container) -> None:
        """Compute how long the task takes in what its container was given."""
        task, application = container.task, container.application
        if task.penalty is None:
            return
        needed = task.ideal
        if application.memory_error:
            needed = hundreds(needed + application.memory_error)
        given = container.memory
        if given >= needed:
            return
        container.duration = task.penalty.duration(
            needed, given, task.duration, application.bump_error
        )
        if self._adds_twice:
            believed = task.penalty.duration(task.ideal, given, task.duration)
            container.lengthened = container.duration - believed

    def time(self, application: int, launch: Launch, draws: DurationDraws) -> int:
        """Give how long a task takes in the end, which is not what anyone else knows (ms).

        `draws` are those of the application, which go on.
        """
        _, _, duration, lengthened, elastic = launch
        if not self._erring or (self._elasticity.only_elastic and not elastic):
            return max(duration + lengthened, 0)
        place = draws.of[elastic]
        draws.of[elastic] = place + 1
        error = self._whole(
            self._elasticity.duration_error,
            duration,
            lambda: self._drawn(
                (application, elastic), place, lambda: self._draws.durations(application, elastic)
            ),
        )
        return max(duration + error, 0)

    def _drawn(self, key: Hashable, place: int, begin: Callable[[], Random]) -> float:
        """Give the number at a place of a stream: the same one, however often it is asked for."""
        if key not in self._streams:
            self._streams[key] = begin(), []
        generator, drawn = self._streams[key]
        while place >= len(drawn):
            drawn.append(generator.random())
        return drawn[place]

    def _whole(self, error: InjectedError, value: int, draw: Callable[[], float]) -> int:
        most = value * (error.percent or 0) // 100
        if error.mode == "CONSTANT":
            return most if error.sign == "POSITIVE" else -most
        return whole_between(draw(), error.lowest * most, error.highest * most)

    def _bump_error(self, penalty: Penalty | None, draw: Callable[[], float]) -> float:
        if penalty is None or not penalty.has_bump:
            return 0.0
        error = self._elasticity.bump_error
        most = penalty.bump * (error.percent or 0) / 100
        if error.mode == "CONSTANT":
            drawn = most if error.sign == "POSITIVE" else -most
        else:
            low, high = error.lowest * most, error.highest * most
            drawn = low + (high - low) * draw()
        return drawn if penalty.bump + drawn >= 1 else 1 - penalty.bump
