"""Stored runs: reading their tables, and showing them in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Column, Table

from rebecsim.clusters.kit.measures import figures_table
from rebecsim.clusters.kit.report import read_table, values_of
from rebecsim.clusters.mapreduce.columns import JobColumns, job_columns
from rebecsim.clusters.mapreduce.job import SECOND
from rebecsim.clusters.mapreduce.measures import (
    MAPREDUCE_MEASURES,
    MeasuredRun,
    family_figure,
    family_title,
    run_figures,
)
from rebecsim.clusters.mapreduce.tables import (
    ATTEMPTS,
    DEVICES,
    JOBS,
    QUEUES,
    REJECTED,
    SHARES,
    TABLES,
    RecordedRun,
)
from rebecsim.report.groups import GroupAnswer, JobTimes, grouping
from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.study import PlannedCell

if TYPE_CHECKING:
    import pyarrow as pa

    from rebecsim.studies.plan import Plan
    from rebecsim.studies.results import Results

"""Microseconds."""


@dataclass(frozen=True, eq=False)
class StoredRuns:
    """The tables of a variant; see `tables.TABLES` for their columns.

    Attributes:
        variant: its name.
        all_jobs: jobs of all replications, but for those of the warm-up.
        replications: of which replication each is.
        numbers: of the same jobs, in their replication.
        refused: how many jobs of each queue were not let in, and of each user, in all runs.
        jobs, attempts, queues, shares, devices: of the first replication.
    """

    variant: str
    all_jobs: JobColumns
    replications: NDArray[np.int64]
    numbers: NDArray[np.int64]
    refused: Mapping[str, Mapping[str, int]]
    jobs: pa.Table
    attempts: pa.Table
    queues: pa.Table
    shares: pa.Table
    devices: pa.Table

    def queue_of_attempts(self) -> NDArray[np.str_]:
        """Give the queue of the job of each attempt."""
        numbers, queues = values_of(self.jobs, "job"), values_of(self.jobs, "queue").astype(str)
        order = np.argsort(numbers)
        place = np.searchsorted(numbers[order], values_of(self.attempts, "job"))
        return np.asarray(queues[order][place])

    def makespans(self, queue: str) -> list[float]:
        """Give when the last job of a queue ended in each replication (s)."""
        return makespans(self.all_jobs, self.replications, queue)

    @property
    def queue_names(self) -> list[str]:
        """The queues, in the order of the scheduler's settings."""
        return [str(name) for name in values_of(self.queues, "queue")]


def read_shown(plan: Plan, results: Results) -> Mapping[str, StoredRuns]:
    """Read the tables of each variant. Raises ResultsError for missing or damaged files."""
    return {cell.cell.policy: _read(results, cell) for cell in plan.cells}


def read_jobs(results: Results, cell: PlannedCell) -> tuple[JobColumns, NDArray[np.int64]]:
    """Read the jobs of all replications of a cell, and of which replication each is.

    Those of the warm-up are left out. Raises ResultsError for a missing or damaged file.
    """
    columns, counted = _counted(results, cell)
    return job_columns(columns).only(counted), columns[REPLICATION][counted]


def _counted(results: Results, cell: PlannedCell) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Read the jobs of all replications of a cell, and say which are not of the warm-up."""
    columns = read_columns(results, cell, JOBS)
    jobs, replications = job_columns(columns), columns[REPLICATION]
    warm_up = cell.setup.scenario.warm_up
    counted = np.ones(len(jobs), dtype=bool)
    for run in np.unique(replications) if warm_up else ():
        mine = replications == run
        counted[mine] = jobs.only(mine).after_warm_up(warm_up)
    return columns, counted


def read_columns(results: Results, cell: PlannedCell, name: str) -> dict[str, NDArray[Any]]:
    """Read a table of a cell, with all replications, by its columns.

    Raises ResultsError for a missing or damaged file.
    """
    results.require(cell, {name: TABLES[name]})
    table = read_table(results, cell, name)
    return {column: values_of(table, column) for column in table.column_names}


def makespans(jobs: JobColumns, replications: NDArray[np.int64], queue: str = "") -> list[float]:
    """Give when the last job of a queue, or of all, ended in each replication (s)."""
    mine = jobs.queue == queue if queue else np.ones(len(jobs), dtype=bool)
    runs = np.unique(replications[mine])
    return [float(jobs.end[mine & (replications == run)].max()) / SECOND for run in runs]


def _read(results: Results, cell: PlannedCell) -> StoredRuns:
    names = (JOBS, ATTEMPTS, QUEUES, SHARES, DEVICES)
    results.require(cell, {name: TABLES[name] for name in names})
    columns, counted = _counted(results, cell)
    rejected = read_columns(results, cell, REJECTED)
    first = [read_table(results, cell, name, first=True) for name in names]
    return StoredRuns(
        cell.cell.policy,
        job_columns(columns).only(counted),
        columns[REPLICATION][counted],
        columns["job"][counted],
        {noun: Counter(rejected[noun].tolist()) for noun in ("queue", "user")},
        *first,
    )


_BY_FAMILY = ("response_ratio", "waiting", "execution")


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
    figures = {name: run_figures(run) for name, run in runs.items()}
    yield figures_table(MAPREDUCE_MEASURES, figures, always=lambda each: not each.needs)
    yield _families(runs)


def _families(runs: Mapping[str, MeasuredRun]) -> Table:
    """Show a row for each figure, queue and family."""
    table = Table("", "Queue", "Family", *(Column(name, justify="right") for name in runs))
    pairs = sorted(
        {
            pair
            for run in runs.values()
            for pair in zip(run.jobs.queue.tolist(), run.jobs.family.tolist(), strict=True)
        }
    )
    for figure in _BY_FAMILY:
        for place, (queue, family) in enumerate(pairs):
            values = (family_figure(figure, run.counted.of(family, queue)) for run in runs.values())
            table.add_row("" if place else family_title(figure), queue, family, *values)
    return table
