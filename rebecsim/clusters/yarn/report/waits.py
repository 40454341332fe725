"""Why jobs wait, as a scheduler of queues refused them: of one job, and of each queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from rebecsim.clusters.kit.report import grid_across
from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.records import TURN, Wait
from rebecsim.clusters.yarn.tables import QUEUE_WAITS, reasons_of
from rebecsim.errors import UserError
from rebecsim.report.figures import fill_colours, legend_below, new_figure, plain_axes, time_axis
from rebecsim.report.numbers import text_of
from rebecsim.studies.cells import Picture, Section, TextTable
from rebecsim.workloads.container_jobs import ContainerJob

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rebecsim.clusters.yarn.report.stored import StoredTables

_SECOND = 1000
_MOST_QUEUES = 12
_TITLE = "Seconds that jobs waited, in all"
_WHY = "Why jobs waited"

Reasons = Mapping[tuple[str, str], int]
"""Milliseconds that all jobs of a queue asked in vain, by queue and reason."""

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
    reasons: Reasons


def waited(run: Finished, scheduler: str, name: str) -> Waited:
    """Give what was noted in a run about a job, by its name or number, and about all jobs."""
    number = waiting_job([job.job for job in run.applications], name).number
    (job,) = (job for job in run.applications if job.number == number)
    wait_log = run.wait_log
    return Waited(
        f"{job.job.name} under {scheduler}, in {run.queue_of[number]}",
        {} if wait_log is None else dict(wait_log.waited.get(job, {})),
        tuple(
            (each.time / 1000, each.node, _text(each))
            for each in (() if wait_log is None else wait_log.waits.get(job, ()))
        ),
        reasons_of(run),
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
    headings = Column("Time (s)", justify="right"), "Node", "What became of it"
    table = Table(*headings, title=Text(found.title, style="table.title"))
    left_out = max(0, len(found.changes) - MOST_SHOWN)
    for place, (time, node, text) in enumerate(found.changes):
        if left_out and place == MOST_SHOWN // 2:
            table.add_row("...", "", f"{left_out} more changes")
        if not left_out or not 0 <= place - MOST_SHOWN // 2 < left_out:
            table.add_row(f"{time:,.1f}", Text(node), Text(text))
    return table


def reasons_table(runs: Mapping[str, Waited]) -> Table:
    """Show how long the jobs of each queue asked for containers in vain, by the reason."""
    return _reasons_table({name: each.reasons for name, each in runs.items()})


def _reasons_table(runs: Mapping[str, Reasons]) -> Table:
    right = (Column(Text(scheduler), justify="right") for scheduler in runs)
    table = Table("Queue", "Reason", *right, title=_TITLE)
    last = ""
    for queue, reason in _by_queue(runs):
        if last and queue != last:
            table.add_section()
        table.add_row(Text("" if queue == last else queue), reason, *_waits(runs, queue, reason))
        last = queue
    return table


def _by_queue(runs: Mapping[str, Reasons]) -> list[tuple[str, str]]:
    """Give queues and reasons, the longest waits of a queue first, and to wait its turn last."""
    total: Counter[tuple[str, str]] = Counter()
    for each in runs.values():
        total.update(each)
    return sorted(total, key=lambda item: (item[0], item[1] == TURN, -total[item]))


def _waits(runs: Mapping[str, Reasons], queue: str, reason: str) -> tuple[str, ...]:
    return tuple(f"{each.get((queue, reason), 0) / 1000:,.1f}" for each in runs.values())


def waits_section(shown: Sequence[StoredTables], heading: str, notes: tuple[str, ...]) -> Section:
    """Show for which reasons the jobs of each queue waited, and how long.

    Only first replications of runs that are not too large have that noted.
    """
    runs = {each.scheduler: _stored(each) for each in shown if QUEUE_WAITS in each.queues}
    by_queue = _by_queue(runs)
    if not by_queue:
        return Section("waits", _WHY)
    tables = [
        TextTable(
            f"{queue}: seconds",
            ("Reason", *runs),
            tuple((each, _waits(runs, queue, each)) for of, each in by_queue if of == queue),
        )
        for queue in dict.fromkeys(queue for queue, _ in by_queue)
    ]
    rows = [
        [policy, queue, reason, each[queue, reason] / 1000]
        for policy, each in runs.items()
        for queue, reason in by_queue
        if (queue, reason) in each
    ]
    return Section(
        name="waits",
        title=_WHY,
        tables=tuple(tables),
        pictures=(
            Picture(
                "waits",
                "Reasons of waits",
                "How long the jobs of a queue asked for containers in vain, by the rule that "
                "refused them. The times of jobs that wait at once are added up.",
                partial(waits_figure, runs, heading),
            ),
        ),
        notes=notes,
        files={"waits.csv": text_of(["policy", "queue", "reason", "waited"], rows)},
    )


def _stored(each: StoredTables) -> Reasons:
    columns = each.queues[QUEUE_WAITS].to_pydict()
    keys = zip(columns["queue"], columns["reason"], strict=True)
    return dict(zip(keys, columns["waited"], strict=True))


def waits_figure(runs: Mapping[str, Reasons], heading: str = "") -> Figure:
    """Draw a bar for each queue and scheduler, which the reasons are parts of."""
    from matplotlib.patches import Patch

    by_queue = _by_queue(runs)
    queues = list(dict.fromkeys(queue for queue, _ in by_queue))[:_MOST_QUEUES]
    total: Counter[str] = Counter()
    for (_, reason), waited in chain.from_iterable(each.items() for each in runs.values()):
        total[reason] += waited
    reasons = sorted(total, key=lambda reason: (reason == TURN, -total[reason]))
    colours = dict(zip(reasons, fill_colours(len(reasons)), strict=True))
    figure = new_figure(11, 1.6 + 0.35 * len(queues) * len(runs) + 0.1 * len(reasons), heading)
    axes = figure.subplots()
    sums = {
        (queue, name): sum(waited for (of, _), waited in each.items() if of == queue)
        for queue in queues
        for name, each in runs.items()
    }
    unit, name_of_unit = time_axis(max(sums.values()) / _SECOND)
    for place, (queue, name) in enumerate(sums):
        begin = 0.0
        for reason in reasons:
            part = runs[name].get((queue, reason), 0) / _SECOND / unit
            axes.barh(place, part, 0.8, left=begin, color=colours[reason])
            begin += part
    plain_axes(axes, "", f"Waited ({name_of_unit})", "")
    grid_across(axes)
    axes.set_yticks(range(len(sums)), [f"{queue}, {name}" for queue, name in sums])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.invert_yaxis()
    patches = [Patch(color=colours[reason], label=reason) for reason in reasons]
    legend_below(figure, patches, columns=2)
    return figure
