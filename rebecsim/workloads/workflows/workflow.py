"""A workflow: tasks that take some time and wait for others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.workloads.errors import WorkloadError

_MOST_SHOWN = 10
"""Tasks of a cycle that an error names."""
LONGEST_TASK = 10**9
"""Seconds that a task may run, some 30 years; sums over a workflow are then exact."""


@dataclass(frozen=True, slots=True)
class WorkflowTask:
    """A task.

    Attributes:
        identifier: that of the file.
        name: what it does, which others may do, too.
        seconds: how long it runs.
        parents: the places, in the workflow, of the tasks that it waits for.
    """

    identifier: str
    name: str
    seconds: float
    parents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskElement:
    """A task as it stands in a file.

    Attributes:
        where: the file and the place there, for errors.
        identifier: by which others name it.
        name: what it does.
        seconds: how long it runs.
        parents: identifiers, and for each where it is named.
    """

    where: str
    identifier: str
    name: str
    seconds: float
    parents: Mapping[str, str]


def connected(elements: Sequence[TaskElement]) -> tuple[WorkflowTask, ...]:
    """Give the tasks of a workflow, in the order of the file.

    Raises WorkloadError, which names the place in the file, for an identifier that two tasks have,
    a parent that is not there, tasks that wait for each other, and times below 0 or of more than
    `LONGEST_TASK` seconds.
    """
    places: dict[str, int] = {}
    for place, each in enumerate(elements):
        if each.identifier in places:
            raise WorkloadError(f"{each.where}: another task is called {each.identifier}")
        if not 0 <= each.seconds <= LONGEST_TASK:
            raise WorkloadError(
                f"{each.where}: task {each.identifier} runs for {each.seconds:g} s; give 0 or "
                f"more, at most {LONGEST_TASK:,}"
            )
        places[each.identifier] = place
    for each in elements:
        for parent, where in each.parents.items():
            if parent not in places:
                raise WorkloadError(
                    f"{where}: task {each.identifier} waits for {parent}, which does not exist"
                )
    tasks = tuple(
        WorkflowTask(
            each.identifier,
            each.name,
            each.seconds,
            tuple(sorted(places[parent] for parent in each.parents)),
        )
        for each in elements
    )
    _require_no_cycle(elements, tasks)
    return tasks


def parents_first(tasks: Sequence[WorkflowTask]) -> list[int]:
    """Give the places of tasks, each after its parents; those in or behind a cycle are left out."""
    left = [len(task.parents) for task in tasks]
    children: list[list[int]] = [[] for _ in tasks]
    for place, task in enumerate(tasks):
        for parent in task.parents:
            children[parent].append(place)
    free = [place for place, count in enumerate(left) if count == 0]
    for place in free:
        for child in children[place]:
            left[child] -= 1
            if left[child] == 0:
                free.append(child)
    return free


def _require_no_cycle(elements: Sequence[TaskElement], tasks: Sequence[WorkflowTask]) -> None:
    left = set(range(len(tasks))).difference(parents_first(tasks))
    if left:
        cycle = _cycle(tasks, min(left), left)
        names = ", which waits for ".join(_shown([tasks[place].identifier for place in cycle]))
        raise WorkloadError(f"{elements[cycle[0]].where}: tasks wait for each other: {names}")


def _shown(names: Sequence[str]) -> Sequence[str]:
    """Leave out the middle of a long cycle."""
    left_out = len(names) - _MOST_SHOWN
    if left_out <= 0:
        return names
    half = _MOST_SHOWN // 2
    return [*names[:half], f"... ({left_out:,} more)", *names[-half:]]


def _cycle(tasks: Sequence[WorkflowTask], start: int, left: Collection[int]) -> list[int]:
    """Go from task to parent until one comes again; give those from there on, it at both ends."""
    seen: dict[int, int] = {}
    place = start
    while place not in seen:
        seen[place] = len(seen)
        place = next(parent for parent in tasks[place].parents if parent in left)
    return [*list(seen)[seen[place] :], place]
