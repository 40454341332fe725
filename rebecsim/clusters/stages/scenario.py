"""Scenarios of the kind `stages`: which resource managers to compare, on which jobs.

A small one is

    kind = "stages"
    name = "small"
    policies = ["WFBB_PD_SL_TSP1", "EDF"]

    [workload]
    jobs = 100
    rate = 0.03
    workflows = ["cybershake"]

    [resources]
    count = 50
    slots = 2

Every key stands below with its meaning. Times are seconds unless a unit is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.stages.estimates import (
    ConstantErrors,
    EstimateErrors,
    FeitelsonErrors,
    VariableErrors,
)
from rebecsim.clusters.stages.hadoop import runs_on_hadoop
from rebecsim.clusters.stages.hadoop_tasks import HadoopTable
from rebecsim.clusters.stages.managers.decisions import ChargedBy
from rebecsim.clusters.stages.managers.registry import stages_policy
from rebecsim.clusters.stages.managers.searching import SolverTable
from rebecsim.clusters.stages.measures import CLOCK_FIGURES, SEARCHED, STAGES_MEASURES
from rebecsim.studies.scenario import (
    MAX_RUNS,
    NO_UNIT,
    AnyList,
    LoadFactors,
    MetricNames,
    StudyScenario,
    Table,
    Unique,
    among,
    named_by,
    within,
)


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


class BudgetsTable(Table):
    """How WFBB-RM divides laxity."""

    by_letter: bool = Field(
        False,
        description="sub-deadlines as algorithm 7.3 prints them: all parents of a dummy get its "
        "own, even if they have other children",
    )


_METRICS = [*(each.metric.name for each in STAGES_MEASURES), SEARCHED.name]

FamilyName = Literal["cybershake", "ligo", "genome"]
SizeName = Literal["small", "medium", "large"]
ClosedName = Literal["small_1", "small_2", "medium", "large_1", "large_2"]


class SyntheticTable(Table):
    """Synthetic MapReduce jobs."""

    like: Literal["generic", "facebook", "word_count"] = Field(
        "generic",
        description="the published workload that jobs resemble; the keys below are for generic; "
        "facebook and word_count also set reserved, multiplier and alone",
    )
    maps: Annotated[int, within(1, 10**5)] = Field(
        100, description="upper bound of a job's maps, whose number bounds its reduces"
    )
    longest_map: Annotated[int, within(1, 10**6, "seconds")] = Field(
        50, description="upper bound of a map's time"
    )
    reduce_extra: Annotated[int, within(1, 10**6, "seconds")] = Field(
        10, description="upper bound of a reduce's time beyond its share of three times all maps"
    )


ErrorShare = Annotated[float, Field(ge=-0.99, le=1000)]
_ERROR_KEYS = {
    "constant": ("error",),
    "feitelson": ("threshold", "most"),
    "variable": ("over_probability", "over", "under"),
}
"""The keys of each model of errors."""


class EstimatesTable(Table):
    """Users' run time estimates, which managers and deadlines are based on."""

    model: Literal["constant", "feitelson", "variable"] = Field(
        description="model of the errors; each of the other keys belongs to one model"
    )
    error: Annotated[float | None, within(-0.99, 1000)] = Field(
        None,
        description="constant: the error of all estimates, as a share of the durations; below 0, "
        "tasks run longer than estimated",
    )
    threshold: Annotated[float, within(0, 10**9, "seconds")] = Field(
        20.0,
        description="feitelson: shorter tasks are estimated at ten times their durations",
    )
    most: Annotated[float, within(1, 10**6)] = Field(
        100.0, description="feitelson: upper bound of an estimate, as a multiple of the duration"
    )
    over_probability: Annotated[float, within(0, 1)] = Field(
        0.98,
        description="variable: the probability that a job is overestimated",
    )
    over: Annotated[tuple[ErrorShare, ErrorShare], AnyList] = Field(
        (0.0, 2.0),
        json_schema_extra=NO_UNIT,
        description="variable: range of the error of an overestimated job",
    )
    under: Annotated[tuple[ErrorShare, ErrorShare], AnyList] = Field(
        (-0.9, -0.1),
        json_schema_extra=NO_UNIT,
        description="variable: range of the error of an underestimated job",
    )

    @model_validator(mode="after")
    def _keys_of_the_model(self) -> Self:
        for model, names in _ERROR_KEYS.items():
            fields = type(self).model_fields
            given = [name for name in names if getattr(self, name) != fields[name].default]
            if model != self.model and given:
                raise ValueError(f'{given[0]} is for model = "{model}"')
        if self.model == "constant" and self.error is None:
            raise ValueError('model = "constant" needs error, as in error = 0.5')
        for least, most in (self.over, self.under):
            if least > most:
                raise ValueError(f"[{least:g}, {most:g}]: give the lower error first")
        return self

    @property
    def errors(self) -> EstimateErrors:
        """The model of errors."""
        if self.error is not None:
            return ConstantErrors(self.error)
        if self.model == "feitelson":
            return FeitelsonErrors(self.threshold, self.most)
        return VariableErrors(self.over_probability, self.over, self.under)


_PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "facebook": {"reserved": 0.0, "multiplier": 2.0},
    "word_count": {"reserved": 0.0, "multiplier": 3.0, "alone": "sequential"},
}
"""Starts and deadlines that go with jobs that are like published ones (sections 4.4.2, 5.5.2)."""


class StagesWorkload(Table):
    """The jobs and their arrivals."""

    jobs: Annotated[int | None, within(1, 10**6)] = Field(
        None, description="number of jobs in a run; not with `closed`"
    )
    rate: Annotated[float | None, within(1e-9, 1e6, "jobs per second")] = Field(
        None, description="rate of Poisson arrivals; not with `closed`"
    )
    workflows: Annotated[tuple[FamilyName, ...], AnyList] = Field(
        (), description="families of scientific workflows, equally likely"
    )
    sizes: Annotated[tuple[SizeName, ...], AnyList] = Field(
        ("small", "medium", "large"),
        min_length=1,
        description="sizes of workflows, equally likely: about 30, 50 or 100 tasks",
    )
    files: Annotated[tuple[str, ...], AnyList] = Field(
        (),
        description="files of workflows instead, equally likely: DAX (.xml) or WfCommons (.json), "
        "relative to the scenario's folder",
    )
    map_reduce: SyntheticTable | None = Field(
        None, description="synthetic MapReduce jobs instead of workflows"
    )
    closed: ClosedName | None = Field(
        None, description="a closed problem instead of a stream: all jobs arrive at the beginning"
    )
    reserved: Annotated[float, within(0, 1)] = Field(
        0.5, description="the probability that a job may start only some time after it arrives"
    )
    reserved_ahead: Annotated[int, within(1, 10**9, "seconds")] = Field(
        50_000, description="the longest such time, uniform from 1 second"
    )
    announced: bool = Field(
        False,
        description="managers learn of such a job when it arrives; false: at its earliest start, "
        "as in the published figures",
    )
    multiplier: Annotated[float, within(1, 10**6)] = Field(
        5.0,
        description="a deadline is the earliest start plus the job's run time alone times a number "
        "drawn between 1 and this",
    )
    alone: Literal["resources", "sequential"] = Field(
        "resources", description="that run time: on all resources, or all tasks one after another"
    )
    estimates: EstimatesTable | None = Field(
        None, description="users' run time estimates; without it, estimates are exact"
    )

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        """Add the defaults of published workloads."""
        try:
            published = _PUBLISHED[values["map_reduce"]["like"]]
        except (KeyError, TypeError):
            return values
        return {**published, **values}

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = bool(self.workflows), bool(self.files), self.map_reduce is not None
        if sum(given) + (self.closed is not None) != 1:
            raise ValueError(
                'give one of workflows = ["cybershake"], files = ["FILE"], map_reduce = {} and '
                'closed = "small_1"'
            )
        stream = self.jobs is not None, self.rate is not None
        if any(stream) != all(stream) or all(stream) == (self.closed is not None):
            raise ValueError("give jobs and rate, or closed without them")
        return self


class StagesScenario(StudyScenario):
    """A comparison of resource managers of jobs of several stages, as read from a file."""

    kind: Literal["stages"] = Field("stages", description="the kind of cluster")
    replications: Annotated[int, within(1, 10_000, "runs")] = Field(
        1, description="runs with other random jobs"
    )
    policies: Annotated[tuple[str, ...], AnyList, named_by(stages_policy), Unique] = Field(
        min_length=1, description="names of the resource managers to compare"
    )
    baseline: str | None = Field(
        None, description="the manager that others are compared with; by default the first"
    )
    workload: StagesWorkload = Field(description="the jobs and their arrivals")
    resources: ResourcesTable = Field(description="resources that run the jobs")
    decisions: DecisionTable = Field(DecisionTable(), description="cost of decisions")
    solver: SolverTable = Field(SolverTable(), description="limits of solvers")
    budgets: BudgetsTable = Field(BudgetsTable(), description="how WFBB-RM divides laxity")
    hadoop: HadoopTable | None = Field(
        None, description="run MapReduce on Hadoop 1, with its heartbeats and overheads"
    )
    load_factors: LoadFactors = (1.0,)
    warm_up: Annotated[float, Field(ge=0, le=0.9)] | Literal["mser5"] = Field(
        0.0,
        json_schema_extra=NO_UNIT,
        description="the share of first jobs that measures leave out; mser5: found by that rule "
        "from turnarounds",
    )
    metrics: Annotated[MetricNames, among(_METRICS)] = ()

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a file without a kind has resources and a workload."""
        return "resources" in values and "workload" in values

    @property
    def compared_with(self) -> str:
        """The manager that the others are compared with."""
        return self.baseline or self.policies[0]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.baseline is not None and self.baseline not in self.policies:
            raise ValueError(f"baseline = {self.baseline!r} should be one of the policies")
        for name in self.metrics if not self.decisions.keeps_clock else ():
            if name in CLOCK_FIGURES:
                raise ValueError(f"{name} needs measured = true in [decisions]")
        if self.hadoop is not None:
            self._require_hadoop()
        if self.resources.map_slots is not None and (
            self.workload.workflows or self.workload.files
        ):
            raise ValueError(
                "tasks of workflows are neither maps nor reduces: replace map_slots and "
                "reduce_slots in [resources] by slots"
            )
        runs = len(self.policies) * len(self.load_factors) * self.replications
        if runs > MAX_RUNS:
            raise ValueError(
                f"{runs} runs, at most {MAX_RUNS} are allowed; shorten a list, or "
                "lower replications (with --precision: --max-replications)"
            )
        return self

    def _require_hadoop(self) -> None:
        if self.workload.map_reduce is None and self.workload.closed is None:
            raise ValueError(
                "[hadoop] needs MapReduce: give workload.map_reduce or workload.closed"
            )
        if self.resources.map_slots is None:
            raise ValueError(
                "[hadoop] needs typed slots: give map_slots and reduce_slots in [resources]"
            )
        if self.solver.replan:
            raise ValueError("[hadoop] plans only when jobs arrive: remove replan from [solver]")
        for name in self.policies:
            if not runs_on_hadoop(stages_policy(name).manager):
                raise ValueError(
                    f"[hadoop] cannot run {name}; use HCP_RM, MRCP_RM_AHEAD, EDF or FIFO"
                )
