"""Runs for the terminal, and as comma-separated values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from rebecsim.clusters.yarn.measures import QUEUE_MEASURES, YARN_MEASURES, MeasuredRun
from rebecsim.clusters.yarn.queue_tables import queue_tables_of
from rebecsim.clusters.yarn.report.queue_figures import (
    SHOWN_FIGURES,
    QueueFigures,
    figure_text,
    queue_figures,
)
from rebecsim.clusters.yarn.tables import tables_of
from rebecsim.report.csv import write_stacked


def run_tables(runs: Mapping[str, MeasuredRun]) -> list[Table]:
    """Show the figures of some runs, by their schedulers: of the cluster, and of queues."""
    of_queues = queues_table(runs)
    return [measures_table(runs), *([] if of_queues is None else [of_queues])]


def measures_table(runs: Mapping[str, MeasuredRun]) -> Table:
    """Show the figures of some runs, by their schedulers: a row for each figure."""
    table = Table()
    table.add_column("")
    for name in runs:
        table.add_column(name, justify="right")
    placed = any(each.run.configuration.placement is not None for each in runs.values())
    of_files = _has_queues(runs)
    for each in (*YARN_MEASURES, *QUEUE_MEASURES) if of_files else YARN_MEASURES:
        if each.metric.name == "local" and not (placed or _is_near_somewhere(runs)):
            continue
        found = [each.of(run) for run in runs.values()]
        if not any(found):
            continue  # nothing is elastic, reserved or killed
        unit = f" ({each.metric.unit})" if each.metric.unit else ""
        values = [f"{value:,.{each.metric.decimals}f}" for value in found]
        table.add_row(f"{each.metric.title}{unit}", *values)
    return table


def _is_near_somewhere(runs: Mapping[str, MeasuredRun]) -> bool:
    return any(bool(each.containers.locality.any()) for each in runs.values())


def _has_queues(runs: Mapping[str, MeasuredRun]) -> bool:
    return any(each.run.configuration.queues is not None for each in runs.values())


def queues_table(runs: Mapping[str, MeasuredRun]) -> Table | None:
    """Show what queues got, a row for each figure of each leaf; None: no file has queues."""
    if not _has_queues(runs):
        return None
    found = {}
    for name, run in runs.items():
        memory = sum(node.size.memory for node in run.run.nodes)
        found[name] = queue_figures(queue_tables_of(run.run, run.containers), memory)
    return figures_table(found)


def figures_table(found: Mapping[str, Mapping[str, QueueFigures]]) -> Table:
    """Show figures of queues, by schedulers; what is nothing everywhere is left out."""
    table = Table()
    table.add_column("Queue")
    table.add_column("")
    for name in found:
        table.add_column(name, justify="right")
    for path in dict.fromkeys(path for figures in found.values() for path in figures):
        of_queue = [figures.get(path) for figures in found.values()]
        first = path
        for name, heading, decimals in SHOWN_FIGURES:
            values = [None if each is None else getattr(each, name) for each in of_queue]
            if name != "share" and not any(values):
                continue  # nothing is refused, or killed
            texts = [figure_text(value, decimals) for value in values]
            table.add_row(first, heading, *texts)
            first = ""
        table.add_section()
    return table


def write_tables(runs: Mapping[str, MeasuredRun], folder: Path) -> None:
    """Write all tables of some runs, each a CSV file with the scheduler in the first column.

    Raises OSError when one cannot be written.
    """
    tables = {name: tables_of(run.run, run.containers) for name, run in runs.items()}
    if _has_queues(runs):
        for name, run in runs.items():
            tables[name] |= queue_tables_of(run.run, run.containers)
    write_stacked("scheduler", tables, folder)
