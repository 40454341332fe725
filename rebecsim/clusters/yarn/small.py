"""A YARN cluster of a few jobs and nodes, which asserts what its scheduler promises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn

from rebecsim.actors import (
    Array,
    AssertionFailedError,
    Constant,
    Int,
    Model,
    require,
    state_variable,
)
from rebecsim.clusters.yarn.cluster import (
    cluster_model,
    require_runnable,
    run_cluster,
    scheduler_of,
)
from rebecsim.clusters.yarn.configuration import Errors, YarnConfiguration, applications_of
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
    Decisions,
    NodeSize,
    Reservation,
)
from rebecsim.clusters.yarn.launching import MANAGER, Accounts, Seer, StuckError
from rebecsim.clusters.yarn.look_ahead_rebecs import Peeker, WholePeeker
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.promises import promises_of, watch_of
from rebecsim.clusters.yarn.rebecs import ResourceManager
from rebecsim.clusters.yarn.schedulers.elastic import Peek, RaceInLockstep
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler
from rebecsim.errors import UserError
from rebecsim.studies.study import Cut, SmallCluster, in_any_order
from rebecsim.wording import counted
from rebecsim.workloads.container_jobs import ContainerJob

PROMISES = (
    "containers never take more memory or cores of a node than it has",
    "no job has more containers than it asks for, or any when it is over",
    "what is launched ends once, and when it should",
    "no node is reserved for a job that has ended",
    "every job ends",
)


@dataclass(frozen=True, slots=True)
class _Job(ContainerJob, Constant):
    """A job that can be part of a state."""


class _Uncounted(Decisions):
    """Counts no looks: states that differ in them alone are the same."""

    __slots__ = ()

    def __setattr__(self, name: str, value: int) -> None:
        object.__setattr__(self, name, 0)


class _NotSummed(Accounts):
    """Sums nothing up, for the same reason."""

    __slots__ = ()

    def used(self, container: Container) -> None:
        """Do nothing."""

    def reserved(self, node: ClusterNode, time: int) -> None:
        """Do nothing."""


_AT_ONCE = ("begin", "answer", "launch", "stop", "stopped", "leave", "ask_for_late", "look")
"""What is served first where a scheduler looks ahead: no such message is under way then."""


class WatchedManager(ResourceManager):
    """A resource manager that says when it breaks a promise.

    Attributes:
        left_over: how many jobs have not ended.
        ends: when each job has ended (ms), in the order of the trace; -1: it has not.
        memory: MB in use on each node.
        containers: how many containers each job has.
    """

    left_over: int = state_variable(Int)

    def __init__(
        self,
        configuration: YarnConfiguration,
        nodes: Sequence[ClusterNode],
        scheduler: type[ContainerScheduler],
        _accounts: Accounts,
        errors: Errors,
        applications: Sequence[Application],
        submits: bool,
        seer: type[Seer] | None,
        *rebecs: Any,
    ) -> None:
        own = [each.copied() for each in applications]  # each system of the model has its own
        for each in own:
            each.decisions = _Uncounted()
        known = [ClusterNode(node.size) for node in nodes]
        for node, original in zip(known, nodes, strict=True):
            node.due = original.due
        seer = WholePeeker if seer is Peeker else seer
        arguments = (scheduler, _NotSummed(), errors, own, submits, seer, *rebecs)
        super().__init__(configuration, known, *arguments)
        self.notes = True
        queues = configuration.queues
        self.counts_cores = queues is None or queues.dominant
        has_errors = configuration.elasticity.duration_error or configuration.quirks.errors_twice
        self._errs = bool(has_errors)
        self._kept: tuple[int, int] | None = None
        self.left_over = len(self.state.applications)
        self.ends = [-1] * self.left_over
        self.memory = [0] * len(self.nodes)
        self.containers = [0] * self.left_over
        self._show_queues()

    def stuck(self, why: str) -> NoReturn:
        """Raise AssertionFailedError: those that run wait in vain."""
        raise AssertionFailedError(str(StuckError(list(self.running.values()), why)))

    def give_up(self, node: ClusterNode, reservation: Reservation) -> None:
        """Release the reservation of a node, perhaps because it is served."""
        super().give_up(node, reservation)
        self._kept = node.size.number, reservation.application.number

    def allocate(self, application: Application, node: ClusterNode, memory: int) -> None:
        """Give a container. Raises AssertionFailedError if somebody else was to have it."""
        if self._kept != (node.size.number, application.number):
            self._check_turn(application, node, node.free)
        super().allocate(application, node, memory)
        if not (self.configuration.gaps or self.seer):  # else it counts when that was
            application.containers[-1].scheduled = 0

    def reserve(self, application: Application, node: ClusterNode) -> None:
        """Keep a node. Raises as `allocate`."""
        self._check_turn(application, node, node.total)
        super().reserve(application, node)

    def _check_turn(self, application: Application, node: ClusterNode, room: Resources) -> None:
        task, watch = application.head, watch_of(self.scheduler)
        if watch is None or task is None or task.is_master:
            return
        wrong = watch.passed_over(application, node, Resources(task.memory, task.cores), room)
        require(not wrong, f"{application.job.name} on {node.size.name}: {wrong}")

    def kill(self, container: Container) -> None:
        """End a container. Raises AssertionFailedError if it was not to be killed."""
        watch = watch_of(self.scheduler)
        wrong = "" if watch is None else watch.wrongly_killed(container)
        require(not wrong, wrong)
        super().kill(container)

    def check_promises(self) -> None:
        """Raise AssertionFailedError if a promise is broken."""
        self._kept = None
        self.sent = 0  # messages of one time come in any order
        watch = watch_of(self.scheduler)
        if watch is not None:
            wrong = watch.exceeded()
            require(not wrong, wrong)
        self._show_queues()
        applications = self.state.applications.values()
        for place, node in enumerate(self.nodes):
            self.memory[place] = _check_node(node, self.counts_cores)
            node.sent = 0
        for place, application in enumerate(applications):
            held = [each for each in application.containers if each.finished is None]
            self.containers[place] = len(held)
            self.ends[place] = -1 if application.end is None else application.end
            _check_application(application, held, errs=self._errs)
            application.sent = 0
            for each in application.containers:
                each.sent = 0
                if each.finished is not None:
                    self._forget(each)
        self.left_over = self.ends.count(-1)

    def _forget(self, container: Container) -> None:
        """Forget when a container that has ended ran, and then where: nothing depends on it."""
        container.scheduled = container.launched = container.finished = container.duration = 0
        container.lengthened, container.locality = 0, None
        if container not in container.node.done:
            container.node = self.state.nodes[min(self.state.nodes)]

    def _show_queues(self) -> None:
        for each in self.scheduler.queue_shares():
            shown = each.used, each.maximum, each.guaranteed, each.asking
            for what, value in zip(_OF_QUEUES, shown, strict=True):
                setattr(self, f"{_variable(each.path)}_{what}", value)


_OF_QUEUES = ("used", "max", "guaranteed", "asking")
"""What properties may say of a queue: MB, and how many jobs in it ask for containers."""


def _variable(path: str) -> str:
    """Give what the variables of a queue begin with."""
    return re.sub(r"\W", "_", path.removeprefix("root."))


def _manager_of(paths: Sequence[str], jobs: int, nodes: int) -> type[WatchedManager]:
    """Make the class of a manager with variables for queues, jobs and nodes."""
    names = (f"{_variable(path)}_{what}" for path in paths for what in _OF_QUEUES)
    own: dict[str, Any] = {name: state_variable(Int) for name in names}
    own |= {name: state_variable(Array(Int, jobs)) for name in ("ends", "containers") if jobs}
    own["memory"] = state_variable(Array(Int, nodes))
    return type(ResourceManager.__name__, (WatchedManager,), own)


def _queue_paths(jobs: Sequence[ContainerJob], configuration: YarnConfiguration) -> Sequence[str]:
    """Name the queues of a file, and those that are made for jobs."""
    settings = configuration.queues
    if settings is None:
        return ()
    paths = [each.path for each in settings.root.below()]
    if isinstance(settings, FairSettings):
        found = [queue.path for each in jobs if (queue := settings.queue_for(each)) is not None]
        for path in found:
            parts = path.split(".")
            paths += [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return tuple(dict.fromkeys(paths))


def _terms(paths: Sequence[str]) -> dict[str, str]:
    """Give what conditions may call a queue: by its path, or by the last part of that."""
    last = Counter(path.rpartition(".")[2] for path in paths)
    terms: dict[str, str] = {}
    for path in paths:
        short = path.rpartition(".")[2]
        names = {path, path.removeprefix("root."), *([short] if last[short] == 1 else [])}
        terms |= {f'queue("{name}")': f"{MANAGER}.{_variable(path)}" for name in sorted(names)}
    return terms


def _check_node(node: ClusterNode, counts_cores: bool) -> int:
    """Check what runs on a node; give the memory in use (MB)."""
    size = node.size
    held = (*node.booked, *node.running)
    memory = sum(each.memory for each in held)
    cores = sum(each.task.cores for each in held) if counts_cores else 0
    require(
        memory <= size.memory and cores <= size.cores,
        f"{size.name}: containers have {memory} of {size.memory} MB, {cores} of {size.cores} cores",
    )
    is_known = node.memory == size.memory - memory
    require(is_known, f"{size.name}: {node.memory} MB are taken for free; {memory} MB are in use")
    for each in held:
        require(each.finished is None, f"{size.name}: a container that has ended holds its place")
    kept = node.reservation
    if kept is not None:
        who = kept.application.job.name
        require(kept.application.end is None, f"{size.name} is reserved for {who}, which has ended")
    return memory


def _check_application(application: Application, held: Sequence[Container], *, errs: bool) -> None:
    """Check the containers of a job; `errs` says that durations have errors."""
    name = application.job.name
    asked = sum(count for _, count in application.tasks)
    got = sum(not each.killed for each in application.containers[application.before :])
    require(got <= asked, f"{name} asks for {asked} containers, and has been given {got}")
    over = application.end is not None and not application.refused
    require(not (over and held), f"{name} is over, and has {counted(len(held), 'container')}")
    require(not over or got == asked, f"{name} is over with {got} of {asked} containers")
    for each in application.containers:
        if each.finished is None or each.task.is_master or each.killed:
            continue
        require(each.launched is not None, f"{name}: a container has ended and was not launched")
        ran = each.finished - (each.launched or 0)
        is_right = errs or ran == each.duration
        require(is_right, f"{name}: a task of {each.duration} ms ran for {ran} ms")


def small_cluster(
    jobs: Sequence[ContainerJob],
    sizes: Sequence[NodeSize],
    configuration: YarnConfiguration,
    cut: Cut | None = None,
) -> SmallCluster:
    """Cut a cluster to the first jobs submitted and the first nodes.

    Jobs keep their times. Each class keeps a part of its tasks, rounded up: that of the nodes which
    are left. Where these are still many, nodes get smaller, and tasks fewer. Raises what
    `require_runnable` raises.
    """
    cut = cut or Cut()
    nodes = tuple(sizes[: cut.nodes])
    wanted = _cut_jobs(jobs, cut.jobs, len(nodes), len(sizes))
    configuration = replace(configuration, occupancy_interval=None, explains=False)
    wanted, nodes, times = _shrunk(wanted, nodes, configuration)
    asked, configuration = require_runnable(wanted, nodes, configuration)
    paths = _queue_paths(asked, configuration)
    manager = _manager_of(paths, len(asked), len(nodes))
    applications = applications_of(asked, configuration)
    known = [ClusterNode(size) for size in nodes]
    model = cluster_model(applications, known, configuration, Accounts(), [])
    looks_ahead = issubclass(scheduler_of(configuration), Peek | RaceInLockstep)
    watched = tuple(
        replace(each, reactive_class=manager) if each.reactive_class is ResourceManager else each
        for each in model.instances
    )
    return SmallCluster(
        in_any_order(Model(configuration.scheduler, watched), _AT_ONCE if looks_ahead else ()),
        f"{MANAGER}.ends",
        f"{MANAGER}.left_over == 0",
        tuple(job.name for job in wanted),
        "ms",
        PROMISES + promises_of(scheduler_of(configuration)),
        f"{counted(len(wanted), 'job')} on {counted(len(nodes), 'node')}"
        + (f" made {times} times smaller" if times > 1 else ""),
        "end",
        _terms(paths),
    )


def _cut_jobs(
    jobs: Sequence[ContainerJob], count: int, nodes: int, all_nodes: int
) -> tuple[ContainerJob, ...]:
    """Keep the first jobs submitted, with their part of the tasks; the first one begins at 0."""
    wanted = sorted((each for each in jobs if each.start is not None), key=_start)[:count]
    first = _start(wanted[0]) if wanted else 0
    made: list[ContainerJob] = []
    for job in wanted:
        classes = tuple(
            replace(each, count=-(-each.count * nodes // all_nodes)) for each in job.classes
        )
        values = {each.name: getattr(job, each.name) for each in fields(job)}
        made.append(_Job(**values | {"start": _start(job) - first, "classes": classes}))
    return tuple(made)


_MOST_TASKS, _FEW_TASKS = 4, 3
"""With so many tasks of a class jobs are left as they are; of more they keep this few, or more.

Each task may begin at one of two heartbeats, so each doubles the states.
"""


def _shrunk(
    jobs: tuple[ContainerJob, ...], nodes: tuple[NodeSize, ...], configuration: YarnConfiguration
) -> tuple[tuple[ContainerJob, ...], tuple[NodeSize, ...], int]:
    """Divide nodes and numbers of tasks, so that few tasks are left; give by what, too.

    Nodes are as small as a simulated run lets them be, in which every job ends. Of more tasks than
    nodes have room for at once, one is kept.
    """
    most = max((each.count for job in jobs for each in job.classes), default=0)
    for times in range(-(-most // _FEW_TASKS) if most > _MOST_TASKS else 1, 1, -1):
        small = tuple(
            replace(each, memory=each.memory // times, cores=max(each.cores // times, 1))
            for each in nodes
        )
        room = sum(each.memory for each in small)
        few = tuple(
            replace(
                job,
                classes=tuple(
                    replace(each, count=min(-(-each.count // times), room // each.memory + 1))
                    for each in job.classes
                ),
            )
            for job in jobs
        )
        try:
            if run_cluster(few, small, configuration).stuck is None:
                return few, small, times
        except UserError:
            continue
    return jobs, nodes, 1


def _start(job: ContainerJob) -> int:
    assert job.start is not None
    return job.start
