"""Why jobs wait, as a Capacity Scheduler refused them: of one job, and of each queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from rebecsim.clusters.yarn.diary import TURN, Wait
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.measures import MeasuredRun
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
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
    """Raise UserError unless it can be said why a job waits: it is there, under capacities."""
    for each in setups:
        if not isinstance(each.queues, CapacitySettings):
            raise UserError(
                f"--why explains waits under a capacity-scheduler.xml, and {each.scheduler} is "
                "none; give one by --queues, and no other"
            )
        waiting_job(each.jobs(0), name)


def waits_table(runs: Mapping[str, MeasuredRun], name: str) -> Iterator[Table]:
    """Show what became of a job at the heartbeats where that changed, a table for each run."""
    for scheduler, each in runs.items():
        run = each.run
        number = waiting_job([job.job for job in run.applications], name).number
        (job,) = (job for job in run.applications if job.number == number)
        table = Table(title=f"{job.job.name} under {scheduler}, in {run.queue_of[number]}")
        table.add_column("Time (s)", justify="right")
        table.add_column("Node")
        table.add_column("What became of it")
        waits = [] if run.diary is None else run.diary.waits.get(job, [])
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


def reasons_table(runs: Mapping[str, MeasuredRun]) -> Table:
    """Show how long the jobs of each queue asked for containers in vain, by the reason."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for scheduler, each in runs.items():
        diary = each.run.diary
        for job, waited in () if diary is None else diary.waited.items():
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
