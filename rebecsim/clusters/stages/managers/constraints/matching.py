"""Matching tasks whose starts are known to resources."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping

from rebecsim.clusters.stages.job import TaskKey, TaskKind
from rebecsim.clusters.stages.managers.constraints.problem import PlanningProblem
from rebecsim.clusters.stages.resources import pool_of
from rebecsim.clusters.stages.schedule import Assignment


def matched(problem: PlanningProblem, starts: Mapping[TaskKey, int]) -> Iterator[Assignment]:
    """Give tasks, in the order of their starts, the slot that is free then and was taken last.

    It is always there if no more slots are taken at a time than there are.
    """
    jobs = {each.number: each.job for each in problem.jobs}
    free = _slots(problem)
    is_typed = problem.resources[0].is_typed
    for key, start in sorted(starts.items(), key=lambda each: (each[1], each[0])):
        task = jobs[key.job].tasks[key.task]
        slots = free[task.kind if is_typed else TaskKind.GENERIC]
        end = start + task.expected
        _, resource = slots.pop(bisect_right(slots, (start, len(problem.resources))) - 1)
        insort(slots, (end, resource))
        yield Assignment(key, resource, start, end)


def _slots(problem: PlanningProblem) -> dict[TaskKind, list[tuple[int, int]]]:
    """Give for each sort when each slot is free, and of which resource it is, in this order."""
    free: dict[TaskKind, list[tuple[int, int]]] = {}
    for each in problem.resources:
        for kind in {pool_of(each, kind) for kind in TaskKind}:
            slots = free.setdefault(kind, [])
            slots.extend([(problem.now, each.number)] * each.slots_for(kind))
    for kind, running in problem.running:
        slots = free[pool_of(problem.resources[running.resource], kind)]
        slots.remove((problem.now, running.resource))
        slots.append((running.end, running.resource))
    for slots in free.values():
        slots.sort()
    return free
