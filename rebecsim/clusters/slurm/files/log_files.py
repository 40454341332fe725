"""Read a log of Slurm's jobs: `sacct -a -X -D -P -o ALL`, or only the columns that are needed.

A job is replayed as it was submitted. What the user asked for stands in SubmitLine; where that is
missing, or names a script, the other columns say the rest. Times are seconds since 1970 by the
clock on the wall.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.files import submit_lines
from rebecsim.clusters.slurm.files.hostlists import HostListError, expand
from rebecsim.clusters.slurm.files.lines import SlurmFileError
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
from rebecsim.workloads.logs import labels_of, read_log as read_workload
from rebecsim.workloads.sacct import (
    SACCT,
    SacctRow,
    is_sacct_log,
    moment,
    names_of,
    sacct_rows,
    text_of,
)

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
    begins. Raises UserError for a missing column, an unknown partition, and for a time or number
    that cannot be read.
    """
    try:
        if cluster is not None and not is_sacct_log(path):
            return _other_log(path, cluster)
        rows = list(sacct_rows(path))
    except OSError as error:
        raise SlurmFileError(f"{path}: cannot be read: {error.strerror}") from None
    return _Reader(path, rows, cluster, since).read()


class _Reader:
    """Makes jobs of rows."""

    def __init__(
        self, path: Path, rows: list[SacctRow], cluster: Cluster | None, since: int | None
    ) -> None:
        self.path, self.since = path, since
        self.cpus = {each.name: each.cpus for each in cluster.nodes} if cluster else {}
        self.partitions = [each.name for each in cluster.partitions] if cluster else []
        self.by_number: defaultdict[int, list[SacctRow]] = defaultdict(list)
        self.waiting: list[SacctRow] = []
        self.requests: dict[Request, Request] = {}
        self.notes: Counter[str] = Counter()
        self.unread: list[str] = []
        self.unknown: Counter[str] = Counter()
        for row in rows:
            if "[" in row.cells.get("jobid", ""):
                self.waiting.append(row)
            else:
                self.by_number[row.number()].append(row)
        self.takes_memory = any("mem=" in row.cells.get("alloctres", "") for row in rows)

    def read(self) -> SlurmLog:
        """Read all rows. Raises UserError."""
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
            raise SlurmFileError(f"{self.path}: the log has no job; {SACCT}")
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

    def _tasks(self, row: SacctRow) -> list[int]:
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
            raise row.wrong("JobID", str(error)) from None

    def _job(
        self,
        number: int,
        rows: list[SacctRow],
        jobs: list[Job],
        recorded: dict[int, Recorded],
        task: int | None = None,
    ) -> None:
        first, last = rows[0], rows[-1]
        cells = last.cells
        submit, state, nodes = first.submit(), last.state, self._nodes(last)
        start, end = last.ran()
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
                raise last.wrong("Partition", f"slurm.conf has no partition {each}; {hint}")
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

    def _line(self, row: SacctRow) -> Submitted:
        """Read the command line; that of a heterogeneous job stands in the row of its first part.

        Rows of other parts have theirs, as `: -N1 -n8`.
        """
        job, _, component = row.cells.get("jobid", "").partition("+")
        place = int(component) if job.isdecimal() and component.isdecimal() else 0
        first = self.by_number[int(job)][-1] if place and int(job) in self.by_number else row
        text = first.cells.get("submitline", "")
        if text.startswith(":"):
            text, place = "sbatch" + text[1:], 0
        parts: tuple[Submitted, ...] = ()
        try:
            parts = submit_lines.read_line(text)
        except submit_lines.LineError as error:
            self.unread.append(f"line {first.line}: {error}")
        if place >= len(parts):
            return Submitted(program="sbatch", is_whole=False)
        for option in parts[place].unknown:
            self.unknown[("-" if len(option) == 1 else "--") + option] += 1
        return parts[place]

    def _nodes(self, row: SacctRow) -> tuple[str, ...]:
        try:
            return expand(row.nodes)
        except HostListError as error:
            raise row.wrong("NodeList", str(error)) from None

    def _times(
        self, row: SacctRow, said: Submitted, state: str, start: int | None, end: int | None
    ) -> tuple[int, int | None]:
        """Give run time and limit, seconds; how long a job would have run is not always known."""
        limit = row.limit()
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
        run = max(end - start - row.suspended(), 0)
        if state == "TIMEOUT":
            self.notes["ran into their time limit, and are taken to run twice as long"] += 1
            run *= 2
        return run, limit

    def _begin(self, row: SacctRow, said: Submitted, submit: int, first: SacctRow) -> int:
        """Give the earliest start: as asked, else what delayed the job if that is not simulated."""
        asked = said.job.get("begin")
        eligible = first.moment("Eligible")
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
        row: SacctRow,
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
            given |= {"held": True, "released": row.moment("Eligible")}
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

    def _request(self, row: SacctRow, said: Submitted, nodes: tuple[str, ...]) -> Request:
        given = dict(said.request)
        if "constraints" in row.cells and "prefer" not in given:
            given["features"] = text_of(row.cells["constraints"])
        used = text_of(row.cells.get("reservation", ""))
        if used:  # it is empty for a job that starts before its flexible reservation
            given["reservation"] = used
        if said.is_whole:
            return Request(**given)
        asked, got = row.tres("ReqTRES"), row.tres("AllocTRES")
        least = asked.get("node") or row.whole("ReqNodes", "NNodes") or 1
        cpus = asked.get("cpu") or row.whole("ReqCPUS") or least
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

    def _memory(
        self, row: SacctRow, asked: Mapping[str, int], got: Mapping[str, int], nodes: int
    ) -> dict[str, int]:
        """Give the memory where it is given out; older logs have `4Gn` and `4Gc`."""
        old = row.old_memory()
        if old is not None:
            return {"memory_per_node" if old[0] == "n" else "memory_per_cpu": old[1]}
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


def _other_log(path: Path, cluster: Cluster) -> SlurmLog:
    """Read a log in SWF or CSV, or of PBS.

    A job asks for as many tasks of one CPU as it took processors, on any nodes. It goes to the
    partition with the name of its queue, if there is one. Raises what `workloads.logs.read_log`
    raises, and SlurmFileError if there is no partition for a job.
    """
    workload = read_workload(path)
    users, queues = labels_of(workload, "user"), labels_of(workload, "queue")
    names = {each.name for each in cluster.partitions}
    default = any(each.is_default for each in cluster.partitions)
    first = int(workload.header.get("UnixStartTime", "0").split()[0] or 0)
    requests: dict[int, Request] = {}
    jobs, elsewhere = [], 0
    columns = (workload.job, workload.submit, workload.run, workload.processors)
    more = (workload.requested_time, workload.user, workload.queue, workload.status)
    rows = zip(*(each.tolist() for each in (*columns, *more)), strict=True)
    for number, submit, run, size, limit, user, queue, status in rows:
        partition = queues[queue]
        if partition not in names:
            elsewhere += 1
            if not default:
                raise SlurmFileError(
                    f"{path}: job {number}: there is no partition {partition}, and none has "
                    "Default=YES in slurm.conf"
                )
        request = requests.setdefault(size, Request(tasks=size))
        jobs.append(
            Job(
                number=number,
                user=users[user],
                partitions=(partition,) if partition in names else (),
                submit=first + submit,
                run=run if limit <= 0 or status != 1 else min(run, limit),
                limit=None if limit <= 0 else -(-limit // 60) * 60,
                request=request,
            )
        )
    notes = ["The log does not say how tasks were spread: each has one CPU, on any node."]
    if elsewhere:
        notes.append(f"The queue of {counted(elsewhere, 'job')} is no partition: the default one.")
    return SlurmLog(tuple(jobs), {}, tuple(notes))
