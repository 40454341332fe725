"""Metrics as data: a mean of counters, or a ratio of two sums of counters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Weights: TypeAlias = Mapping[str, int | float | Fraction]
"""A linear combination of counters: counter name -> weight."""


@dataclass(frozen=True)
class Metric:
    """A figure of merit computed from the counters of many runs.

    Without a denominator the metric is the mean per run of `sum(weight * counter)`; with one it is
    the ratio of the two pooled sums (not the mean of the ratios of single runs).

    Attributes:
        name: identifier, used for columns and file names (`deadline_misses`).
        title: how a reader calls it, as in "Deadline misses".
        unit: unit of a mean ("jobs per run"), whose "%" are those of a share; for a ratio, what it
            is a share of.
        better: whether the lower or the higher value is the better one, or neither.
        numerator: counter name -> weight.
        denominator: counter name -> weight, or None for a mean.
        note: what the figure counts and what it leaves out, one or two sentences for a report.
        advantage: how to say that one policy does better than another, a sentence without its full
            stop in which {better}, {worse} and {amount} stand for the two policies and the
            difference (of a share in "percentage points"); a plain sentence by default.
        best: how to say that a policy has the best value, what follows its name, as in "misses the
            fewest deadlines"; a plain phrase by default.
        decimals: digits that are shown after the point; as many as the interval needs by default.
        measured: whether it is of values, and not of cases that are counted.
        least: the least value that it can have; None where there is none.
    """

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher", "neither"]
    numerator: Weights = field(hash=False)
    denominator: Weights | None = field(default=None, hash=False)
    note: str = ""
    advantage: str = ""
    decimals: int | None = None
    measured: bool = False
    best: str = ""
    least: float | None = 0.0

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"a metric's name must be an identifier, not {self.name!r}")
        for part, weights in (("numerator", self.numerator), ("denominator", self.denominator)):
            if weights is None:
                continue
            if not weights:
                raise ValueError(f"metric {self.name}: the {part} names no counter")
            object.__setattr__(self, part, MappingProxyType(dict(weights)))
        if self.advantage:
            # Nothing but the three plain names: no attributes, formats or conversions.
            fields = [part[1:] for part in Formatter().parse(self.advantage) if part[1] is not None]
            expected = [(name, "", None) for name in ("amount", "better", "worse")]
            if sorted(fields, key=str) != expected:
                raise ValueError(
                    f"metric {self.name}: the advantage must name {{better}}, {{worse}} and "
                    f"{{amount}} once each: {self.advantage!r}"
                )

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled, and a metric may travel to a worker process.
        return Metric, tuple(self.described.values())

    @property
    def described(self) -> dict[str, Any]:
        """The metric as data: the arguments that make it, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items()}

    def says_advantage(self, better: str, worse: str, amount: str) -> str:
        """Say that one policy does better than another by an amount, without a full stop.

        Args:
            better: name of the policy with the better value; where neither is, with the higher.
            worse: name of the other one.
            amount: the difference as text, with "percentage points" for a share.
        """
        if self.advantage:
            return self.advantage.format(better=better, worse=worse, amount=amount)
        unit = "" if self.is_share or not self.unit else f" {self.unit}"
        how = "higher" if self.better == "neither" else self.better
        return f"{self.title}: {how} with {better} than with {worse} by {amount}{unit}"

    @property
    def counters(self) -> frozenset[str]:
        """Names of the counters that the metric reads."""
        return frozenset(self.numerator) | frozenset(self.denominator or ())

    @property
    def is_counted(self) -> bool:
        """Whether it is a count; metrics with their own number of digits are measured."""
        return self.decimals is None and not self.measured

    @property
    def limits(self) -> tuple[float, float]:
        """Range of the value: [0, 1] for a share, otherwise from `least` on."""
        if self.is_share:
            return 0.0, 1.0
        low = -math.inf if self.least is None else self.least
        return low, 100.0 if self.unit == "%" else math.inf

    @property
    def is_share(self) -> bool:
        """Whether the value lies in [0, 1] because the numerator is a part of the denominator.

        Counters count, so they are not negative; a numerator whose weights are between zero and
        those of the denominator can then never exceed it.
        """
        if self.denominator is None:
            return False
        whole = self.denominator
        return all(weight >= 0 for weight in whole.values()) and all(
            0 <= weight <= whole.get(counter, 0) for counter, weight in self.numerator.items()
        )
