"""Estimate how large runs are: jobs, tasks, time and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebecsim.limits import TASKS
from rebecsim.wording import counted

LARGE = 60.0
"""Estimated seconds from which on runs are announced."""

_PROCESS = 100_000_000
"""Bytes of a process with what it has imported."""

_UNITS = ((1, "second", 60), (60, "minute", 60), (3_600, "hour", 24))
"""Seconds of a unit, its name, and how many make up the next one."""
_DAY = 86_400


@dataclass(frozen=True)
class RunSize:
    """One run, as far as it can be told beforehand.

    `seconds` are of one processor, and right within a factor of about three; `memory` is in bytes,
    beside that of the process. `tasks` is 0 where jobs have none; `of` is what is counted where it
    is no jobs. It may take many times as long where it takes so long `at_least`.
    """

    jobs: int
    tasks: int
    seconds: float
    memory: int
    of: str = "job"
    at_least: bool = False


@dataclass(frozen=True)
class Size:
    """All runs of a command.

    `largest` is the one with the most tasks, and of those the most jobs. `seconds` are of wall time
    with so many `workers`, `memory` is that of all processes in bytes.
    """

    runs: int
    largest: RunSize
    seconds: float
    memory: int
    workers: int
    at_least: bool = False

    @classmethod
    def of(cls, runs: Sequence[tuple[int, RunSize]], workers: int = 1) -> Size:
        """Put runs together: how many there are of each size. Raises ValueError for none."""
        largest = max((each for _, each in runs), key=lambda each: (each.tasks, each.jobs))
        number = sum(count for count, _ in runs)
        busy = max(1, min(workers, number))
        processes = busy + (workers > 1)
        return cls(
            number,
            largest,
            sum(count * each.seconds for count, each in runs) / busy,
            processes * _PROCESS + busy * max(each.memory for _, each in runs),
            busy,
            any(each.at_least for _, each in runs),
        )

    def require_bounded(self) -> None:
        """Raise LimitError for a run of too many tasks."""
        TASKS.require(self.largest.tasks)

    @property
    def is_large(self) -> bool:
        """Whether a user should know of it before the runs begin."""
        return self.seconds > LARGE

    @property
    def text(self) -> str:
        """Say it in a line."""
        of = counted(self.largest.jobs, self.largest.of)
        if self.largest.tasks:
            of += f" and {counted(self.largest.tasks, 'task')}"
        each = "" if self.runs == 1 else "each "
        time = ("at least " if self.at_least else "") + duration(self.seconds)
        by = f" with {counted(self.workers, 'worker')}" if self.workers > 1 else ""
        return (
            f"{counted(self.runs, 'run')}, {each}of up to {of}: estimated {time}"
            f"{by} and {max(self.memory // 1_000_000, 1):,} MB of memory"
        )


def duration(seconds: float) -> str:
    """Say how long something takes, roughly."""
    for unit, name, most in _UNITS:
        if (number := round(seconds / unit)) < most:
            return counted(max(1, number), name)
    return counted(round(seconds / _DAY), "day")
