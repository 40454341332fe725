"""Read workflows from Pegasus' DAX and from instances of WfCommons."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from rebecsim.files import read_json
from rebecsim.wording import has_half_characters
from rebecsim.workloads.files import Element, WorkloadError, read_xml

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


def read_dax(path: Path) -> tuple[WorkflowTask, ...]:
    """Read the jobs of a DAX of version 2 or 3; what files they use is not looked at.

    Raises XmlError and WorkloadError, with file and line, for text that is not a DAX, a job without
    an identifier or a runtime, and what `connected` refuses; OSError when the file cannot be read.
    """
    root = read_xml(path)
    if root.tag != "adag":
        raise WorkloadError.at(path, root.line, f"<{root.tag}>: a DAX begins with <adag>")
    parents: dict[str, dict[str, str]] = {}
    for child in root.of("child"):
        mine = parents.setdefault(_attribute(path, child, "ref"), {})
        for parent in child.of("parent"):
            mine[_attribute(path, parent, "ref")] = f"{path}:{parent.line}"
    jobs = [_job(path, each, parents) for each in root.of("job")]
    if not jobs:
        raise WorkloadError.at(path, root.line, "<adag>: there is no <job>")
    known = {each.identifier for each in jobs}
    for child in root.of("child"):
        if child.attributes["ref"] not in known:
            raise WorkloadError.at(
                path, child.line, f"<child>: there is no job {child.attributes['ref']}"
            )
    return connected(jobs)


def _job(path: Path, job: Element, parents: dict[str, dict[str, str]]) -> TaskElement:
    identifier = _attribute(path, job, "id")
    text = _attribute(path, job, "runtime")
    try:
        seconds = float(text)
    except ValueError:
        problem = f"<job> {identifier}: runtime={text!r} is not a number of seconds"
        raise WorkloadError.at(path, job.line, problem) from None
    name = job.attributes.get("name", identifier)
    where = f"{path}:{job.line}"
    return TaskElement(where, identifier, name, seconds, parents.get(identifier, {}))


def _attribute(path: Path, element: Element, name: str) -> str:
    if not element.attributes.get(name):
        raise WorkloadError.at(path, element.line, f"<{element.tag}>: {name} is missing")
    return element.attributes[name]


_USED = frozenset(
    (
        *("workflow", "specification", "execution", "tasks", "jobs"),
        *("id", "name", "parents", "runtime", "runtimeInSeconds"),
    )
)
"""The keys of an instance that are looked at."""


def read_wfcommons(path: Path) -> tuple[WorkflowTask, ...]:
    """Read the tasks of an instance: of version 1.4 and 1.5, or of those before.

    The newer ones say who waits for whom under `workflow.specification`, and how long tasks ran
    under `workflow.execution`; the older ones both under `workflow.tasks` (or `workflow.jobs`).

    Raises WorkloadError, with file and element, for what is no such instance and what `connected`
    refuses; LimitError for too large a file; OSError when the file cannot be read.
    """
    try:
        content = read_json(path, _used)
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path}: is not UTF-8 text") from error
    except JSONDecodeError as error:
        raise WorkloadError.at(path, error.lineno, f"this is not JSON: {error.msg}") from error
    except ValueError as error:  # of Python's limit on the digits of a number
        raise WorkloadError(f"{path}: a number of too many digits") from error
    workflow = _field(path, "", content, "workflow", dict)
    if "specification" in workflow:
        return connected(_newer(path, workflow))
    name = "tasks" if "tasks" in workflow else "jobs"
    tasks = _field(path, "workflow.", workflow, name, list)
    by_name: dict[str, str] = {
        each["name"]: str(each.get("id", each["name"]))
        for each in tasks
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    }
    return connected(
        [
            _element(path, f"workflow.{name}[{place}]", each, each, by_name)
            for place, each in enumerate(tasks)
        ]
    )


def _used(found: dict[str, Any]) -> dict[str, Any]:
    """Keep of an object what is looked at, which is a small part of it."""
    return {key: value for key, value in found.items() if key in _USED}


def _newer(path: Path, workflow: Mapping[str, Any]) -> list[TaskElement]:
    specification = _field(path, "workflow.", workflow, "specification", dict)
    execution = _field(path, "workflow.", workflow, "execution", dict)
    tasks = _field(path, "workflow.specification.", specification, "tasks", list)
    ran: dict[str, Any] = {}
    for place, each in enumerate(_field(path, "workflow.execution.", execution, "tasks", list)):
        where = f"workflow.execution.tasks[{place}]."
        ran[_field(path, where, each, "id", str)] = each
    found = []
    for place, each in enumerate(tasks):
        where = f"workflow.specification.tasks[{place}]"
        identifier = _field(path, f"{where}.", each, "id", str)
        if identifier not in ran:
            raise WorkloadError(
                f"{path}: {where}: workflow.execution.tasks does not say how long {identifier} ran"
            )
        found.append(_element(path, where, each, ran[identifier], {}))
    return found


def _element(
    path: Path, where: str, task: Any, ran: Any, by_name: Mapping[str, str]
) -> TaskElement:
    name = _field(path, f"{where}.", task, "name", str)
    identifier = task.get("id", name)
    key = "runtimeInSeconds" if "runtimeInSeconds" in ran else "runtime"
    seconds = _field(path, f"{where}.", ran, key, float)
    parents = {
        by_name.get(str(parent), str(parent)): f"{path}: {where}.parents[{place}]"
        for place, parent in enumerate(_field(path, f"{where}.", task, "parents", list))
    }
    return TaskElement(f"{path}: {where}", str(identifier), name, _as_float(seconds), parents)


def _as_float(value: float) -> float:
    """Give a number; infinity for a whole one that is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _field(path: Path, where: str, value: Any, name: str, kind: type) -> Any:
    """Give what an object has under a name. Raises WorkloadError if it has nothing, or no such."""
    found = value.get(name) if isinstance(value, dict) else None
    fits = isinstance(found, kind) or (kind is float and type(found) is int)
    if not fits or isinstance(found, bool):
        what = {dict: "an object", list: "a list", str: "a text", float: "a number"}[kind]
        raise WorkloadError(f"{path}: {where}{name}: should be {what}")
    if isinstance(found, str) and has_half_characters(found):
        raise WorkloadError(f"{path}: {where}{name}: has an incomplete character: {found!r:.40}")
    return found
