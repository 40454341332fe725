"""Scenarios of the kind `batch`: which batch policies to compare, on which jobs and which machine.

A small one is

    kind = "batch"
    name = "small"
    policies = ["FCFS", "EASY"]
    share = 16

    [workload]
    log = "kth.swf.gz"

Every key stands below with its meaning. Paths start from the folder of the scenario file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.batch.machine import (
    MOST_OF_RESOURCE,
    MOST_PROCESSORS,
    Placement,
)
from rebecsim.clusters.batch.measures import SCHEDULE_METRICS, Needed
from rebecsim.clusters.batch.policies.orders import MOST_SECONDS, Settings
from rebecsim.clusters.batch.policies.policy import batch_policy
from rebecsim.files import NODES
from rebecsim.metrics.users import EndAlgorithm, JobGrouping
from rebecsim.studies.scenario import (
    NO_UNIT,
    AnyList,
    Load,
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

MAX_CELLS = 10_000
"""Most schedules of one scenario."""

_Excess = Annotated[float, Field(ge=0, le=10**6)]
_METRICS = [each.metric.name for each in SCHEDULE_METRICS]

Seconds = Annotated[int, within(0, MOST_SECONDS, "seconds")]
PositiveSeconds = Annotated[int, within(1, MOST_SECONDS, "seconds")]
Processors = Annotated[int, Field(ge=1, le=MOST_PROCESSORS)]


Choice = Annotated[int, Field(ge=-1, le=MOST_SECONDS)] | Annotated[str, Field(min_length=1)]
"""A user or a queue, by number or by name."""


class Generate(Table):
    """Jobs of the model of Lublin and Feitelson."""

    jobs: Annotated[int, within(2, 10**7)] = Field(description="how many jobs")
    processors: Annotated[int, within(2, 10**6)] = Field(
        description="of the machine that the jobs are drawn for"
    )
    users: Annotated[int, within(1, 10**6)] = Field(1, description="how many users share the jobs")


class WorkloadSource(Table):
    """Where the jobs come from, and which of them."""

    log: str | None = Field(
        None,
        min_length=1,
        description="a log: SWF, CSV, PBS or sacct, also .gz; from the scenario's folder",
    )
    generate: Generate | None = Field(
        None, description="instead of a log: jobs of the model of Lublin and Feitelson"
    )
    size: Literal["requested", "allocated"] = Field(
        "requested", description="which field of the log says how many processors jobs take"
    )
    sort: bool = Field(
        False, description="sort the log by submission, instead of skipping what goes back"
    )
    begin: Seconds = Field(0, description="jobs submitted from then on, as the log counts")
    end: Annotated[int | None, within(1, MOST_SECONDS, "seconds")] = Field(
        None, description="jobs submitted before then"
    )
    users: Annotated[tuple[Choice, ...], AnyList] = Field(
        (), json_schema_extra=NO_UNIT, description="jobs of these users only, by number or by name"
    )
    queues: Annotated[tuple[Choice, ...], AnyList] = Field(
        (), json_schema_extra=NO_UNIT, description="jobs of these queues only, by number or by name"
    )
    without_users: Annotated[tuple[Choice, ...], AnyList] = Field(
        (), json_schema_extra=NO_UNIT, description="no jobs of these users"
    )
    without_queues: Annotated[tuple[Choice, ...], AnyList] = Field(
        (), json_schema_extra=NO_UNIT, description="no jobs of these queues"
    )
    first: Annotated[int | None, within(1, 10**9, "jobs")] = Field(
        None, description="of the jobs that are left, only the first ones"
    )
    load: Load | None = Field(
        None,
        json_schema_extra=NO_UNIT,
        description="stretch the times between submissions to this offered load",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.log is None) == (self.generate is None):
            raise ValueError('give one of log = "FILE" and generate = { jobs = ... }')
        for name in type(self).model_fields.keys() - {"log", "generate", "load"}:
            is_given = getattr(self, name) != type(self).model_fields[name].default
            if self.generate is not None and is_given:
                raise ValueError(f"{name} is for logs; remove it, or generate")
        if self.end is not None and self.end <= self.begin:
            raise ValueError(f"end = {self.end} should be after begin = {self.begin}")
        return self


class NodesTable(Table):
    """Nodes that are alike."""

    count: Annotated[int, within(1, NODES.default, "nodes")] = Field(
        description="how many of these"
    )
    processors: Annotated[int, within(1, MOST_PROCESSORS)] = Field(description="of each node")
    memory: Annotated[int | None, within(1, MOST_OF_RESOURCE, "KB")] = Field(
        None, description="of each node; with it, jobs take the memory they request"
    )


class MachineTable(Table):
    """What the jobs run on."""

    processors: Annotated[int | None, within(1, MOST_PROCESSORS)] = Field(
        None, description="of one pool; without this and nodes, what the workload says"
    )
    nodes: Annotated[tuple[NodesTable, ...], AnyList] = Field(
        (), description="nodes instead of a pool, of one kind or several"
    )
    placement: Placement = Field("first-fit", description="which nodes a job gets")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.nodes and self.processors is not None:
            raise ValueError("a machine has processors or nodes, not both; remove one")
        if self.placement != "first-fit" and not self.nodes:
            raise ValueError("placement needs nodes; add nodes, or remove placement")
        return self


class ExpectedEnds(Table):
    """How the ends that users may expect are computed."""

    algorithm: EndAlgorithm = Field(
        "printed",
        description="in its last second a job takes as much of the share as before, as the paper "
        "prints Algorithm 1, or only what it still needs",
    )
    usage_window: Annotated[int | None, within(1, MOST_SECONDS, "seconds")] = Field(
        None, description="past usage that counts: who has used less than the share may expect more"
    )
    per: JobGrouping = Field(
        "job",
        description="jobs with one expected end: each its own, those of a bag of tasks, or those "
        "of a workflow, by the preceding jobs of the log",
    )
    bag_gap: Seconds = Field(
        120,
        description="a bag is the jobs of a user of which each is submitted at most so much later "
        "than the one before it",
    )


class Gantt(Table):
    """Which time the Gantt charts show."""

    begin: Seconds = Field(description="from then on, as the jobs' submissions are counted")
    end: PositiveSeconds = Field(description="until before then")

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.end <= self.begin:
            raise ValueError(f"end = {self.end} should be after begin = {self.begin}")
        return self


class BatchScenario(StudyScenario):
    """A comparison of batch policies on a workload, as read from a scenario file."""

    fixed: ClassVar[frozenset[str]] = frozenset({"estimates", "estimate_errors", "gantt"})

    kind: Literal["batch"] = Field("batch", description="the kind of cluster")
    replications: Annotated[int, within(1, 10_000, "runs")] = Field(
        1, description="runs with other random jobs and errors of estimates"
    )
    policies: Annotated[tuple[str, ...], AnyList, named_by(batch_policy), Unique] = Field(
        min_length=1, description="names of the batch policies to compare"
    )
    baseline: str | None = Field(
        None, description="the policy that the others are compared with; the first one"
    )
    workload: WorkloadSource = Field(description="where the jobs come from")
    machine: MachineTable = Field(
        MachineTable(), description="what they run on; what the workload says without it"
    )
    settings: Settings = Field(Settings(), description="numbers that policies go by")
    estimates: Annotated[tuple[Literal["requested", "exact"], ...], AnyList, Unique] = Field(
        (),
        description="run times that policies know: those that users asked for, or the true ones; "
        "requested, if this and estimate_errors are empty",
    )
    estimate_errors: Annotated[tuple[_Excess, ...], AnyList, Unique] = Field(
        (),
        json_schema_extra=unit("times the run time"),
        description="estimates that are too long by a random part, up to so much",
    )
    load_factors: LoadFactors = (1.0,)
    share: Annotated[int | None, within(1, MOST_PROCESSORS, "processors")] = Field(
        None, description="processors that every user may expect; for user-aware metrics"
    )
    user_shares: dict[str, Processors] = Field(
        {},
        json_schema_extra=unit("processors"),
        description="that certain users may expect instead, by name or number: { alice = 2 }",
    )
    memory_share: Annotated[int | None, within(1, MOST_OF_RESOURCE, "KB")] = Field(
        None, description="memory that every user may expect as well"
    )
    expected_ends: ExpectedEnds = Field(
        ExpectedEnds(), description="how the ends that users may expect are computed"
    )
    fair_starts: bool = Field(
        False,
        description="look also for fair starts: when each job would start without later jobs; "
        "takes some ten times as long",
    )
    metrics: Annotated[MetricNames, among(_METRICS)] = ()
    gantt: Gantt | None = Field(
        None, description="which time the Gantt charts show; the busiest day without it"
    )

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a file without a kind has a workload, and nothing that other kinds have."""
        return "workload" in values and not {"cluster", "resources"} & values.keys()

    @property
    def compared_with(self) -> str:
        """The policy that the others are compared with."""
        return self.baseline or self.policies[0]

    @property
    def given(self) -> set[Needed]:
        """What there is of what some figures need."""
        needed: dict[Needed, bool] = {
            "share": self.share is not None or bool(self.user_shares),
            "fair_starts": self.fair_starts,
        }
        return {name for name, is_given in needed.items() if is_given}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.baseline is not None and self.baseline not in self.policies:
            raise ValueError(f"baseline = {self.baseline!r} should be one of the policies")
        if "share" not in self.given and self.memory_share is not None:
            raise ValueError("memory_share needs share, the processors that users may expect")
        for each in SCHEDULE_METRICS:
            if each.needs and each.needs not in self.given and each.metric.name in self.metrics:
                raise ValueError(f"the metric {each.metric.name} needs {each.needs}; add it")
        if self.replications > 1 and self.workload.generate is None and not self.estimate_errors:
            raise ValueError(
                "the scenario has no randomness, so all replications are equal; remove replications"
            )
        cells = (
            len(self.policies)
            * len(self.load_factors)
            * max(len(self.estimates) + len(self.estimate_errors), 1)
            * self.replications
        )
        if cells > MAX_CELLS:
            raise ValueError(f"{cells} schedules, at most {MAX_CELLS} are allowed; shorten a list")
        return self
