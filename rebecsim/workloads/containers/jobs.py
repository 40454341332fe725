"""Jobs that run in containers, as traces of YARN clusters have them."""

from __future__ import annotations

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
    """

    kind: TaskKind
    count: int
    duration: int
    memory: int
    cores: int = 1
    priority: int = 20
    penalty: str | None = None
    bump: float | None = None


@dataclass(frozen=True, slots=True)
class ContainerJob:
    """A job of containers.

    Attributes:
        number: N of its name `job_N`.
        start: when it is submitted, in milliseconds; None: when `after` has finished.
        after: the number of the job that it waits for, or None.
        classes: its tasks, in the order of the trace.
        source: where it stands, as `FILE:LINE`, for errors; empty for jobs of no file.
    """

    number: int
    start: int | None
    after: int | None
    classes: tuple[TaskClass, ...]
    source: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The name in traces and results."""
        return f"job_{self.number}"
