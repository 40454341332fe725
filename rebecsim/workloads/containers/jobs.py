"""Container jobs, as traces of YARN clusters have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TaskKind = Literal["map", "reduce"]


@dataclass(frozen=True, slots=True)
class TaskClass:
    """Tasks of a job that are alike, each of which runs in a container of its own.

    Attributes:
        kind: what they do in the job.
        count: how many they are, at least 1.
        duration: how long each runs in the memory that it asks for, in milliseconds.
        memory: what each asks for, in MB.
        cores: what each asks for.
        priority: classes of a smaller number are given containers first.
        penalty: the name of the model that says how much longer a task runs in less memory; None:
            that of the run.
        bump: the parameter of the penalty, where it has one: the factor on durations.
        host: where they would rather run, as `/rack/node`; empty: anywhere. Generators of traces
            write names of nodes that do not exist.
        allocation: the number by which their AppMaster tells its requests apart; -1: none.
    """

    kind: TaskKind
    count: int
    duration: int
    memory: int
    cores: int = 1
    priority: int = 20
    penalty: str | None = None
    bump: float | None = None
    host: str = ""
    allocation: int = -1


@dataclass(frozen=True, slots=True)
class ContainerJob:
    """A job of containers.

    Attributes:
        number: N of its name `job_N`, or another that no other job of the trace has.
        start: when it is submitted, in milliseconds; None: when `after` has finished.
        after: the number of the job that it waits for, or None.
        classes: its tasks, in the order of the trace.
        source: where it stands, as `FILE:LINE`, for errors; empty for jobs of no file.
        user: who submits it.
        queue: the queue of the scheduler to which it is submitted.
        label: the label of the nodes on which its containers run; empty: none.
        end: when it ended in the trace (ms), which no run looks at; None: unknown.
        application: the type of its AppMaster.
        master_memory: MB of its AppMaster; None: those of the cluster's configuration.
        master_cores: cores of its AppMaster; None: those of the cluster's configuration.
        known_as: its name where that is not `job_N`.
    """

    number: int
    start: int | None
    after: int | None
    classes: tuple[TaskClass, ...]
    source: str = field(default="", compare=False)
    user: str = "default"
    queue: str = "default"
    label: str = ""
    end: int | None = None
    application: str = "mapreduce"
    master_memory: int | None = None
    master_cores: int | None = None
    known_as: str = ""

    @property
    def name(self) -> str:
        """The name in traces and results."""
        return self.known_as or f"job_{self.number}"


def circle_of_waiting(jobs: Mapping[int, ContainerJob]) -> list[ContainerJob]:
    """Give jobs of which each waits for the next and the last for the first, if there are such.

    `jobs` are all, by number, with those that are waited for.
    """
    settled: set[int] = set()
    for number, job in jobs.items():
        way: dict[int, ContainerJob] = {}
        while number not in settled and number not in way:
            way[number] = job
            if job.after is None:
                break
            number = job.after
            job = jobs[number]
        else:
            if number in way:
                jobs_of_way = list(way.values())
                return jobs_of_way[jobs_of_way.index(job) :]
        settled.update(way)
    return []
