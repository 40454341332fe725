"""The figures of a workload scenario: each policy's, over the replications of each variant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebecsim.experiments.statistics import Estimate, student_estimate
from rebecsim.experiments.workload_metrics import ScheduleMetric
from rebecsim.experiments.workload_plan import ScheduleCell

__all__ = ["WorkloadSummary", "summarise_schedules"]

Variant = tuple[float, str]


@dataclass(frozen=True)
class WorkloadSummary:
    """Figures by policy and variant.

    Attributes:
        metrics: the columns.
        policies: in the order of the scenario.
        variants: load factors and estimates under which policies are compared.
        replications: of each variant.
        estimates: by policy and variant, one per metric.
        baseline: the policy that the others are compared with.
        changes: by policy and variant, one per metric: the policy's figure less the baseline's.
            Replications are paired, as all policies see the same jobs and errors. Empty without
            two replications, and for the baseline.
    """

    metrics: tuple[ScheduleMetric, ...]
    policies: tuple[str, ...]
    variants: tuple[Variant, ...]
    replications: Mapping[Variant, int]
    estimates: Mapping[tuple[str, Variant], tuple[Estimate, ...]]
    baseline: str
    changes: Mapping[tuple[str, Variant], tuple[Estimate, ...]]

    def best(self, variant: Variant, column: int) -> frozenset[str]:
        """Give the policies with the best value as shown; none where all are equal."""
        metric = self.metrics[column]
        shown = {
            policy: round(self.estimates[policy, variant][column].value, metric.decimals)
            for policy in self.policies
        }
        if metric.better is None or len(set(shown.values())) < 2:
            return frozenset()
        best = (min if metric.better == "lower" else max)(shown.values())
        return frozenset(policy for policy, value in shown.items() if value == best)


def summarise_schedules(
    values: Mapping[ScheduleCell, tuple[float, ...]],
    metrics: tuple[ScheduleMetric, ...],
    baseline: str,
    level: float = 0.95,
) -> WorkloadSummary:
    """Take means over replications, with Student's intervals where there are two or more.

    `values` has one value per metric for every cell, `baseline` is one of its policies.
    """
    policies = tuple(dict.fromkeys(cell.policy for cell in values))
    variants = tuple(dict.fromkeys(cell.variant for cell in values))
    rows: dict[tuple[str, Variant], list[tuple[float, ...]]] = {}
    for cell, row in values.items():
        rows.setdefault((cell.policy, cell.variant), []).append(row)
    samples = {key: np.array(each) for key, each in rows.items()}
    return WorkloadSummary(
        metrics=metrics,
        policies=policies,
        variants=variants,
        replications={variant: len(samples[baseline, variant]) for variant in variants},
        estimates={key: _means(sample, level) for key, sample in samples.items()},
        baseline=baseline,
        changes={
            (policy, variant): _means(sample - samples[baseline, variant], level)
            for (policy, variant), sample in samples.items()
            if policy != baseline and len(sample) > 1
        },
    )


def _means(sample: NDArray[np.float64], level: float) -> tuple[Estimate, ...]:
    """Estimate the mean of each column of a sample of shape (replications, metrics)."""
    return tuple(_mean(column, level) for column in sample.T)


def _mean(values: NDArray[np.float64], level: float) -> Estimate:
    mean, count = float(values.mean()), len(values)
    if count < 2:
        return Estimate(mean, None, None, None, level, None)
    error = float(values.std(ddof=1)) / math.sqrt(count)
    return student_estimate(mean, error, count - 1, level)
