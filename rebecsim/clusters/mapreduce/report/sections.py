"""Sections of reports for MapReduce clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean

from rebecsim.clusters.kit.report import asks_for_groups, by_group_section
from rebecsim.clusters.mapreduce.columns import JOB_FIGURES, JobColumns
from rebecsim.clusters.mapreduce.measures import FAMILY_FIGURES, family_figure, family_title
from rebecsim.clusters.mapreduce.report.charts import (
    MOST_BARS,
    devices_figure,
    families_figure,
    gantt_figure,
    shares_figure,
    users_figure,
    users_of,
    waits_figure,
)
from rebecsim.clusters.mapreduce.report.tables import StoredRuns, answer_of_stored, read_shown
from rebecsim.report.csv import text_of
from rebecsim.studies.cells import EVERYWHERE
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.sections import Picture, Section, TextTable

Choice = Callable[[JobColumns, str], JobColumns]


def mapreduce_sections(plan: Plan, results: Results) -> tuple[Section, ...]:
    """Families and queues of all runs, and pictures of the first one of each variant."""
    shown = list(read_shown(plan, results).values())
    note = "Figures are of the jobs of all runs together."
    families = sorted({name for each in shown for name in each.all_jobs.family.tolist()})
    queues = list(dict.fromkeys(name for each in shown for name in each.queue_names))
    base = plan.scenario.compared_with
    compared = sorted(shown, key=lambda each: each.variant != base)
    answers = {EVERYWHERE: answer_of_stored(compared)}
    return (
        by_group_section(
            answers,
            leads=not plan.has_chance,
            notes=(note,),
            terminal=asks_for_groups(plan, answers),
        ),
        Section(
            name="families",
            title="Families of jobs",
            tables=tuple(_tables(shown, families, lambda jobs, name: jobs.of(name))),
            notes=(note,),
            files={"families.csv": _csv(shown)},
        ),
        Section(
            name="queues",
            title="Queues",
            tables=(
                _makespans(shown, queues),
                *_tables(shown, queues, lambda jobs, name: jobs.of(queue=name)),
            ),
            notes=(note, "The makespan is the mean over the runs."),
        ),
        Section(
            name="pictures",
            title="Runs",
            pictures=tuple(_pictures(plan, shown)),
            notes=() if plan.scenario.replications == 1 else ("Of the first replication.",),
        ),
    )


def _tables(
    shown: Sequence[StoredRuns], names: Sequence[str], choose: Choice
) -> Iterator[TextTable]:
    """Give a table for each figure: a row for each name, a column for each variant."""
    for figure in FAMILY_FIGURES:
        rows = tuple(
            (name, tuple(family_figure(figure, choose(each.all_jobs, name)) for each in shown))
            for name in names
        )
        yield TextTable(family_title(figure), ("", *(each.variant for each in shown)), rows)


def _makespans(shown: Sequence[StoredRuns], queues: Sequence[str]) -> TextTable:
    rows = tuple((queue, tuple(_makespan(each, queue) for each in shown)) for queue in queues)
    return TextTable("Makespan (s)", ("", *(each.variant for each in shown)), rows)


def _makespan(each: StoredRuns, queue: str) -> str:
    ends = each.makespans(queue)
    return f"{fmean(ends):,.0f}" if ends else ""


def _csv(shown: Sequence[StoredRuns]) -> str:
    """One line per variant, queue and family; times in seconds, shares in percent."""
    header = ["variant", "queue", "family", "jobs", *JOB_FIGURES]
    rows = []
    for each in shown:
        for queue in each.queue_names:
            mine = each.all_jobs.of(queue=queue)
            for family in sorted(set(mine.family.tolist())):
                alike = mine.of(family)
                figures = [figure(alike) for figure in JOB_FIGURES.values()]
                rows.append([each.variant, queue, family, len(alike), *figures])
    return text_of(header, rows)


def _pictures(plan: Plan, shown: Sequence[StoredRuns]) -> Iterator[Picture]:
    """Say which pictures there are, in the order of the page."""
    heading, cluster = plan.scenario.heading, plan.scenario.cluster
    of_node = cluster.most_slots
    yield Picture(
        "families",
        "How do the families of jobs fare?",
        "A box is the middle half of the jobs of all runs, the line in it the median; whiskers "
        "reach from the 5th to the 95th percentile.",
        partial(families_figure, shown, heading),
    )
    queues = list(dict.fromkeys(name for each in shown for name in each.queue_names))
    if len(queues) > 1:
        yield Picture(
            "families_by_queue",
            "How do they fare in each queue?",
            "The same, with a column for each queue.",
            partial(families_figure, shown, heading, queues),
        )
    if 1 < len(users_of(shown)) <= MOST_BARS:
        yield Picture(
            "users",
            "How long do the jobs of each user wait and run?",
            "Means over all runs; the lines reach a standard deviation up and down.",
            partial(users_figure, shown, heading),
        )
    yield Picture(
        "waits",
        "How long does each job of a queue wait?",
        "A point is a job of a queue, in the order of submission: the mean over all runs.",
        partial(waits_figure, shown, heading),
    )
    yield Picture(
        "shares",
        "How many slots did each queue hold?",
        "The part of all slots that each queue holds; dashed lines are capacities.",
        partial(shares_figure, shown, cluster.slots, heading),
    )
    yield Picture(
        "gantt",
        "Whose tasks ran where, and when?",
        "A bar is an attempt of a task, in the colour of its queue: maps above, reduces below.",
        partial(gantt_figure, shown, of_node, heading),
    )
    yield Picture(
        "devices",
        "How much of the devices was in use?",
        "Means over all nodes; what is used nowhere is left out.",
        partial(devices_figure, shown, heading),
    )
