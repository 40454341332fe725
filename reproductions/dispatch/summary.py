"""A summary of reproduced tables: the best policies of each scenario, and means over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from rebecsim.metrics import Metric
from rebecsim.studies.cells import grouped
from rebecsim.studies.estimates import Estimate
from reproductions.agreement import MOST_ERRORS
from reproductions.dispatch.comparison import ReproductionRow

Agreement = Literal["yes", "partly", "no"]


@dataclass(frozen=True, slots=True)
class BestPolicies:
    """Which policies are best in one scenario by one figure.

    Several are when their figures cannot be told apart from the best one.
    """

    table: str
    scenario: str
    metric: Metric
    published: tuple[str, ...]
    ours: tuple[str, ...]
    fair: tuple[str, ...]

    @property
    def agreement(self) -> Agreement:
        """Whether published and ours name the same policies, some in common, or none."""
        if self.published == self.ours:
            return "yes"
        return "partly" if set(self.published) & set(self.ours) else "no"


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """A figure of one policy, averaged over the scenarios."""

    policy: str
    metric: Metric
    published: float
    remeasured: float
    ours: float
    fair: float


def best_policies(rows: Sequence[ReproductionRow]) -> list[BestPolicies]:
    """Name the best policies by scenario and figure.

    A policy counts as best when it is at most `MOST_ERRORS` standard errors of the difference
    behind the best figure. The two errors are added as if the policies were run independently,
    which is cautious, since they share random numbers.
    """
    groups = grouped(rows, lambda row: (row.table, row.scenario, row.metric))
    return [
        BestPolicies(
            *(table, scenario, metric),
            published=_best(metric, {r.policy: (r.published, r.published_error) for r in figures}),
            ours=_best(metric, {r.policy: _figure(r.ours) for r in figures}),
            fair=_best(metric, {r.policy: _figure(r.fair) for r in figures}),
        )
        for (table, scenario, metric), figures in groups.items()
    ]


def mean_figures(rows: Sequence[ReproductionRow]) -> list[MeanFigures]:
    """Average each figure of each policy over the scenarios, all with the same weight."""
    groups = grouped(rows, lambda row: (row.policy, row.metric))
    return [
        MeanFigures(
            policy,
            metric,
            published=fmean(row.published for row in figures),
            remeasured=fmean(row.remeasured for row in figures),
            ours=fmean(row.ours.value for row in figures),
            fair=fmean(row.fair.value for row in figures),
        )
        for (policy, metric), figures in groups.items()
    ]


def _figure(estimate: Estimate) -> tuple[float, float | None]:
    """A value and its standard error."""
    return estimate.value, estimate.standard_error


def _best(metric: Metric, figures: Mapping[str, tuple[float, float | None]]) -> tuple[str, ...]:
    """Policies that are not told apart from the best one, in the order of the table."""
    sign = 1 if metric.better == "higher" else -1
    defined = {policy: each for policy, each in figures.items() if not math.isnan(each[0])}
    if not defined:
        return ()
    best, best_error = max(defined.values(), key=lambda each: sign * each[0])
    return tuple(
        policy
        for policy, (value, error) in defined.items()
        if abs(best - value) <= MOST_ERRORS * math.hypot(error or 0.0, best_error or 0.0)
    )
