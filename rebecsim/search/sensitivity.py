"""Find how much of the variance of a figure each parameter explains: Sobol's indices, by SALib.

Every value of a parameter is equally likely, and parameters are independent. The first-order index
of a parameter is the share of the variance of the figure that goes away, on average, when it is
known; the total index is what is left, on average, when all others are known. What the total has
beyond the first order is due to parameters acting together.

Numbers are levels in ascending order, names are categories: a point of the unit cube is mapped to
the level whose part of [0, 1) it is in. So all cells are run, and SALib's sample looks up their
figures. Sources: I. M. Sobol', Mathematics and Computers in Simulation 55 (2001) 271-280; the
estimators are those of A. Saltelli et al., Computer Physics Communications 181 (2010) 259-270.

The intervals cover both errors. That of the sample is SALib's bootstrap. That of the runs comes
from a jackknife: the indices are computed without each of some groups of replications in turn. It
also takes away most of the bias, as chance makes figures vary where no parameter does. Source: R.
G. Miller, "The jackknife - a review", Biometrika 61 (1974) 1-15.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebecsim.errors import UserError
from rebecsim.extras import require
from rebecsim.metrics import Metric
from rebecsim.search.space import Counted, Numbers, Question, Space, measure_of, pooled, space_of
from rebecsim.studies.estimates import student_quantile
from rebecsim.studies.plan import Plan

_POINTS = 4096
"""Points of SALib's sample, times the number of parameters and two: a power of two."""

_GROUPS = 20
"""Groups of replications that are left out in turn."""

_SEED = 1


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the variance, with the ends of its interval, all in [0, 1]."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a parameter does: `alone` is its first-order index, `total` its total index."""

    name: str
    alone: Share
    total: Share

    @property
    def is_none(self) -> bool:
        """Whether the figure is the same at all values, in every cell and every run."""
        return self.total.high == 0


@dataclass(frozen=True)
class Indices:
    """Estimates of the indices, shape (parameters,) each, with standard errors of the sample."""

    alone: Numbers
    total: Numbers
    alone_error: Numbers
    total_error: Numbers


@dataclass(frozen=True)
class Sensitivity:
    """The result.

    Attributes:
        question: what was asked.
        metric: the figure.
        space: the parameters.
        effects: one for each parameter, the largest first.
        level: of the intervals, each for itself.
        runs: of each cell.
        deviation: the standard deviation of the figure over the candidates.
    """

    question: Question
    metric: Metric
    space: Space
    effects: tuple[Effect, ...]
    level: float
    runs: int
    deviation: float


Evaluate = Callable[[Numbers], Numbers]
"""Gives the figures at points of the unit cube, shape (points, parameters)."""


def sobol_indices(
    names: Sequence[str], evaluate: Evaluate, points: int = _POINTS, resamples: int = 100
) -> Indices:
    """Estimate the indices of a function of independent parameters, uniform in [0, 1).

    All are 0 where the function is constant.
    Raises MissingPackagesError without SALib.
    """
    require("sensitivity", "SALib")
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    problem = {
        "num_vars": len(names),
        "names": [f"x{number}" for number in range(len(names))],
        "bounds": [[0.0, 1.0]] * len(names),
    }
    sample = sampling.sample(problem, points, calc_second_order=False, seed=_SEED)
    found = evaluate(np.asarray(sample))
    if np.ptp(found) <= 1e-12 * max(1.0, float(np.abs(found).max())):
        nothing = np.zeros(len(names))
        return Indices(nothing, nothing, nothing, nothing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column that is constant has the index 0
        indices = analysis.analyze(
            problem,
            found,
            calc_second_order=False,
            num_resamples=max(resamples, 2),
            conf_level=0.95,
            seed=_SEED,
        )
    errors = (np.asarray(indices[name]) / 1.959964 for name in ("S1_conf", "ST_conf"))
    return Indices(np.asarray(indices["S1"]), np.asarray(indices["ST"]), *errors)


def explain(plan: Plan, question: Question, counted: Counted) -> Sensitivity:
    """Share the variance of a figure among the parameters; all cells must have been run.

    Raises UserError where parameters are not combined in full, or a figure is undefined.
    """
    space, metric = space_of(plan, question), measure_of(plan, question["measure"])
    sizes = [len(values) for values in space.levels.values()]
    if math.prod(sizes) != len(space.candidates):
        raise UserError(
            f"sensitivity needs all {math.prod(sizes)} combinations of the values, this scenario "
            f"has {len(space.candidates)}; leave parameters out, or give other values by --over"
        )
    runs = plan.scenario.replications if space.is_random else 1
    table = _Table(space, metric, counted, runs)
    if np.isnan(table.without(None)).any():
        raise UserError(f"{metric.title} is undefined in some cells; choose another measure")
    whole = sobol_indices(list(space.levels), _looking_up(table.without(None), sizes))
    groups = np.array_split(np.arange(runs), min(_GROUPS, runs)) if runs > 1 else []
    parts = [
        sobol_indices(list(space.levels), _looking_up(table.without(group), sizes), resamples=2)
        for group in groups
    ]
    level = plan.scenario.level
    alone = _shares(whole.alone, whole.alone_error, [each.alone for each in parts], level)
    total = _shares(whole.total, whole.total_error, [each.total for each in parts], level)
    effects = [Effect(*each) for each in zip(space.levels, alone, total, strict=True)]
    effects.sort(key=lambda each: -each.alone.value)
    deviation = float(table.without(None).std())
    return Sensitivity(question, metric, space, tuple(effects), level, runs, deviation)


class _Table:
    """The figures of all candidates as an array with a dimension for each parameter."""

    def __init__(self, space: Space, metric: Metric, counted: Counted, runs: int) -> None:
        self._counts = {}
        self._sizes = [len(values) for values in space.levels.values()]
        for each in space.candidates:
            place = tuple(levels.index(each.values[name]) for name, levels in space.levels.items())
            self._counts[place] = counted.counts(each, metric, runs)

    def without(self, group: NDArray[np.intp] | None) -> Numbers:
        """Give the figures, some replications left out."""
        found = np.empty(self._sizes)
        for place, counts in self._counts.items():
            above, below = counts
            if group is not None:
                above = np.delete(above, group, 1)
                below = None if below is None else np.delete(below, group, 1)
            found[place] = pooled(above, below).value
        return found


def _looking_up(table: Numbers, sizes: Sequence[int]) -> Evaluate:
    def evaluate(points: Numbers) -> Numbers:
        places = np.minimum((points * sizes).astype(int), np.array(sizes) - 1)
        return np.asarray(table[tuple(places.T)])

    return evaluate


def _shares(
    whole: Numbers, errors: Numbers, without: Sequence[Numbers], level: float
) -> list[Share]:
    """Give estimates and intervals by the jackknife, clipped to what a share can be."""
    values, variances, count = whole, errors**2, len(without)
    quantile = student_quantile(level, count - 1 if count > 1 else 1e6)
    if count > 1:
        each = np.stack(without)
        values = count * whole - (count - 1) * each.mean(axis=0)
        variances = variances + (count - 1) / count * ((each - each.mean(axis=0)) ** 2).sum(axis=0)
    half = quantile * np.sqrt(variances)
    ends = (np.clip(each, 0, 1) for each in (values, values - half, values + half))
    return [Share(*map(float, each)) for each in zip(*ends, strict=True)]
