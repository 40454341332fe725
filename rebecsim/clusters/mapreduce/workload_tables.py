"""The tables of a scenario that describe its jobs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from rebecsim.clusters.mapreduce.job import SECOND, JobCosts, JobPriority
from rebecsim.clusters.mapreduce.job_families import (
    BENCHMARKS,
    RANDOM_FAMILIES,
    Pattern,
    RandomFamily,
)
from rebecsim.studies.scenario import AnyList, ListOf, Table, within

ArrivalLaw = Literal["fixed", "poisson", "bursts", "at_once", "after"]
Benchmark = Literal["sort", "terasort", "wordcount"]
Priority = Literal["very_low", "low", "normal", "high", "very_high"]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Seconds = Annotated[float, within(0, 1e9, "seconds")]


class CostsTable(Table):
    """Costs of tasks. Missing keys take the costs of the named program, or of TeraSort."""

    start: Annotated[float | None, within(0, 1e15, "cycles")] = Field(
        None, description="starting a task's process"
    )
    map: Annotated[float | None, within(0, 1e15, "cycles per byte")] = Field(
        None, description="the map function, for its input"
    )
    map_ratio: Annotated[float | None, within(0, 1e9)] = Field(
        None, description="output bytes of the map function for each input byte"
    )
    combine_ratio: Annotated[float | None, within(0, 1e9)] = Field(
        None, description="output bytes of the combiner for each of these; 1: no combiner"
    )
    sort: Annotated[float | None, within(0, 1e15, "cycles per byte")] = Field(
        None, description="sorting the output of a map"
    )
    merge: Annotated[float | None, within(0, 1e15, "cycles")] = Field(
        None, description="a merge, each time that the memory of a reduce is full"
    )
    reduce_sort: Annotated[float | None, within(0, 1e15, "cycles")] = Field(
        None, description="the sort before the reduce function"
    )
    reduce: Annotated[float | None, within(0, 1e15, "cycles per byte")] = Field(
        None, description="the reduce function, for its input"
    )
    reduce_ratio: Annotated[float | None, within(0, 1e9)] = Field(
        None, description="output bytes of the reduce function for each input byte"
    )

    def costs(self, program: Benchmark | None = None) -> JobCosts:
        """Return all costs; missing ones are those of a program."""
        given = {name: value for name, value in self.model_dump().items() if value is not None}
        base = JobCosts() if program is None else BENCHMARKS[program]
        return JobCosts(**{**{name: getattr(base, name) for name in _COSTS}, **given})


_COSTS = tuple(JobCosts.__dataclass_fields__)


class ArrivalsTable(Table):
    """When jobs come."""

    law: ArrivalLaw = Field(
        "fixed",
        description="fixed: equal gaps; poisson: exponential gaps; bursts: several jobs at a time, "
        "with exponential gaps between bursts; at_once: all at `first`; after: each when the job "
        "before it of the same user has ended",
    )
    gap: Seconds = Field(
        1.0,
        description="time between two jobs or bursts, the mean if random; after: time from the end "
        "of the job before it",
    )
    burst: Annotated[int, within(1, 10**6, "jobs")] = Field(10, description="jobs in a burst")
    first: Seconds = Field(0.0, description="when the first job arrives, or random gaps begin")

    def times(self, jobs: int, draws: np.random.Generator) -> list[int]:
        """Return arrival times in order (microseconds); for `after`, times from the end before."""
        first = 0.0 if self.law == "after" else self.first
        seconds = first + self._offsets(jobs, draws)
        return [round(each * SECOND) for each in seconds.tolist()]

    def _offsets(self, jobs: int, draws: np.random.Generator) -> NDArray[np.float64]:
        numbers = np.arange(jobs)
        match self.law:
            case "at_once":
                return np.zeros(jobs)
            case "fixed":
                return np.asarray(numbers * self.gap)
            case "after":
                return np.full(jobs, self.gap)
            case "poisson":
                return np.asarray(np.cumsum(draws.exponential(self.gap, jobs)))
            case "bursts":
                bursts = -(-jobs // self.burst)
                times = np.cumsum(draws.exponential(self.gap, bursts))
                return np.asarray(times[numbers // self.burst])


class MixTable(Table):
    """The published mix of long and small jobs; each job has a user of its own."""

    pattern: Pattern = Field(
        description="separated: all long jobs first; interleaved: four small jobs before each long "
        "one; apart: interleaved, with small jobs in queues of their own"
    )
    queues: Annotated[tuple[Name, ...], ListOf] = Field(
        description="queues, each of which gets all jobs; apart: all long jobs"
    )
    small_queues: Annotated[tuple[Name, ...], AnyList] = Field(
        (), description="apart: as many queues for the small jobs"
    )
    gap: Seconds = Field(1.0, description="time between two jobs of a queue")
    rounds: Annotated[int, within(1, 1000)] = Field(
        1, description="rounds of 50 jobs for each queue"
    )

    @model_validator(mode="after")
    def _queues_fit(self) -> Self:
        if self.pattern == "apart" and len(self.small_queues) != len(self.queues):
            raise ValueError(
                f"{len(self.queues)} queues need as many small_queues, not {len(self.small_queues)}"
            )
        if self.pattern != "apart" and self.small_queues:
            raise ValueError('small_queues needs pattern = "apart"')
        return self


class JobsTable(Table):
    """Equal jobs."""

    family: Name | None = Field(
        None, description="name by which measures are grouped; by default the program"
    )
    program: Benchmark | None = Field(
        None, description="program with the costs that `costs` lacks; by default terasort"
    )
    count: Annotated[int, within(1, 10**6, "jobs")] = Field(1, description="number of jobs")
    input: Annotated[float | None, within(0.001, 1e9, "MiB")] = Field(
        None, description="input of each job, with a map for each block"
    )
    maps: Annotated[int | None, within(1, 10**6)] = Field(
        None, description="instead of input: maps of each job, of a whole block each"
    )
    reduces: Annotated[int, within(0, 10**6)] = Field(
        1, description="reduces of each job; 0: its maps write the output"
    )
    queue: Name = Field("default", description="queue or pool that they are submitted to")
    user: Name | None = Field(
        None, description="user who submits them; by default one for each job"
    )
    priority: Priority = Field("normal", description="priority, for queues that support priorities")
    arrivals: ArrivalsTable = Field(ArrivalsTable(), description="when they arrive")
    costs: CostsTable = Field(CostsTable(), description="costs of their tasks")

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.input is None) == (self.maps is None):
            raise ValueError("give either input = MiB or maps = COUNT")
        if self.family is None and self.program is None:
            raise ValueError('give family = "NAME", or the program that sets their costs')
        if self.arrivals.law == "after" and self.user is None:
            raise ValueError('arrivals.law = "after" needs user = "NAME"')
        return self

    @property
    def shown_family(self) -> str:
        """Name by which measures are grouped."""
        return self.family or str(self.program)

    @property
    def level(self) -> JobPriority:
        """The priority as jobs have it."""
        return JobPriority[self.priority.upper()]


class DrawnTable(Table):
    """Random jobs, as MRPERF draws them: many small ones and a few large ones."""

    jobs: Annotated[int, within(1, 10**5)] = Field(description="number of jobs")
    families: Annotated[tuple[RandomFamily, ...], ListOf] = Field(
        RANDOM_FAMILIES, description="families of jobs, equally likely"
    )
    queues: Annotated[tuple[Name, ...], ListOf] = Field(
        ("default",), description="queues of the jobs, equally likely"
    )
    users: Annotated[int, within(1, 10**6)] = Field(
        1, description="number of users, equally likely to submit a job"
    )
    arrivals: ArrivalsTable = Field(ArrivalsTable(law="poisson"), description="when they arrive")

    @model_validator(mode="after")
    def _open(self) -> Self:
        if self.arrivals.law == "after":
            raise ValueError('arrivals.law = "after" works only in [[workload.jobs]]')
        return self


class SwimTable(Table):
    """Jobs of a SWIM trace, whose bytes determine splits, reduces and ratios."""

    trace: str = Field(
        min_length=1, description="the trace (.tsv or .tsv.gz), relative to the scenario's folder"
    )
    first: Annotated[int | None, within(1, 10**6, "jobs")] = Field(
        None, description="use only this many first jobs"
    )
    speed: Annotated[float, within(0.001, 1000)] = Field(
        1.0, description="factor by which jobs arrive faster"
    )
    reducer: Annotated[int, within(1, 10**6, "MiB")] = Field(
        1024, description="shuffled bytes for each reduce"
    )
    program: Benchmark | None = Field(
        None, description="program with the processor costs of tasks; by default terasort"
    )
    queues: Annotated[tuple[Name, ...], ListOf] = Field(
        ("default",), description="queues of the jobs, equally likely"
    )
    users: Annotated[int, within(1, 10**6)] = Field(
        1, description="number of users, equally likely to submit a job"
    )


class RumenTable(Table):
    """Jobs of a history by Rumen, with the bytes and times of their tasks."""

    trace: str = Field(
        min_length=1,
        description="the history (.json or .json.gz), relative to the scenario's folder",
    )
    first: Annotated[int | None, within(1, 10**6, "jobs")] = Field(
        None, description="use only this many first jobs"
    )
    speed: Annotated[float, within(0.001, 1000)] = Field(
        1.0, description="factor by which jobs arrive faster"
    )
    program: Benchmark | None = Field(
        None,
        description="program with the processor costs of tasks; by default, costs are fitted: "
        "tasks of a job, alone on a node, take as long as in the history",
    )


class MapReduceWorkload(Table):
    """Sources of jobs, whose jobs are merged by arrival."""

    block: Annotated[int, within(1, 10**6, "MiB")] = Field(
        64, description="block size of the file system: the input of a map"
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
            raise ValueError("give at least one source of jobs: mix, jobs, drawn, swim or rumen")
        return self

    @property
    def traces(self) -> dict[str, str]:
        """The trace files, by table."""
        named = {"swim": self.swim, "rumen": self.rumen}
        return {name: table.trace for name, table in named.items() if table is not None}

    @property
    def is_random(self) -> bool:
        """Whether jobs differ between replications."""
        shared = self.swim is not None and (self.swim.users > 1 or len(self.swim.queues) > 1)
        laws = [each.arrivals.law for each in self.jobs]
        return self.drawn is not None or shared or "poisson" in laws or "bursts" in laws
