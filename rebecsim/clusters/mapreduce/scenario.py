"""Scenarios of the kind `mapreduce`: settings of Hadoop's schedulers, compared on the same jobs.

A small one is

    kind = "mapreduce"
    name = "small"

    [workload]
    mix = { pattern = "separated", queues = ["queue1", "queue2"] }

    [[variants]]
    name = "even"
    scheduler = "CAPACITY"
    settings = { "queue.queue1.capacity" = 50, "queue.queue2.capacity" = 50 }

    [[variants]]
    name = "fair"
    scheduler = "FAIR"

Every key stands below with its meaning. Paths start from the folder of the scenario file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from rebecsim.clusters.mapreduce.configuration import (
    ChangeTable,
    ClusterTable,
    FailuresTable,
    MapReduceConfiguration,
    ParameterValue,
    Speculation,
    VariationTable,
)
from rebecsim.clusters.mapreduce.measures import MAPREDUCE_MEASURES
from rebecsim.clusters.mapreduce.schedulers.registry import slot_scheduler
from rebecsim.clusters.mapreduce.workload_tables import MapReduceWorkload
from rebecsim.errors import UserError
from rebecsim.studies.scenario import (
    MAX_RUNS,
    NO_UNIT,
    AnyList,
    ListOf,
    MetricNames,
    StudyScenario,
    Table,
    among,
    within,
)
from rebecsim.wording import first_repeated

_METRICS = [each.metric.name for each in MAPREDUCE_MEASURES]


class VariantTable(Table):
    """A scheduler with its settings, under a name."""

    name: str = Field(
        pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60, description="its name in results"
    )
    scheduler: str = Field(description="name of the scheduler")
    file: str | None = Field(
        None,
        min_length=1,
        description="file of settings: a capacity-scheduler.xml or an allocations file, relative "
        "to the scenario's folder",
    )
    settings: dict[str, ParameterValue] = Field(
        {},
        json_schema_extra=NO_UNIT,
        description="instead of file: settings by their names in that file, with or without the "
        "prefix mapred.capacity-scheduler",
    )
    changes: Annotated[tuple[ChangeTable, ...], AnyList] = Field(
        (), description="settings that change while the cluster runs"
    )

    @field_validator("scheduler")
    @classmethod
    def _scheduler_exists(cls, name: str) -> str:
        slot_scheduler(name)
        return name

    @model_validator(mode="after")
    def _has_sense(self) -> Self:
        if self.file is not None:
            if self.settings:
                raise ValueError("give either file or settings, not both")
            return self
        try:
            slot_scheduler(self.scheduler).scheduler.with_parameters(self.settings)
        except UserError as error:
            raise ValueError(str(error)) from error
        return self


class MapReduceScenario(StudyScenario):
    """A comparison of schedulers of a MapReduce cluster, as read from a scenario file."""

    fixed: ClassVar[frozenset[str]] = frozenset({"variants"})

    kind: Literal["mapreduce"] = Field("mapreduce", description="the kind of cluster")
    replications: Annotated[int, within(1, 10_000, "runs")] = Field(
        10, description="runs with different random blocks, heartbeats, jitter and jobs"
    )
    variants: Annotated[tuple[VariantTable, ...], ListOf] = Field(
        description="schedulers with settings, to compare"
    )
    baseline: str | None = Field(
        None, description="the variant that others are compared with; by default the first"
    )
    workload: MapReduceWorkload = Field(description="sources of jobs")
    cluster: ClusterTable = Field(ClusterTable(), description="nodes, network and Hadoop")
    variation: VariationTable = Field(
        VariationTable(), description="random variation of tasks and nodes; stragglers"
    )
    failures: FailuresTable = Field(FailuresTable(), description="failures of nodes")
    speculation: Speculation | None = Field(
        None, description="second attempts of slow tasks; without it none"
    )
    warm_up: Annotated[float, within(0, 0.9)] = Field(
        0.0,
        description="the share of first jobs that measures leave out; slots and devices count from "
        "the submission of the first job that counts",
    )
    metrics: Annotated[MetricNames, among(_METRICS)] = Field(
        (), description="columns of the table, by name; by default those that apply"
    )

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a file without a kind has variants with schedulers of slots."""
        variants = values.get("variants")
        return isinstance(variants, list) and "workload" in values

    @property
    def compared_with(self) -> str:
        """The variant that the others are compared with."""
        return self.baseline or self.variants[0].name

    @property
    def names(self) -> tuple[str, ...]:
        """Of the variants."""
        return tuple(each.name for each in self.variants)

    def variant(self, name: str) -> VariantTable:
        """Give the variant of this name. Raises StopIteration for another."""
        return next(each for each in self.variants if each.name == name)

    def configuration(self, variant: VariantTable) -> MapReduceConfiguration:
        """Give the cluster that a variant runs on."""
        return MapReduceConfiguration(
            self.cluster, self.variation, self.failures, self.speculation, variant.changes
        )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = self.names
        if (name := first_repeated(names)) is not None:
            raise ValueError(f"there are two variants {name!r}; rename one of them")
        if self.baseline is not None and self.baseline not in names:
            raise ValueError(f"baseline = {self.baseline!r} should be one of {', '.join(names)}")
        if problem := self.failures.misfit(self.cluster.nodes):
            raise ValueError(problem)
        if (runs := len(names) * self.replications) > MAX_RUNS:
            raise ValueError(f"{runs} runs, at most {MAX_RUNS} are allowed")
        return self
