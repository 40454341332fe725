"""What reproduced tables say together: the best policies of each scenario, and means over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Literal, TypeAlias

from rebecsim.clusters.dispatch.report.reproduction import CONSPICUOUS, ReproductionRow
from rebecsim.metrics import Metric
from rebecsim.studies.statistics import Estimate

__all__ = ["Agreement", "BestPolicies", "MeanFigures", "best_policies", "mean_figures"]

Agreement = Literal["yes", "partly", "no"]

_Figure: TypeAlias = tuple[float, float | None]
"""A value and its standard error."""


@dataclass(frozen=True, slots=True)
class BestPolicies:
    """Which policies are best in one scenario by one figure.

    Several are when their figures cannot be told apart from the best one. `fair` is None when the
    fair law was not run.
    """

    table: str
    scenario: str
    metric: Metric
    published: tuple[str, ...]
    ours: tuple[str, ...]
    fair: tuple[str, ...] | None

    @property
    def agreement(self) -> Agreement:
        """Whether published and ours name the same policies, some in common, or none."""
        if self.published == self.ours:
            return "yes"
        return "partly" if set(self.published) & set(self.ours) else "no"


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """A figure of one policy, averaged over the scenarios; None where one of them has none."""

    policy: str
    metric: Metric
    published: float
    remeasured: float | None
    ours: float
    fair: float | None


def best_policies(rows: Sequence[ReproductionRow]) -> list[BestPolicies]:
    """Name the best policies by scenario and figure.

    A policy counts as best when it is at most `CONSPICUOUS` standard errors of the difference
    behind the best figure. The two errors are added as if the policies were run independently,
    which is cautious, since they share random numbers.
    """

    def place(row: ReproductionRow) -> tuple[str, str, str]:
        return row.table, row.scenario, row.metric.name

    found = []
    order = {place(row): position for position, row in reversed(list(enumerate(rows)))}
    by_place = sorted(rows, key=lambda row: order[place(row)])
    for _, group in groupby(by_place, key=place):
        figures = list(group)
        first = figures[0]
        fair = {r.policy: _figure(r.fair) for r in figures if r.fair is not None}
        found.append(
            BestPolicies(
                table=first.table,
                scenario=first.scenario,
                metric=first.metric,
                published=_best(
                    first.metric, {r.policy: (r.published, r.published_error) for r in figures}
                ),
                ours=_best(first.metric, {r.policy: _figure(r.ours) for r in figures}),
                fair=_best(first.metric, fair) if fair else None,
            )
        )
    return found


def mean_figures(rows: Sequence[ReproductionRow]) -> list[MeanFigures]:
    """Average each figure of each policy over the scenarios, all with the same weight."""
    keys = dict.fromkeys((row.policy, row.metric) for row in rows)
    return [
        _mean(policy, metric, [r for r in rows if (r.policy, r.metric) == (policy, metric)])
        for policy, metric in keys
    ]


def _mean(policy: str, metric: Metric, rows: Sequence[ReproductionRow]) -> MeanFigures:
    def over(value: Callable[[ReproductionRow], float | None]) -> float | None:
        values = [each for row in rows if (each := value(row)) is not None]
        return fmean(values) if len(values) == len(rows) else None

    return MeanFigures(
        policy=policy,
        metric=metric,
        published=fmean(row.published for row in rows),
        remeasured=over(lambda row: row.remeasured),
        ours=fmean(row.ours.value for row in rows),
        fair=over(lambda row: None if row.fair is None else row.fair.value),
    )


def _figure(estimate: Estimate) -> _Figure:
    return estimate.value, estimate.standard_error


def _best(metric: Metric, figures: Mapping[str, _Figure]) -> tuple[str, ...]:
    """Policies that are not told apart from the best one, in the order of the table."""
    sign = 1 if metric.better == "higher" else -1
    defined = {policy: each for policy, each in figures.items() if not math.isnan(each[0])}
    if not defined:
        return ()
    best, best_error = max(defined.values(), key=lambda each: sign * each[0])
    return tuple(
        policy
        for policy, (value, error) in defined.items()
        if abs(best - value) <= CONSPICUOUS * math.hypot(error or 0.0, best_error or 0.0)
    )
