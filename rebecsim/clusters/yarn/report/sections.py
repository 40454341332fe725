"""Sections of reports for YARN clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rebecsim.clusters.kit.report import asks_for_groups, by_group_section
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.report.charts import (
    busiest_window,
    durations_figure,
    gantt_figure,
    has_queues,
    job_durations,
    occupancy_figure,
    speedup_figure,
    speedups,
)
from rebecsim.clusters.yarn.report.queues import queue_section
from rebecsim.clusters.yarn.report.stored import StoredTables, answers_of, read_shown
from rebecsim.clusters.yarn.report.waits import waits_section
from rebecsim.errors import UserError
from rebecsim.report.csv import text_of
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.sections import Picture, Section

_ALIKE = 0.005  # a job whose durations differ by less than this part is as fast as before


def yarn_sections(plan: Plan, results: Results) -> tuple[Section, ...]:
    """Who waits longer, or jobs against the baseline; pictures of one run of each scheduler."""
    shown = read_shown(plan, results)
    base = shown[plan.scenario.compared_with]
    others = [each for each in shown.values() if each is not base]
    of_first = _of_first(plan)
    heading = plan.scenario.heading
    speedups_of = {"speedups.csv": _speedups_csv(base, others)} if others else {}
    of_files = bool(plan.scenario.schedulers)
    answers = answers_of(plan, results)
    by_group = by_group_section(
        answers,
        leads=not plan.has_chance,
        notes=of_first if plan.has_chance else (),
        terminal=of_files or asks_for_groups(plan, answers),
    )
    runs = Section(
        name="pictures",
        title="Runs",
        pictures=tuple(_pictures(plan, list(shown.values()), base, others)),
        notes=of_first,
    )
    if of_files:
        return (
            replace(by_group, files={**by_group.files, **speedups_of}),
            queue_section(list(shown.values()), heading, of_first),
            waits_section(list(shown.values()), heading, of_first),
            runs,
            Section("idle", "Settings that have no effect", sentences=_idle(plan)),
        )
    sentences = tuple(_sentence(base, each) for each in others)
    title = "Compared with the baseline"
    baseline = Section("baseline", title, sentences=sentences, notes=of_first, files=speedups_of)
    return (by_group, baseline, runs) if others else (by_group, runs)


def _idle(plan: Plan) -> tuple[str, ...]:
    """Say what of files has no effect."""
    found: dict[str, None] = {}
    for cell in plan.cells:
        setup: RunSetup = cell.setup
        try:
            queues = setup.queues
        except (OSError, UserError):
            continue  # the file is gone, or is another now: results are shown without it
        if queues is not None:
            found |= dict.fromkeys(queues.idle)
    return tuple(found)


def _of_first(plan: Plan) -> tuple[str, ...]:
    """Say which runs are compared job by job and drawn, where there are others as well."""
    if plan.total == len({cell.cell.policy for cell in plan.cells}):
        return ()
    return (f"Of the runs with {plan.cells[0].cell.condition}, first replication.",)


def _sentence(base: StoredTables, other: StoredTables) -> str:
    factors = speedups(base, other)
    faster = int((factors > 1 + _ALIKE).sum())
    slower = int((factors < 1 - _ALIKE).sum())
    return (
        f"Under {other.scheduler} {faster:,} of {len(factors):,} jobs take less time than under "
        f"{base.scheduler}, {slower:,} take more; half of the jobs are at least "
        f"{float(np.median(factors)):.2f} times as fast."
    )


def _speedups_csv(base: StoredTables, others: Sequence[StoredTables]) -> str:
    """One line per job and scheduler other than the baseline; durations in seconds."""
    header = ["baseline", "policy", "job", "baseline_duration", "duration", "speedup"]
    rows = (
        [base.scheduler, each.scheduler, *row]
        for each in others
        for row in zip(
            each.jobs.column("job").to_pylist(),
            job_durations(base).tolist(),
            job_durations(each).tolist(),
            speedups(base, each).tolist(),
            strict=True,
        )
    )
    return text_of(header, rows)


def _pictures(
    plan: Plan, shown: Sequence[StoredTables], base: StoredTables, others: Sequence[StoredTables]
) -> Iterator[Picture]:
    """Say which pictures there are, in the order of the page."""
    heading = plan.scenario.heading
    if others:
        yield Picture(
            "speedup",
            "Which jobs are faster?",
            "Jobs in the order of their speed-up, each line in its own order; above one, a job is "
            f"faster than under {base.scheduler}.",
            partial(speedup_figure, base, others, heading),
        )
    yield Picture(
        "durations",
        "How long do jobs take?",
        "How many of the jobs took at most so long, from submission to end.",
        partial(durations_figure, shown, heading),
    )
    yield Picture(
        "occupancy",
        "How much memory was in use?",
        "Each step is the mean of its window of time. What is nothing throughout is left out.",
        partial(occupancy_figure, shown, heading),
    )
    yield Picture(
        "gantt",
        "Which jobs ran where, and when?",
        "A bar is a container, as high as its memory; elastic ones are paler. "
        + (
            "Its colour is that of its queue."
            if has_queues((base, *others))
            else "The jobs with the most memory have colours."
        ),
        partial(gantt_figure, shown, busiest_window((base, *others)), heading),
    )
