"""The input of a report: results, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rebecsim.metrics import Metric
from rebecsim.studies.cells import POLICIES, Compared, Condition, Section, grouped, leading_section
from rebecsim.studies.differences import PairDifference, pairwise_differences
from rebecsim.studies.moments import CellMoments, PairedMoments
from rebecsim.studies.precision import Precision, Reached, reached_by
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import (
    REFERENCE_ORDER,
    Answer,
    OrderEnvelope,
    Summary,
    answer_of,
    as_lines,
    by_coordinates,
    order_envelopes,
    place_of,
    summarise,
)


@dataclass(frozen=True)
class ReportInput:
    """Results of a comparison with all that a reader needs to judge and repeat it.

    The figures are computed when they are asked for, and once.

    Attributes:
        title: of the scenario, plain text.
        description: of the scenario, plain text; paragraphs are separated by empty lines.
        scenario: the configuration as JSON-like data (str, numbers, bool, None, list, dict).
        seed: from which all random numbers were drawn.
        versions: package -> version.
        moments: one per cell.
        metrics: the columns of the table of policies; the first one matters most.
        choice_law: name of the law by which `?(...)` was resolved ("fair" or "rmc"); None where
            there is no such thing.
        engines: what ran the models ("python", "native"), where that is known.
        inputs: what else the results depend on: name -> checksum.
        charted: what to show along the axis; empty for the same as `metrics`.
        axis: what charts go by; None: there are none.
        separate: coordinates whose values are compared separately.
        swept: the coordinates of swept keys that have several values.
        baseline: the policy that all others are compared with; None: every two are.
        level: confidence level of the intervals, in (0, 1).
        pairs: the same runs in pairs, one entry per condition; empty when policies are not to be
            compared.
        order: in which order messages of one time unit were served; None where there are none.
        orders: message order -> moments of every cell, for order sensitivity; empty, or
            "random" (the order of `moments`) and others.
        order_pairs: the same runs in pairs, for each of these orders.
        precisions: what the runs were to reach, where that was asked for.
        normal_outcomes: the ends of runs that are not worth a warning.
        earned_by: a figure without which, where it is 0, a policy is not marked as the best.
        sections: what the kind adds.
        compared: what policies are called.
        order_notes: what the orders of messages are.
        caution: what must be known before the answer is read.
    """

    title: str
    description: str
    scenario: Mapping[str, Any]
    seed: int
    versions: Mapping[str, str]
    moments: Sequence[CellMoments]
    metrics: tuple[Metric, ...]
    choice_law: str | None = None
    engines: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    charted: tuple[Metric, ...] = ()
    axis: Axis | None = None
    separate: tuple[str, ...] = ()
    swept: tuple[str, ...] = ()
    baseline: str | None = None
    level: float = 0.95
    pairs: Sequence[PairedMoments] = ()
    order: str | None = REFERENCE_ORDER
    orders: Mapping[str, Sequence[CellMoments]] = field(default_factory=dict)
    order_pairs: Mapping[str, Sequence[PairedMoments]] = field(default_factory=dict)
    precisions: tuple[Precision, ...] = ()
    normal_outcomes: frozenset[str] = frozenset({"time limit"})
    earned_by: Metric | None = None
    sections: Sequence[Section] = ()
    compared: Compared = POLICIES
    order_notes: tuple[str, ...] = ()
    caution: str = ""

    @cached_property
    def comparisons(self) -> dict[Condition, ReportInput]:
        """The separate comparisons, each as a report of its own."""
        return {
            condition: replace(
                self,
                moments=moments,
                separate=(),
                pairs=self._under(condition, self.pairs),
                orders={
                    order: by_coordinates(cells, self.separate)[condition]
                    for order, cells in self.orders.items()
                },
                order_pairs={
                    order: self._under(condition, pairs)
                    for order, pairs in self.order_pairs.items()
                },
            )
            if self.separate
            else self
            for condition, moments in by_coordinates(self.moments, self.separate).items()
        }

    def _under(
        self, condition: Condition, pairs: Sequence[PairedMoments]
    ) -> Sequence[PairedMoments]:
        return [each for each in pairs if each.condition.only(self.separate) == condition]

    @property
    def leading(self) -> Section | None:
        """The section that answers what the user asks, if there is one."""
        return leading_section(self.sections)

    @property
    def has_chance(self) -> bool:
        """Whether anything in the runs was drawn."""
        return any(each.is_random for each in self.moments)

    @cached_property
    def summary(self) -> Summary:
        """The results pooled per policy; raises as `summarise` does."""
        return self._summary(self.moments, self.metrics)

    @cached_property
    def by_axis(self) -> dict[Condition, Summary]:
        """The results along the axis, for each condition that is compared separately.

        The conditions are named by what they differ in; the values of other swept keys are named
        with the policies. Empty without an axis; raises as `summarise` does.
        """
        if self.axis is None:
            return {}
        kept = (self.axis.coordinate, *self.swept)
        others = [
            name
            for name in self.separate
            if name not in kept and len(by_coordinates(self.moments, (name,))) > 1
        ]
        lines = [name for name in self.swept if name != self.axis.coordinate]
        metrics = self.charted or self.metrics
        groups = by_coordinates(self.moments, others)
        return {
            condition: self._summary(as_lines(group, lines), metrics)
            for condition, group in groups.items()
        }

    def _summary(self, moments: Sequence[CellMoments], metrics: Sequence[Metric]) -> Summary:
        return summarise(
            moments,
            metrics,
            self.level,
            axis=None if self.axis is None else self.axis.coordinate,
            normal_outcomes=self.normal_outcomes,
            earned_by=self.earned_by,
        )

    @cached_property
    def differences(self) -> tuple[PairDifference, ...]:
        """Policies compared run by run; raises as `pairwise_differences` does."""
        return pairwise_differences(
            self.metrics, self.pairs, self.level, self.has_chance, self.baseline
        )

    @cached_property
    def answer(self) -> Answer:
        """Who has the best figure, the first one, under each condition that is told apart.

        Raises as `summarise` and `pairwise_differences` do.
        """
        moments, by = self.moments, self.separate
        if self.axis is not None:
            along = self.axis.coordinate
            by = tuple(dict.fromkeys((*by, along)))
            moments = sorted(moments, key=lambda each: place_of(each.cell, along))
        return answer_of(self.metrics[0], moments, self.pairs, by, self.level, self.baseline)

    @cached_property
    def envelopes(self) -> tuple[OrderEnvelope, ...]:
        """The figures under all message orders; raises as `order_envelopes` does."""
        return order_envelopes(self.orders, self.metrics, self.level)

    @cached_property
    def order_differences(self) -> dict[str, tuple[PairDifference, ...]]:
        """Policies compared in each message order; raises as `pairwise_differences`."""
        others = {
            order: pairwise_differences(self.metrics, pairs, self.level)
            for order, pairs in self.order_pairs.items()
            if order != self.order
        }
        return {self.order: self.differences, **others} if others and self.order else {}

    @cached_property
    def reached(self) -> tuple[tuple[Precision, tuple[Reached, ...]], ...]:
        """How precisely each policy is known, for each precision that was asked for."""
        drawn = [each for each in self.moments if each.is_random] or self.moments
        by_policy = grouped(drawn, lambda each: each.cell.policy)
        return tuple(
            (target, tuple(reached_by(name, group, target) for name, group in by_policy.items()))
            for target in self.precisions
        )
