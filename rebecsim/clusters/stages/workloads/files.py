"""Workflows of files as tasks of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rebecsim.clusters.stages.job import SECOND, StageTask
from rebecsim.errors import UserError
from rebecsim.workloads.workflows import WorkflowTask, parents_first, read_dax, read_wfcommons


def read_workflow(path: Path) -> tuple[StageTask, ...]:
    """Read a workflow: a DAX (.xml, .dax) or an instance of WfCommons (.json).

    Tasks of less than half a millisecond are dummies. The phase of a task is one more than the
    latest of its parents. Raises UserError, with file and element, and OSError.
    """
    tasks = read_wfcommons(path) if path.suffix == ".json" else read_dax(path)
    durations = [round(task.seconds * SECOND) for task in tasks]
    if not any(durations):
        raise UserError(f"{path}: no task takes any time")
    phases = _depths(tasks)
    return tuple(
        StageTask(place, durations[place], task.parents, phase=phases[place], name=task.name)
        for place, task in enumerate(tasks)
    )


def _depths(tasks: Sequence[WorkflowTask]) -> list[int]:
    """Give for each task how many follow each other up to it, at most."""
    depths = [0] * len(tasks)
    for place in parents_first(tasks):
        depths[place] = 1 + max((depths[parent] for parent in tasks[place].parents), default=0)
    return depths
