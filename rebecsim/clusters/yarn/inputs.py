"""The inputs of a run (its jobs, its nodes and its configuration), and how large the run is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from pathlib import Path

import numpy as np

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import (
    QUIRKS_OF_DSS,
    Elasticity,
    InjectedError,
    PlacementRules,
    Quirks,
    YarnConfiguration,
)
from rebecsim.clusters.yarn.containers import NodeSize
from rebecsim.clusters.yarn.measures import MeasuredRun
from rebecsim.clusters.yarn.penalties import penalty_named
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings, read_queues
from rebecsim.clusters.yarn.scenario import Between, ErrorTable, GenerateJobs, YarnScenario
from rebecsim.clusters.yarn.schedulers.elastic import Peek
from rebecsim.clusters.yarn.schedulers.registry import yarn_scheduler
from rebecsim.clusters.yarn.tables import container_columns
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.processes import carried, version_of
from rebecsim.studies.scenario import settings_of
from rebecsim.studies.study import seed_of, seed_sequence
from rebecsim.workloads.container_jobs import (
    AlikeNodes,
    ContainerJob,
    Rack,
    racks_of,
    read_sls_topology,
)
from rebecsim.workloads.generation import Spread, TraceModel, generate_containers
from rebecsim.workloads.sls import SlsTrace, read_sls_trace
from rebecsim.workloads.swim import SwimRule, read_swim


def node_sizes(racks: Sequence[Rack], memory: int, cores: int) -> tuple[NodeSize, ...]:
    """Give the nodes of racks, numbered in their order.

    Those that do not say what they have get this memory (MB) and these cores.
    """
    nodes = [(rack, node) for rack in racks for node in rack.nodes]
    return tuple(
        NodeSize(
            node.name,
            place,
            memory if node.memory is None else node.memory,
            cores if node.cores is None else node.cores,
            rack.name,
            node.labels,
        )
        for place, (rack, node) in enumerate(nodes, start=1)
    )


def mega_nodes(
    racks: Sequence[Rack], memory: int, cores: int, *, last_rack: bool = False
) -> tuple[NodeSize, ...]:
    """Give a node for each rack that has what its nodes have together.

    With `last_rack`, all have one name, so that only that of the last rack is there; see `Quirks`.
    """
    nodes = []
    for number, rack in enumerate(racks, start=1):
        of_it = node_sizes((rack,), memory, cores)
        name = "meganode1" if last_rack else f"meganode{number}"
        total = sum(node.memory for node in of_it), sum(node.cores for node in of_it)
        nodes.append(NodeSize(name, number, *total, rack=rack.name))
    return tuple(nodes[-1:] if last_rack else nodes)


@dataclass(frozen=True)
class RunSetup:
    """Under what a run is made.

    Attributes:
        scenario: which jobs, on what cluster.
        folder: what paths in it start from.
        scheduler: the name of the scheduler.
        load_factor: how many times as fast jobs are submitted.
        error_percent: of errors that do not say theirs.
    """

    scenario: YarnScenario
    folder: Path
    scheduler: str
    load_factor: float = 1.0
    error_percent: int | None = None

    @property
    def quirks(self) -> Quirks:
        """What is done as DSS does it."""
        return QUIRKS_OF_DSS if self.scenario.compatibility == "dss" else Quirks()

    def jobs(self, replication: int) -> tuple[ContainerJob, ...]:
        """Give the jobs. Raises WorkloadError and OSError."""
        drawn = replication if self.scenario.workload.generate else 0
        jobs = load_jobs(self.scenario, self.folder, drawn)
        return jobs if self.load_factor == 1 else faster(jobs, self.load_factor)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the trace is no job, in words. Raises WorkloadError and OSError."""
        return _trace_of(self.scenario, self.folder, 0).notes

    def nodes(self) -> tuple[NodeSize, ...]:
        """Give the nodes. Raises WorkloadError, UserError and OSError."""
        table = self.scenario.cluster
        racks = _racks(self.scenario, self.folder)
        if table.topology is not None and (table.memory is None or table.cores is None):
            _require_sizes(racks, self.folder / table.topology)
        memory, cores = table.memory or 0, table.cores or 0
        if table.meganode:
            return mega_nodes(racks, memory, cores, last_rack=self.quirks.last_rack)
        return node_sizes(racks, memory, cores)

    @property
    def has_queues(self) -> bool:
        """Whether a file of queues says how the scheduler shares the cluster."""
        return any(each.name == self.scheduler for each in self.scenario.schedulers)

    @property
    def queues(self) -> QueueSettings | None:
        """What the file of the scheduler says. Raises XmlError and OSError."""
        for each in self.scenario.schedulers:
            if each.name == self.scheduler:
                site = None if each.yarn_site is None else self.folder / each.yarn_site
                return read_queues(self.folder / each.queues, site)
        return None

    def configuration(self, replication: int) -> YarnConfiguration:
        """Give how the cluster works. What is random is the same under all schedulers and loads."""
        table, elasticity = self.scenario.cluster, self.scenario.elasticity
        queues = self.queues
        errors, penalty = self.scenario.errors, elasticity.penalty
        return settings_of(
            YarnConfiguration,
            table,
            scheduler=self.scheduler,
            placement=None if queues is not None else self._placement(),
            queues=queues,
            elasticity=settings_of(
                Elasticity,
                elasticity,
                penalty=None if penalty is None else penalty_named(penalty.model, penalty.bump),
                elastic_percent=elasticity.node_percent,
                memory_error=self._error(errors.memory),
                most_needed=table.memory if self.scenario.compatibility == "dss" else None,
                bump_error=self._error(errors.bump),
                duration_error=self._error(errors.duration),
                only_elastic=errors.only_elastic,
            ),
            seed=seed_of(self.scenario.seed, "errors", replication),
            quirks=self.quirks,
        )

    def measured(self, replication: int, *, explains: bool = False) -> MeasuredRun:
        """Run the cluster. Raises as the above, and what `run_cluster` raises.

        `explains` has it noted why jobs wait, under a file of queues.
        """
        configuration = self.configuration(replication)
        if explains:
            configuration = replace(configuration, explains=True)
        run = run_cluster(self.jobs(replication), self.nodes(), configuration)
        return MeasuredRun(run, container_columns(run))

    @property
    def tasks(self) -> int:
        """How many tasks the jobs of the first replication have."""
        return sum(each.count for job in self.jobs(0) for each in job.classes)

    def _placement(self) -> PlacementRules | None:
        table = self.scenario.placement
        if table is None:
            return None
        return PlacementRules(
            None if table.strict == "node" else table.node_delay,
            None if table.strict == "rack" else table.rack_delay,
            table.most_per_node,
        )

    def _error(self, table: ErrorTable | None) -> InjectedError:
        if table is None:
            return InjectedError()
        percent = self.error_percent if table.percent is None else table.percent
        return InjectedError(percent or None, table.sign, table.mode)


def load_jobs(scenario: YarnScenario, folder: Path, replication: int) -> tuple[ContainerJob, ...]:
    """Read or generate the jobs of a scenario, before load factors.

    The scheduler is no coordinate of their seed, nor is the load: all see the same jobs (common
    random numbers). Raises WorkloadError, and OSError when the trace cannot be read.
    """
    return _trace_of(scenario, folder, replication).jobs


def _trace_of(scenario: YarnScenario, folder: Path, replication: int) -> SlsTrace:
    trace = scenario.workload.trace
    if trace is None:
        return _loaded(scenario, None, None, replication)
    path = carried(folder / trace)
    return _loaded(scenario, path, version_of(path), replication)


@lru_cache(maxsize=8)  # the replications of a cell come one after the other, and then those of
def _loaded(  # the next
    scenario: YarnScenario, trace: Path | None, _version: object, replication: int
) -> SlsTrace:
    source = scenario.workload
    notes: tuple[str, ...] = ()
    if source.generate is not None:
        drawn = seed_of(scenario.seed, "workload", replication)
        jobs = generate_containers(_model(source.generate), drawn)
        if source.generate.users > 1:
            jobs = _shared(jobs, source.generate.users, drawn)
    else:
        assert trace is not None
        read = _read_trace(trace, SwimRule(**source.swim.model_dump()))
        jobs, notes = read.jobs, read.notes
    return SlsTrace(_first_of(jobs, source.first), notes=notes)


def _shared(jobs: Sequence[ContainerJob], users: int, seed: int) -> tuple[ContainerJob, ...]:
    """Give each job to a user; each is as likely."""
    draws = np.random.default_rng(seed_sequence(seed, "users"))
    owners = draws.integers(1, users, size=len(jobs), endpoint=True).tolist()
    return tuple(
        replace(job, user=f"user{owner}", queue="default")
        for job, owner in zip(jobs, owners, strict=True)
    )


def _first_of(jobs: tuple[ContainerJob, ...], first: int | None) -> tuple[ContainerJob, ...]:
    kept = jobs[:first]
    numbers = {job.number for job in kept}
    for job in kept:
        if job.after is not None and job.after not in numbers:
            raise UserError(
                f"{job.source}: {job.name} waits for job_{job.after}, which is not among the first "
                f"{first} jobs"
            )
    return kept


def _read_trace(trace: Path, rule: SwimRule) -> SlsTrace:
    """Read a trace, whose name says its format. Raises WorkloadError and OSError."""
    if trace.name.removesuffix(".gz").endswith(".tsv"):
        return SlsTrace(read_swim(trace, rule).jobs)
    return read_sls_trace(trace)


def faster(jobs: Sequence[ContainerJob], factor: float) -> tuple[ContainerJob, ...]:
    """Submit jobs so many times as fast: the times of submission are divided, to whole ms."""
    return tuple(
        job if job.start is None else replace(job, start=round(job.start / factor)) for job in jobs
    )


def _model(table: GenerateJobs) -> TraceModel:
    return TraceModel(
        table.jobs,
        _spread(table.start),
        _spread(table.tasks),
        _spread(table.duration),
        _spread(table.memory),
    )


def _spread(table: Between) -> Spread:
    return Spread(table.shape, table.low, table.low if table.high is None else table.high)


def _racks(scenario: YarnScenario, folder: Path) -> tuple[Rack, ...]:
    table = scenario.cluster
    if table.topology is not None:
        return read_sls_topology(carried(folder / table.topology))
    groups = [AlikeNodes(each.count, each.memory, each.cores) for each in table.nodes]
    return racks_of(groups, table.racks)


def _require_sizes(racks: Sequence[Rack], path: Path) -> None:
    for rack in racks:
        for node in rack.nodes:
            if node.memory is None or node.cores is None:
                raise UserError(
                    f"{path}: node {node.name} has no memory and cores; "
                    "give both by --memory and --cores, or by these keys in [cluster]"
                )


_SECONDS_A_TASK = 2e-5
_SECONDS_A_TASK_IN_QUEUES = 1.6e-4
_SECONDS_A_NODE = 1.5e-4
_SECONDS_A_SECOND = 8e-6
_SECONDS_A_LOOK = 1.8e-7
"""Measured with 160 jobs, with 1,500 tasks under the Capacity Scheduler, with 4,000 nodes, with
tasks of up to 12,000 s, and with 1,000 jobs of which most wait: heartbeats of nodes look at them.
"""

_SECONDS_A_FORESIGHT = 1e-4
_SECONDS_A_FORESEEN_TASK = 3.5e-6
"""Measured with 180 to 1,000 tasks: for each one a run of those that wait is looked ahead at."""

_BYTES_A_TASK = 1_000
_BYTES_A_NODE = 3_000


@dataclass(frozen=True)
class _Load:
    """What a cluster has to do.

    Attributes:
        jobs, tasks: how many.
        longest: task, in the mean (s); 0: it does not matter.
        work: memory times time of all tasks (MB s).
        span: the time in which jobs are submitted (s).
    """

    jobs: int
    tasks: int
    longest: float
    work: float
    span: float


def run_size(setup: RunSetup) -> RunSize:
    """Estimate a run. Raises WorkloadError, UserError and OSError for files that are wrong."""
    drawn = setup.scenario.workload.generate
    table = setup.scenario.cluster
    nodes, memory = (
        _total(setup.nodes())
        if not table.nodes
        else (
            sum(each.count for each in table.nodes),
            sum(each.count * each.memory for each in table.nodes),
        )
    )
    if drawn is None:
        load = _load_of(setup.jobs(0))
    else:
        tasks = round(drawn.jobs * _mean(drawn.tasks, drawn.jobs))
        longest = _mean(drawn.duration, tasks)
        high = drawn.start.low if drawn.start.high is None else drawn.start.high
        span = (high - drawn.start.low) / setup.load_factor
        load = _Load(drawn.jobs, tasks, longest, tasks * longest * _mean(drawn.memory, tasks), span)
    if setup.has_queues:
        return _size(load, nodes, memory, _SECONDS_A_TASK_IN_QUEUES, is_foreseeing=False)
    is_foreseeing = issubclass(yarn_scheduler(setup.scheduler).scheduler, Peek)
    return _size(load, nodes, memory, _SECONDS_A_TASK, is_foreseeing)


def size_of_jobs(
    jobs: Sequence[ContainerJob], nodes: Sequence[NodeSize], scheduler: str
) -> RunSize:
    """Estimate a run of jobs that are known."""
    is_foreseeing = issubclass(yarn_scheduler(scheduler).scheduler, Peek)
    return _size(_load_of(jobs), *_total(nodes), _SECONDS_A_TASK, is_foreseeing)


def _total(nodes: Sequence[NodeSize]) -> tuple[int, int]:
    return len(nodes), sum(each.memory for each in nodes)


def _load_of(jobs: Sequence[ContainerJob]) -> _Load:
    tasks = work = 0
    for job in jobs:
        tasks += sum(each.count for each in job.classes)
        work += sum(each.count * each.memory * each.duration for each in job.classes)
    starts = [job.start for job in jobs if job.start is not None]
    span = max(starts, default=0) - min(starts, default=0)
    return _Load(len(jobs), tasks, 0.0, work / 1000, span / 1000)


def _size(load: _Load, nodes: int, memory: int, a_task: float, is_foreseeing: bool) -> RunSize:
    busy = load.work / max(memory, 1)
    makespan = max(load.span, busy)
    # Of jobs that come evenly so many wait in the mean, until all have ended.
    waiting = (1 - load.span / makespan) / 2 if makespan > 0 else 0.0
    seconds = (
        load.tasks * a_task
        + nodes * (_SECONDS_A_NODE + makespan * load.jobs * waiting * _SECONDS_A_LOOK)
        + load.longest * _SECONDS_A_SECOND
    )
    if is_foreseeing:
        seconds += load.tasks * _SECONDS_A_FORESIGHT
        seconds += load.tasks * load.tasks * waiting * _SECONDS_A_FORESEEN_TASK
    used = load.tasks * _BYTES_A_TASK + nodes * _BYTES_A_NODE
    return RunSize(load.jobs, load.tasks, seconds, used)


def _mean(between: Between, draws: int) -> float:
    """Give the mean of what is drawn; an exponential law is stretched to the most of all draws."""
    high = between.low if between.high is None else between.high
    part = 1 / (log(draws) + 0.6) if between.shape == "exponential" and draws > 2 else 0.5
    return between.low + (high - between.low) * part
