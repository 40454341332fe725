"""Tables of a scenario about resources, decisions and solvers. Times are seconds."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.stages.hadoop_tasks import HadoopSettings
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.managers.decisions import ChargedBy
from rebecsim.clusters.stages.managers.searching import SolverSettings
from rebecsim.studies.scenario import Table, settings_of, within


class ResourcesTable(Table):
    """Identical resources that run the jobs."""

    count: Annotated[int, within(1, 10**5)] = Field(description="number of resources")
    slots: Annotated[int | None, within(1, 10**4, "tasks")] = Field(
        None, description="slots of each resource for any task"
    )
    map_slots: Annotated[int | None, within(1, 10**4, "maps")] = Field(
        None, description="instead: map slots of each resource"
    )
    reduce_slots: Annotated[int | None, within(1, 10**4, "reduces")] = Field(
        None, description="reduce slots of each resource"
    )

    @model_validator(mode="after")
    def _one_sort(self) -> Self:
        typed = self.map_slots is not None, self.reduce_slots is not None
        if any(typed) != all(typed) or all(typed) == (self.slots is not None):
            raise ValueError("give either slots, or map_slots and reduce_slots")
        return self


class DecisionTable(Table):
    """What decisions cost, and whether their time is measured."""

    charged_by: Literal["recorded", "rate", "clock", "nothing"] = Field(
        "recorded",
        description="how long a manager is busy with a decision: recorded times of the manager, a "
        "rate, the wall clock (such runs are not repeatable), or nothing",
    )
    constant: Annotated[float, within(0, 10**9, "ms")] = Field(
        1.0, description="rate: time of each decision"
    )
    per_task: Annotated[float, within(0, 10**9, "ms")] = Field(
        0.1, description="rate: time for each task of jobs that have arrived"
    )
    measured: bool = Field(
        False,
        description="keep the wall-clock times of decisions, which are not repeatable",
    )

    @model_validator(mode="after")
    def _rates_are_used(self) -> Self:
        fields = type(self).model_fields
        for name in ("constant", "per_task") if self.charged_by == "recorded" else ():
            if getattr(self, name) != fields[name].default:
                raise ValueError(f'{name} needs charged_by = "rate"')
        return self

    @property
    def by(self) -> ChargedBy:
        """What decisions are charged by."""
        return ChargedBy(self.charged_by)

    @property
    def keeps_clock(self) -> bool:
        """Whether wall-clock times of decisions are kept."""
        return self.measured or self.charged_by == "clock"


class SolverTable(Table):
    """Limits and settings of the managers that have a solver."""

    limit: Annotated[float, within(1e-6, 10**4, "deterministic seconds")] = Field(
        0.02,
        description="limit of a decision in CP-SAT's deterministic time, which counts search steps "
        "and is the same on every machine: 0.02 takes 0.2 s to 2 s",
    )
    rules_first: bool = Field(
        True,
        description="search from a list schedule, and use it if it is provably optimal; false: "
        "search every decision from scratch",
    )
    seconds: Annotated[float, within(0.001, 10**6, "seconds")] = Field(
        60.0,
        description="limit of a decision of MILP, by the wall clock: runs that reach it do not "
        "repeat",
    )
    step: Annotated[int, within(1, 10**6, "seconds")] = Field(
        1, description="MILP: tasks start at multiples of this"
    )
    replan: bool = Field(
        False, description="also replan when a task has ended earlier or later than expected"
    )
    most_tasks: Annotated[int, within(1, 10**9, "tasks")] = Field(
        4000,
        description="most tasks to place that are searched from a list schedule; with more, the "
        "list schedule is used, and the decision counts as cut short",
    )

    @property
    def settings(self) -> SolverSettings:
        """The settings that managers take."""
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
        description="sub-deadlines as algorithm 7.3 prints them: all parents of a dummy get its "
        "own, even if they have other children",
    )


class HadoopTable(Table):
    """Hadoop 1, where TaskTrackers ask for tasks by heartbeats."""

    heartbeat: Annotated[float, within(0.001, 10**4, "seconds")] = Field(
        3.0, description="period of a TaskTracker's heartbeats"
    )
    overhead: Annotated[float, within(0, 10**6, "seconds")] = Field(
        12.0, description="extra time of each task"
    )
    transfer: Annotated[float, within(0, 10**6, "seconds")] = Field(
        5.0, description="extra time of a map task without local data"
    )
    replicas: Annotated[int, within(1, 10**5)] = Field(
        3, description="replicas of each input block"
    )
    job_task: Annotated[float, within(0, 10**6, "seconds")] = Field(
        5.0,
        description="time of a job's setup task, and of its cleanup task; 0: no such tasks",
    )
    slow_start: Annotated[float, within(0, 1)] = Field(
        0.05,
        description="EDF and FIFO: share of a job's maps that must end before its reduces take "
        "slots; planned reduces wait for all maps",
    )

    @property
    def settings(self) -> HadoopSettings:
        """The settings of the simulated cluster."""
        return settings_of(HadoopSettings, self, {"seconds": SECOND})
