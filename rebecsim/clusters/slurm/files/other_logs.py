"""Logs that are none of Slurm's: in the Standard Workload Format, in CSV, or of PBS."""

from __future__ import annotations

from pathlib import Path

from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.files.lines import SlurmFileError
from rebecsim.clusters.slurm.jobs import Job, Request
from rebecsim.wording import counted
from rebecsim.workloads.files import text_lines
from rebecsim.workloads.logs import is_csv, labels_of, read_log


def is_other_log(path: Path) -> bool:
    """Whether a log has no header of columns as sacct prints one: SWF, CSV, or records of PBS."""
    try:
        first = next(text_lines(path), None)
    except OSError as error:
        raise SlurmFileError(f"{path}: cannot be read: {error.strerror}") from None
    if first is None or "|" in first[1]:
        return False
    is_swf = first[1].startswith(";") or len(first[1].split()) == 18
    return is_swf or first[1].count(";") >= 3 or is_csv(path)


def read_other_log(path: Path, cluster: Cluster) -> tuple[tuple[Job, ...], tuple[str, ...]]:
    """Read jobs, and sentences on what had to be guessed.

    A job asks for as many tasks of one CPU as it took processors, on any nodes. It goes to the
    partition with the name of its queue, if there is one. Raises what `workloads.logs.read_log`
    raises, and SlurmFileError if there is no partition for a job.
    """
    workload = read_log(path)
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
    return tuple(jobs), tuple(notes)
