"""Tables of a scenario about what jobs run on, and how it is decided. Times are seconds."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.kit.fields import settings_of
from rebecsim.clusters.stages.hadoop_tasks import HadoopSettings
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.managers.decisions import ChargedBy
from rebecsim.clusters.stages.managers.searching import SolverSettings
from rebecsim.studies.scenario import Table
from rebecsim.studies.units import within


class ResourcesTable(Table):
    """What jobs run on: resources that are alike."""

    count: Annotated[int, within(1, 10**5)] = Field(description="how many")
    slots: Annotated[int | None, within(1, 10**4, "tasks")] = Field(
        None, description="that each runs at a time"
    )
    map_slots: Annotated[int | None, within(1, 10**4, "maps")] = Field(
        None, description="instead: that each runs at a time"
    )
    reduce_slots: Annotated[int | None, within(1, 10**4, "reduces")] = Field(
        None, description="reduces that each runs at a time"
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
        "recorded",
        description="how long a manager is busy with a decision: as recorded once for each "
        "manager, by rate, by the wall clock (such runs are not repeatable), or not at all",
    )
    constant: Annotated[float, within(0, 10**9, "ms")] = Field(1.0, description="of each, by rate")
    per_task: Annotated[float, within(0, 10**9, "ms")] = Field(
        0.1, description="for each task of jobs that have arrived"
    )
    measured: bool = Field(
        False,
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

    limit: Annotated[float, within(1e-6, 10**4, "deterministic seconds")] = Field(
        0.02,
        description="of a decision, in CP-SAT's deterministic time, which counts steps and is the "
        "same on every machine: 0.02 is 0.2 s to 2 s",
    )
    rules_first: bool = Field(
        True,
        description="use what rules place where nothing can be better, and search from there; "
        "false: search every decision, from nothing",
    )
    seconds: Annotated[float, within(0.001, 10**6, "seconds")] = Field(
        60.0,
        description="of a decision of MILP, by the wall clock: runs that need them all do not "
        "repeat",
    )
    step: Annotated[int, within(1, 10**6, "seconds")] = Field(
        1, description="with MILP, tasks start at multiples of this"
    )
    replan: bool = Field(
        False, description="plan anew, too, when a task has ended earlier or later than expected"
    )
    most_tasks: Annotated[int, within(1, 10**9, "tasks")] = Field(
        4000,
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
        False,
        description="sub-deadlines of parents as algorithm 7.3 prints them: a dummy's get its own, "
        "even if others wait for them",
    )


class HadoopTable(Table):
    """Hadoop 1 instead of resources that run what is planned at its time."""

    heartbeat: Annotated[float, within(0.001, 10**4, "seconds")] = Field(
        3.0, description="how often a TaskTracker says what has ended and asks for tasks"
    )
    overhead: Annotated[float, within(0, 10**6, "seconds")] = Field(
        12.0, description="how much longer a task takes"
    )
    transfer: Annotated[float, within(0, 10**6, "seconds")] = Field(
        5.0, description="how much longer a map takes without its data"
    )
    replicas: Annotated[int, within(1, 10**5)] = Field(
        3, description="how many resources have what a map reads"
    )
    job_task: Annotated[float, within(0, 10**6, "seconds")] = Field(
        5.0,
        description="how long the task takes that sets a job up, and that which cleans up behind "
        "it; 0: jobs have none",
    )
    slow_start: Annotated[float, within(0, 1)] = Field(
        0.05,
        description="with EDF and FIFO, the part of its maps after which a job's reduces take "
        "slots; plans let them wait for all maps",
    )

    @property
    def settings(self) -> HadoopSettings:
        """What the cluster is told."""
        return settings_of(HadoopSettings, self, {"seconds": SECOND})
