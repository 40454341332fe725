"""The answer of a comparison: the best policies, and which leads are significant.

The answer is about the first measure. Pairs are tested for all conditions together (Holm, see
`differences`), so that the chance of any false claim in the whole answer is at most one less the
level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebecsim.metrics import Metric
from rebecsim.studies.cell import Condition, grouped
from rebecsim.studies.statistics.differences import PairDifference, differences_apart
from rebecsim.studies.statistics.estimates import estimate
from rebecsim.studies.statistics.moments import CellMoments
from rebecsim.studies.statistics.pair_moments import PairedMoments


@dataclass(frozen=True, slots=True)
class Standing:
    """How policies stand under one condition.

    Attributes:
        condition: empty where all conditions are pooled.
        figures: policy -> its figure, NaN where it is undefined.
        leaders: the policies with the best figure: several when these are equal, none when no
            figure is defined.
        differences: the pairs that were tested.
    """

    condition: Condition
    figures: Mapping[str, float]
    leaders: tuple[str, ...]
    differences: tuple[PairDifference, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """The policies that do not lead."""
        return tuple(policy for policy in self.figures if policy not in self.leaders)

    @property
    def tested(self) -> tuple[str, ...]:
        """The other policies that a leader was tested against."""
        return tuple(policy for policy in self.others if self.tests(policy, self.leaders))

    @property
    def behind(self) -> tuple[str, ...]:
        """The other policies that are shown to be behind, all that was tested of them."""
        return tuple(policy for policy in self.tested if self.shows(policy, self.leaders))

    @property
    def is_shown(self) -> bool:
        """Whether there is a lead, and all that was tested of it is shown."""
        return bool(self.tested) and self.behind == self.tested

    def shows(self, policy: str, leaders: Sequence[str]) -> bool:
        """Whether all that was tested of a policy against these leaders is shown, if anything."""
        tests = self.tests(policy, leaders)
        return bool(tests) and all(each.is_shown for each in tests)

    def tests(self, policy: str, leaders: Sequence[str]) -> list[PairDifference]:
        """Give what was tested of a policy against these leaders."""
        pairs = {(policy, leader) for leader in leaders} | {(each, policy) for each in leaders}
        return [each for each in self.differences if (each.first, each.second) in pairs]


@dataclass(frozen=True, slots=True)
class Answer:
    """The policies with the best figure under each condition.

    Attributes:
        metric: the figure.
        policies: all that were run.
        standings: one for each condition.
        baseline: the policy that all others are compared with; None: every two are.
    """

    metric: Metric
    policies: tuple[str, ...]
    standings: tuple[Standing, ...]
    baseline: str | None = None

    @property
    def champions(self) -> tuple[str, ...]:
        """The policies that lead under every condition, be it together with others."""
        return tuple(p for p in self.policies if all(p in each.leaders for each in self.standings))

    @property
    def is_certain(self) -> bool:
        """Whether nothing is drawn, so that differences need no test."""
        return all(
            each.differences and all(pair.is_certain for pair in each.differences)
            for each in self.standings
        )

    @property
    def varies(self) -> bool:
        """Whether the leaders, or the significance of their lead, depend on the condition."""
        return len({(each.leaders, each.behind) for each in self.standings}) > 1


def answer_of(
    metric: Metric,
    moments: Sequence[CellMoments],
    pairs: Sequence[PairedMoments],
    by: Sequence[str],
    level: float = 0.95,
    baseline: str | None = None,
) -> Answer:
    """Find the leaders under each condition, and which leads are significant.

    Args:
        metric: the figure.
        moments: one per cell, the same conditions for all policies.
        pairs: the same runs in pairs; empty when policies are not to be compared.
        by: the coordinates whose values are kept apart; over all others, figures are pooled.
        level: confidence level, in (0, 1).
        baseline: the policy that every other one is compared with; None: every two are.

    Raises:
        KeyError: when the metric needs a counter that was not recorded.
        ValueError: as `differences_apart`.
    """
    groups = grouped(moments, lambda each: each.cell.condition.only(by))
    paired = grouped(pairs, lambda each: each.condition.only(by))
    tested = differences_apart(
        metric,
        [
            (paired.get(condition, []), any(each.is_random for each in group))
            for condition, group in groups.items()
        ],
        level,
        baseline,
    )
    standings = tuple(
        _standing(metric, condition, group, differences)
        for (condition, group), differences in zip(groups.items(), tested, strict=True)
    )
    return Answer(metric, tuple(standings[0].figures), standings, baseline)


def _standing(
    metric: Metric,
    condition: Condition,
    moments: Sequence[CellMoments],
    differences: tuple[PairDifference, ...],
) -> Standing:
    by_policy = grouped(moments, lambda each: each.cell.policy)
    figures = {policy: estimate(metric, cells).value for policy, cells in by_policy.items()}
    defined = [value for value in figures.values() if not math.isnan(value)]
    best = (min if metric.better == "lower" else max)(defined, default=math.nan)
    leaders = tuple(policy for policy, value in figures.items() if value == best)
    return Standing(condition, figures, leaders, differences)
