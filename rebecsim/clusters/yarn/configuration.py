"""The configuration of a run, without its jobs and nodes, and which behaviour of DSS it repeats."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

from pydantic import Field

from rebecsim.actors import Constant
from rebecsim.clusters.yarn.penalties import Penalty
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.studies.scenario import Table, within

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
