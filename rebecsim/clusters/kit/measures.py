"""The figures by which runs are compared, and the timeline of who ran where and when.

A kind has a class of measured runs. Each figure is a property of it that knows its title and unit
and whose docstring is its note, so what is computed, shown and documented stands in one place:

    class MeasuredRun:
        @measure("Makespan", "s")
        def makespan(self) -> float:
            \"\"\"From the first submission to the last end.\"\"\"

`MeasuredRun.makespan` is the measure, `run.makespan` its value for a run. Figures of the jobs need
no method: `mean_wait = of_jobs("waits", mean, ...)` is the mean of the property `waits`. A kind
whose runs have such figures is a `RecordedStudy`.

Who ran where and when: a timeline, from which charts, use and checks are made.

A lane is a place with some room: a node with its memory, a node's map slots, a machine with its
processors. Runs say how much room work took, not which part of it, so charts choose: the first gap
that is wide enough, or the lowest free parts.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import insort
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray
from rich.table import Column, Table

from rebecsim.metrics import Metric, count_over_time
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
    table = Table("", *(Column(name, justify="right") for name in runs))
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

    separate: ClassVar[tuple[str, ...]] = ()
    """The coordinates whose values are compared separately."""

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
        return ComparisonRules(scenario.compared_with, self.separate, kept=self.kept(scenario))

    def axis(self, scenario: Any) -> Axis | None:
        """Charts go by the load factor, where there are several."""
        return LOAD_AXIS if len(getattr(scenario, "load_factors", ())) > 1 else None


Integers = NDArray[np.int64]
Names = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Lane:
    """A place where work runs.

    Attributes:
        name: of its row in charts; neighbours of one name share a row.
        room: how much it has; 0: as much as any lane of its timeline has in use at once.
    """

    name: str
    room: int = 0


@dataclass(frozen=True, eq=False)
class Timeline:
    """Work that ran in lanes; arrays of shape (stretches,).

    Attributes:
        lanes: the places.
        who: the job, or task, that ran.
        owner: whose it was; charts colour by it.
        lane: index of its lane.
        begin, end: from when until before when; in parts of a second.
        size: how much room it took.
        pale: whether charts show it paler than other work.
        per_second: how many parts a second has.
    """

    lanes: Sequence[Lane]
    who: NDArray[Any]
    owner: Names
    lane: Integers
    begin: Integers
    end: Integers
    size: Integers
    pale: NDArray[np.bool_]
    per_second: int = field(default=1, kw_only=True)

    def __len__(self) -> int:
        return len(self.begin)

    def only(self, chosen: NDArray[Any]) -> Timeline:
        """Give the stretches of a mask or of an array of indices, in that order."""
        columns = (each.name for each in fields(self) if each.name not in ("lanes", "per_second"))
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def within(self, begin: int, end: int) -> Timeline:
        """Give what runs at some time from `begin` until before `end`, in the order of begins."""
        inside = np.flatnonzero((self.begin < end) & (self.end > begin))
        return self.only(inside[np.argsort(self.begin[inside], kind="stable")])

    def work(self, begin: int, end: int) -> dict[str, float]:
        """Give what each owner used in a window: room times parts of a second."""
        parts = np.clip(self.end, begin, end) - np.clip(self.begin, begin, end)
        owners, row = np.unique(self.owner, return_inverse=True)
        sums = np.bincount(row, weights=parts * self.size, minlength=len(owners))
        return dict(zip(owners.tolist(), sums.tolist(), strict=True))

    def in_use(self, edges: Integers) -> NDArray[np.float64]:
        """Give the room in use in all lanes, means over windows; shape (edges - 1,)."""
        return count_over_time(self.begin, self.end, self.size).means(edges)

    @cached_property
    def rooms(self) -> Integers:
        """The room of each lane, that which the timeline does not say filled in; shape (lanes,)."""
        said = np.array([each.room for each in self.lanes], dtype=np.int64)
        if said.all():
            return said
        taken = _in_use_at_begins(self.lane, self.begin, self.end, self.size)[1]
        return np.where(said, said, max(int(taken.max(initial=0)), 1))

    def placed(self) -> Places:
        """Choose a part of its lane for each stretch; several parts where no gap is wide enough.

        Raises ValueError for a lane that is too full.
        """
        rooms, found = self.rooms.tolist(), []
        running: list[list[tuple[int, int, int]]] = [[] for _ in rooms]
        columns = (self.lane, self.begin, self.end, self.size)
        rows = list(zip(*(each.tolist() for each in columns), strict=True))
        for at in np.argsort(self.begin, kind="stable").tolist():
            lane, begin, end, size = rows[at]
            if begin >= end:
                continue
            held = running[lane] = [each for each in running[lane] if each[2] > begin]
            parts = _parts(held, size, rooms[lane])
            if sum(high - low for low, high in parts) < size:
                of = f"{size} of {rooms[lane]}"
                raise ValueError(f"{self.who[at]} begins at {begin} when less than {of} is free")
            for low, high in parts:
                insort(held, (low, high, end))
                found.append((at, low, high - low))
        return Places(*np.array(found, dtype=np.int64).reshape(-1, 3).T)


def overfull(
    lane: Integers, begin: Integers, end: Integers, size: Integers, rooms: Integers
) -> tuple[Integers, Integers]:
    """Give which stretches begin when less than they take is free, and what is in use then.

    They are in the order of lanes and begins; of several at one time, the later ones are too many.
    What ends at that time is gone already.
    """
    stretch, used = _in_use_at_begins(lane, begin, end, size)
    over = used > rooms[lane[stretch]]
    return stretch[over], used[over]


def _in_use_at_begins(
    lane: Integers, begin: Integers, end: Integers, size: Integers
) -> tuple[Integers, Integers]:
    """Give the stretches in the order of begins within their lanes, and what is in use then."""
    count = len(lane)
    begins = np.repeat([False, True], count)
    order = np.lexsort((begins, np.concatenate([end, begin]), np.tile(lane, 2)))  # stable
    used = np.cumsum(np.concatenate([-size, size])[order])
    return (order - count)[begins[order]], used[begins[order]]


@dataclass(frozen=True, eq=False)
class Places:
    """Parts of lanes; arrays of shape (parts,).

    Attributes:
        stretch: index of what has it in the timeline.
        low: where it begins in its lane.
        size: how much it is.
    """

    stretch: Integers
    low: Integers
    size: Integers


def _parts(held: Sequence[tuple[int, int, int]], size: int, room: int) -> list[tuple[int, int]]:
    """Choose the first gap that is wide enough beside what is held, or the lowest free parts."""
    gaps, lowest = [], 0
    for low, high, _ in held:
        if low - lowest >= size:
            return [(lowest, lowest + size)]
        if low > lowest:
            gaps.append((lowest, low))
        lowest = high
    if room - lowest >= size:
        return [(lowest, lowest + size)]
    parts, left = [], size
    for low, high in (*gaps, (lowest, room)):
        if left and high > low:
            parts.append((low, min(high, low + left)))
            left -= parts[-1][1] - low
    return parts
