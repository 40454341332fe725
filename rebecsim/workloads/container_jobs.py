"""Container jobs of YARN traces, the nodes that they run on, and the fields of their files.

A topology, in the JSON of Hadoop's SLS, has an object for each rack. A node may say how much memory
it has (`memory-mb`), how many cores (`vcores`), and its labels: `"gpu, fast(exclusive=false)"`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from rebecsim.files import NODES
from rebecsim.wording import has_half_characters, suggestion
from rebecsim.workloads.files import (
    LARGEST,
    WorkloadError,
    first_json_object,
    json_objects,
    replacing,
)

TaskKind = Literal["map", "reduce"]


@dataclass(frozen=True, slots=True)
class TaskClass:
    """Tasks of a job that are alike, each of which runs in a container of its own.

    Attributes:
        kind: what they do in the job.
        count: how many they are, at least 1.
        duration: how long each runs in the memory that it asks for, in milliseconds.
        memory: what each asks for, in MB.
        cores: what each asks for.
        priority: classes of a smaller number are given containers first.
        penalty: the name of the model that says how much longer a task runs in less memory; None:
            that of the run.
        bump: the parameter of the penalty, where it has one: the factor on durations.
        host: where they would rather run, as `/rack/node`; empty: anywhere. Generators of traces
            write names of nodes that do not exist.
        allocation: the number by which their AppMaster tells its requests apart; -1: none.
    """

    kind: TaskKind
    count: int
    duration: int
    memory: int
    cores: int = 1
    priority: int = 20
    penalty: str | None = None
    bump: float | None = None
    host: str = ""
    allocation: int = -1


@dataclass(frozen=True, slots=True)
class ContainerJob:
    """A job of containers.

    Attributes:
        number: N of its name `job_N`, or another that no other job of the trace has.
        start: when it is submitted, in milliseconds; None: when `after` has finished.
        after: the number of the job that it waits for, or None.
        classes: its tasks, in the order of the trace.
        source: where it stands, as `FILE:LINE`, for errors; empty for jobs of no file.
        user: who submits it.
        queue: the queue of the scheduler to which it is submitted.
        label: the label of the nodes on which its containers run; empty: none.
        end: when it ended in the trace (ms), which no run looks at; None: unknown.
        application: the type of its AppMaster.
        master_memory: MB of its AppMaster; None: those of the cluster's configuration.
        master_cores: cores of its AppMaster; None: those of the cluster's configuration.
        known_as: its name where that is not `job_N`.
    """

    number: int
    start: int | None
    after: int | None
    classes: tuple[TaskClass, ...]
    source: str = field(default="", compare=False)
    user: str = "default"
    queue: str = "default"
    label: str = ""
    end: int | None = None
    application: str = "mapreduce"
    master_memory: int | None = None
    master_cores: int | None = None
    known_as: str = ""

    @property
    def name(self) -> str:
        """The name in traces and results."""
        return self.known_as or f"job_{self.number}"


def circle_of_waiting(jobs: Mapping[int, ContainerJob]) -> list[ContainerJob]:
    """Give jobs that wait for each other in a circle: each for the next, the last for the first.

    `jobs` are all, by number, with those that are waited for. Empty if there is no circle.
    """
    settled: set[int] = set()
    for number, job in jobs.items():
        way: dict[int, ContainerJob] = {}
        while number not in settled and number not in way:
            way[number] = job
            if job.after is None:
                break
            number = job.after
            job = jobs[number]
        else:
            if number in way:
                jobs_of_way = list(way.values())
                return jobs_of_way[jobs_of_way.index(job) :]
        settled.update(way)
    return []


_KINDS: dict[str, TaskKind] = {kind: kind for kind in get_args(TaskKind)}


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an object, and where it stands, for errors.

    Attributes:
        values: by key.
        path: of the file.
        line: in which the object begins.
        what: what the object is, as `job_4, task 2`.
    """

    values: Mapping[str, Any]
    path: Path
    line: int
    what: str

    def of(self, values: Mapping[str, Any], what: str) -> Fields:
        """Give the fields of an object within this one."""
        return Fields(values, self.path, self.line, f"{self.what}, {what}")

    def named(self, what: str) -> Fields:
        """Give the same fields under another name of the object."""
        return replace(self, what=what)

    def wrong(self, problem: str) -> WorkloadError:
        """Make the error for a problem of this object."""
        return WorkloadError.at(self.path, self.line, f"{self.what}: {problem}")

    def require_known(self, known: Iterable[str]) -> None:
        """Raise WorkloadError for a field that is not read."""
        names = tuple(known)
        for key in self.values:
            if key not in names:
                raise self.wrong(f"{key!r:.60} is not understood; {suggestion(key, names)}")

    def one_of(self, keys: Sequence[str]) -> str:
        """Give the one of some keys that is there, the first if none is; both would be one."""
        given = [key for key in keys if key in self.values]
        if len(given) > 1:
            raise self.wrong(f"{' and '.join(map(repr, given))} mean the same; give one of them")
        return given[0] if given else keys[0]

    def get(self, key: str) -> Any:
        """Give a field that must be there."""
        if key not in self.values:
            raise self.wrong(f"no {key!r}")
        return self.values[key]

    def whole(self, key: str, least: int, default: int | None = None) -> int:
        """Give a whole number; without a default it must be there."""
        value = self.values.get(key, default) if default is not None else self.get(key)
        if type(value) is not int or not least <= value <= LARGEST:
            from_on = f" of {least} or more" if least > -LARGEST else ""
            raise self.wrong(f"{key!r} should be a whole number{from_on}, not {value!r:.40}")
        return value

    def whole_or_none(self, key: str, least: int) -> int | None:
        """Give a whole number, or None if it is not there."""
        return self.whole(key, least) if key in self.values else None

    def text(self, key: str, default: str | None = None) -> str:
        """Give a text that is not empty; without a default it must be there."""
        value = self.values.get(key, default) if default is not None else self.get(key)
        if not isinstance(value, str) or not (value or value == default):
            raise self.wrong(f"{key!r} should be a text, not {value!r:.40}")
        if has_half_characters(value):
            raise self.wrong(f"{key!r} has an incomplete character: {value!r:.40}")
        return value

    def objects(self, key: str) -> list[Mapping[str, Any]]:
        """Give a list of objects that must be there."""
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(f"{key!r} should be a list of objects")
        return value


def task_kind(task: Fields, key: str, default: str | None = None) -> TaskKind:
    """Give what tasks do in a job. Raises WorkloadError."""
    kind = task.text(key, default)
    if kind.lower() not in _KINDS:
        raise task.wrong(f"{key!r} should be {' or '.join(_KINDS)}, not {kind!r:.40}")
    return _KINDS[kind.lower()]


_JOB_NAME = re.compile(r"job_(\d{1,15})", re.ASCII)


def number_in(name: str) -> int | None:
    """Give N of `job_N`; None for another name."""
    found = _JOB_NAME.fullmatch(name)
    return int(found[1]) if found else None


def numbers_of(named: Sequence[Fields], nameless: Collection[str] = ()) -> dict[str, int]:
    """Give the number of each job by what its fields are called.

    Those called `job_N` have N; the `nameless` have the next ones, since they will be called so,
    and after them come all others, each in their order. Raises WorkloadError for a name or a number
    that stands twice.
    """
    lines: dict[str, int] = {}
    numbers: dict[str, int] = {}
    taken: dict[int, str] = {}
    for fields in named:
        if fields.what in lines:
            raise fields.wrong(f"is given again; first in line {lines[fields.what]}")
        lines[fields.what] = fields.line
        number = number_in(fields.what)
        if number is None:
            continue
        if number in taken:
            raise fields.wrong(f"is the same as {taken[number]}")
        numbers[fields.what], taken[number] = number, fields.what
    free = max(taken, default=-1) + 1
    others = [fields.what for fields in named if fields.what not in numbers]
    for name in sorted(others, key=lambda each: each not in nameless):
        numbers[name], free = free, free + 1
    return numbers


_LABEL = re.compile(r"([\w.-]+)(?:\(exclusive=(true|false)\))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A label of a node; containers without a label may use the node if it is not exclusive."""

    name: str
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class RackNode:
    """A node of a rack: MB and cores, or None for those of the cluster, and its labels."""

    name: str
    memory: int | None = None
    cores: int | None = None
    labels: tuple[NodeLabel, ...] = ()


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack of nodes."""

    name: str
    nodes: tuple[RackNode, ...]


def read_sls_topology(path: Path) -> tuple[Rack, ...]:
    """Read the racks of a topology.

    Raises WorkloadError, with file and line, for what is not in the format, a field that is not
    understood, a rack without nodes, a node of no memory or no cores, and a name that two nodes or
    two racks have. Raises LimitError for too many nodes, OSError when the file cannot be read.
    """
    racks: list[Rack] = []
    names: set[str] = set()
    seen: set[str] = set()
    for number, (line, values) in enumerate(json_objects(path), start=1):
        fields = Fields(values, path, line, f"object {number}")
        if "job.tasks" in values:
            raise fields.wrong("this is a job of a trace, not a rack")
        rack = _rack(fields.named(f"rack {fields.text('rack')}"))
        if rack.name in names:
            raise fields.wrong(f"another rack is called {rack.name}; give each its own name")
        names.add(rack.name)
        for node in rack.nodes:
            if node.name in seen:
                raise fields.named(f"rack {rack.name}").wrong(
                    f"another node is called {node.name}; give each its own name"
                )
            seen.add(node.name)
        racks.append(rack)
        NODES.require(len(seen), path)
    return tuple(racks)


def is_sls_topology(path: Path) -> bool:
    """Whether a file begins with a rack. Raises OSError when it cannot be read."""
    return "rack" in first_json_object(path)


def _rack(fields: Fields) -> Rack:
    fields.require_known(("rack", "nodes"))
    nodes = [
        _node(fields.of(values, f"node {place}"))
        for place, values in enumerate(fields.objects("nodes"), start=1)
    ]
    if not nodes:
        raise fields.wrong("no nodes")
    return Rack(fields.text("rack"), tuple(nodes))


def _node(fields: Fields) -> RackNode:
    fields.require_known(("node", "memory-mb", "vcores", "labels"))
    return RackNode(
        fields.text("node"),
        fields.whole_or_none("memory-mb", 1),
        fields.whole_or_none("vcores", 1),
        tuple(_labels(fields)),
    )


def _labels(fields: Fields) -> Iterator[NodeLabel]:
    text = fields.text("labels", default="")
    for each in filter(None, map(str.strip, text.split(","))):
        found = _LABEL.fullmatch(each)
        if found is None:
            raise fields.wrong(
                f"'labels' should be names as in 'gpu, fast(exclusive=false)', not {each!r:.40}"
            )
        yield NodeLabel(found[1], found[2] != "false")


def write_sls_topology(racks: Sequence[Rack], path: Path) -> None:
    """Write the racks of a topology, with gzip if the file is named `.gz`; whole or not at all.

    Raises OSError when the file cannot be written.
    """
    with replacing(path) as file:
        for rack in racks:
            values = {"rack": rack.name, "nodes": [dict(_items(node)) for node in rack.nodes]}
            file.write((json.dumps(values, indent=4) + "\n").encode())


def _items(node: RackNode) -> Iterator[tuple[str, object]]:
    yield "node", node.name
    if node.memory is not None:
        yield "memory-mb", node.memory
    if node.cores is not None:
        yield "vcores", node.cores
    if node.labels:
        texts = (
            each.name if each.exclusive else f"{each.name}(exclusive=false)" for each in node.labels
        )
        yield "labels", ", ".join(texts)


@dataclass(frozen=True, slots=True)
class AlikeNodes:
    """So many nodes of some MB and cores, or of those of the cluster."""

    count: int
    memory: int | None = None
    cores: int | None = None

    def __post_init__(self) -> None:
        given = (self.count, self.memory, self.cores)
        if any(number is not None and number < 1 for number in given):
            raise WorkloadError("a group needs at least 1 node, each with at least 1 MB and 1 core")
        NODES.require(self.count)


def racks_of(groups: Sequence[AlikeNodes], racks: int = 1) -> tuple[Rack, ...]:
    """Make racks of nodes, called node1, node2, ...

    One rack is called default-rack; of several, rack1, rack2, ..., each has as many nodes as the
    others or one less. Raises WorkloadError for a rack without nodes, LimitError for too many.
    """
    NODES.require(sum(group.count for group in groups))
    kinds = [group for group in groups for _ in range(group.count)]
    nodes = [
        RackNode(f"node{number}", kind.memory, kind.cores)
        for number, kind in enumerate(kinds, start=1)
    ]
    if not 1 <= racks <= len(nodes):
        raise WorkloadError(f"{len(nodes)} nodes in {racks} racks; a rack needs at least 1 node")
    if racks == 1:
        return (Rack("default-rack", tuple(nodes)),)
    ends = [len(nodes) * rack // racks for rack in range(racks + 1)]
    return tuple(
        Rack(f"rack{number}", tuple(nodes[begin:end]))
        for number, (begin, end) in enumerate(pairwise(ends), start=1)
    )
