"""Read a log of Slurm's jobs: `sacct -a -X -D -P -o ALL`, or only the columns that are needed.

A job is replayed as it was submitted. What the user asked for stands in SubmitLine; where that is
missing, or names a script, the other columns say the rest. Times are seconds since 1970 by the
clock on the wall.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.files import submit_lines
from rebecsim.clusters.slurm.files.hostlists import HostListError, expand
from rebecsim.clusters.slurm.files.lines import SlurmFileError
from rebecsim.clusters.slurm.files.other_logs import is_other_log, read_other_log
from rebecsim.clusters.slurm.files.quantities import (
    NOT_SET,
    duration,
    megabytes,
    moment,
    names_of,
    text_of,
    tres,
)
from rebecsim.clusters.slurm.files.submit_lines import Submitted, after_now
from rebecsim.clusters.slurm.jobs import (
    NO_EXTRAS,
    Amounts,
    ArrayTask,
    Extras,
    HetPart,
    Job,
    Request,
)
from rebecsim.wording import counted, suggestion
from rebecsim.workloads.files import text_lines

_NEEDED = ("Submit", "Start", "End", "State", "User", "Partition")
_ONE_OF = (("JobIDRaw", "JobID"), ("TimelimitRaw", "Timelimit"), ("ReqTRES", "ReqCPUS"))
_COMMAND = "write the log by sacct -a -X -D -P -o ALL"
_FREE = ("constraints", "submitline", "jobname", "comment", "workdir", "admincomment", "licenses")
"""Columns whose text may have the `|` that separates columns."""
_PROGRAMS = {"salloc", "sbatch", "srun", "scrun", "sattach"}
_WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
_GONE = {"CANCELLED", "DEADLINE", "BOOT_FAIL", "REVOKED"}


class Recorded(NamedTuple):
    """What Slurm did with a job; times are seconds, None is not set.

    Attributes:
        state: such as COMPLETED, without who cancelled it.
        by: the schedulers that sacct's Flags name, such as SchedBackfill.
        reason: the last reason to wait, but for Priority and Resources.
        restarts: how often it had been started before.
    """

    submit: int
    start: int | None
    end: int | None
    nodes: tuple[str, ...]
    state: str
    by: str = ""
    reason: str = ""
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class SlurmLog:
    """The jobs of a log in the order in which they were submitted.

    Attributes:
        recorded: what Slurm did with each, by number.
        notes: what had to be guessed or left out, in sentences.
    """

    jobs: tuple[Job, ...]
    recorded: Mapping[int, Recorded]
    notes: tuple[str, ...] = ()


def read_log(path: Path, cluster: Cluster | None = None, since: int | None = None) -> SlurmLog:
    """Read a log, plain or with gzip: of sacct, or with a cluster also SWF, CSV or PBS.

    With the cluster, partitions are looked up, and a job of a script that got more CPUs than it
    asked for is taken for an exclusive one. Jobs that started before `since` run when the replay
    begins. Raises SlurmFileError for a missing column, an unknown partition, and for a time or
    number that cannot be read.
    """
    if cluster is not None and is_other_log(path):
        jobs, notes = read_other_log(path, cluster)
        return SlurmLog(jobs, {}, notes)
    rows = list(_rows(path))
    return _Reader(path, rows, cluster, since).read()


class _Row(NamedTuple):
    line: int
    cells: dict[str, str]


def _rows(path: Path) -> Iterator[_Row]:
    header: list[str] = []
    try:
        for number, line in text_lines(path):
            cells = line.rstrip("\r").split("|")
            if not header:
                header = [each.strip().lower() for each in cells]
                _require_columns(path, number, header)
                continue
            if len(cells) != len(header):
                cells = _joined(cells, header)
            if not cells:
                count = line.count("|") + 1
                problem = f"{count} columns, but the header has {len(header)}; {_COMMAND}"
                raise SlurmFileError.at(str(path), number, problem)
            found = dict(zip(header, cells, strict=True))
            if "." not in found.get("jobid", "") and "." not in found.get("jobidraw", ""):
                yield _Row(number, found)
    except OSError as error:
        raise SlurmFileError(f"{path}: cannot be read: {error.strerror}") from None
    if not header:
        raise SlurmFileError(f"{path}: the log is empty; {_COMMAND}")


def _require_columns(path: Path, line: int, header: list[str]) -> None:
    missing = [each for each in _NEEDED if each.lower() not in header]
    missing += ["/".join(e) for e in _ONE_OF if not {each.lower() for each in e} & set(header)]
    if missing:
        if len(header) == 1:
            raise SlurmFileError.at(str(path), line, f"columns are not separated by |; {_COMMAND}")
        hint = suggestion(missing[0], header, "")
        problem = f"there is no column {', '.join(missing)}; {_COMMAND}"
        raise SlurmFileError.at(str(path), line, f"{problem} ({hint})" if hint else problem)


def _joined(cells: list[str], header: list[str]) -> list[str]:
    """Put cells together whose text has a `|` of its own; empty: it cannot be done."""
    likely: list[str] = []
    free = [place for place, name in enumerate(header) if name in _FREE]
    for places in combinations_with_replacement(free, max(len(cells) - len(header), 0)):
        more = Counter(places)
        made, begin = [], 0
        for place in range(len(header)):
            end = begin + 1 + more[place]
            made.append("|".join(cells[begin:end]))
            begin = end
        found = dict(zip(header, made, strict=False))
        if begin == len(cells) and _is_likely(found):
            if _is_explained(found):
                return made
            likely = likely or made
    return likely


def _is_explained(cells: dict[str, str]) -> bool:
    """Whether the features of a job stand as a word in its command line."""
    word = re.escape(cells.get("constraints", ""))
    return bool(re.search(rf"(?:[\s=\"'C]){word}(?:$|[\s\"'])", cells.get("submitline", "")))


def _is_likely(cells: dict[str, str]) -> bool:
    line = cells.get("submitline", "")
    if line.strip() and PurePath(line.split(maxsplit=1)[0]).name not in _PROGRAMS:
        return False
    if " " in cells.get("constraints", ""):
        return False
    try:
        moment(cells["submit"])
        moment(cells["start"])
        moment(cells["end"])
    except ValueError:
        return False
    return cells["state"].partition(" ")[0].replace("_", "").isupper()


class _Reader:
    """Makes jobs of rows."""

    def __init__(
        self, path: Path, rows: list[_Row], cluster: Cluster | None, since: int | None
    ) -> None:
        self.path, self.since = path, since
        self.cpus = {each.name: each.cpus for each in cluster.nodes} if cluster else {}
        self.partitions = [each.name for each in cluster.partitions] if cluster else []
        self.by_number: defaultdict[int, list[_Row]] = defaultdict(list)
        self.waiting: list[_Row] = []
        self.requests: dict[Request, Request] = {}
        self.notes: Counter[str] = Counter()
        self.unread: list[str] = []
        self.unknown: Counter[str] = Counter()
        for row in rows:
            if "[" in row.cells.get("jobid", ""):
                self.waiting.append(row)
            else:
                self.by_number[self._number(row)].append(row)
        self.takes_memory = any("mem=" in row.cells.get("alloctres", "") for row in rows)

    def read(self) -> SlurmLog:
        """Read all rows. Raises SlurmFileError."""
        jobs: list[Job] = []
        recorded: dict[int, Recorded] = {}
        for number, rows in self.by_number.items():
            self._job(number, rows, jobs, recorded)
        following = max(self.by_number, default=0)
        for row in self.waiting:
            for task in self._tasks(row):
                following += 1
                self._job(following, [row], jobs, recorded, task)
        if not jobs:
            raise SlurmFileError(f"{self.path}: the log has no job; {_COMMAND}")
        jobs.sort(key=lambda job: (job.submit, job.number))
        return SlurmLog(tuple(jobs), recorded, tuple(self._said()))

    def _said(self) -> Iterator[str]:
        for note, count in self.notes.items():
            yield f"Jobs that {note}: {count:,}."
        for option, count in self.unknown.items():
            yield f"Option {option} of {counted(count, 'command line')} is not known and left out."
        if self.unread:
            yield (
                f"{counted(len(self.unread), 'command line')} could not be read, so other columns "
                f"are used; first: {self.unread[0]}."
            )

    def _wrong(self, row: _Row, column: str, problem: str) -> SlurmFileError:
        value = row.cells.get(column.lower(), "")
        return SlurmFileError.at(str(self.path), row.line, f"{column}={value:.60}: {problem}")

    def _moment(self, row: _Row, column: str) -> int | None:
        try:
            return moment(row.cells.get(column.lower(), ""))
        except ValueError as error:
            raise self._wrong(row, column, str(error)) from None

    def _number(self, row: _Row) -> int:
        column = "JobIDRaw" if "jobidraw" in row.cells else "JobID"
        text = row.cells[column.lower()]
        if not text.isdecimal():
            hint = "add the column JobIDRaw" if column == "JobID" else "a number is expected"
            raise self._wrong(row, column, hint)
        return int(text)

    def _tasks(self, row: _Row) -> list[int]:
        """Give the tasks of an array that still wait, as `123_[5-9%2]`."""
        listed = row.cells["jobid"].partition("_")[2].partition("%")[0].strip("[]")
        try:
            steps = [each.partition(":")[::2] for each in listed.split(",")]
            return [
                task
                for piece, step in steps
                for task in [int(each) for each in expand(f"[{piece}]")][:: int(step or 1)]
            ]
        except ValueError as error:
            raise self._wrong(row, "JobID", str(error)) from None

    def _job(
        self,
        number: int,
        rows: list[_Row],
        jobs: list[Job],
        recorded: dict[int, Recorded],
        task: int | None = None,
    ) -> None:
        first, last = rows[0], rows[-1]
        cells = last.cells
        submit = self._moment(first, "Submit")
        if submit is None:
            raise self._wrong(first, "Submit", "each job needs the time of its submission")
        start, end = self._moment(last, "Start"), self._moment(last, "End")
        state = cells["state"].partition(" ")[0]
        nodes = self._nodes(last)
        if not nodes and (start is None or start == end):
            start = None
        if state == "FAILED" and start is None and end == submit:
            self.notes["were refused at submission, and are left out"] += 1
            return
        if len(rows) > 1:
            self.notes["had been requeued, and of which the last run counts"] += 1
        said = self._line(last)
        run, limit = self._times(last, said, state, start, end)
        request = self._request(last, said, nodes)
        partitions = said.job.get("partitions") or names_of(cells["partition"])
        for each in partitions if self.partitions else ():
            if each not in self.partitions:
                hint = suggestion(each, self.partitions, "add it to slurm.conf")
                raise self._wrong(last, "Partition", f"slurm.conf has no partition {each}; {hint}")
        extras = self._extras(last, said, number, state, (submit, start, end), task)
        if self.since is not None and start is not None and start < self.since and nodes:
            extras = replace(extras, running_since=start, nodes=nodes)
        job = Job(
            number=number,
            user=cells["user"],
            account=cells.get("account", ""),
            partitions=partitions,
            qos=cells.get("qos", ""),
            submit=submit,
            run=run,
            limit=limit,
            request=self.requests.setdefault(request, request),
            begin=self._begin(last, said, submit, first),
            nice=said.job.get("nice", 0),
            name=cells.get("jobname") or said.job.get("name", ""),
            batch=said.program not in ("salloc", "srun"),
            extras=NO_EXTRAS if extras == NO_EXTRAS else extras,
        )
        jobs.append(job)
        by, reason = cells.get("flags", ""), cells.get("reason", "")
        recorded[number] = Recorded(submit, start, end, nodes, state, by, reason, len(rows) - 1)

    def _line(self, row: _Row) -> Submitted:
        text = row.cells.get("submitline", "")
        parts: tuple[Submitted, ...] = ()
        try:
            parts = submit_lines.read_line(text)
        except submit_lines.LineError as error:
            self.unread.append(f"line {row.line}: {error}")
        component = row.cells.get("jobid", "").partition("+")[2]
        place = int(component) if component.isdecimal() else 0
        if place >= len(parts):
            return Submitted(program="sbatch", is_whole=False)
        for option in parts[place].unknown:
            self.unknown[("-" if len(option) == 1 else "--") + option] += 1
        return parts[place]

    def _nodes(self, row: _Row) -> tuple[str, ...]:
        text = row.cells.get("nodelist", "")
        if text.lower() in NOT_SET or text == "None assigned":
            return ()
        try:
            return expand(text)
        except HostListError as error:
            raise self._wrong(row, "NodeList", str(error)) from None

    def _times(
        self, row: _Row, said: Submitted, state: str, start: int | None, end: int | None
    ) -> tuple[int, int | None]:
        """Give run time and limit, seconds; how long a job would have run is not always known."""
        limit = self._limit(row)
        if said.job.get("min_time") is not None and "limit" in said.job:
            limit = said.job["limit"]
        if start is None:
            if state in _GONE or end is not None:
                self.notes["were cancelled before they started, and leave at that time"] += 1
            else:
                self.notes["still wait, and are taken to run for their time limit"] += 1
            return limit or 0, limit
        if end is None:
            self.notes["still run, and are taken to run for their time limit"] += 1
            return limit or 0, limit
        try:
            suspended = duration(row.cells.get("suspended", "") or "0") or 0
        except ValueError as error:
            raise self._wrong(row, "Suspended", str(error)) from None
        run = max(end - start - suspended, 0)
        if state == "TIMEOUT":
            self.notes["ran into their time limit, and are taken to run twice as long"] += 1
            run *= 2
        return run, limit

    def _limit(self, row: _Row) -> int | None:
        column = "TimelimitRaw" if row.cells.get("timelimitraw") else "Timelimit"
        text = row.cells.get(column.lower(), "")
        if not text or text.lower() in ("partition_limit", "unlimited"):
            return None
        try:
            return duration(text)
        except ValueError as error:
            raise self._wrong(row, column, str(error)) from None

    def _begin(self, row: _Row, said: Submitted, submit: int, first: _Row) -> int:
        """Give the earliest start: as asked, else what delayed the job if that is not simulated."""
        asked = said.job.get("begin")
        eligible = self._moment(first if first is not row else row, "Eligible")
        offset = after_now(asked) if asked else None
        if offset is not None:  # counted by the command, which runs just before the submission
            early = eligible is not None and 0 < submit + offset - eligible <= 2
            return eligible if early and eligible else submit + offset
        if eligible is None or eligible <= submit:
            return 0
        if asked or not {"dependencies", "held", "at_once"} & set(said.job):
            return eligible
        return 0

    def _extras(
        self,
        row: _Row,
        said: Submitted,
        number: int,
        state: str,
        times: tuple[int, int | None, int | None],
        task: int | None,
    ) -> Extras:
        submit, start, end = times
        given: dict[str, Any] = {}
        name = row.cells.get("jobid", "")
        array, _, index = name.partition("_")
        job, _, offset = name.partition("+")
        if array.isdecimal() and (task is not None or index.isdecimal()):
            given["array"] = ArrayTask(
                int(array), int(index) if task is None else task, said.job.get("at_once")
            )
        elif job.isdecimal() and offset.isdecimal():
            given["het"] = HetPart(int(job), int(offset))
        if "dependencies" in said.job:
            given["dependencies"], given["any_dependency"] = said.job["dependencies"]
        deadline = said.job.get("deadline")
        if deadline:
            after = after_now(deadline)
            given["deadline"] = self._deadline(deadline) if after is None else submit + after
        if start is None and end is not None:
            given["withdrawn"] = end
        if state not in ("COMPLETED", "RUNNING", "PENDING", "SUSPENDED"):
            given["fails"] = True
        if said.job.get("held"):
            given |= {"held": True, "released": self._moment(row, "Eligible")}
        for key in ("requeues", "min_time", "priority"):
            if said.job.get(key) is not None:
                given[key] = said.job[key]
        return Extras(**given)

    @staticmethod
    def _deadline(text: str) -> int | None:
        try:
            return moment(text if text.count(":") == 2 else text + ":00")
        except ValueError:
            return None

    def _request(self, row: _Row, said: Submitted, nodes: tuple[str, ...]) -> Request:
        given = dict(said.request)
        if "constraints" in row.cells and "prefer" not in given:
            given["features"] = text_of(row.cells["constraints"])
        used = text_of(row.cells.get("reservation", ""))
        if used:  # it is empty for a job that starts before its flexible reservation
            given["reservation"] = used
        if said.is_whole:
            return Request(**given)
        try:
            asked = tres(row.cells.get("reqtres", ""))
            got = tres(row.cells.get("alloctres", ""))
        except ValueError as error:
            raise self._wrong(row, "ReqTRES", str(error)) from None
        least = asked.get("node") or self._whole(row, "ReqNodes") or self._whole(row, "NNodes") or 1
        cpus = asked.get("cpu") or self._whole(row, "ReqCPUS") or least
        if "min_nodes" not in given:
            given |= {"min_nodes": least, "max_nodes": least if least > 1 else None}
        if "tasks" in given and "cpus_per_task" not in given and cpus % max(given["tasks"], 1) == 0:
            each = cpus // max(given["tasks"], 1)
            given["cpus_per_task"] = each if each > 1 else None
        elif not {"tasks", "cpus_per_task", "tasks_per_node"} & set(given) and cpus != least:
            given["tasks"] = cpus
        if not {"memory_per_node", "memory_per_cpu", "memory_per_gpu"} & set(given):
            given |= self._memory(row, asked, got, least)
        if not {"gres", "gres_per_node", "gres_per_task"} & set(given):
            given |= _gres(asked, least)
        if "licenses" not in given and row.cells.get("licenses"):
            given["licenses"] = submit_lines.licenses(text_of(row.cells["licenses"]))
        everything = sum(self.cpus.get(each, 0) for each in nodes)
        if "exclusive" not in given and cpus < got.get("cpu", 0) == everything:
            given["exclusive"] = "node"
        return Request(**given)

    def _whole(self, row: _Row, column: str) -> int:
        text = row.cells.get(column.lower(), "")
        return int(text) if text.isdecimal() else 0

    def _memory(
        self, row: _Row, asked: Mapping[str, int], got: Mapping[str, int], nodes: int
    ) -> dict[str, int]:
        """Give the memory where it is given out; older logs have `4Gn` and `4Gc`."""
        text = row.cells.get("reqmem", "")
        if text[-1:] in ("n", "c"):
            amount = megabytes(text[:-1])
            return {"memory_per_node" if text[-1] == "n" else "memory_per_cpu": amount}
        if "mem" in asked and ("mem" in got or (not got and self.takes_memory)):
            return {"memory_per_node": asked["mem"] // nodes}
        return {}


def _gres(asked: Mapping[str, int], nodes: int) -> dict[str, Amounts]:
    """Give generic resources of ReqTRES: those with a type, else those without."""
    found = {key[5:]: count for key, count in asked.items() if key.startswith("gres/")}
    typed = {key.partition(":")[0] for key in found if ":" in key}
    kept = {key: count for key, count in found.items() if ":" in key or key not in typed}
    if not kept:
        return {}
    if all(count % nodes == 0 for count in kept.values()):
        return {
            "gres_per_node": tuple(sorted((key, count // nodes) for key, count in kept.items()))
        }
    return {"gres": tuple(sorted(kept.items()))}
