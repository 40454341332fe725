"""How much of the published experiments is run, and the figures of runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from rebecsim.clusters.mapreduce.columns import JOB_FIGURES, Integers, JobColumns
from rebecsim.clusters.mapreduce.report.tables import makespans, read_jobs
from rebecsim.metrics import count_over_time
from rebecsim.studies.running import PlannedRun
from reproductions.capacity.found import Found, Key
from reproductions.capacity.published import (
    Published,
    published,
)
from reproductions.capacity.scenarios import (
    number_of,
)
from reproductions.capacity.shared_nodes import (
    RunTasks,
    has_delayed_maps,
    pairings,
    read_tasks,
    stragglers,
)
from reproductions.framework import Extent

QUICK = (1, 2, 4, 10, 22, 25, 26, 30)
"""Experiments about which most can be said with eight of them."""

_OF_EXPERIMENTS = tuple(name for name in JOB_FIGURES if name != "makespan")
_OF_VALIDATION = ("map_time", "reduce_time", "execution", "waiting", "elapsed")


class CapacityExtent(Extent):
    """Eight of the experiments, if it is quick, or what some tables need."""

    __slots__ = ()
    name = "capacity"
    usual, usual_if_quick = 10, 2

    @property
    def is_full(self) -> bool:
        """Whether all experiments are run as often as by default."""
        return not self.quick and not self.tables and self.runs >= self.usual

    @property
    def chosen(self) -> Published:
        """The tables that are compared. Raises UserError for one that is not there."""
        return published().only(self.tables) if self.tables else published()

    @property
    def experiments(self) -> Collection[int] | None:
        """The numbers of the experiments; None: all."""
        if self.tables:
            return {number for each in self.chosen.tables for number in each.experiments}
        return QUICK if self.quick else None

    def has(self, *tables: str) -> bool:
        """Whether one of some tables is compared."""
        return not self.tables or any(each in self.tables for each in tables)


def found_in(
    large: Sequence[PlannedRun], small: Sequence[PlannedRun], validation: Sequence[PlannedRun]
) -> Found:
    """Compute all figures of runs. Raises ResultsError for files that are missing or damaged."""
    values: dict[Key, float] = {}
    for name, jobs, replications in _cells(large):
        values.update(_figures(number_of(name), jobs, replications))
    tasks = {
        f"slots{run.plan.scenario.cluster.reduce_slots}_{cell.cell.policy}": read_tasks(run, cell)
        for run in validation
        for cell in run.plan.cells
    }
    return Found(
        values,
        {name: _makespans(jobs, replications) for name, jobs, replications in _cells(small)},
        dict(_validated(validation, tasks)),
        {name: pairings(each) for name, each in tasks.items()},
    )


def _cells(
    runs: Sequence[PlannedRun],
) -> Iterator[tuple[str, JobColumns, Integers]]:
    for run in runs:
        for cell in run.plan.cells:
            jobs, replications = read_jobs(run.results, cell)
            yield cell.cell.policy, jobs, replications


def _figures(number: int, jobs: JobColumns, replications: Integers) -> dict[Key, float]:
    """Give the figures of the jobs of all replications together; makespans are means of them."""
    found: dict[Key, float] = {}
    families, queues = sorted(set(jobs.family.tolist())), sorted(set(jobs.queue.tolist()))
    for queue in ("", *queues):
        for family in families:
            alike = jobs.of(family, queue)
            if len(alike):
                for figure in _OF_EXPERIMENTS:
                    found[Key(figure, number, family, queue)] = JOB_FIGURES[figure](alike)
        if queue:
            found[Key("makespan", number, "", queue)] = fmean(makespans(jobs, replications, queue))
    return found


def _makespans(jobs: JobColumns, replications: Integers) -> tuple[float, ...]:
    queues = sorted(set(jobs.queue.tolist()))
    return tuple(fmean(makespans(jobs, replications, queue)) for queue in queues)


def _validated(
    runs: Sequence[PlannedRun], tasks: Mapping[str, Sequence[RunTasks]]
) -> Iterator[tuple[str, Mapping[str, float]]]:
    for run in runs:
        slots = run.plan.scenario.cluster.reduce_slots
        for name, jobs, replications in _cells([run]):
            figures = {each: JOB_FIGURES[each](jobs) for each in _OF_VALIDATION}
            figures["at_once"] = _at_once(jobs, replications)
            of_runs = tasks[f"slots{slots}_{name}"]
            straggling = fmean(stragglers(each) for each in of_runs)
            figures["stragglers"] = CapacityExtent.usual * straggling
            figures["delayed"] = fmean(has_delayed_maps(each) for each in of_runs)
            yield f"slots{slots}_{name}", figures


def _at_once(jobs: JobColumns, replications: Integers) -> float:
    """Give the most jobs of a queue that ran at a time, in any replication."""
    most = 0
    for replication in np.unique(replications):
        for queue in np.unique(jobs.queue):
            mine = jobs.only((replications == replication) & (jobs.queue == queue))
            if len(mine):
                running = count_over_time(mine.begin, mine.end)
                most = max(most, int(running.values.max()))
    return float(most)
