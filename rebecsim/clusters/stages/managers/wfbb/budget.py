"""Deadline budgets of workflows: every task gets a share of its job's laxity, and a sub-deadline.

All times are ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rebecsim.clusters.stages.job import StageJob
from rebecsim.clusters.stages.laxity import SampleRun


class BudgetRule(StrEnum):
    """How laxity is divided."""

    PROPORTIONAL = "PD"
    EVEN = "ED"


@dataclass(frozen=True, slots=True)
class Budget:
    """What the deadline leaves a job, and its tasks.

    Attributes:
        laxity: what is left of the time until its deadline; negative where that is too short.
        sub_deadlines: by when each task should have ended.
        ranks: of tasks that take as long the one with the least is placed first.
    """

    laxity: int
    sub_deadlines: tuple[int, ...]
    ranks: tuple[int, ...]


def budget_of(
    job: StageJob, sample: SampleRun, rule: BudgetRule, *, by_letter: bool = False
) -> Budget:
    """Divide the laxity of a job by its sample run.

    Proportionally, a task gets as much as its completion is far in the sample run; evenly, all
    phases get as much. Parents for which nothing else waits get until the sub-deadline
    of the last one. Ranks are sub-deadlines as they would be if all parents of a dummy got its own,
    as algorithm 7.3 has it: so the tasks of a phase of CyberShake have one rank, and how laxity is
    divided makes no difference to tasks that begin as early as they can (tables D.1 to D.8). With
    `by_letter` sub-deadlines are those of that algorithm, too.
    """
    time = sample.duration
    laxity = job.deadline - job.start - time
    if rule is BudgetRule.PROPORTIONAL:
        shares = [(each - job.start) * laxity // time for each in sample.completions]
    else:
        shares = _even_shares(job, sample, laxity)
    deadlines = [end + share for end, share in zip(sample.completions, shares, strict=True)]
    ranks = list(deadlines)
    for number in job.order:
        if len(job.tasks[number].parents) > 1:
            if by_letter:
                _raise_by_letter(job, number, deadlines)
            else:
                _raise_parents(job, number, deadlines)
            _raise_parents(job, number, ranks, all_of_dummies=True)
    if by_letter:
        ranks = deadlines
    return Budget(laxity, tuple(deadlines), tuple(ranks))


def _even_shares(job: StageJob, sample: SampleRun, laxity: int) -> list[int]:
    """Give what the phases up to that of a task have together."""
    phases = sorted({task.phase for task in job.tasks})
    place = {phase: number for number, phase in enumerate(phases, 1)}
    shares = [0] * len(job.tasks)
    for number in job.order:
        task = job.tasks[number]
        if not task.is_dummy:
            shares[number] = place[task.phase] * laxity // len(phases)
        elif task.parents:  # that of the parent that ends last
            last = max(task.parents, key=lambda parent: sample.completions[parent])
            shares[number] = shares[last]
    return shares


def _raise_parents(
    job: StageJob, number: int, deadlines: list[int], *, all_of_dummies: bool = False
) -> None:
    """Give the parents of a task until the latest sub-deadline of them, that of a dummy until its.

    Not those for which others wait, too: these would be left with less than their share.
    """
    task = job.tasks[number]
    latest = deadlines[number]
    if not task.is_dummy:
        latest = max(deadlines[parent] for parent in task.parents)
    for parent in task.parents:
        if len(job.children[parent]) == 1 or (all_of_dummies and task.is_dummy):
            deadlines[parent] = latest


def _raise_by_letter(job: StageJob, number: int, deadlines: list[int]) -> None:
    """Do what algorithm 7.3 prints: all parents of a dummy get its sub-deadline; those of a task
    the latest of theirs, unless a longer path, too, leads from them to the task.
    """
    task = job.tasks[number]
    if task.is_dummy:
        for parent in task.parents:
            deadlines[parent] = deadlines[number]
        return
    latest = max(deadlines[parent] for parent in task.parents)
    before = _ancestors(job, task.parents)
    for parent in task.parents:
        if parent not in before:
            deadlines[parent] = latest


def _ancestors(job: StageJob, numbers: tuple[int, ...]) -> set[int]:
    """Give the tasks that some tasks wait for, directly or not."""
    found: set[int] = set()
    left = [parent for number in numbers for parent in job.tasks[number].parents]
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left.extend(job.tasks[number].parents)
    return found
