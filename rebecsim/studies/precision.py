"""Decide how many runs to make, until the figures are as precise as asked for.

What was never seen has a bound, which is the exact form of the "rule of three": J. A. Hanley and A.
Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983) 1743-1745.

After each batch the half-width of the interval of one metric, pooled over cells, is compared with
the target for every policy; the worst one decides. The number of runs at which this is looked at
depends on the runs so far and on nothing else, so a comparison that was interrupted goes on to the
same end.

An interval computed at the moment when it has become narrow covers the truth a little less often
than it says: one stops more readily where the spread happens to look small. Y. S. Chow and H.
Robbins ("On the asymptotic theory of fixed-width sequential confidence intervals for the mean",
Annals of Mathematical Statistics 36 (1965) 457-462) show that the loss vanishes as the target gets
narrow. To keep it small for wide targets too

* the first batch is not small, and each further one adds at least a quarter to the runs, so there
  are few moments at which chance could stop the runs;
* 1/n squared units are added to the variance of n runs of a cell, as by Chow and Robbins, so
  counters that happened to be equal in all runs so far are not taken for certain;
* a relative target g is tightened to g / (1 + g), because it is held against the estimate and not
  against the true value: A. M. Law, "Simulation Modeling and Analysis", 5th edition, McGraw-Hill
  2015, section 9.4.1, which also describes the sequential procedure.

A relative target means nothing for a figure that is 0 in every run, and no number of runs would
reach it. There the target is held against the share of runs that may have a case at all, of which
nothing was seen: with 95 % confidence it is below 3 divided by the number of runs
(`share_of_runs_at_most`).

Simulated with Poisson and geometric counts, shares and rare events, targets from 1 % to 20 % and
3,000 sequences each, intervals of nominally 95 % covered the truth in 94.1 % to 95.7 % of cases.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rebecsim.errors import UserError
from rebecsim.metrics import Metric
from rebecsim.studies.estimates import (
    LinearForm,
    linear_form,
    satterthwaite,
    student_quantile,
)
from rebecsim.studies.moments import CellMoments


def share_of_runs_at_most(runs: int, level: float = 0.95) -> float:
    """Upper bound of the probability of an event that none of so many runs has shown.

    With the runs divided equally among several cells it bounds the average of the cells'
    probabilities, since the chance (1 - p1)^n (1 - p2)^n ... of seeing nothing is greatest, for a
    given average, when all are equal. About 3 / runs for a level of 95 %.

    Raises:
        ValueError: when there is no run, or the level is not between 0 and 1.
    """
    if runs < 1 or not 0 < level < 1:
        raise ValueError(f"no bound from {runs} runs at a level of {level}")
    return float(1 - (1 - level) ** (1 / runs))


FIRST_BATCH = 50
"""Runs of each cell before the precision is looked at for the first time."""

_LEAST_GROWTH = 1.25
_MOST_GROWTH = 2.0


@dataclass(frozen=True, slots=True)
class Precision:
    """How narrow the interval of a metric is to be, for every policy.

    Attributes:
        metric: the metric that decides, pooled over cluster sizes and workloads.
        half_width: largest half-width of the interval; as a fraction of the estimate when
            `is_relative`, otherwise in the unit of the metric (0.005 is half a percentage point of
            a share).
        is_relative: whether the half-width is relative to the estimate.
        level: confidence level of the interval, in (0, 1).
    """

    metric: Metric
    half_width: float
    is_relative: bool = True
    level: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.half_width < math.inf:
            raise ValueError(f"a precision must be positive, not {self.half_width}")

    @property
    def text(self) -> str:
        """The target in words: "1 % of deadline misses" or "0.5 percentage points of ..."."""
        amount = f"{100 * self.half_width:g}"
        unit = "%" if self.is_relative else "percentage points"
        return f"{amount} {unit} of {self.metric.title}"


@dataclass(frozen=True, slots=True)
class Reached:
    """How precisely the figure of one policy is known.

    Attributes:
        policy: its name.
        replications: runs of each cell (the least, if cells have different numbers).
        runs: of all cells together.
        half_width: of the interval, in the unit of the target; a relative one is a fraction of the
            smallest value in the interval. Infinite where there is no such number.
        is_reached: whether that is as narrow as was asked for.
        without_case: whether no run had a case; `half_width` is then the largest share of runs
            that may have one.
    """

    policy: str
    replications: int
    runs: int
    half_width: float
    is_reached: bool
    without_case: bool = False


def parse_precision(text: str, metric: Metric, level: float = 0.95) -> Precision:
    """Read a precision as a user writes it.

    `1%` is a half-width of 1 % of the estimate, whatever the metric. `0.5pp` is a half-width of
    0.5 percentage points, for a metric that is a share.

    Raises:
        UserError: when the text is neither, or percentage points are asked of a mean.
    """
    amount, unit = read_amount(text, metric)
    return Precision(metric, amount, unit == "%", level)


def parse_precisions(
    text: str, metrics: Sequence[Metric], level: float = 0.95
) -> tuple[Precision, ...]:
    """Read what a user wants to know how well: `1%`, or several as in `late=10%,turnaround=5%`.

    Without a name it is the first of the metrics. All targets have to be reached together.

    Raises:
        UserError: for a name that no metric has or that comes twice, and as `parse_precision`.
    """
    known = {each.name: each for each in metrics}
    found = []
    for name, amount in read_targets(text):
        if name is not None and name not in known:
            raise UserError(
                f"--precision {text!r}: there is no figure {name!r}; there are {', '.join(known)}"
            )
        found.append(parse_precision(amount, known[name] if name else metrics[0], level))
    return tuple(found)


def read_targets(text: str) -> list[tuple[str | None, str]]:
    """Split a precision into names of figures, or None for the first one, and amounts.

    Raises UserError for a name that comes twice, and amounts without names where there are several.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and "=" not in text:
        return [(None, text)]
    found: dict[str, str] = {}
    for part in parts:
        name, equals, amount = (each.strip() for each in part.partition("="))
        if not (name and equals and amount):
            raise UserError(
                f"--precision {text!r}: write several as in late=10%,turnaround=5%, each once"
            )
        if name in found:
            raise UserError(f"--precision {text!r}: {name} is given twice")
        found[name] = amount
    return list(found.items())


def read_amount(text: str, metric: Metric | None) -> tuple[float, str]:
    """Read a precision of this metric, where it is known: a share, and `%` or `pp`.

    Raises UserError.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%|pp)\s*", text, re.ASCII)
    if match is None:
        raise UserError(
            f"--precision {text!r}: write a share of the estimate such as 1%, or percentage points "
            "such as 0.5pp"
        )
    amount, unit = float(match[1]) / 100, match[2]
    if not 0 < amount < 1:
        raise UserError(f"--precision {text!r}: must be more than 0 and less than 100")
    if unit == "pp" and metric is not None and not metric.is_share:
        raise UserError(
            f"--precision {text!r}: {metric.title} is not a share, so it has no percentage points; "
            f"write {text.strip().removesuffix('pp').strip()}% for a share of the estimate"
        )
    return amount, unit


def next_replications(
    moments_by_policy: Mapping[str, Sequence[CellMoments]], target: Precision, done: int, cap: int
) -> int | None:
    """How many more replications every cell gets.

    Call it with `done` = 0 for the first batch, and again after every batch with the moments of
    all runs so far.

    Args:
        moments_by_policy: policy -> one entry per cell, each of `done` runs; not read when `done`
            is 0.
        target: what to reach.
        done: replications of each cell so far.
        cap: most replications of a cell, at least 2.

    Returns:
        The size of the next batch; None when the target is reached by every policy, or the cap is.

    Raises:
        ValueError: when the cap is below 2, or a cell does not have `done` runs.
        KeyError: when the metric needs a counter that was not recorded.
    """
    if cap < 2:
        raise ValueError(f"an interval needs at least 2 replications, the cap is {cap}")
    if done >= cap:
        return None
    if done < 2:
        return min(FIRST_BATCH, cap) - done
    for policy, moments in moments_by_policy.items():
        if odd := [each.cell for each in moments if each.replications != done]:
            raise ValueError(f"{policy}: {odd[0]} does not have {done} replications")
    excess = max(_excess(moments, target) for moments in moments_by_policy.values())
    if excess <= 1:
        return None
    growth = min(max(excess, _LEAST_GROWTH), _MOST_GROWTH)
    return min(math.ceil(done * growth), cap) - done


def reached_by(policy: str, moments: Sequence[CellMoments], target: Precision) -> Reached:
    """Say how precisely the figure of a policy is known from the runs at hand.

    Raises:
        ValueError: when there is no cell, or a cell has fewer than two runs.
        KeyError: when the metric needs a counter that was not recorded.
    """
    runs = sum(each.replications for each in moments)
    form = linear_form(moments, target.metric.numerator, target.metric.denominator)
    without_case = _without_case(form, moments, target)
    if without_case:
        half_width = share_of_runs_at_most(runs, target.level)
    else:
        half_width = _half_width(form, moments, target)
        if target.is_relative:
            half_width = half_width / (1 - half_width) if half_width < 1 else math.inf
    return Reached(
        policy=policy,
        replications=min(each.replications for each in moments),
        runs=runs,
        half_width=half_width,
        is_reached=_excess(moments, target) <= 1,
        without_case=without_case,
    )


def _excess(moments: Sequence[CellMoments], target: Precision) -> float:
    """By what the runs must be multiplied to reach the target; infinite when nothing helps."""
    form = linear_form(moments, target.metric.numerator, target.metric.denominator)
    if _without_case(form, moments, target):
        runs = sum(each.replications for each in moments)
        return share_of_runs_at_most(runs, target.level) / target.half_width
    allowed = target.half_width
    if target.is_relative:
        allowed /= 1 + target.half_width
    # Half-widths shrink with the root of the runs.
    return (_half_width(form, moments, target) / allowed) ** 2


def _without_case(
    form: LinearForm | None, moments: Sequence[CellMoments], target: Precision
) -> bool:
    """Whether a figure that is to be known relatively is 0 in every run."""
    if form is None or not target.is_relative or form.value != 0:
        return False
    return all(each.variance_of(form.weights) == 0 for each in moments)


def _half_width(
    form: LinearForm | None, moments: Sequence[CellMoments], target: Precision
) -> float:
    """In the unit of the target: relative to the estimate, or not; infinite when undefined."""
    if form is None or (target.is_relative and form.value == 0):
        return math.inf
    unit = max(abs(Fraction(weight)) for weight in target.metric.numerator.values()) ** 2
    variances = [
        (each.variance_of(form.weights) + unit / each.replications) / each.replications
        for each in moments
    ]
    degrees = satterthwaite(variances, [each.replications - 1 for each in moments])
    half_width = student_quantile(target.level, degrees) * form.standard_error(variances)
    return half_width / abs(float(form.value)) if target.is_relative else half_width
