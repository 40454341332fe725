"""Pegasus' DAX: jobs with their times, and which waits for which, in XML."""

from __future__ import annotations

from pathlib import Path

from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.safe_xml import Element, read_xml
from rebecsim.workloads.workflows.workflow import TaskElement, WorkflowTask, connected


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
