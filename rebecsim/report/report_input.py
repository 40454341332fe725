"""What a report is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rebecsim.experiments.differences import PairDifference, pairwise_differences
from rebecsim.experiments.energy import Hardware, HardwareFigures, by_policy_and_size, by_workload
from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.order_sensitivity import (
    REFERENCE_ORDER,
    OrderEnvelope,
    order_envelopes,
)
from rebecsim.experiments.pair_moments import PairedMoments
from rebecsim.experiments.precision import Precision, Reached, reached_by
from rebecsim.experiments.summary import Summary, summarise
from rebecsim.experiments.traced import UtilisationOverTime
from rebecsim.metrics import DISPATCH_METRICS, Metric

__all__ = ["ReportInput"]


@dataclass(frozen=True)
class ReportInput:
    """Results of a comparison with all that a reader needs to judge and repeat it.

    The figures are computed when they are asked for, and once.

    Attributes:
        title: of the scenario, plain text.
        description: of the scenario, plain text; paragraphs are separated by empty lines.
        scenario: the configuration as JSON-like data (str, numbers, bool, None, list, dict).
        seed: from which all random numbers were drawn.
        choice_law: name of the law by which `?(...)` was resolved ("fair" or "rmc").
        versions: package -> version.
        moments: one per cell.
        engines: what ran the models ("python", "native"), where that is known.
        wall_clock_seconds: how long the runs took, when that is known.
        metrics: the columns of the table of policies; the first one matters most.
        charted: what to show by cluster size; empty for the same as `metrics`.
        breakdown: what else to show per policy: the parts that make up a metric.
        level: confidence level of the intervals, in (0, 1).
        pairs: the same runs in pairs, one entry per workload and cluster size; empty when
            policies are not to be compared.
        order: in which order messages of one time unit were served.
        orders: message order -> moments of every cell, for order sensitivity; empty, or
            "random" (the order of `moments`) and others.
        order_pairs: the same runs in pairs, for each of these orders.
        precision: what the runs were to reach, where that was asked for.
        has_chance: whether anything in the runs was drawn.
        hardware: the AppMasters, where the busy time of each was counted.
        utilisation: of the largest cluster over time, one entry for each policy whose messages
            were kept.
    """

    title: str
    description: str
    scenario: Mapping[str, Any]
    seed: int
    choice_law: str
    versions: Mapping[str, str]
    moments: Sequence[CellMoments]
    engines: tuple[str, ...] = ()
    wall_clock_seconds: float | None = None
    metrics: tuple[Metric, ...] = DISPATCH_METRICS
    level: float = 0.95
    charted: tuple[Metric, ...] = ()
    breakdown: tuple[Metric, ...] = ()
    pairs: Sequence[PairedMoments] = ()
    order: str = REFERENCE_ORDER
    orders: Mapping[str, Sequence[CellMoments]] = field(default_factory=dict)
    order_pairs: Mapping[str, Sequence[PairedMoments]] = field(default_factory=dict)
    precision: Precision | None = None
    has_chance: bool = True
    hardware: Hardware | None = None
    utilisation: Sequence[UtilisationOverTime] = ()

    @cached_property
    def summary(self) -> Summary:
        """The results pooled per policy and per cluster size; raises as `summarise` does."""
        return summarise(self.moments, self.metrics, self.level)

    @cached_property
    def by_size(self) -> Summary:
        """The results to be shown by cluster size; raises as `summarise` does."""
        return summarise(self.moments, self.charted or self.metrics, self.level)

    @cached_property
    def parts(self) -> Summary | None:
        """The breakdown per policy, None where there is none; raises as `summarise` does."""
        if not self.breakdown:
            return None
        return summarise(self.moments, self.breakdown, self.level)

    @cached_property
    def differences(self) -> tuple[PairDifference, ...]:
        """Every two policies compared; raises as `pairwise_differences` does."""
        return pairwise_differences(self.metrics, self.pairs, self.level, self.has_chance)

    @cached_property
    def envelopes(self) -> tuple[OrderEnvelope, ...]:
        """The figures under all message orders; raises as `order_envelopes` does."""
        return order_envelopes(self.orders, self.metrics, self.level)

    @cached_property
    def order_differences(self) -> dict[str, tuple[PairDifference, ...]]:
        """Every two policies compared in each message order; raises as `pairwise_differences`."""
        others = {
            order: pairwise_differences(self.metrics, pairs, self.level)
            for order, pairs in self.order_pairs.items()
            if order != self.order
        }
        return {self.order: self.differences, **others} if others else {}

    @cached_property
    def reached(self) -> tuple[Reached, ...]:
        """How precisely each policy is known; nothing when no precision was asked for."""
        if self.precision is None:
            return ()
        by_policy: dict[str, list[CellMoments]] = {}
        for moments in self.moments:
            by_policy.setdefault(moments.cell.policy, []).append(moments)
        return tuple(reached_by(name, group, self.precision) for name, group in by_policy.items())

    @cached_property
    def hardware_figures(self) -> tuple[HardwareFigures, ...]:
        """Utilisation and energy per policy and cluster size; raises as `by_policy_and_size`."""
        if self.hardware is None:
            return ()
        return by_policy_and_size(self.moments, self.hardware, self.level)

    @cached_property
    def hardware_by_workload(self) -> tuple[HardwareFigures, ...]:
        """Utilisation and energy of each cell; raises as `by_policy_and_size`."""
        if self.hardware is None:
            return ()
        return by_workload(self.moments, self.hardware, self.level)
