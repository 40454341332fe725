"""Runs for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from rich.table import Table

from rebecsim.clusters.mapreduce.figures.jobs import JOB_FIGURES
from rebecsim.clusters.mapreduce.figures.measures import MAPREDUCE_MEASURES, MeasuredRun

_BY_FAMILY = {
    "response_ratio": ("Response ratio", 2),
    "waiting": ("Waiting (s)", 1),
    "execution": ("Execution (s)", 1),
}


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
