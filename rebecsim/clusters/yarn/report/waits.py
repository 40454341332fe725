"""Why jobs wait, as a Capacity Scheduler refused them: of one job, and of each queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rich.table import Table

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.measures import MeasuredRun
from rebecsim.clusters.yarn.queues.diary import TURN, Diary, Wait
from rebecsim.errors import UserError

MOST_SHOWN = 60
"""Changes of one job; more are left out in the middle."""


def waiting_job(run: Finished, name: str) -> Application:
    """Find a job by its name or its number. Raises UserError if there is none."""
    for each in run.applications:
        if name in (each.job.name, str(each.number)):
            return each
    some = ", ".join(each.job.name for each in run.applications[:5])
    raise UserError(f"--why {name}: there is no such job in the trace; it has {some}")


def waits_table(runs: Mapping[str, MeasuredRun], name: str) -> Iterator[Table]:
    """Show what became of a job at the heartbeats where that changed, a table for each run."""
    for scheduler, each in runs.items():
        job, diary = waiting_job(each.run, name), _diary(scheduler, each.run)
        table = Table(title=f"{job.job.name} under {scheduler}, in {each.run.queue_of[job.number]}")
        table.add_column("Time (s)", justify="right")
        table.add_column("Node")
        table.add_column("What became of it")
        waits = diary.waits.get(job, [])
        left_out = max(0, len(waits) - MOST_SHOWN)
        for place, wait in enumerate(waits):
            if left_out and place == MOST_SHOWN // 2:
                table.add_row("...", "", f"{left_out} more changes")
            if not left_out or not 0 <= place - MOST_SHOWN // 2 < left_out:
                table.add_row(f"{wait.time / 1000:,.1f}", wait.node, _text(wait))
        yield table


def _text(wait: Wait) -> str:
    if not wait.reason:
        return "Has all that it asks for"
    return f"{wait.reason}: {wait.detail}" if wait.detail else wait.reason


def _diary(scheduler: str, run: Finished) -> Diary:
    if run.diary is None:
        raise UserError(
            f"--why explains waits under a capacity-scheduler.xml, and {scheduler} is none; "
            "give one by --queues, and no other"
        )
    return run.diary


def reasons_table(runs: Mapping[str, MeasuredRun]) -> Table:
    """Show how long the jobs of each queue asked for containers in vain, by the reason."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for scheduler, each in runs.items():
        for job, waited in _diary(scheduler, each.run).waited.items():
            for reason, milliseconds in waited.items():
                key = each.run.queue_of[job.number], reason
                found.setdefault(key, Counter())[scheduler] += milliseconds
    table = Table(title="Seconds that jobs waited, in all")
    table.add_column("Queue")
    table.add_column("Reason")
    for scheduler in runs:
        table.add_column(scheduler, justify="right")
    last = ""
    for (queue, reason), waited in sorted(
        found.items(), key=lambda item: (item[0][0], item[0][1] == TURN, -item[1].total())
    ):
        if last and queue != last:
            table.add_section()
        shown = "" if queue == last else queue
        table.add_row(shown, reason, *(f"{waited[name] / 1000:,.1f}" for name in runs))
        last = queue
    return table
