"""Define the container jobs of YARN traces, and read the fields of their files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from rebecsim.wording import has_half_characters, suggestion
from rebecsim.workloads.files import WorkloadError

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


LARGEST = 2**53
"""Whole numbers of JSON are exact up to here."""

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
            from_on = f" from {least} on" if least > -LARGEST else ""
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
            raise self.wrong(f"{key!r} has half of a character: {value!r:.40}")
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
            raise fields.wrong(f"stands here again; first in line {lines[fields.what]}")
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
