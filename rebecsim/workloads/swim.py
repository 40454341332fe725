"""Read traces of SWIM, MapReduce jobs by the bytes that they move, as container jobs.

A line has six fields between tabs: the job (`job7`), when it is submitted (s), how long after the
one before (s), and the bytes of its input, of its shuffle and of its output. How these become
tasks is `SwimRule`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from rebecsim.files import JOBS
from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.files import LARGEST, WorkloadError, text_lines

MB = 1 << 20
"""Bytes of a megabyte."""

_FIELDS = ("job", "submit time", "gap", "map input", "shuffle", "reduce output")
_JOB_NAME = re.compile(r"job_?(\d{1,15})", re.ASCII)
_NUMBER = re.compile(r"\d{1,16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SwimRule:
    """How bytes become tasks.

    A job has a map for each `block` of its input or part of one, and one at least. It has a reduce
    for each `reducer` of its shuffle or part of one; without a shuffle it has none. The maps read
    the input and write the shuffle, or the output if there are no reduces; the reduces read the
    shuffle and write the output. All tasks of a kind move the same bytes, rounded up, at
    `throughput`, after `startup`.

    Attributes:
        block: MB of input of a map.
        reducer: MB of shuffle of a reduce.
        throughput: MB that a task reads and writes in a second.
        startup: milliseconds before it does.
        memory: MB of a container.
        cores: of a container.
    """

    block: int = 128
    reducer: int = 1024
    throughput: int = 50
    startup: int = 1000
    memory: int = 1024
    cores: int = 1

    def __post_init__(self) -> None:
        for each in fields(self):
            least = 0 if each.name == "startup" else 1
            if getattr(self, each.name) < least:
                raise WorkloadError(
                    f"{each.name} should be at least {least}, not {getattr(self, each.name)}"
                )

    def classes(self, map_input: int, shuffle: int, output: int) -> tuple[TaskClass, ...]:
        """Give the tasks of a job of so many bytes."""
        maps = max(_parts(map_input, self.block * MB), 1)
        reduces = _parts(shuffle, self.reducer * MB)
        of_maps = self._duration(map_input + (shuffle or output), maps)
        found = [TaskClass("map", maps, of_maps, self.memory, self.cores, 10)]
        if reduces:
            duration = self._duration(shuffle + output, reduces)
            found.append(TaskClass("reduce", reduces, duration, self.memory, self.cores, 20))
        return tuple(found)

    def _duration(self, moved: int, tasks: int) -> int:
        """Give the milliseconds of a task of several that move so many bytes together."""
        return max(self.startup + _parts(_parts(moved, tasks) * 1000, self.throughput * MB), 1)


@dataclass(frozen=True, slots=True)
class SwimJob:
    """A job as a line has it.

    Attributes:
        number: of the job.
        submit: when it is submitted (s).
        map_input: bytes that its maps read.
        shuffle: bytes between its maps and reduces.
        output: bytes that it writes.
        source: file and line.
    """

    number: int
    submit: int
    map_input: int
    shuffle: int
    output: int
    source: str


@dataclass(frozen=True, slots=True)
class SwimTrace:
    """Jobs, and the bytes of them all: of input, shuffle and output."""

    jobs: tuple[ContainerJob, ...]
    map_input: int
    shuffle: int
    output: int


def read_swim(path: Path, rule: SwimRule | None = None) -> SwimTrace:
    """Read a trace, plain or gzip, as jobs of containers. Raises what `read_swim_jobs` raises."""
    chosen = rule or SwimRule()
    read = read_swim_jobs(path)
    jobs = tuple(
        ContainerJob(
            job.number,
            job.submit * 1000,
            None,
            chosen.classes(job.map_input, job.shuffle, job.output),
            job.source,
        )
        for job in read
    )
    return SwimTrace(
        jobs,
        sum(job.map_input for job in read),
        sum(job.shuffle for job in read),
        sum(job.output for job in read),
    )


def read_swim_jobs(path: Path) -> tuple[SwimJob, ...]:
    """Read a trace, plain or gzip.

    Raises WorkloadError, with file, line and field, for another number of fields, what is no whole
    number, a job that stands twice, and a trace without jobs; LimitError for too many jobs; OSError
    when the file cannot be read.
    """
    jobs: dict[int, SwimJob] = {}
    most = JOBS.most
    for line, words in _rows(path):
        number = _number(path, line, words[0])
        if number in jobs:
            first = jobs[number].source.rpartition(":")[2]
            raise WorkloadError.at(path, line, f"{words[0]}: is given again; first in line {first}")
        submit, _, map_input, shuffle, output = (
            _whole(path, line, f"{words[0]}: {name}", word)
            for name, word in zip(_FIELDS[1:], words[1:], strict=True)
        )
        jobs[number] = SwimJob(number, submit, map_input, shuffle, output, f"{path}:{line}")
        if len(jobs) > most:
            raise JOBS.exceeded(f"{path}:{line}", f"more than {most:,}")
    if not jobs:
        raise WorkloadError(f"{path}: the file is empty")
    return tuple(jobs.values())


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for line, row in text_lines(path):
        words = [word.strip() for word in row.split("\t")]
        if len(words) != len(_FIELDS):
            raise WorkloadError.at(
                path,
                line,
                f"{len(words)} fields between tabs instead of {len(_FIELDS)}: {', '.join(_FIELDS)}",
            )
        yield line, words


def _number(path: Path, line: int, name: str) -> int:
    found = _JOB_NAME.fullmatch(name)
    if found is None:
        raise WorkloadError.at(path, line, f"job should be job and a number, not {name!r:.40}")
    return int(found[1])


def _whole(path: Path, line: int, what: str, word: str) -> int:
    if not _NUMBER.fullmatch(word) or int(word) > LARGEST:
        raise WorkloadError.at(
            path, line, f"{what} should be a whole number of 0 or more, not {word!r:.40}"
        )
    return int(word)


def _parts(amount: int, part: int) -> int:
    """How many parts hold an amount, the last of them perhaps not full."""
    return -(-amount // part)
