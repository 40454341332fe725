"""Why jobs wait, as a scheduler of queues refused them: of one job, and of each queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.diary import TURN, Wait
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.errors import UserError
from rebecsim.workloads.containers.jobs import ContainerJob

MOST_SHOWN = 60
"""Changes of one job; more are left out in the middle."""


def waiting_job(jobs: Sequence[ContainerJob], name: str) -> ContainerJob:
    """Find a job by its name or its number. Raises UserError if there is none."""
    for each in jobs:
        if name in (each.name, str(each.number)):
            return each
    some = ", ".join(each.name for each in jobs[:5])
    raise UserError(f"--why {name}: there is no such job in the trace; it has {some}")


def require_explained(setups: Sequence[RunSetup], name: str) -> None:
    """Raise UserError unless it can be said why a job waits: it is there, under a file."""
    for each in setups:
        if each.queues is None:
            raise UserError(
                "--why explains waits under a capacity-scheduler.xml or fair-scheduler.xml, and "
                f"{each.scheduler} is none; give one by --queues, and no other"
            )
        waiting_job(each.jobs(0), name)


@dataclass(frozen=True)
class Waited:
    """What a job waited for in a run, and all jobs of each queue; it is pickled.

    Attributes:
        title: the job, the scheduler and the queue.
        lost: milliseconds that the job asked in vain, by reason.
        changes: of what became of the job: time (s), node and a sentence.
        reasons: milliseconds that all jobs asked in vain, by queue and reason.
    """

    title: str
    lost: Mapping[str, int]
    changes: tuple[tuple[float, str, str], ...]
    reasons: Mapping[tuple[str, str], int]


def waited(run: Finished, scheduler: str, name: str) -> Waited:
    """Give what was noted in a run about a job, by its name or number, and about all jobs."""
    number = waiting_job([job.job for job in run.applications], name).number
    (job,) = (job for job in run.applications if job.number == number)
    diary = run.diary
    reasons: Counter[tuple[str, str]] = Counter()
    for each, lost in () if diary is None else diary.waited.items():
        for reason, milliseconds in lost.items():
            reasons[run.queue_of[each.number], reason] += milliseconds
    return Waited(
        f"{job.job.name} under {scheduler}, in {run.queue_of[number]}",
        {} if diary is None else dict(diary.waited.get(job, {})),
        tuple(
            (each.time / 1000, each.node, _text(each))
            for each in (() if diary is None else diary.waits.get(job, ()))
        ),
        reasons,
    )


def _text(wait: Wait) -> str:
    if not wait.reason:
        return "Has all that it asks for"
    return f"{wait.reason}: {wait.detail}" if wait.detail else wait.reason


def waits_lines(found: Waited) -> list[str]:
    """Say how long a job asked in vain, and for which reasons, the longest first."""
    total = sum(found.lost.values())
    if not total:
        return [f"{found.title}: got all that it asked for at once"]
    reasons = sorted(found.lost.items(), key=lambda item: -item[1])
    listed = (f"  {waited / 1000:,.1f} s: {reason}" for reason, waited in reasons if waited)
    return [f"{found.title}: asked in vain for {total / 1000:,.1f} s", *listed]


def waits_table(found: Waited) -> Table:
    """Show what became of a job at the heartbeats where that changed."""
    table = Table(title=Text(found.title, style="table.title"))
    table.add_column("Time (s)", justify="right")
    table.add_column("Node")
    table.add_column("What became of it")
    left_out = max(0, len(found.changes) - MOST_SHOWN)
    for place, (time, node, text) in enumerate(found.changes):
        if left_out and place == MOST_SHOWN // 2:
            table.add_row("...", "", f"{left_out} more changes")
        if not left_out or not 0 <= place - MOST_SHOWN // 2 < left_out:
            table.add_row(f"{time:,.1f}", Text(node), Text(text))
    return table


def reasons_table(runs: Mapping[str, Waited]) -> Table:
    """Show how long the jobs of each queue asked for containers in vain, by the reason."""
    total: Counter[tuple[str, str]] = Counter()
    for each in runs.values():
        total.update(each.reasons)
    table = Table(title="Seconds that jobs waited, in all")
    table.add_column("Queue")
    table.add_column("Reason")
    for scheduler in runs:
        table.add_column(Text(scheduler), justify="right")
    last = ""
    for (queue, reason), _ in sorted(
        total.items(), key=lambda item: (item[0][0], item[0][1] == TURN, -item[1])
    ):
        if last and queue != last:
            table.add_section()
        waits = (each.reasons.get((queue, reason), 0) / 1000 for each in runs.values())
        table.add_row(
            Text("" if queue == last else queue), reason, *(f"{wait:,.1f}" for wait in waits)
        )
        last = queue
    return table
