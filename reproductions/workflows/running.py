"""Run the published experiments on WFBB-RM, with the standard errors of their figures.

**Batches.** Two runs may have the same share of late jobs by chance, and one run says nothing of
how another one would differ. So each run is cut into batches of jobs that may start one behind the
other, which are long beside the time that a job is in the cluster: their means are nearly
independent (batch means: Schmeiser, Operations Research 30(3), 1982, who recommends ten to thirty).
Where few jobs are late, or none, batches hardly differ by chance: then the error is that of as many
independent jobs, with two late and two other ones added (Agresti and Coull, The American
Statistician 52(2), 1998).

**Spread runs.** Runs whose places are evenly spread (see `place_of_run`) are surer than as many
independent ones: their error is by the differences of neighbours, the estimator v2 of Wolter
(Journal of the American Statistical Association 79(388), 1984)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.stages.inputs import run_quantile
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.measures import STAGES_MEASURES
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.clusters.stages.study import STUDY
from rebecsim.clusters.stages.workflows import WORKFLOWS
from rebecsim.studies.estimates import Estimate, estimate
from rebecsim.studies.plan import Plan, plan_study
from rebecsim.studies.running import PlannedRun
from rebecsim.studies.scenario import validated
from reproductions.framework import (
    ENOUGH_RUNS,
    MOST_ERRORS,
    Extent,
    errors_apart,
    relative_distance,
)
from reproductions.workflows.published import (
    COMPARED,
    FIGURES,
    BudgetTable,
    Point,
    Printed,
    chosen_tables,
)

BATCHES = 20


def batch_errors(jobs: Path) -> Mapping[str, float]:
    """Give standard errors of the share of late jobs (%) and of the mean turnaround (s).

    `jobs` is the table of jobs of all runs of one cell, with columns in milliseconds.
    """
    kept = _kept(jobs)
    runs = len(np.unique(kept.run))
    of_late = max(error_of_mean(kept.late, runs), kept.error_of_share)
    return {"late": 100 * of_late, "turnaround": error_of_mean(kept.turnaround, runs)}


def spread_errors(jobs: Path, place: Callable[[int], float]) -> Mapping[str, float]:
    """Give these standard errors by two runs or more, whose places are evenly spread.

    `place` gives that of a replication; runs have as many jobs.
    """
    kept = _kept(jobs)
    numbers = np.unique(kept.run).tolist()
    ordered = [kept.run == each for each in sorted(numbers, key=place)]
    of_late = error_of_neighbours([kept.late[each].mean() for each in ordered])
    return {
        "late": 100 * max(of_late, kept.error_of_share),
        "turnaround": error_of_neighbours([kept.turnaround[each].mean() for each in ordered]),
    }


@dataclass(frozen=True, slots=True)
class _Kept:
    """Jobs of a cell, run by run and in the order in which they may start: late or not, and s."""

    run: NDArray[np.int64]
    late: NDArray[np.bool_]
    turnaround: NDArray[np.float64]

    @property
    def error_of_share(self) -> float:
        """That of late jobs, were they independent of one another."""
        return error_of_share(int(self.late.sum()), len(self.late))


def _kept(jobs: Path) -> _Kept:
    columns = ["replication", "start", "deadline", "end"]
    table = pq.read_table(jobs, columns=columns)
    run, start, deadline, end = (np.asarray(table.column(each).to_numpy()) for each in columns)
    order = np.lexsort((start, run))
    return _Kept(run[order], (end > deadline)[order], ((end - start) / SECOND)[order])


def error_of_neighbours(means: Sequence[float]) -> float:
    """Give the standard error of the mean of two runs or more, by their means, in their order."""
    count = len(means)
    return math.sqrt(float(np.square(np.diff(means)).sum()) / (2 * (count - 1) * count))


def error_of_share(count: int, total: int) -> float:
    """Give the standard error of the share `count / total` of independent events."""
    share = (count + 2) / (total + 4)
    return math.sqrt(share * (1 - share) / (total + 4))


def error_of_mean(values: NDArray[Any], runs: int) -> float:
    """Give the standard error of a mean by batches of `values`, of as many in each of some runs.

    `values`, at least two of each run, has the runs one behind the other. What differs between
    batches of a run counts, of which there are fewer if they had less than two values.
    """
    batches = min(BATCHES, max(len(values) // runs // 2, 2))
    parts = np.array_split(values, runs * batches)
    means = np.array([each.mean() for each in parts]).reshape(runs, batches)
    return math.sqrt(means.var(axis=1, ddof=1).mean() / (runs * batches))


JOBS = 3000
"""Of a run, all of which count; then no more arrive. The thesis does not say how many (7.4).

Turnarounds of tables D.3 and D.7 fall as jobs are reserved further ahead, which shows that runs are
short. By this number PD-SL-TSP1 on CyberShake comes near to the published late jobs and turnarounds
of tables D.1, D.3 and D.4, which 2,500 and 4,000 miss; no other table had a say.
"""

QUICK = ("D.1", "D.9", "D.17")
"""A table of each family."""

_MOST_SHARE = 0.05
_ROUNDED = {"late": 0.0005, "turnaround": 0.005, "processing": 0.0005}
"""Half of the last printed digit."""


class WorkflowExtent(Extent):
    """A table of each family, if it is quick, or some tables."""

    __slots__ = ()
    name = "workflows"
    usual, usual_if_quick = ENOUGH_RUNS, 2

    @property
    def is_small(self) -> bool:
        """Whether there are too few replications to tell from them how runs differ."""
        return self.runs < ENOUGH_RUNS

    @property
    def chosen(self) -> list[BudgetTable]:
        """The tables. Raises UserError for one that is not there."""
        return chosen_tables(self.tables or (QUICK if self.quick else None))


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """A figure of ours beside the published one.

    Attributes:
        printed: what is published; None: a misprint.
        ours: from our runs.
        rounded: half of the last printed digit.
    """

    printed: Printed | None
    ours: Estimate
    rounded: float

    @property
    def errors(self) -> float:
        """By how many standard errors, of both, ours is greater than the published figure."""
        if self.printed is None:
            return math.nan
        return errors_apart(
            self._apart, self.printed.standard_error, self.ours.standard_error or 0.0
        )

    @property
    def is_within(self) -> bool:
        """Whether they are within three standard errors, or 5 %, of one another."""
        if self.printed is None:
            return False
        return abs(self.errors) <= MOST_ERRORS or (
            abs(self._apart) <= _MOST_SHARE * self.printed.value
        )

    @property
    def distance(self) -> float | None:
        """How far ours is from the published figure, in parts of that; None where that is 0."""
        assert self.printed is not None
        return relative_distance(self.ours.value, self.printed.value)

    @property
    def _apart(self) -> float:
        """How far they are apart beyond what rounding can hide."""
        assert self.printed is not None
        apart = self.ours.value - self.printed.value
        return math.copysign(max(abs(apart) - self.rounded, 0.0), apart)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A published table with ours: for each of its rows the cells of each figure, by column."""

    table: BudgetTable
    rows: tuple[Mapping[str, tuple[ComparedCell, ...]], ...]

    def cells(self, *figures: str) -> Iterator[ComparedCell]:
        """Give all cells of some figures that are compared."""
        for row in self.rows:
            for figure in figures:
                yield from (each for each in row[figure] if each.printed is not None)


def scenario_of(table: BudgetTable, point: Point, replications: int) -> StagesScenario:
    """Give an experiment as a scenario.

    Jobs are known when they may start. The thesis maps them when they arrive; its turnarounds are
    those of jobs for which nothing has been planned long before (see the documents).
    """
    name = f"workflows_{table.rule.lower()}_{point.name}"
    values = {
        "name": name,
        "replications": replications,
        "policies": list(table.policies),
        "workload": {
            "jobs": JOBS,
            "rate": 1 / point.interval,
            "workflows": [point.family],
            "reserved_ahead": point.reserved_ahead,
            "multiplier": float(point.multiplier),
            "announced": False,
        },
        "resources": {"count": point.count, "slots": 2},
        "decisions": {"charged_by": "rate", "measured": True},
    }
    return validated(StagesScenario, name, values, {})


def planned(scenario: StagesScenario) -> Plan:
    """Lay out the cells of an experiment."""
    return plan_study(STUDY, scenario)


def compared(table: BudgetTable, runs: Sequence[PlannedRun]) -> FoundTable:
    """Put the figures of runs, one for each row, beside those of a table."""
    metrics = {each.metric.name: each.metric for each in STAGES_MEASURES}
    spread = WORKFLOWS[table.family].varies
    rows = []
    for row, run in zip(table.rows, runs, strict=True):
        moments = {each.cell.policy: each for each in run.results.moments(run.plan)}
        errors = _other_errors(run, spread=spread)
        ours = {
            figure: [estimate(metrics[figure], [moments[each]]) for each in table.policies]
            for figure in FIGURES
        }
        for figure in COMPARED:
            ours[figure] = [
                _as_sure(mine, [each[figure] for each in errors[policy]], spread=spread)
                for policy, mine in zip(table.policies, ours[figure], strict=True)
            ]
        ours["processing"] = [_in_seconds(each) for each in ours["processing"]]
        rows.append(compared_row(row.figures, ours))
    return FoundTable(table, tuple(rows))


def _as_sure(found: Estimate, errors: Sequence[float], *, spread: bool) -> Estimate:
    """Give a figure with the greatest of its standard errors; spread runs are not independent."""
    own = 0.0 if spread else found.standard_error or 0.0
    return replace(found, standard_error=max([own, *errors]))


def _other_errors(run: PlannedRun, *, spread: bool) -> dict[str, list[Mapping[str, float]]]:
    """Give standard errors other than those of independent runs: policy -> by figure.

    Those of runs that are evenly spread, and of few runs those of their batches as well.
    """
    scenario = run.plan.scenario
    place = partial(run_quantile, scenario.seed)
    found: dict[str, list[Mapping[str, float]]] = {}
    for each in run.plan.cells:
        errors = found.setdefault(each.cell.policy, [])
        jobs = run.results.table("jobs", each)
        if spread and scenario.replications > 1:
            errors.append(spread_errors(jobs, place))
        if scenario.replications < ENOUGH_RUNS:
            errors.append(batch_errors(jobs))
    return found


def compared_row(
    printed: Mapping[str, Sequence[Printed | None]], ours: Mapping[str, Sequence[Estimate]]
) -> dict[str, tuple[ComparedCell, ...]]:
    """Put figures of ours beside the published ones of a row."""
    return {
        figure: tuple(
            ComparedCell(theirs, mine, _ROUNDED[figure])
            for theirs, mine in zip(printed[figure], ours[figure], strict=True)
        )
        for figure in FIGURES
    }


def _in_seconds(found: Estimate) -> Estimate:
    """Give a figure of milliseconds in seconds."""
    error = found.standard_error
    return Estimate(
        found.value / 1000,
        None if error is None else error / 1000,
        None,
        None,
        found.level,
        found.degrees_of_freedom,
    )
