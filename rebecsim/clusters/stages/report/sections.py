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
    """Warn if the wall clock was part of the run."""
    if plan.scenario.decisions.by is not ChargedBy.CLOCK:
        return ()
    return ("Decisions were charged by the wall clock, so these runs cannot be repeated.",)


def _warm_up(plan: Plan, shown: Sequence[StoredStages]) -> Iterator[str]:
    """Say how many jobs MSER-5 has left out, and which runs were too short."""
    if plan.scenario.warm_up != "mser5":
        return
    jobs = shown[0].turnarounds.shape[1]
    for each in shown:
        cuts = [mser_warm_up(run) for run in each.turnarounds]
        left_out = f"the first {min(cuts)} to {max(cuts)} of {jobs} jobs"
        yield f"{each.manager}: MSER-5 left out {left_out}."
        short = sum(cut > 0 and cut == most_warm_up(jobs) for cut in cuts)
        if short:
            yield (
                f"{each.manager}: in {short} of {counted(len(cuts), 'run')} MSER-5 reached its "
                "limit: the warm-up had not ended. Use more jobs, or less load."
            )


def _table(shown: Sequence[StoredStages]) -> TextTable:
    """Make the table of lateness percentiles."""
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
    """Yield the pictures in the order of the page."""
    heading = plan.scenario.heading
    yield Picture(
        "lateness",
        "How late are jobs?",
        "Share of jobs with at most this lateness. Jobs left of the line at 0 were in time.",
        partial(lateness_figure, shown, heading),
    )
    yield Picture(
        "laxity",
        "Are late jobs those with little laxity?",
        "Each dot is a job. Laxity is the time until its deadline, less its run time alone. "
        "Jobs on the slanted line never waited; jobs above 0 were late.",
        partial(laxity_figure, shown, heading),
    )
    yield Picture(
        "gantt",
        "What ran around the latest job?",
        "The first replication. Each bar is a task, orange if its job was late. A dashed line is "
        "the deadline of a late job.",
        partial(gantt_figure, shown, heading),
    )
