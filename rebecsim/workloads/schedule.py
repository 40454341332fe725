"""Schedules: when each job of a workload ran. Schedulers make them, metrics read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.cleaning import CleaningRules
from rebecsim.workloads.job import Integers, Workload
from rebecsim.workloads.logs import read_log
from rebecsim.workloads.swf import write_swf

_AS_LOGGED: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A workload and when each of its jobs ran.

    Nothing is said here about whether a machine could run it: that is for a validator to find out.

    Attributes:
        workload: the jobs.
        start: when each job began, whole seconds on the clock of `workload.submit`.
        duration: how long each ran, whole seconds; as logged (`workload.run`) if not given. It is
            less where a job was killed at its time limit.
        policy: name of the policy, for tables and pictures.
        fair_start: when each would have begun if no job had been submitted after it, seconds; None
            where it was not looked for.
    """

    workload: Workload
    start: Integers
    duration: Integers = field(default_factory=lambda: _AS_LOGGED)
    policy: str = ""
    fair_start: Integers | None = None

    def __post_init__(self) -> None:
        if self.duration is _AS_LOGGED:
            object.__setattr__(self, "duration", self.workload.run)
        for name in ("start", "duration"):
            column = getattr(self, name)
            if column.shape != (len(self.workload),) or column.dtype != np.int64:
                raise ValueError(f"{name} should be {len(self.workload)} values of int64")
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.workload)

    @property
    def end(self) -> Integers:
        """When each job ended; seconds."""
        return self.start + self.duration

    @property
    def wait(self) -> Integers:
        """How long each job waited; seconds."""
        return self.start - self.workload.submit

    def select(self, jobs: NDArray[Any]) -> Schedule:
        """Give the schedule of the jobs of a mask or of an array of indices, in that order."""
        chosen = self.workload.select(jobs)
        fair = None if self.fair_start is None else self.fair_start[jobs]
        return Schedule(chosen, self.start[jobs], self.duration[jobs], self.policy, fair)


def read_schedule(path: Path, *, processors: int | None = None) -> Schedule:
    """Read the schedule that a log holds: in SWF, or that of a machine under PBS or Torque.

    Field 3 is the wait, field 4 the time that a job ran, field 5 the processors that it was
    allocated; those requested count where this is unknown.

    Rows may come in any order, as other tools write them in the order of starts or ends; the jobs
    are in the order of submission here. Rows without a wait are skipped and counted. `processors`
    is the size of the machine, instead of the header's. Raises what `read_log` raises.
    """
    rules = CleaningRules(size="allocated", sort=True, needs_wait=True, fits_machine=False)
    workload = read_log(path, processors=processors, rules=rules)
    return Schedule(workload, workload.submit + workload.wait, policy=path.name)


def write_schedule(schedule: Schedule, path: Path) -> None:
    """Write a schedule as SWF: its waits, its durations, its processors as the allocated ones.

    What jobs requested stays as it was. Raises what `write_swf` raises.
    """
    jobs = schedule.workload
    ran = jobs.with_columns(run=schedule.duration, allocated=jobs.processors)
    write_swf(ran, path, waits=schedule.wait)
