"""Percentiles of waits, with intervals that allow for dependent waits within a run.

The interval of a percentile is that of the share of waits up to it, read off the distribution at
its two ends: R. S. Woodruff, "Confidence intervals for medians and other position measures",
Journal of the American Statistical Association 47 (1952). The share is a ratio of two sums over
independent runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rebecsim.clusters.model.report.reading import Numbers, Waits
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell
from rebecsim.studies.estimates import estimate
from rebecsim.studies.moments import CellMoments

PERCENTS = (50, 90, 95, 99)
"""The percentiles of reports."""

_UP_TO = Metric(
    name="up_to",
    title="Up to",
    unit="waits",
    better="neither",
    numerator={"below": 1},
    denominator={"below": 1, "above": 1},
)


@dataclass(frozen=True)
class Percentile:
    """The smallest wait that is not exceeded in so many percent, between two bounds.

    The bounds are None for a single run.
    """

    value: int
    low: int | None
    high: int | None


def percentile(waits: Waits, runs: int, percent: float) -> Percentile:
    """Estimate a percentile of the waits of so many runs; there is at least one wait."""
    ordered = np.sort(waits.wait)
    value = _at(ordered, percent / 100)
    below = np.bincount(waits.run[waits.wait <= value], minlength=runs)
    above = np.bincount(waits.run[waits.wait > value], minlength=runs)
    columns = {"below": below, "above": above}
    half = estimate(_UP_TO, [CellMoments.from_columns(Cell.of(""), columns, {})]).half_width
    if half is None:
        return Percentile(value, None, None)
    return Percentile(value, _at(ordered, percent / 100 - half), _at(ordered, percent / 100 + half))


def _at(ordered: Numbers, share: float) -> int:
    """Give the smallest wait up to which there is at least this share of them."""
    place = math.ceil(round(share * len(ordered), 9)) - 1
    return int(ordered[min(max(place, 0), len(ordered) - 1)])
