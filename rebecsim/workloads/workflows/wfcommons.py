"""Instances of WfCommons in JSON: tasks, their parents, and how long they ran."""

from __future__ import annotations

import math
from collections.abc import Mapping
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from rebecsim.limits import read_json
from rebecsim.printable import has_half_characters
from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.workflows.workflow import TaskElement, WorkflowTask, connected

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
        raise WorkloadError(f"{path}: {where}{name}: has half of a character: {found!r:.40}")
    return found
