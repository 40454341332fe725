"""Scenarios of the kind `yarn`: which schedulers to compare, on which jobs and which cluster.

A small one is

    kind = "yarn"
    name = "small"
    policies = ["REGULAR", "SMARTG"]

    [workload]
    trace = "jobs.json"

    [cluster]
    nodes = [{ count = 20, memory = 16_000, cores = 32 }]

    [elasticity]
    penalty = { model = "STEP", bump = 1.5 }

Every key stands below with its meaning. Times are milliseconds and memories MB, where nothing else
is said. Paths start from the folder of the scenario file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from rebecsim.clusters.yarn.configuration import MOST, ErrorMode, ErrorSign, PoolTable, PushBack
from rebecsim.clusters.yarn.measures import QUEUE_MEASURES, YARN_MEASURES
from rebecsim.clusters.yarn.schedulers.registry import yarn_scheduler
from rebecsim.studies.scenario import (
    MAX_RUNS,
    NO_UNIT,
    UNIT_OUTSIDE,
    AnyList,
    LoadFactors,
    MetricNames,
    StudyScenario,
    Table,
    Unique,
    among,
    named_by,
    unit,
    within,
)

_METRICS = [each.metric.name for each in (*YARN_MEASURES, *QUEUE_MEASURES)]

AmountOrZero = Annotated[int, Field(ge=0, le=MOST)]
Factor = Annotated[float, Field(ge=0.01, le=1000)]
Percent = Annotated[int, Field(ge=0, le=1000)]
PenaltyName = Literal["NULL", "POWER1", "POWER2", "SQUAREROOT", "STEP", "SAWTOOTH", "SPARKWC"]


class Between(Table):
    """Whole numbers between two bounds."""

    shape: Literal["uniform", "exponential", "constant"] = Field(
        "uniform",
        description="how they lie there; exponential ones are stretched up to the upper bound",
    )
    low: AmountOrZero = Field(json_schema_extra=UNIT_OUTSIDE, description="the least")
    high: AmountOrZero | None = Field(
        None, json_schema_extra=UNIT_OUTSIDE, description="the most; the same as low without it"
    )

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.high is not None and self.high < self.low:
            raise ValueError(f"high = {self.high} should not be less than low = {self.low}")
        return self


class GenerateJobs(Table):
    """Jobs of one class of tasks each, drawn anew for every replication."""

    jobs: Annotated[int, within(1, 10**6)] = Field(description="how many")
    start: Between = Field(json_schema_extra=unit("seconds"), description="when each is submitted")
    tasks: Between = Field(json_schema_extra=unit("tasks"), description="how many each has")
    duration: Between = Field(json_schema_extra=unit("seconds"), description="of the tasks")
    memory: Between = Field(
        json_schema_extra=unit("MB"), description="that each task asks for, in steps of 100"
    )
    users: Annotated[int, within(1, 10**6)] = Field(
        1, description="users who share the jobs, all equally likely"
    )


class SwimRuleTable(Table):
    """How the bytes of SWIM's jobs become tasks."""

    block: Annotated[int, within(1, 10**6, "MB")] = Field(128, description="input of a map")
    reducer: Annotated[int, within(1, 10**6, "MB")] = Field(1024, description="shuffle of a reduce")
    throughput: Annotated[int, within(1, 10**6, "MB per second")] = Field(
        50, description="that a task reads and writes"
    )
    startup: Annotated[int, within(0, 10**9, "ms")] = Field(1000, description="before it does")
    memory: Annotated[int, within(1, 10**9, "MB")] = Field(1024, description="of a container")
    cores: Annotated[int, within(1, 10**6)] = Field(1, description="of a container")


class YarnWorkload(Table):
    """Where the jobs come from, and which of them."""

    trace: str | None = Field(
        None,
        min_length=1,
        description="a trace of the scheduler load simulator (.json, of DSS or of Hadoop), or of "
        "SWIM (.tsv); either may end in .gz; from the scenario's folder",
    )
    generate: GenerateJobs | None = Field(None, description="instead of a trace")
    first: Annotated[int | None, within(1, 10**9, "jobs")] = Field(
        None, description="of the jobs, only the first ones"
    )
    swim: SwimRuleTable = Field(
        SwimRuleTable(), description="how the bytes of SWIM's jobs become tasks"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.trace is None) == (self.generate is None):
            raise ValueError('give one of trace = "FILE" and generate = { jobs = ... }')
        return self


class NodeGroupTable(Table):
    """Nodes that are alike."""

    count: Annotated[int, within(1, 10**6, "nodes")] = Field(description="how many of these")
    memory: Annotated[int, within(1, MOST, "MB")] = Field(description="of each")
    cores: Annotated[int, within(1, MOST)] = Field(description="of each")


class SchedulerTable(Table):
    """A scheduler of Hadoop 3 as a file of it says."""

    name: str = Field(
        pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$",
        max_length=60,
        description="what tables and charts call it",
    )
    queues: str = Field(
        min_length=1,
        description="a capacity-scheduler.xml or a fair-scheduler.xml; from the scenario's folder",
    )
    yarn_site: str | None = Field(
        None,
        min_length=1,
        description="a yarn-site.xml, for what it says of containers and of preemption",
    )


class ClusterTable(Table):
    """The nodes, and how YARN works on them."""

    nodes: Annotated[tuple[NodeGroupTable, ...], AnyList] = Field(
        (), description="nodes of one kind or several"
    )
    racks: Annotated[int, within(1, 10**6)] = Field(1, description="among which these are divided")
    topology: str | None = Field(
        None,
        min_length=1,
        description="instead of nodes: racks and nodes in the scheduler load simulator's JSON",
    )
    memory: Annotated[int | None, within(1, MOST, "MB")] = Field(
        None, description="of nodes of the topology that do not say theirs"
    )
    cores: Annotated[int | None, within(1, MOST)] = Field(None, description="of a node")
    meganode: bool = Field(
        False, description="one node for each rack, as large as its nodes together"
    )
    node_heartbeat: Annotated[int, within(1, MOST, "ms")] = Field(
        1000, description="period of heartbeats of nodes"
    )
    master_heartbeat: Annotated[int, within(1, MOST, "ms")] = Field(
        1000, description="period of heartbeats of AppMasters"
    )
    master_memory: Annotated[int, within(1, MOST, "MB")] = Field(
        1000, description="of an AppMaster's container"
    )
    master_cores: Annotated[int, within(1, MOST)] = Field(1, description="of AppMasters")
    reservations: bool = Field(
        False, description="keep a node for the first task that does not fit on it"
    )
    gaps: bool = Field(False, description="lend a reserved node to tasks that end in time")
    gaps_for_masters: bool = Field(False, description="lend it to AppMasters, too")
    assign_multiple: bool = Field(
        False, description="give as many containers as fit at a heartbeat, not one"
    )
    push_back: PushBack | None = Field(
        None, description="a further test of PEEK before it gives less"
    )
    pools: Annotated[tuple[PoolTable, ...], AnyList] = Field(
        (), description="FAIR and DRF: the pools with settings"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.nodes) == (self.topology is not None):
            raise ValueError('give one of nodes = [{ count = ... }] and topology = "FILE"')
        if self.nodes and (self.memory is not None or self.cores is not None):
            raise ValueError("memory and cores are for a topology; nodes say theirs")
        if self.topology is not None and self.racks != 1:
            raise ValueError("racks are for nodes; a topology says its own")
        if self.gaps and not self.reservations:
            raise ValueError("gaps needs reservations = true")
        return self


class PlacementTable(Table):
    """Where containers may run: labels of nodes and jobs count as soon as this table is there."""

    node_delay: Annotated[int, within(0, 10**9, "opportunities")] = Field(
        40,
        description="that a job lets pass before its tasks run in the rack of the node where they "
        "would rather run",
    )
    rack_delay: Annotated[int, within(0, 10**9, "opportunities")] = Field(
        40, description="how many more before they run elsewhere"
    )
    strict: Literal["node", "rack"] | None = Field(
        None, description="tasks never run farther away than this, however long they wait"
    )
    most_per_node: Annotated[int | None, within(1, 10**6, "tasks")] = Field(
        None, description="the most tasks of one job that run on a node at a time"
    )


class PenaltyTable(Table):
    """How much longer tasks run in less memory."""

    model: PenaltyName = Field(description="the model")
    bump: Annotated[float, within(1, 10**6)] = Field(
        1.0, description="STEP, SAWTOOTH, SPARKWC: the longest duration, as a factor"
    )


class ElasticityTable(Table):
    """What less memory does to tasks, and how much of what they ask for they need."""

    penalty: PenaltyTable | None = Field(None, description="of classes without one in the trace")
    node_percent: Annotated[int | None, within(0, 100, "%")] = Field(
        None, description="GREEDY and SMARTG: the part of the nodes that may give less"
    )
    overestimated: Annotated[tuple[Factor, Factor], AnyList] = Field(
        (1.0, 1.0),
        json_schema_extra=NO_UNIT,
        description="jobs ask for so many times the memory that is ideal, from least to most",
    )
    assumed_overestimate: Annotated[float, within(0.01, 1000)] = Field(
        1.0, description="the factor that schedulers take for true"
    )

    @field_validator("overestimated")
    @classmethod
    def _is_range(cls, factors: tuple[float, float]) -> tuple[float, float]:
        low, high = factors
        if low > high:
            raise ValueError(f"give the smaller number first, not {low:g}, {high:g}")
        return factors


class ErrorTable(Table):
    """An error of what schedulers believe."""

    percent: Annotated[int | None, within(0, 1000, "%")] = Field(
        None, description="of the true value, at most; without it, error_percents"
    )
    sign: ErrorSign = Field("MIXED", description="whether true values are higher, lower or both")
    mode: ErrorMode = Field("RANDOM", description="drawn, or always the most there may be")


class ErrorsTable(Table):
    """What is not as schedulers believe."""

    duration: ErrorTable | None = Field(None, description="of the durations of tasks")
    memory: ErrorTable | None = Field(None, description="of the ideal memory of jobs")
    bump: ErrorTable | None = Field(None, description="of the bump of penalties")
    only_elastic: bool = Field(False, description="durations: only those of elastic containers")

    @property
    def given(self) -> tuple[ErrorTable, ...]:
        """Those that there are."""
        return tuple(each for each in (self.duration, self.memory, self.bump) if each is not None)


class YarnScenario(StudyScenario):
    """A comparison of schedulers of a YARN cluster, as read from a scenario file."""

    kind: Literal["yarn"] = Field("yarn", description="the kind of cluster")
    replications: Annotated[int, within(1, 10_000, "runs")] = Field(
        1, description="runs with other random jobs, errors and over-estimates"
    )
    policies: Annotated[tuple[str, ...], AnyList, named_by(yarn_scheduler), Unique] = Field(
        (), description="names of the schedulers to compare"
    )
    schedulers: Annotated[tuple[SchedulerTable, ...], AnyList] = Field(
        (), description="schedulers to compare that a file of Hadoop describes"
    )
    baseline: str | None = Field(
        None, description="the scheduler that the others are compared with; the first one"
    )
    compatibility: Literal["dss"] | None = Field(
        None, description="do as this simulator does, quirks and random numbers included"
    )
    workload: YarnWorkload = Field(description="where the jobs come from")
    cluster: ClusterTable = Field(description="the nodes that run them")
    placement: PlacementTable | None = Field(
        None, description="where containers may run; without it, wherever they fit"
    )
    elasticity: ElasticityTable = Field(
        ElasticityTable(), description="how less memory slows tasks"
    )
    errors: ErrorsTable = Field(ErrorsTable(), description="errors in what schedulers know")
    error_percents: Annotated[tuple[Percent, ...], AnyList, Unique] = Field(
        (),
        json_schema_extra=unit("%"),
        description="errors that do not say theirs are so large, one after the other",
    )
    load_factors: LoadFactors = (1.0,)
    metrics: Annotated[MetricNames, among(_METRICS)] = ()

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a file without a kind has a cluster with AppMasters."""
        return "cluster" in values and "workload" in values

    @property
    def compared(self) -> tuple[str, ...]:
        """The names of all schedulers."""
        return (*self.policies, *(each.name for each in self.schedulers))

    @property
    def compared_with(self) -> str:
        """The scheduler that the others are compared with."""
        return self.baseline or self.compared[0]

    @property
    def is_random(self) -> bool:
        """Whether replications differ."""
        draws = self.workload.generate is not None
        if self.compatibility is None:
            low, high = self.elasticity.overestimated
            draws |= low < high or any(each.mode == "RANDOM" for each in self.errors.given)
        return draws

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        self._require_names()
        if self.schedulers and self.compatibility is not None:
            raise ValueError("DSS has no files of queues; remove schedulers")
        if self.placement is not None and self.compatibility is not None:
            raise ValueError("DSS places containers wherever they fit; remove placement")
        if self.replications > 1 and not self.is_random:
            raise ValueError(
                "the scenario has no randomness, so all replications are equal; remove replications"
            )
        open_errors = [each for each in self.errors.given if each.percent is None]
        if self.error_percents and not open_errors:
            raise ValueError("error_percents needs an error without a percent")
        if open_errors and not self.error_percents:
            raise ValueError("an error without a percent needs error_percents = [0, 10, 20]")
        of_queues = {each.metric.name for each in QUEUE_MEASURES}
        if not self.schedulers and (alone := sorted(of_queues.intersection(self.metrics))):
            raise ValueError(f"{alone[0]} needs a scheduler with a queue file; add schedulers")
        self._require_counts()
        return self

    def _require_names(self) -> None:
        if not self.compared:
            raise ValueError("give policies, or schedulers, to compare")
        known = {each.lower(): each for each in self.policies}
        for each in self.schedulers:
            if (other := known.get(each.name.lower())) is not None:
                raise ValueError(f"two schedulers have the same name: {other} and {each.name}")
            known[each.name.lower()] = each.name
        if self.baseline is not None and self.baseline not in self.compared:
            raise ValueError(
                f"baseline = {self.baseline!r} should be one of the policies, or schedulers"
            )

    def _require_counts(self) -> None:
        cells = len(self.compared) * len(self.load_factors) * max(len(self.error_percents), 1)
        if cells * self.replications > MAX_RUNS:
            raise ValueError(
                f"{cells * self.replications} runs, at most {MAX_RUNS} are allowed; shorten a list"
            )
