"""What a report is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.summary import Summary, summarise
from rebecsim.metrics import DISPATCH_METRICS, Metric

__all__ = ["ReportInput"]


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Results of a comparison with all that a reader needs to judge and repeat it.

    Attributes:
        title: of the scenario, plain text.
        description: of the scenario, plain text; paragraphs are separated by empty lines.
        scenario: the configuration as JSON-like data (str, numbers, bool, None, list, dict).
        seed: from which all random numbers were drawn.
        choice_law: name of the law by which `?(...)` was resolved ("fair" or "rmc").
        versions: package -> version.
        moments: one per cell.
        wall_clock_seconds: how long the runs took, when that is known.
        metrics: what to report.
        level: confidence level of the intervals, in (0, 1).
    """

    title: str
    description: str
    scenario: Mapping[str, Any]
    seed: int
    choice_law: str
    versions: Mapping[str, str]
    moments: Sequence[CellMoments]
    wall_clock_seconds: float | None = None
    metrics: tuple[Metric, ...] = DISPATCH_METRICS
    level: float = 0.95

    def summary(self) -> Summary:
        """The results pooled per policy and per cluster size; raises as `summarise` does."""
        return summarise(self.moments, self.metrics, self.level)
