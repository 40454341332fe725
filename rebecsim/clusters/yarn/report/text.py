"""Runs for the terminal, and as comma-separated values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from rebecsim.clusters.kit.measures import figures_table
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.measures import MEASURES, run_figures
from rebecsim.clusters.yarn.report.queues import queue_figures, queue_figures_table
from rebecsim.clusters.yarn.report.waits import Waited, waited
from rebecsim.clusters.yarn.tables import (
    QUEUE_JOBS,
    QUEUE_TABLES,
    QUEUE_WAITS,
    queue_job_table,
    queue_tables_of,
    tables_of,
)
from rebecsim.report.numbers import write_stacked


@dataclass(frozen=True, eq=False)
class ShownRun:
    """What is shown and written of a run; it is pickled.

    Attributes:
        tables: by name, those of queues too where a file has them; only that of the jobs by queue
            where the answer is all that is asked for.
        names: of the jobs, by number.
        figures: in the order of the measures, those that say something.
        memory: MB of the cluster.
        of_file: whether the scheduler is a file of queues.
        served: how many jobs have ended.
        stuck: what else waits in vain; empty: nothing.
        waited: why jobs waited, if that was asked for.
    """

    tables: Mapping[str, Mapping[str, Any]]
    names: Mapping[int, str]
    figures: Mapping[str, float]
    memory: int
    of_file: bool
    served: int
    stuck: str
    waited: Waited | None = None


def shown_run(setup: RunSetup, whole: bool, why: str | None = None) -> ShownRun:
    """Run a cluster; `whole`: for all tables and figures. Raises as `RunSetup.measured`.

    `why` is the job, by name or number, of which it is to be said why it waits.
    """
    measured = setup.measured(0, explains=why is not None)
    run, configuration = measured.run, measured.run.configuration
    of_file = configuration.queues is not None
    tables: dict[str, Mapping[str, Any]] = {QUEUE_JOBS: queue_job_table(run)}
    figures: dict[str, float] = {}
    if whole:
        tables = {**tables_of(run, measured.containers)}
        tables |= queue_tables_of(run, measured.containers)
        if run.wait_log is None:
            del tables[QUEUE_WAITS]
        figures = run_figures(measured, queues=of_file)
        if configuration.placement is None and not measured.containers.locality.any():
            del figures["local"]
    return ShownRun(
        tables,
        {each.number: each.job.name for each in run.applications},
        figures,
        sum(node.size.memory for node in run.nodes),
        of_file,
        len(run.served),
        "" if run.stuck is None else str(run.stuck),
        None if why is None else waited(run, setup.scheduler, why),
    )


def run_tables(runs: Mapping[str, ShownRun]) -> list[Table]:
    """Show the figures of some runs, by their schedulers: of the cluster, and of queues."""
    of_files = {
        name: queue_figures(run.tables, run.memory) for name, run in runs.items() if run.of_file
    }
    figures = {name: run.figures for name, run in runs.items()}
    return [
        figures_table(MEASURES, figures),
        *([queue_figures_table(of_files)] if of_files else []),
    ]


def write_tables(runs: Mapping[str, ShownRun], folder: Path) -> None:
    """Write all tables of some runs, each a CSV file with the scheduler in the first column.

    Those of queues are written where a file has them. Raises OSError when one cannot be written.
    """
    of_files = any(run.of_file for run in runs.values())
    kept = {
        name: {
            table: columns
            for table, columns in run.tables.items()
            if of_files or table not in QUEUE_TABLES
        }
        for name, run in runs.items()
    }
    write_stacked("scheduler", kept, folder)
