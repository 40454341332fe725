"""Sections of reports for YARN clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.queue_tables import QUEUE_JOBS
from rebecsim.clusters.yarn.report.by_group import answer_of_tables
from rebecsim.clusters.yarn.report.charts import (
    durations_figure,
    job_durations,
    occupancy_figure,
    speedup_figure,
    speedups,
)
from rebecsim.clusters.yarn.report.gantt import busiest_window, gantt_figure, has_queues
from rebecsim.clusters.yarn.report.queues import queue_section
from rebecsim.clusters.yarn.report.stored import StoredTables, read_shown
from rebecsim.clusters.yarn.report.waits import waits_section
from rebecsim.errors import UserError
from rebecsim.report.csv import text_of
from rebecsim.report.groups import group_section
from rebecsim.studies.plan import Plan
from rebecsim.studies.sections import Picture, Section
from rebecsim.studies.storage.results import Results

_ALIKE = 0.005  # a job whose durations differ by less than this part is as fast as before


def yarn_sections(plan: Plan, results: Results) -> tuple[Section, ...]:
    """Who waits longer, or jobs against the baseline; pictures of one run of each scheduler."""
    shown = read_shown(plan, results)
    base = shown[plan.scenario.compared_with]
    others = [each for each in shown.values() if each is not base]
    of_first = _of_first(plan)
    heading = plan.scenario.heading
    runs = Section(
        name="pictures",
        title="Runs",
        pictures=tuple(_pictures(plan, list(shown.values()), base, others)),
        notes=of_first,
    )
    files = {"speedups.csv": _speedups_csv(base, others)} if others else {}
    if plan.scenario.schedulers:
        answer = answer_of_tables(
            {each.scheduler: each.queues[QUEUE_JOBS].to_pydict() for each in (base, *others)},
            _names(plan),
            exact=not plan.has_chance,
        )
        leads = not of_first and not plan.has_chance
        by_group = group_section(answer, leads=leads, notes=of_first)
        return (
            replace(by_group, files={**by_group.files, **files}),
            queue_section(list(shown.values()), heading, of_first),
            waits_section(list(shown.values()), heading, of_first),
            runs,
            Section("idle", "Settings that have no effect", sentences=_idle(plan)),
        )
    if not others:
        return (runs,)
    sentences = tuple(_sentence(base, each) for each in others)
    title = "Compared with the baseline"
    return Section("baseline", title, sentences=sentences, notes=of_first, files=files), runs


def _names(plan: Plan) -> Mapping[int, str]:
    """Give what jobs are called by the trace, where it is still there."""
    setup: RunSetup = plan.cells[0].setup
    try:
        return {job.number: job.name for job in setup.jobs(0)}
    except (OSError, UserError):
        return {}


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
            "Speed-up of jobs",
            "Jobs in the order of their speed-up, each line in its own order; above one, a job is "
            f"faster than under {base.scheduler}.",
            partial(speedup_figure, base, others, heading),
        )
    yield Picture(
        "durations",
        "Durations of jobs",
        "How many of the jobs took at most so long, from submission to end.",
        partial(durations_figure, shown, heading),
    )
    yield Picture(
        "occupancy",
        "Memory over time",
        "Each step is the mean of its window of time. What is nothing throughout is left out.",
        partial(occupancy_figure, shown, heading),
    )
    yield Picture(
        "gantt",
        "Nodes",
        "A bar is a container, as high as its memory; elastic ones are paler. "
        + (
            "Its colour is that of its queue."
            if has_queues((base, *others))
            else "The jobs with the most memory have colours."
        ),
        partial(gantt_figure, shown, busiest_window((base, *others)), heading),
    )
