"""Runs for the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.table import Table

from rebecsim.clusters.mapreduce.figures.jobs import JOB_FIGURES, JobColumns
from rebecsim.clusters.mapreduce.figures.measures import MAPREDUCE_MEASURES, MeasuredRun
from rebecsim.clusters.mapreduce.figures.stored import StoredRuns
from rebecsim.clusters.mapreduce.figures.tables import RecordedRun
from rebecsim.report.groups import GroupAnswer, JobTimes, grouping

_BY_FAMILY = {
    "response_ratio": ("Response ratio", 2),
    "waiting": ("Waiting (s)", 1),
    "execution": ("Execution (s)", 1),
}


def answer_of_runs(runs: Mapping[str, RecordedRun]) -> GroupAnswer:
    """Compare runs of the same jobs by queue or user; blocks and heartbeats are drawn."""
    return _answer(
        {
            name: (
                run.measured.jobs,
                [f"job {job}" for job in run.names["job"]],
                {
                    noun: Counter(str(each[place]) for each in run.rejections)
                    for noun, place in (("queue", 2), ("user", 3))
                },
            )
            for name, run in runs.items()
        }
    )


def answer_of_stored(shown: Sequence[StoredRuns]) -> GroupAnswer:
    """Compare all runs of some variants, the first of which others are compared with."""
    several = any(each.replications.any() for each in shown)
    return _answer(
        {
            each.variant: (
                each.all_jobs,
                [
                    f"job {job} of run {run}" if several else f"job {job}"
                    for job, run in zip(each.numbers, each.replications, strict=True)
                ],
                each.refused,
            )
            for each in shown
        }
    )


def _answer(
    runs: Mapping[str, tuple[JobColumns, Sequence[str], Mapping[str, Mapping[str, int]]]],
) -> GroupAnswer:
    """Compare jobs under their names, with how many others each queue, or user, has refused."""
    first, _, _ = next(iter(runs.values()))
    noun, _ = grouping(first.queue.tolist(), first.user.tolist())
    times = {}
    for variant, (jobs, names, refused) in runs.items():
        labels = [f"{name} ({of})" for name, of in zip(names, jobs.family.tolist(), strict=True)]
        groups = getattr(jobs, noun) if noun else np.full(len(jobs), "", dtype=str)
        counts = refused[noun] if noun else {"": sum(refused["queue"].values())}
        times[variant] = JobTimes(
            np.array(labels, dtype=str), groups, jobs.waiting, jobs.elapsed, counts
        )
    return GroupAnswer(times, noun, exact=False)


def run_tables(runs: Mapping[str, MeasuredRun]) -> Iterator[Table]:
    """Show the figures of some runs, by their variants: of all jobs, and by queue and family."""
    yield _figures(runs)
    yield _families(runs)


def _figures(runs: Mapping[str, MeasuredRun]) -> Table:
    table = Table()
    table.add_column("")
    for name in runs:
        table.add_column(name, justify="right")
    for each in MAPREDUCE_MEASURES:
        values = [each.of(run) for run in runs.values()]
        if each.telling != "always" and not any(values):
            continue
        unit = f" ({each.metric.unit})" if each.metric.unit else ""
        decimals = each.metric.decimals
        shown = ["" if math.isnan(value) else f"{value:,.{decimals}f}" for value in values]
        table.add_row(f"{each.metric.title}{unit}", *shown)
    return table


def _families(runs: Mapping[str, MeasuredRun]) -> Table:
    """Show a row for each figure, queue and family."""
    table = Table()
    for heading in ("", "Queue", "Family"):
        table.add_column(heading)
    for name in runs:
        table.add_column(name, justify="right")
    pairs = sorted(
        {
            pair
            for run in runs.values()
            for pair in zip(run.jobs.queue.tolist(), run.jobs.family.tolist(), strict=True)
        }
    )
    for figure, (title, decimals) in _BY_FAMILY.items():
        for place, (queue, family) in enumerate(pairs):
            values = []
            for run in runs.values():
                jobs = run.counted.of(family, queue)
                values.append(f"{JOB_FIGURES[figure](jobs):,.{decimals}f}" if len(jobs) else "")
            table.add_row("" if place else title, queue, family, *values)
    return table
