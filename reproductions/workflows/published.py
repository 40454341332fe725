"""The published tables of WFBB-RM, as they stand in `published.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rebecsim.errors import UserError
from reproductions.framework import read_beside

COLUMNS = ("SL_TSP1", "TL_TSP1", "SL_TSP2", "TL_TSP2")
"""Configurations, without the rule by which laxity is divided."""

FIGURES = ("late", "turnaround", "processing")
"""Late jobs (%), turnaround (s), and processing time (s a job)."""

COMPARED = ("late", "turnaround")
"""Those that are held against the published ones."""

_DEFAULTS = {"multiplier": 5, "reserved_ahead": 50_000, "count": 50}
_RATES = {"cybershake": 22, "ligo": 180, "genome": 2290}
_NORMAL = 1.959964
"""Standard errors in half of a published interval of 95 %."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A published figure and the half-width of its interval."""

    value: float
    half_width: float

    @property
    def standard_error(self) -> float:
        """That of the figure."""
        return self.half_width / _NORMAL


@dataclass(frozen=True, slots=True)
class Point:
    """The parameters of an experiment.

    Attributes:
        family: of workflows.
        interval: a job arrives in so many seconds, on average.
        multiplier: em_max.
        reserved_ahead: s_max (s).
        count: of resources.
    """

    family: str
    interval: int
    multiplier: int
    reserved_ahead: int
    count: int

    @property
    def name(self) -> str:
        """What runs of it are called."""
        values = self.interval, self.multiplier, self.reserved_ahead, self.count
        return "_".join(map(str, (self.family, *values)))


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A level of the factor of a table: the parameters, and for each figure a value by column.

    None stands for a misprint.
    """

    label: str
    point: Point
    figures: Mapping[str, tuple[Printed | None, ...]]


@dataclass(frozen=True, slots=True)
class BudgetTable:
    """A published table.

    Attributes:
        number: as published.
        family: of workflows.
        rule: by which laxity is divided, `PD` or `ED`.
        varied: the parameter that is varied.
        factor: that in words.
        rows: its levels.
    """

    number: str
    family: str
    rule: str
    varied: str
    factor: str
    rows: tuple[BudgetRow, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the resource managers, by column."""
        return tuple(f"WFBB_{self.rule}_{column}" for column in COLUMNS)


_WORDS = {
    "rate": ("arrivals a second", "1/{}"),
    "multiplier": ("em_max", "{}"),
    "reserved_ahead": ("s_max", "{} s"),
    "count": ("resources", "{}"),
}


@cache
def published() -> Mapping[str, BudgetTable]:
    """Read what is published, by the numbers of tables."""
    content = read_beside(__file__)
    wrong = {
        (each["table"], each["level"], each["column"], each["figure"])
        for each in content["misprints"]
    }
    return {each["number"]: _table(each, wrong) for each in content["tables"]}


def chosen_tables(numbers: Iterable[str] | None) -> list[BudgetTable]:
    """Give some of the tables, or all. Raises UserError for one that is not there."""
    known = published()
    if numbers is None:
        return list(known.values())
    if missing := [each for each in numbers if each not in known]:
        raise UserError(f"--tables: there is no table {missing[0]!r}; they are D.1 to D.24")
    return [known[each] for each in dict.fromkeys(numbers)]


def default_point(family: str) -> Point:
    """Give the parameters that tables vary one of."""
    return Point(family, _RATES[family], **_DEFAULTS)


def _table(entry: Mapping[str, Any], wrong: set[tuple[str, int, int, str]]) -> BudgetTable:
    number, family, factor = entry["number"], entry["family"], entry["factor"]
    words, form = _WORDS[factor]
    rows = []
    for row in entry["rows"]:
        level = row["level"]
        changed = {"interval" if factor == "rate" else factor: level}
        point = Point(**{**_parameters(default_point(family)), **changed})
        figures = {
            figure: tuple(
                None if (number, level, column, figure) in wrong else Printed(*pair)
                for column, pair in enumerate(row[figure])
            )
            for figure in FIGURES
        }
        rows.append(BudgetRow(form.format(level), point, figures))
    return BudgetTable(number, family, entry["rule"], factor, words, tuple(rows))


def _parameters(point: Point) -> dict[str, Any]:
    return {name: getattr(point, name) for name in Point.__slots__}
