"""The tables of a scenario that describe its jobs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.kit.fields import AnyList
from rebecsim.clusters.mapreduce.job import JobCosts, JobPriority
from rebecsim.clusters.mapreduce.job_families import (
    BENCHMARKS,
    RANDOM_FAMILIES,
    ArrivalLaw,
    Pattern,
    RandomFamily,
)
from rebecsim.studies.scenario import ListOf, Table
from rebecsim.studies.units import within

Benchmark = Literal["sort", "terasort", "wordcount"]
Priority = Literal["very_low", "low", "normal", "high", "very_high"]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Seconds = Annotated[float, within(0, 1e9, "seconds")]


class CostsTable(Table):
    """What tasks take; what is not said is TeraSort's, or that of the program that is named."""

    start: Annotated[float | None, within(0, 1e15, "cycles")] = Field(
        None, description="of a task's process"
    )
    map: Annotated[float | None, within(0, 1e15, "cycles per byte")] = Field(
        None, description="of the map function, by its input"
    )
    map_ratio: Annotated[float | None, within(0, 1e9)] = Field(
        None, description="bytes that the map function leaves of one of its input"
    )
    combine_ratio: Annotated[float | None, within(0, 1e9)] = Field(
        None, description="bytes that the combiner leaves of one of these; 1: there is none"
    )
    sort: Annotated[float | None, within(0, 1e15, "cycles per byte")] = Field(
        None, description="of the output of a map"
    )
    merge: Annotated[float | None, within(0, 1e15, "cycles")] = Field(
        None, description="each time that the memory of a reduce is full"
    )
    reduce_sort: Annotated[float | None, within(0, 1e15, "cycles")] = Field(
        None, description="before a reduce function begins"
    )
    reduce: Annotated[float | None, within(0, 1e15, "cycles per byte")] = Field(
        None, description="of the reduce function, by its input"
    )
    reduce_ratio: Annotated[float | None, within(0, 1e9)] = Field(
        None, description="bytes that it leaves of one of its input"
    )

    def costs(self, program: Benchmark | None = None) -> JobCosts:
        """Give them, with those of a program where nothing is said."""
        given = {name: value for name, value in self.model_dump().items() if value is not None}
        base = JobCosts() if program is None else BENCHMARKS[program]
        return JobCosts(**{**{name: getattr(base, name) for name in _COSTS}, **given})


_COSTS = tuple(JobCosts.__dataclass_fields__)


class ArrivalsTable(Table):
    """When jobs come."""

    law: ArrivalLaw = Field(
        "fixed",
        description="with one gap between every two; Poisson; some at a time, with exponential "
        "gaps between these; all at once; or each after the job before it of the same user has "
        "ended, the user's first one at first",
    )
    gap: Seconds = Field(
        1.0,
        description="between two jobs, or two bursts; of random ones the mean; after: since the "
        "end of the job before it",
    )
    burst: Annotated[int, within(1, 10**6, "jobs")] = Field(
        10, description="how many come together in a burst"
    )
    first: Seconds = Field(0.0, description="when the first one comes, or the random gaps begin")


class MixTable(Table):
    """The published mix of long and small jobs; each job has a user of its own."""

    pattern: Pattern = Field(
        description="all long jobs first; four small ones before each long one; or this, with "
        "small jobs in queues of their own"
    )
    queues: Annotated[tuple[Name, ...], ListOf] = Field(
        description="each gets all the jobs; apart: the long ones"
    )
    small_queues: Annotated[tuple[Name, ...], AnyList] = Field(
        (), description="apart: as many queues, for the small jobs"
    )
    gap: Seconds = Field(1.0, description="between two jobs of a queue")
    rounds: Annotated[int, within(1, 1000)] = Field(
        1, description="how many times 50 jobs each queue gets"
    )

    @model_validator(mode="after")
    def _queues_fit(self) -> Self:
        if self.pattern == "apart" and len(self.small_queues) != len(self.queues):
            raise ValueError(
                f"{len(self.queues)} queues need as many small_queues, not {len(self.small_queues)}"
            )
        if self.pattern != "apart" and self.small_queues:
            raise ValueError('small_queues are for pattern = "apart"')
        return self


class JobsTable(Table):
    """Jobs that are alike."""

    family: Name | None = Field(
        None, description="what figures are grouped by; the program without it"
    )
    program: Benchmark | None = Field(
        None, description="whose costs tasks have where costs says none; TeraSort's without"
    )
    count: Annotated[int, within(1, 10**6, "jobs")] = Field(1, description="how many such jobs")
    input: Annotated[float | None, within(0.001, 1e9, "MiB")] = Field(
        None, description="that each reads; one map for each block"
    )
    maps: Annotated[int | None, within(1, 10**6)] = Field(
        None, description="instead of input: so many maps of a whole block"
    )
    reduces: Annotated[int, within(0, 10**6)] = Field(
        1, description="of each job; 0: its maps write the output"
    )
    queue: Name = Field("default", description="to which they are submitted, or which pool")
    user: Name | None = Field(
        None, description="who submits them; without it each job has a user of its own"
    )
    priority: Priority = Field(
        "normal", description="among the jobs of a queue that heeds priorities"
    )
    arrivals: ArrivalsTable = Field(ArrivalsTable(), description="when they come")
    costs: CostsTable = Field(CostsTable(), description="what their tasks take")

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.input is None) == (self.maps is None):
            raise ValueError("give one of input = MiB and maps = COUNT")
        if self.family is None and self.program is None:
            raise ValueError('give a family = "NAME", or the program whose costs they have')
        if self.arrivals.law == "after" and self.user is None:
            raise ValueError('arrivals.law = "after" is for jobs of one user; add user = "NAME"')
        return self

    @property
    def shown_family(self) -> str:
        """What figures are grouped by."""
        return self.family or str(self.program)

    @property
    def level(self) -> JobPriority:
        """The priority as jobs have it."""
        return JobPriority[self.priority.upper()]


class DrawnTable(Table):
    """Jobs that are drawn, as MRPERF draws them: many small ones and a few large ones."""

    jobs: Annotated[int, within(1, 10**5)] = Field(description="how many")
    families: Annotated[tuple[RandomFamily, ...], ListOf] = Field(
        RANDOM_FAMILIES, description="of which, each as likely"
    )
    queues: Annotated[tuple[Name, ...], ListOf] = Field(
        ("default",), description="where they go, each as likely"
    )
    users: Annotated[int, within(1, 10**6)] = Field(
        1, description="who share the jobs; each is as likely to have one"
    )
    arrivals: ArrivalsTable = Field(ArrivalsTable(law="poisson"), description="when they come")

    @model_validator(mode="after")
    def _open(self) -> Self:
        if self.arrivals.law == "after":
            raise ValueError('arrivals.law = "after" is for jobs of given sizes, with a user')
        return self


class SwimTable(Table):
    """Jobs of a SWIM trace: of their bytes splits, reduces and ratios are made."""

    trace: str = Field(
        min_length=1, description="the trace (.tsv or .tsv.gz), from the scenario's folder"
    )
    first: Annotated[int | None, within(1, 10**6, "jobs")] = Field(
        None, description="of the jobs, only the first ones"
    )
    speed: Annotated[float, within(0.001, 1000)] = Field(
        1.0, description="submit jobs so many times as fast"
    )
    reducer: Annotated[int, within(1, 10**6, "MiB")] = Field(
        1024, description="shuffle of a reduce"
    )
    program: Benchmark | None = Field(
        None, description="whose costs of processors tasks have; TeraSort's without"
    )
    queues: Annotated[tuple[Name, ...], ListOf] = Field(
        ("default",), description="where jobs go, each as likely"
    )
    users: Annotated[int, within(1, 10**6)] = Field(
        1, description="who share the jobs; each is as likely to have one"
    )


class RumenTable(Table):
    """Jobs of a history that Rumen has made: with the bytes of their tasks, and their times."""

    trace: str = Field(
        min_length=1, description="the history (.json or .json.gz), from the scenario's folder"
    )
    first: Annotated[int | None, within(1, 10**6, "jobs")] = Field(
        None, description="of the jobs, only the first ones"
    )
    speed: Annotated[float, within(0.001, 1000)] = Field(
        1.0, description="submit jobs so many times as fast"
    )
    program: Benchmark | None = Field(
        None,
        description="whose costs of processors tasks have; without it as much as it takes for the "
        "tasks of a job, alone on a node, to take as long as in the history",
    )


class MapReduceWorkload(Table):
    """Where jobs come from; jobs of several sources come together."""

    block: Annotated[int, within(1, 10**6, "MiB")] = Field(
        64, description="a block of the file system: what a map reads"
    )
    mix: MixTable | None = Field(None, description="the published mix")
    jobs: Annotated[tuple[JobsTable, ...], AnyList] = Field((), description="jobs of given sizes")
    drawn: DrawnTable | None = Field(None, description="jobs drawn for each replication")
    swim: SwimTable | None = Field(None, description="jobs of a trace")
    rumen: RumenTable | None = Field(None, description="jobs of a history")

    @model_validator(mode="after")
    def _some_source(self) -> Self:
        sources = (self.mix, self.jobs, self.drawn, self.swim, self.rumen)
        if not any(sources):
            raise ValueError("say which jobs there are: mix, jobs, drawn, swim or rumen")
        return self

    @property
    def traces(self) -> dict[str, str]:
        """The files that jobs are read from, by the tables that name them."""
        named = {"swim": self.swim, "rumen": self.rumen}
        return {name: table.trace for name, table in named.items() if table is not None}

    @property
    def is_random(self) -> bool:
        """Whether replications have other jobs."""
        shared = self.swim is not None and (self.swim.users > 1 or len(self.swim.queues) > 1)
        laws = [each.arrivals.law for each in self.jobs]
        return self.drawn is not None or shared or "poisson" in laws or "bursts" in laws
