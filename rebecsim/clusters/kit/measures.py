"""The figures by which runs are compared: how a kind declares them, and those of its jobs.

A kind has a class of measured runs. Each figure is a property of it that knows its title and unit
and whose docstring is its note, so what is computed, shown and documented stands in one place:

    class MeasuredRun:
        @measure("Makespan", "s")
        def makespan(self) -> float:
            \"\"\"From the first submission to the last end.\"\"\"

`MeasuredRun.makespan` is the measure, `run.makespan` its value for a run. Figures of the jobs need
no method: `mean_wait = of_jobs("waits", mean, ...)` is the mean of the property `waits`. A kind
whose runs have such figures is a `RecordedStudy`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION, Rows, joined_columns
from rebecsim.studies.study import LOAD_AXIS, Axis, ComparisonRules, PlannedCell, Study

Better = Literal["lower", "higher", "neither"]
Statistic = Callable[[NDArray[Any]], float]


class Measure:
    """One figure of a run.

    Attributes:
        metric: what it is; each run has one value of it.
        of: gives the value.
        needs: what a scenario must have so that there is something to measure; empty: nothing.
    """

    metric: Metric

    def __init__(
        self,
        of: Callable[[Any], float],
        title: str,
        unit: str,
        note: str,
        better: Better = "lower",
        *,
        decimals: int = 1,
        needs: str = "",
        measured: bool = True,
    ) -> None:
        self.of = of
        self.needs = needs
        self._said: dict[str, Any] = {
            "title": title,
            "unit": unit,
            "better": better,
            "note": " ".join(note.split()),
            "decimals": decimals,
            "measured": measured,
        }

    def __set_name__(self, owner: type, name: str) -> None:
        self.metric = Metric(name=name, numerator={name: 1}, **self._said)

    @overload
    def __get__(self, run: None, owner: type) -> Measure: ...
    @overload
    def __get__(self, run: object, owner: type) -> float: ...
    def __get__(self, run: object | None, owner: type) -> Measure | float:
        """Give the value for a run; of the class, the measure."""
        return self if run is None else self.of(run)


def measure(
    title: str,
    unit: str = "",
    better: Better = "lower",
    *,
    decimals: int = 1,
    needs: str = "",
    measured: bool = True,
) -> Callable[[Callable[[Any], float]], Measure]:
    """Make a measure of a method, whose docstring is the note."""

    def declared(method: Callable[[Any], float]) -> Measure:
        return Measure(
            *(method, title, unit, method.__doc__ or "", better),
            decimals=decimals,
            needs=needs,
            measured=measured,
        )

    return declared


def of_jobs(
    column: str,
    statistic: Statistic,
    title: str,
    unit: str,
    note: str,
    better: Better = "lower",
    *,
    decimals: int = 1,
) -> Measure:
    """Make a measure of a property of runs that has a value for each job, shape (jobs,)."""

    def of(run: object) -> float:
        return statistic(getattr(run, column))

    return Measure(of, title, unit, note, better, decimals=decimals)


def mean(values: NDArray[Any]) -> float:
    """Give the mean of some jobs."""
    return float(values.mean())


def median(values: NDArray[Any]) -> float:
    """Give what half of the jobs have at most."""
    return float(np.median(values))


def percentile_95(values: NDArray[Any]) -> float:
    """Give what 95 % of the jobs have at most."""
    return float(np.percentile(values, 95))


def jain_percent(values: NDArray[Any]) -> float:
    """Give Jain's index of fairness of positive values (%).

    It is 100 % if all are equal, 100/n % if one of n has all. Jain, Chiu and Hawe (1984),
    equation 2.
    """
    return 100 * float(values.sum() ** 2 / (len(values) * (values**2).sum()))


def bounded_slowdowns(
    durations: NDArray[Any], alone: NDArray[Any], shortest: float = 10.0
) -> NDArray[np.float64]:
    """Give durations over what jobs take alone, `shortest` seconds and a factor of 1 at least."""
    return np.asarray(np.maximum(durations / np.maximum(alone, shortest), 1.0))


def number_late(lateness: NDArray[Any]) -> float:
    """Give how many jobs ended after their deadlines."""
    return float((lateness > 0).sum())


def percent_late(lateness: NDArray[Any]) -> float:
    """Give which share of the jobs ended after their deadlines (%)."""
    return 100 * int((lateness > 0).sum()) / len(lateness)


def mean_tardiness(lateness: NDArray[Any]) -> float:
    """Give by how much jobs ended after their deadlines on average, 0 for those before."""
    return float(np.maximum(lateness, 0).mean())


def measures_of(measured: type) -> tuple[Measure, ...]:
    """Give the measures of a class of runs, in the order of their definition."""
    return tuple(each for each in vars(measured).values() if isinstance(each, Measure))


def given(measures: Sequence[Measure], has: Collection[str]) -> tuple[Metric, ...]:
    """Give what can be measured where a scenario has this."""
    return tuple(each.metric for each in measures if not each.needs or each.needs in has)


def figures_of(measures: Sequence[Measure], run: object, has: Collection[str]) -> dict[str, float]:
    """Compute the figures of a run that can be measured where a scenario has this, by name."""
    return {
        each.metric.name: each.of(run) for each in measures if not each.needs or each.needs in has
    }


def figures_table(
    measures: Sequence[Measure],
    runs: Mapping[str, Mapping[str, float]],
    always: Callable[[Measure], bool] = lambda _: False,
) -> Table:
    """Show a row for each figure, a column for each run.

    What is nothing in all of them is left out, unless it is `always` shown.
    """
    table = Table()
    table.add_column("")
    for name in runs:
        table.add_column(name, justify="right")
    for each in measures:
        metric = each.metric
        found = [figures.get(metric.name) for figures in runs.values()]
        if not any(found) and not always(each):
            continue
        unit = f" ({metric.unit})" if metric.unit else ""
        values = [
            "" if value is None or math.isnan(value) else f"{value:,.{metric.decimals}f}"
            for value in found
        ]
        table.add_row(f"{metric.title}{unit}", *values)
    return table


Record = tuple[Mapping[str, float], Mapping[str, Mapping[str, Any]]]
"""Figures by name, and tables by name with their columns."""


class RecordedStudy(Study):
    """A kind that compares policies on jobs: each replication is one run, with its tables."""

    replications_per_task: ClassVar[int] = 1

    apart: ClassVar[tuple[str, ...]] = ()
    """The coordinates whose values are compared apart."""

    @abstractmethod
    def record(self, cell: PlannedCell, replication: int) -> Record:
        """Make a run of a cell: its figures, and its tables without the column of replications."""

    @abstractmethod
    def kept(self, scenario: Any) -> tuple[Metric, ...]:
        """Give all figures that runs of a scenario have."""

    def telling(self, scenario: Any) -> tuple[Metric, ...]:
        """Give those that say something, for a scenario that asks for none by name."""
        return self.kept(scenario)

    def columns(self, scenario: Any) -> dict[str, str]:
        """Give what each replication gives: column -> type."""
        return dict.fromkeys((each.name for each in self.kept(scenario)), "float64")

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Make some runs. Raises what `record` raises."""
        figures: list[Mapping[str, float]] = []
        parts: dict[str, list[dict[str, Any]]] = {}
        for replication in replications:
            found, tables = self.record(cell, replication)
            figures.append(found)
            for name, columns in tables.items():
                size = len(next(iter(columns.values())))
                rows = {REPLICATION: np.full(size, replication), **columns}
                parts.setdefault(name, []).append(rows)
        return Rows(
            {name: [each[name] for each in figures] for name in figures[0]},
            {name: joined_columns(rows) for name, rows in parts.items()},
        )

    def measures(self, scenario: Any) -> tuple[Metric, ...]:
        """Give the figures that the scenario asks for, or those that say something."""
        if not scenario.metrics:
            return self.telling(scenario)
        known = {each.name: each for each in self.kept(scenario)}
        return tuple(known[name] for name in scenario.metrics)

    def comparison(self, scenario: Any) -> ComparisonRules:
        """Compare with one policy."""
        return ComparisonRules(scenario.compared_with, self.apart, kept=self.kept(scenario))

    def axis(self, scenario: Any) -> Axis | None:
        """Charts go by the load factor, where there are several."""
        return LOAD_AXIS if len(getattr(scenario, "load_factors", ())) > 1 else None
