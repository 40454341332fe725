"""A job on its way through the mapping: its budget, and where its tasks are."""

from __future__ import annotations

from rebecsim.clusters.stages.job import StageJob
from rebecsim.clusters.stages.managers.wfbb.budget import Budget

NOWHERE = -1


class MappedJob:
    """A job and where its tasks are.

    Attributes:
        laxity: what is left until the deadline on free resources (ms).
        normalised: that, for each unit of the time that the job takes there.
        sequence: the tasks in the order in which they are placed: the longest first.
        starts: when each task starts (ms); `NOWHERE`: it has no place.
        ends: when each ends, likewise; that of a dummy is when its parents have ended.
        resources: on which each runs; `NOWHERE` for dummies, too.
        first: when the first task starts (ms).
        last: when the last one ends (ms).
        movable: the tasks that had not started when it was last decided, in their sequence.
        decision: the number of that decision.
    """

    __slots__ = (
        "budget",
        "deadline",
        "decision",
        "ends",
        "first",
        "job",
        "last",
        "last_start",
        "laxity",
        "movable",
        "normalised",
        "number",
        "resources",
        "sequence",
        "starts",
    )

    def __init__(self, job: StageJob, budget: Budget, sample_time: int) -> None:
        self.job = job
        self.number = job.number
        self.deadline = job.deadline
        self.laxity = job.deadline - job.start - sample_time
        self.normalised = self.laxity / sample_time
        self.budget = budget
        expected, until = job.expected, budget.sub_deadlines
        count = len(expected)
        self.sequence = sorted(range(count), key=lambda task: (-expected[task], until[task], task))
        self.starts = [NOWHERE] * count
        self.ends = [NOWHERE] * count
        self.resources = [NOWHERE] * count
        self.first = self.last = self.last_start = NOWHERE
        self.movable = self.sequence
        self.decision = 0

    def touch(self, decision: int, now: int) -> None:
        """See, when a decision first comes to this job, which tasks have not started."""
        if self.decision != decision:
            self.decision = decision
            starts, expected = self.starts, self.job.expected
            self.movable = [
                task
                for task in self.sequence
                if not 0 <= starts[task] <= now or expected[task] == 0
            ]

    def settle(self) -> None:
        """Take down when it starts and ends, after its tasks have been placed."""
        self.first = min(start for start in self.starts if start >= 0)
        self.last = max(self.ends)
        self.last_start = max(self.starts)


def by_deadline(each: MappedJob) -> tuple[float, ...]:
    """Order jobs by deadlines, then by laxity."""
    return each.deadline, each.laxity, each.number


def by_laxity(each: MappedJob) -> tuple[float, ...]:
    """Order jobs by laxity for each unit of sample time, then by deadlines and arrivals."""
    return each.normalised, each.deadline, each.job.arrival, each.number
