"""Runs the published experiments, and computes their figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from rebecsim.clusters.mapreduce.figures.jobs import JOB_FIGURES, Integers, JobColumns
from rebecsim.clusters.mapreduce.figures.stored import makespans, read_jobs
from rebecsim.clusters.mapreduce.reproduction.found import Found, Key
from rebecsim.clusters.mapreduce.reproduction.published import Experiment, published
from rebecsim.clusters.mapreduce.reproduction.scenarios import (
    experiment_scenarios,
    small_scenarios,
    validation_scenarios,
)
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.study import STUDY
from rebecsim.metrics import count_over_time
from rebecsim.studies.plan import plan_study
from rebecsim.studies.running.comparing import StudyRunner
from rebecsim.studies.running.runner import PlannedRun
from rebecsim.studies.storage.results import Results

QUICK = (1, 2, 4, 10, 22, 25, 26, 30)
"""Experiments about which most can be said with eight of them."""

_REPLICATIONS, _QUICK_REPLICATIONS = 10, 2
_OF_EXPERIMENTS = tuple(name for name in JOB_FIGURES if name != "makespan")
_OF_VALIDATION = ("map_time", "reduce_time", "execution", "waiting", "elapsed")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run.

    Attributes:
        quick: eight of the experiments, instead of all.
        replications: of each; None: ten, or two if it is quick.
    """

    quick: bool = False
    replications: int | None = None

    @property
    def command(self) -> str:
        """What is typed for it."""
        words = (
            ["rebecsim reproduce capacity", "--quick"]
            if self.quick
            else ["rebecsim reproduce capacity"]
        )
        if self.replications is not None:
            words.append(f"--replications {self.replications}")
        return " ".join(words)

    @property
    def runs(self) -> int:
        """How many replications there are."""
        return self.replications or (_QUICK_REPLICATIONS if self.quick else _REPLICATIONS)


def reproduce_capacity(directory: Path, runner: StudyRunner, extent: Extent) -> Found:
    """Run the experiments that are not in a directory yet, and give the figures of all."""
    experiments = chosen_experiments(QUICK if extent.quick else None)
    groups = [
        [_kept(each, directory) for each in scenarios]
        for scenarios in (
            experiment_scenarios(experiments, extent.runs),
            small_scenarios(extent.runs),
            validation_scenarios(extent.runs),
        )
    ]
    runner.run([run for group in groups for run in group])
    large, small, validation = groups
    return found_in(large, small, validation)


def _kept(scenario: MapReduceScenario, directory: Path) -> PlannedRun:
    plan = plan_study(STUDY, scenario)
    return PlannedRun(plan, Results.resume(directory / scenario.name, plan))


def chosen_experiments(numbers: Iterable[int] | None = None) -> list[Experiment]:
    """Give some of the published experiments, or all."""
    known = published().experiments
    return [known[number] for number in (known if numbers is None else numbers)]


def found_in(
    large: Sequence[PlannedRun], small: Sequence[PlannedRun], validation: Sequence[PlannedRun]
) -> Found:
    """Compute all figures of runs. Raises ResultsError for files that are missing or damaged."""
    values: dict[Key, float] = {}
    numbers = {each.name: each.number for each in published().experiments.values()}
    for name, jobs, replications in _cells(large):
        values.update(_figures(numbers[name], jobs, replications))
    return Found(
        values,
        {name: _makespans(jobs, replications) for name, jobs, replications in _cells(small)},
        dict(_validated(validation)),
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


def _validated(runs: Sequence[PlannedRun]) -> Iterator[tuple[str, Mapping[str, float]]]:
    for run in runs:
        slots = run.plan.scenario.cluster.reduce_slots
        for name, jobs, replications in _cells([run]):
            figures = {each: JOB_FIGURES[each](jobs) for each in _OF_VALIDATION}
            figures["at_once"] = _at_once(jobs, replications)
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
