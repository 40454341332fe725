"""A cluster at work: runs are checked, rebecs made, messages served until all jobs have ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rebecsim.actors import Instance, Model, Rebec, known_rebec, message_server
from rebecsim.clusters.kit.plugins import blaming
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.yarn.configuration import (
    Errors,
    InjectedError,
    PlacementRules,
    YarnConfiguration,
    applications_of,
    master_size,
)
from rebecsim.clusters.yarn.containers import (
    ANY_CORES,
    Application,
    ClusterNode,
    NodeSize,
    hundreds,
)
from rebecsim.clusters.yarn.launching import Accounts, StuckError, instances_of
from rebecsim.clusters.yarn.look_ahead_rebecs import Peeker, Racer
from rebecsim.clusters.yarn.penalties import Penalty, penalty_named
from rebecsim.clusters.yarn.placement import Hosts, may_use
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.capacity.scheduler import CapacityScheduler
from rebecsim.clusters.yarn.queues.fair.scheduler import HadoopFairScheduler
from rebecsim.clusters.yarn.queues.requirements import require_queues
from rebecsim.clusters.yarn.rebecs import SECOND, ResourceManager
from rebecsim.clusters.yarn.records import Killed, WaitLog
from rebecsim.clusters.yarn.schedulers.elastic import Peek, RaceInLockstep
from rebecsim.clusters.yarn.schedulers.registry import yarn_scheduler, yarn_schedulers
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler, QueueShare
from rebecsim.errors import UserError
from rebecsim.wording import first_repeated
from rebecsim.workloads.container_jobs import ContainerJob, TaskClass


def require_sense(configuration: YarnConfiguration) -> None:
    """Raise UserError for settings that exclude each other."""
    elasticity = configuration.elasticity
    for name, value in (
        ("heartbeats of nodes", configuration.node_heartbeat),
        ("heartbeats of AppMasters", configuration.master_heartbeat),
        ("the memory of an AppMaster", configuration.master_memory),
        ("the cores of an AppMaster", configuration.master_cores),
    ):
        if value < 1:
            raise UserError(f"{name}: should be at least 1, not {value}")
    for name, error in (
        ("durations", elasticity.duration_error),
        ("memory", elasticity.memory_error),
        ("bumps", elasticity.bump_error),
    ):
        _require_possible(name, error)
    if (twice := first_repeated(pool.name for pool in configuration.pools)) is not None:
        raise UserError(f"two pools have the name {twice}; rename one of them")
    memory = elasticity.memory_error
    if memory and memory.sign != "NEGATIVE" and elasticity.penalty is None:
        raise UserError(
            f"an error of memory that is {memory.sign.lower()} needs a penalty, "
            "which says how long a task runs in too little memory"
        )


def _require_possible(name: str, error: InjectedError) -> None:
    if error.percent is None:
        return
    if error.percent < 0:
        raise UserError(f"the error of {name}: should be at least 0 %, not {error.percent} %")
    if error.mode == "CONSTANT" and error.sign == "MIXED":
        raise UserError(
            f"the error of {name} is constant, so it is POSITIVE or NEGATIVE, and not MIXED"
        )
    if error.sign != "POSITIVE" and error.percent >= 100:
        raise UserError(
            f"the error of {name} may be negative, so it is less than 100 %, not {error.percent} %"
        )


def require_placeable(
    jobs: Sequence[ContainerJob],
    sizes: Sequence[NodeSize],
    configuration: YarnConfiguration,
    scheduler: type[ContainerScheduler],
) -> None:
    """Raise UserError for nodes that are none, and jobs of which a task fits on no empty node.

    `elastic` says whether the scheduler gives tasks less memory than they ask for.
    """
    if not sizes:
        raise UserError("the cluster has no nodes; give at least one")
    if not jobs:
        raise UserError("there are no jobs to run; give at least one")
    for node in sizes:
        if node.memory < 1 or node.cores < 1:
            raise UserError(
                f"node {node.name}: {node.memory} MB and {node.cores} cores; give 1 or more of each"
            )
    for master, job in {master_size(job, configuration): job for job in reversed(jobs)}.items():
        if not _fits(sizes, *master):
            where = f"{job.source}: {job.name}" if job.source else job.name
            raise UserError(f"{_asking(f'{where}, its AppMaster', *master)}; {_largest(sizes)}")
    for job in jobs:
        for place, each in enumerate(job.classes, start=1):
            penalty = _penalty(each, configuration)
            where = f"{job.source}: {job.name}" if job.source else job.name
            if issubclass(scheduler, Peek) and not (penalty and penalty.has_bump):
                raise UserError(
                    f"{where}, task {place}: PEEK has to know the longest that a task can take; "
                    "give it a penalty with a bump: STEP, SAWTOOTH or SPARKWC"
                )
            is_elastic = scheduler.elastic and penalty is not None
            least = hundreds(each.memory * 10 // 100) if is_elastic else each.memory
            if not _fits(sizes, min(least, each.memory), each.cores):
                asking = _asking(f"{where}, task {place}", each.memory, each.cores)
                raise UserError(f"{asking}; {_largest(sizes)}")


def _penalty(task_class: TaskClass, configuration: YarnConfiguration) -> Penalty | None:
    if task_class.penalty is None:
        return configuration.elasticity.penalty
    return penalty_named(task_class.penalty, task_class.bump or 1.0)


def _fits(sizes: Sequence[NodeSize], memory: int, cores: int) -> bool:
    return any(memory <= node.memory and cores <= node.cores for node in sizes)


def _asking(who: str, memory: int, cores: int) -> str:
    return f"{who} asks for {memory} MB and {cores} cores, and fits on no node"


def _largest(sizes: Sequence[NodeSize]) -> str:
    node = max(sizes, key=lambda each: (each.memory, each.cores))
    cores = "" if node.cores == ANY_CORES else f" and {node.cores} cores"
    return f"{node.name}, the largest, has {node.memory} MB{cores}"


def require_allowed(
    jobs: Sequence[ContainerJob],
    sizes: Sequence[NodeSize],
    rules: PlacementRules,
    masters: tuple[int, int],
) -> None:
    """Raise UserError for rules without sense, and for tasks that they keep from all nodes.

    `masters` are MB and cores of AppMasters of which the jobs do not say that.
    """
    for name, value, least in (
        ("the delay for a node", rules.node_delay, 0),
        ("the delay for a rack", rules.rack_delay, 0),
        ("the most tasks of a job on a node", rules.most_per_node, 1),
    ):
        if value is not None and value < least:
            raise UserError(f"{name}: should be at least {least}, not {value}")
    hosts = Hosts(sizes)
    for job in jobs:
        where = f"{job.source}: {job.name}" if job.source else job.name
        usable = [size for size in sizes if may_use(size, job.label)]
        if not usable:
            label = f"with the label {job.label}" if job.label else "without an exclusive label"
            raise UserError(f"{where} needs nodes {label}, and there are none")
        for what, host, memory, cores in _asked(job, masters):
            nodes = [size for size in usable if _is_reached(hosts, size, host, rules)]
            if not any(memory <= size.memory and cores <= size.cores for size in nodes):
                raise UserError(
                    f"{where}, {what} asks for {memory} MB and {cores} cores, and fits on no node "
                    f"on which it may run{f', for it waits for {host}' if host else ''}"
                )


def _asked(job: ContainerJob, masters: tuple[int, int]) -> Iterator[tuple[str, str, int, int]]:
    """Give what a job asks for: for what, where, MB and cores."""
    memory, cores = job.master_memory or masters[0], job.master_cores or masters[1]
    yield "its AppMaster", "", memory, cores
    for place, each in enumerate(job.classes, start=1):
        yield f"task {place}", each.host, each.memory, each.cores


def _is_reached(hosts: Hosts, size: NodeSize, host: str, rules: PlacementRules) -> bool:
    """Whether tasks that would rather run on a host take a node in the end."""
    preferred, locality = hosts.preference(host), hosts.locality(size, host)
    if preferred is None or locality is None or locality == "node":
        return True
    waits_for_node = preferred.node is not None and rules.node_delay is None
    waits_for_rack = locality == "any" and rules.rack_delay is None
    return not (waits_for_node or waits_for_rack)


class Monitor(Rebec, queue_size=1):
    """Lets the scheduler choose with a period what is killed."""

    manager: ResourceManager = known_rebec()

    def __init__(self, period: int) -> None:
        self.manager.preempt(period, after=period)


class FirstLook(Rebec, queue_size=1):
    """Lets the resource manager begin to look ahead."""

    manager: ResourceManager = known_rebec()

    def __init__(self) -> None:
        self.manager.look_again()


class Occupancy(NamedTuple):
    """What was in use at a time (ms): booked MB and cores, and containers that were running."""

    time: int
    memory: int
    cores: int
    containers: int
    elastic: int


class Sampler(Rebec, queue_size=2):
    """Writes the occupancy down with a period; with a period of 0, once."""

    manager: ResourceManager = known_rebec()

    def __init__(self, period: int, samples: list[Occupancy]) -> None:
        self.period = period
        self.samples = samples
        self.sample()

    @message_server
    def sample(self) -> None:
        """Write down what is in use, unless that is nothing."""
        if self.manager.closed:
            return
        self.manager.require_progress()
        nodes = self.manager.nodes
        memory = sum(node.size.memory - node.memory for node in nodes)
        cores = sum(node.size.cores - node.cores for node in nodes)
        if memory and cores:
            running = [container for node in nodes for container in node.running]
            elastic = sum(container.is_elastic for container in running)
            self.samples.append(Occupancy(self._now, memory, cores, len(running), elastic))
        if self.period:
            self.sample(after=self.period)


@dataclass(frozen=True, eq=False)
class Finished:
    """What became of a run: applications in the order of the trace, nodes in theirs.

    Attributes:
        messages: how many were served; 0 if jobs are stuck.
        killed: containers that a scheduler chose to kill.
        queues: what queues should have, and may, if there are some.
        queue_of: the queue of each job, by its number.
        stuck: of which jobs wait in vain for containers when all others have ended; None: of none.
            What they hold counts as used until then.
        wait_log: why jobs waited; None: that was not noted.
    """

    configuration: YarnConfiguration
    applications: Sequence[Application]
    nodes: Sequence[ClusterNode]
    accounts: Accounts
    occupancy: Sequence[Occupancy]
    messages: int
    killed: Sequence[Killed] = ()
    queues: Sequence[QueueShare] = ()
    queue_of: Mapping[int, str] = field(default_factory=dict)
    stuck: StuckError | None = None
    wait_log: WaitLog | None = None

    @property
    def served(self) -> Sequence[Application]:
        """The applications that were let in, and ended."""
        return [each for each in self.applications if not each.refused]


def run_cluster(
    jobs: Sequence[ContainerJob], sizes: Sequence[NodeSize], configuration: YarnConfiguration
) -> Finished:
    """Run jobs on a cluster of nodes.

    Raises UserError, with the file, the line and the job where there is one, for what can never
    run, and StuckError, which is one, when no job ends, as all wait for containers that are
    never released. If only some do, they are in `Finished.stuck`.
    """
    jobs, configuration = require_runnable(jobs, sizes, configuration)
    applications = applications_of(jobs, configuration)
    nodes = [ClusterNode(size) for size in sizes]
    accounts = Accounts()
    samples: list[Occupancy] = []
    system = QueuedSystem(cluster_model(applications, nodes, configuration, accounts, samples))
    manager = system.rebecs[0]
    assert isinstance(manager, ResourceManager)
    suspects = () if configuration.queues else yarn_schedulers.suspects(configuration.scheduler)
    served, stuck = 0, None
    with blaming(*suspects), rarely_collecting():
        try:
            served = serve(system, manager)
        except StuckError as error:
            stuck = error
    if stuck is None and not manager.closed:
        stuck = StuckError(list(manager.running.values()))
    if stuck is not None:
        _give_up(stuck, applications)
    if all(application.refused for application in applications):
        first = applications[0]
        where = first.job.source or first.job.name
        raise UserError(f"{where}: {first.job.name} and all others are refused: {first.refused}")
    ran = manager.scheduler
    queue_of = {each.number: ran.queue_of(each) for each in applications}
    return Finished(
        configuration,
        applications,
        nodes,
        accounts,
        samples,
        served,
        ran.killed,
        ran.queue_shares(),
        queue_of,
        stuck,
        ran.wait_log,
    )


def _give_up(stuck: StuckError, applications: Sequence[Application]) -> None:
    """End the run of jobs that never end. Raises StuckError if no other job has ended."""
    ends = [each.end for each in applications if each.end is not None and not each.refused]
    if not ends:
        raise stuck
    waiting = set(stuck.applications)
    for application in applications:
        if application.end is not None:
            continue
        what = "containers" if application in waiting else "a job that never ends"
        application.refused = f"it waits in vain for {what}"
        for each in application.containers:
            if each.finished is None:
                each.finished = max(*ends, each.scheduled, each.launched or 0)
                each.launched = each.finished if each.launched is None else each.launched


def require_runnable(
    jobs: Sequence[ContainerJob], sizes: Sequence[NodeSize], configuration: YarnConfiguration
) -> tuple[Sequence[ContainerJob], YarnConfiguration]:
    """Raise UserError for what can never run; give the jobs as they ask for containers.

    A scheduler of queues gives multiples of some least size, which jobs ask for from the beginning.
    """
    require_sense(configuration)
    scheduler, placeable = scheduler_of(configuration), sizes
    if (queues := configuration.queues) is not None:
        jobs, configuration = normalised(jobs, configuration)
        require_queues(jobs, sizes, configuration)
        placeable = counted_sizes(sizes, queues)
    require_placeable(jobs, placeable, configuration, scheduler)
    if configuration.placement is not None:
        masters = configuration.master_memory, configuration.master_cores
        require_allowed(jobs, sizes, configuration.placement, masters)
    return jobs, configuration


def cluster_model(
    applications: Sequence[Application],
    nodes: Sequence[ClusterNode],
    configuration: YarnConfiguration,
    accounts: Accounts,
    samples: list[Occupancy],
) -> Model:
    """Make the model of a cluster."""
    scheduler = scheduler_of(configuration)
    looks = issubclass(scheduler, Peek | RaceInLockstep)
    seer = (Peeker if issubclass(scheduler, Peek) else Racer) if looks else None
    largest = max(node.size.memory for node in nodes)
    errors = Errors(configuration, scheduler.elastic, largest)
    arguments = (configuration, nodes, scheduler, accounts, errors, applications, True, seer)
    spread = SECOND if configuration.quirks.one_second else configuration.node_heartbeat
    gap, beat = spread / len(nodes), 0.0
    beats: list[int | None] = []
    for node in nodes:
        node.due = int(beat + 0.5)
        beats.append(node.due)
        beat += gap
    instances = instances_of(ResourceManager, arguments, nodes, beats, applications, errors)
    if (interval := configuration.occupancy_interval) is not None:
        instances.append(Instance("sampler", Sampler, ("manager",), (interval, samples)))
    if period := killing_period(configuration):
        instances.append(Instance("monitor", Monitor, ("manager",), (period,)))
    if issubclass(scheduler, Peek):
        instances.append(Instance("seer", FirstLook, ("manager",)))
    return Model("cluster", tuple(instances))


def scheduler_of(configuration: YarnConfiguration) -> type[ContainerScheduler]:
    """Give the scheduler: that of the file, or of the name. Raises UnknownNameError."""
    queues = configuration.queues
    if queues is None:
        return yarn_scheduler(configuration.scheduler).scheduler
    return CapacityScheduler if isinstance(queues, CapacitySettings) else HadoopFairScheduler


def killing_period(configuration: YarnConfiguration) -> int:
    """Give how often it is looked what is to be killed (ms); 0: never."""
    queues = configuration.queues
    if queues is None or queues.preemption is None:
        return 0
    return queues.preemption.interval


def counted_sizes(sizes: Sequence[NodeSize], queues: QueueSettings) -> Sequence[NodeSize]:
    """Give nodes with as many cores as anybody may ask for, where only memory counts."""
    if queues.dominant:
        return sizes
    return [replace(size, cores=ANY_CORES) for size in sizes]


def normalised(
    jobs: Sequence[ContainerJob], configuration: YarnConfiguration
) -> tuple[Sequence[ContainerJob], YarnConfiguration]:
    """Let jobs ask for what they are given: multiples of the least that is."""
    queues = configuration.queues
    assert queues is not None
    given = queues.allocations.normalised
    master = given(Resources(configuration.master_memory, configuration.master_cores))
    own = []
    for job in jobs:
        classes = []
        for each in job.classes:
            memory, cores = given(Resources(each.memory, each.cores))
            classes.append(replace(each, memory=memory, cores=cores))
        memory, cores = given(
            Resources(
                master.memory if job.master_memory is None else job.master_memory,
                master.cores if job.master_cores is None else job.master_cores,
            )
        )
        own.append(replace(job, classes=tuple(classes), master_memory=memory, master_cores=cores))
    return own, replace(configuration, master_memory=master.memory, master_cores=master.cores)
