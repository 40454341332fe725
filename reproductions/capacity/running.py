"""The published experiments as scenarios, how much of them is run, and the figures of runs.

Some figures count reduces that share nodes, stragglers, and delayed maps (tables 5.2 to 5.4).
The thesis does not say what a straggler is; here it is a map that takes 1.5 times the median of the
maps of its job, or longer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.mapreduce.columns import JOB_FIGURES, Integers, JobColumns
from rebecsim.clusters.mapreduce.report.tables import makespans, read_columns, read_jobs
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.tables import ATTEMPTS, JOBS
from rebecsim.metrics import count_over_time
from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.running import PlannedRun
from rebecsim.studies.scenario import validated
from rebecsim.studies.scenario_files import read_scenario_text
from rebecsim.studies.study import PlannedCell
from reproductions.capacity.published import (
    Found,
    Key,
    Published,
    published,
)
from reproductions.framework import Extent

EXPERIMENT = "experiment_"
"""Before the number in the name of a variant that is one of the 32."""

_LARGE = ("capacity_separated", "capacity_interleaved", "capacity_apart")
_SENSITIVITY = (
    "two_queues",
    "three_queues",
    "two_reduces",
    "prioritised",
    "four_users",
    "four_users_five_reduces",
)
_VALIDATION = tuple(f"validation{slots}_{name}" for slots in (1, 2) for name in ("one", "two"))


def experiment_scenarios(
    replications: int, numbers: Collection[int] | None = None
) -> list[MapReduceScenario]:
    """Give a scenario for each pattern of submission, with some of its experiments, or all."""
    found = [_scenario(name, replications) for name in _LARGE]
    if numbers is None:
        return found
    chosen = [
        (scenario, [each for each in scenario.variants if number_of(each.name) in numbers])
        for scenario in found
    ]
    return [
        scenario.model_copy(update={"variants": tuple(variants)})
        for scenario, variants in chosen
        if variants
    ]


def number_of(variant: str) -> int:
    """Give the number of the experiment that a variant is."""
    return int(variant.removeprefix(EXPERIMENT))


def small_scenarios(replications: int) -> list[MapReduceScenario]:
    """Give the runs of table 5.1, one scenario for each of their workloads."""
    return [_of_folder(name, replications) for name in _SENSITIVITY]


def validation_scenarios(replications: int) -> list[MapReduceScenario]:
    """Give the runs of section 5.2: with one and with two reduce slots of a node."""
    return [_of_folder(name, replications) for name in _VALIDATION]


def _of_folder(name: str, replications: int) -> MapReduceScenario:
    folder = resources.files("rebecsim.models") / "scenarios" / "capacity_small"
    return _scenario(Path(str(folder / f"{name}.toml")), replications)


def _scenario(source: str | Path, replications: int) -> MapReduceScenario:
    text = read_scenario_text(source)
    values = {**text.values, "replications": replications}
    return validated(MapReduceScenario, text.origin, values, text.lines)


_STRAGGLER = 1.5


@dataclass(frozen=True)
class TaskTimes:
    """Nodes and times of the tasks of one kind of a job (microseconds), of shape (tasks,)."""

    node: Integers
    start: Integers
    end: Integers


@dataclass(frozen=True)
class JobTasks:
    """A job with its tasks."""

    program: str
    user: str
    queue: str
    submit: int
    maps: TaskTimes
    reduces: TaskTimes


RunTasks = Sequence[JobTasks]
"""The jobs of one run."""


def read_tasks(run: PlannedRun, cell: PlannedCell) -> list[RunTasks]:
    """Read the jobs of each replication. Raises ResultsError for a missing or damaged file."""
    jobs, attempts = (read_columns(run.results, cell, name) for name in (JOBS, ATTEMPTS))
    return [
        list(_of_replication(jobs, attempts, replication))
        for replication in np.unique(jobs[REPLICATION]).tolist()
    ]


def _of_replication(
    jobs: Mapping[str, NDArray[Any]], attempts: Mapping[str, NDArray[Any]], replication: int
) -> Iterator[JobTasks]:
    mine = attempts[REPLICATION] == replication
    for place in np.flatnonzero(jobs[REPLICATION] == replication).tolist():
        of_job = mine & (attempts["job"] == jobs["job"][place])
        kinds = (of_job & (attempts["kind"].astype(str) == kind) for kind in ("map", "reduce"))
        maps, reduces = (
            TaskTimes(*(attempts[name][chosen] for name in ("node", "start", "end")))
            for chosen in kinds
        )
        program, user, queue = (str(jobs[name][place]) for name in ("family", "user", "queue"))
        yield JobTasks(program, user, queue, int(jobs["submit"][place]), maps, reduces)


def pairings(runs: Sequence[RunTasks]) -> dict[tuple[str, str], tuple[int, int]]:
    """Count, by program and user, the runs in which no reduce of a job shared its node.

    And, beside them, those in which one did: a reduce of another job ran there at the same time.
    """
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for run in runs:
        for job in run:
            shared = any(_meet(job.reduces, other.reduces) for other in run if other is not job)
            isolated, paired = found.get((job.program, job.user), (0, 0))
            found[job.program, job.user] = isolated + (not shared), paired + shared
    return found


def _meet(some: TaskTimes, others: TaskTimes) -> bool:
    same = some.node[:, None] == others.node[None, :]
    together = (some.start[:, None] < others.end[None, :]) & (
        others.start[None, :] < some.end[:, None]
    )
    return bool((same & together).any())


def stragglers(run: RunTasks) -> int:
    """Count the maps of a run that straggle."""
    times = [job.maps.end - job.maps.start for job in run]
    return sum(int((each >= _STRAGGLER * np.median(each)).sum()) for each in times)


def has_delayed_maps(run: RunTasks) -> bool:
    """Whether a job has maps before one of its queue and program, submitted earlier, has all.

    Section 4.2.2: it gets a map or two when it is submitted, and no more until the maps of the
    earlier job have ended.
    """
    return any(
        job.maps.start.min() < earlier.maps.start.max()
        for job in run
        for earlier in run
        if earlier.submit < job.submit
        and (earlier.queue, earlier.program) == (job.queue, job.program)
    )


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
