"""Tables of a scenario about what jobs run on, and how it is decided. Times are seconds."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.stages.hadoop_tasks import HadoopSettings
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.managers.decisions import ChargedBy
from rebecsim.clusters.stages.managers.searching import SolverSettings
from rebecsim.studies.scenario import Table
from rebecsim.studies.units import NO_UNIT, unit


class ResourcesTable(Table):
    """What jobs run on: resources that are alike."""

    count: int = Field(ge=1, le=10**5, json_schema_extra=NO_UNIT, description="how many")
    slots: Annotated[int, Field(ge=1, le=10**4)] | None = Field(
        default=None, json_schema_extra=unit("tasks"), description="that each runs at a time"
    )
    map_slots: Annotated[int, Field(ge=1, le=10**4)] | None = Field(
        default=None,
        json_schema_extra=unit("maps"),
        description="instead: that each runs at a time",
    )
    reduce_slots: Annotated[int, Field(ge=1, le=10**4)] | None = Field(
        default=None,
        json_schema_extra=unit("reduces"),
        description="reduces that each runs at a time",
    )

    @model_validator(mode="after")
    def _one_sort(self) -> Self:
        typed = self.map_slots is not None, self.reduce_slots is not None
        if any(typed) != all(typed) or all(typed) == (self.slots is not None):
            raise ValueError("give one of slots, and map_slots with reduce_slots")
        return self


class DecisionTable(Table):
    """What decisions cost, and whether their time is measured."""

    charged_by: Literal["recorded", "rate", "clock", "nothing"] = Field(
        default="recorded",
        description="how long a manager is busy with a decision: as recorded once for each "
        "manager, by rate, by the wall clock (such runs are not repeatable), or not at all",
    )
    constant: float = Field(
        default=1.0, ge=0, le=10**9, json_schema_extra=unit("ms"), description="of each, by rate"
    )
    per_task: float = Field(
        default=0.1,
        ge=0,
        le=10**9,
        json_schema_extra=unit("ms"),
        description="for each task of jobs that have arrived",
    )
    measured: bool = Field(
        default=False,
        description="keep what decisions take by the wall clock; these figures are not repeatable",
    )

    @model_validator(mode="after")
    def _rates_are_used(self) -> Self:
        fields = type(self).model_fields
        for name in ("constant", "per_task") if self.charged_by == "recorded" else ():
            if getattr(self, name) != fields[name].default:
                raise ValueError(f'{name} is by rate: give charged_by = "rate" with it')
        return self

    @property
    def by(self) -> ChargedBy:
        """What they are charged by."""
        return ChargedBy(self.charged_by)

    @property
    def keeps_clock(self) -> bool:
        """Whether what they take by the wall clock is kept."""
        return self.measured or self.charged_by == "clock"


class SolverTable(Table):
    """How managers search that plan by solvers."""

    limit: float = Field(
        default=0.02,
        ge=1e-6,
        le=10**4,
        json_schema_extra=unit("deterministic seconds"),
        description="of a decision, in CP-SAT's deterministic time, which counts steps and is the "
        "same on every machine: 0.02 is 0.2 s to 2 s",
    )
    rules_first: bool = Field(
        default=True,
        description="use what rules place where nothing can be better, and search from there; "
        "false: search every decision, from nothing",
    )
    seconds: float = Field(
        default=60.0,
        ge=0.001,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="of a decision of MILP, by the wall clock: runs that need them all do not "
        "repeat",
    )
    step: int = Field(
        default=1,
        ge=1,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="with MILP, tasks start at multiples of this",
    )
    replan: bool = Field(
        default=False,
        description="plan anew, too, when a task has ended earlier or later than expected",
    )
    most_tasks: int = Field(
        default=4000,
        ge=1,
        le=10**9,
        json_schema_extra=unit("tasks"),
        description="not started at a decision, for a search from what rules place: with more of "
        "them what rules place is used, and the decision counts as cut short",
    )

    @property
    def settings(self) -> SolverSettings:
        """What managers are given."""
        return SolverSettings(
            limit=self.limit,
            rules_first=self.rules_first,
            seconds=self.seconds,
            step=self.step * SECOND,
            replans=self.replan,
            most_tasks=self.most_tasks,
        )


class BudgetsTable(Table):
    """How WFBB-RM divides laxity."""

    by_letter: bool = Field(
        default=False,
        description="sub-deadlines of parents as algorithm 7.3 prints them: a dummy's get its own, "
        "even if others wait for them",
    )


class HadoopTable(Table):
    """Hadoop 1 instead of resources that run what is planned at its time."""

    heartbeat: float = Field(
        default=3.0,
        ge=0.001,
        le=10**4,
        json_schema_extra=unit("seconds"),
        description="how often a TaskTracker says what has ended and asks for tasks",
    )
    overhead: float = Field(
        default=12.0,
        ge=0,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="how much longer a task takes",
    )
    transfer: float = Field(
        default=5.0,
        ge=0,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="how much longer a map takes without its data",
    )
    replicas: int = Field(
        default=3,
        ge=1,
        le=10**5,
        json_schema_extra=NO_UNIT,
        description="how many resources have what a map reads",
    )
    job_task: float = Field(
        default=5.0,
        ge=0,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="how long the task takes that sets a job up, and that which cleans up behind "
        "it; 0: jobs have none",
    )
    slow_start: float = Field(
        default=0.05,
        ge=0,
        le=1,
        json_schema_extra=NO_UNIT,
        description="with EDF and FIFO, the part of its maps after which a job's reduces take "
        "slots; plans let them wait for all maps",
    )

    @property
    def settings(self) -> HadoopSettings:
        """What the cluster is told."""
        return HadoopSettings(
            heartbeat=round(self.heartbeat * SECOND),
            overhead=round(self.overhead * SECOND),
            transfer=round(self.transfer * SECOND),
            replicas=self.replicas,
            job_task=round(self.job_task * SECOND),
            slow_start=self.slow_start,
        )
