"""The base class of kinds whose runs have figures and tables of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION, Rows, joined_columns
from rebecsim.studies.study import LOAD_AXIS, Axis, ComparisonRules, PlannedCell, Study

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
