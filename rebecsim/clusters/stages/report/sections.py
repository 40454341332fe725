"""Sections of reports for jobs with several stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from rebecsim.clusters.stages.managers.decisions import ChargedBy
from rebecsim.clusters.stages.measures import most_warm_up, mser_warm_up
from rebecsim.clusters.stages.report.charts import (
    StoredStages,
    gantt_figure,
    lateness_figure,
    laxity_figure,
    read_stages,
)
from rebecsim.report.csv import text_of
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.sections import Picture, Section, TextTable
from rebecsim.wording import counted

_SHARES = (1, 5, 25, 50, 75, 95, 99, 100)
"""Percentages of jobs."""


def stages_sections(plan: Plan, results: Results) -> tuple[Section, ...]:
    """Show how late jobs were, and where they ran; at the last load factor."""
    shown = read_stages(plan, results)
    factors = plan.scenario.load_factors
    notes = ("Of the jobs of all replications together.",)
    if len(factors) > 1:
        notes = (f"Of the jobs of all replications together, at load factor {factors[-1]:g}.",)
    return (
        Section(
            name="lateness",
            title="Lateness",
            tables=(_table(shown),),
            pictures=tuple(_pictures(plan, shown)),
            notes=(*notes, *_repeatable(plan), *_warm_up(plan, shown)),
            files={"lateness.csv": _csv(shown)},
        ),
    )


def _repeatable(plan: Plan) -> tuple[str, ...]:
    """Say so where the wall clock was part of the run."""
    if plan.scenario.decisions.by is not ChargedBy.CLOCK:
        return ()
    return ("Decisions were charged by the wall clock: no figure of these runs is repeatable.",)


def _warm_up(plan: Plan, shown: Sequence[StoredStages]) -> Iterator[str]:
    """Say how many jobs MSER-5 has left out of figures, and where runs were too short for it."""
    if plan.scenario.warm_up != "mser5":
        return
    jobs = shown[0].turnarounds.shape[1]
    for each in shown:
        cuts = [mser_warm_up(run) for run in each.turnarounds]
        yield (
            f"{each.manager}: MSER-5 left {min(cuts)} to {max(cuts)} of {jobs} jobs out of figures."
        )
        short = sum(cut > 0 and cut == most_warm_up(jobs) for cut in cuts)
        if short:
            yield (
                f"{each.manager}: in {short} of {counted(len(cuts), 'run')} that is as many as "
                "it may, so these had not settled: give more jobs, or less load."
            )


def _table(shown: Sequence[StoredStages]) -> TextTable:
    """Give by how much jobs were late, a row for each share of them."""
    rows = tuple(
        (
            f"{share} % of jobs at most",
            tuple(f"{np.percentile(each.lateness, share):,.0f}" for each in shown),
        )
        for share in _SHARES
    )
    headings = ("", *(each.manager for each in shown))
    return TextTable("End after the deadline (s); negative: before", headings, rows)


def _csv(shown: Sequence[StoredStages]) -> str:
    """One line for each manager and share of jobs; seconds."""
    rows = [
        (each.manager, share, float(np.percentile(each.lateness, share)))
        for each in shown
        for share in _SHARES
    ]
    return text_of(["policy", "percent", "lateness"], rows)


def _pictures(plan: Plan, shown: Sequence[StoredStages]) -> Iterator[Picture]:
    """Say which pictures there are, in the order of the page."""
    heading = plan.scenario.heading
    yield Picture(
        "lateness",
        "How late are jobs?",
        "How many of the jobs ended at most so long after their deadlines; left of the line at 0 "
        "they were in time.",
        partial(lateness_figure, shown, heading),
    )
    yield Picture(
        "laxity",
        "Are late jobs those with little laxity?",
        "A dot is a job. Laxity is what its deadline leaves beside the time that it takes alone; "
        "jobs on the slanted line never waited, those above 0 were late.",
        partial(laxity_figure, shown, heading),
    )
    yield Picture(
        "gantt",
        "What ran around the latest job?",
        "A bar is a task, orange if its job was late; a dashed line is the deadline of such a job. "
        "Of the first replication.",
        partial(gantt_figure, shown, heading),
    )
