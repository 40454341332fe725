"""Find which parameters matter for a figure: Sobol's indices or Morris's screening, by SALib.

Every value of a parameter is equally likely, and parameters are independent. Numbers are levels in
ascending order, names are categories: a point of the unit cube is mapped to the level whose part of
[0, 1) it is in, so samples of SALib look up the figures of cells.

Sobol: the first-order index of a parameter is the share of the variance of the figure that goes
away, on average, when it is known; the total index is what is left, on average, when all others are
known. What the total has beyond the first order is due to parameters acting together. All cells are
run. Sources: I. M. Sobol', Mathematics and Computers in Simulation 55 (2001) 271-280; the
estimators are those of A. Saltelli et al., Computer Physics Communications 181 (2010) 259-270.

Morris: on a trajectory each parameter is changed once, by at least half of its levels. An
elementary effect is the change of the figure; a parameter has the mean of its absolute values
(mu*), and their standard deviation (sigma). Only the cells of the trajectories are run. SALib
divides changes by the step in the unit cube; here they have the unit of the figure. The order of
categories is drawn anew for each trajectory. Sources: M. D. Morris, Technometrics 33 (1991)
161-174; F. Campolongo, J. Cariboni and A. Saltelli, Environmental Modelling & Software 22 (2007)
1509-1518.

The intervals cover both errors. That of Sobol's sample is SALib's bootstrap, that of Morris's
trajectories is a jackknife. That of the runs comes from a jackknife: the figures are computed
without each of some groups of replications in turn. It also takes away most of the bias, as chance
makes figures vary where no parameter does. Source: R. G. Miller, "The jackknife - a review",
Biometrika 61 (1974) 1-15.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

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

_TRAJECTORIES = 10
"""Fewest trajectories of a screening."""

_MOST_TRAJECTORIES = 100
_SHARE_OF_CELLS = 10
"""Between these, there are so many that at most one cell of so many is run."""

_GROUPS = 20
"""Groups of replications that are left out in turn."""

_SEED = 1


@dataclass(frozen=True, slots=True)
class Ranged:
    """A figure with the ends of its interval: a share in [0, 1], or a change of at least 0."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a parameter does: `alone` is its first-order index, `total` its total index."""

    name: str
    alone: Ranged
    total: Ranged

    @property
    def is_none(self) -> bool:
        """Whether the figure is the same at all values, in every cell and every run."""
        return self.total.high == 0


@dataclass(frozen=True, slots=True)
class ElementaryEffect:
    """What a parameter changes, in the unit of the figure.

    Attributes:
        name: of the parameter.
        size: the mean of the absolute changes, mu*.
        spread: the standard deviation of the changes, sigma.
    """

    name: str
    size: Ranged
    spread: Ranged

    @property
    def is_none(self) -> bool:
        """Whether no change of it changed the figure, in any run."""
        return self.size.high == 0


@dataclass(frozen=True)
class Indices:
    """Estimates of the indices, shape (parameters,) each, with standard errors of the sample."""

    alone: Numbers
    total: Numbers
    alone_error: Numbers
    total_error: Numbers


@dataclass(frozen=True)
class Sensitivity:
    """The result of Sobol's method.

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


@dataclass(frozen=True)
class Screening:
    """The result of Morris's method.

    Attributes:
        question: what was asked.
        metric: the figure.
        space: the parameters.
        effects: one for each parameter, the largest first.
        level: of the intervals, each for itself.
        runs: of each cell that was run.
        candidates: that were run, of those of the space.
    """

    question: Question
    metric: Metric
    space: Space
    effects: tuple[ElementaryEffect, ...]
    level: float
    runs: int
    candidates: int

    def is_unimportant(self, effect: ElementaryEffect) -> bool:
        """Whether an effect is below a tenth of the largest one, at the ends of both intervals."""
        return effect.size.high < self.effects[0].size.low / 10


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

    problem = _problem(len(names))
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


def _problem(count: int) -> dict[str, Any]:
    return {
        "num_vars": count,
        "names": [f"x{number}" for number in range(count)],
        "bounds": [[0.0, 1.0]] * count,
    }


@dataclass(frozen=True)
class Trajectories:
    """Points of the unit cube; from each to the next of a trajectory, one coordinate changes.

    Attributes:
        points: shape (trajectories, parameters + 1, parameters).
        grid: values that a coordinate can have, an even number.
    """

    points: Numbers
    grid: int

    @classmethod
    def drawn(cls, parameters: int, count: int, grid: int) -> Trajectories:
        """Draw some. Raises MissingPackagesError without SALib."""
        require("sensitivity", "SALib")
        from SALib.sample import morris as sampling

        found = sampling.sample(_problem(parameters), count, num_levels=grid, seed=_SEED)
        return cls(np.asarray(found).reshape(count, parameters + 1, parameters), grid)

    def effects(self, figures: Numbers) -> Numbers:
        """Give mu* and sigma of each parameter, shape (2, parameters).

        `figures` are those at the points, shape (trajectories, parameters + 1).
        """
        from SALib.analyze import morris as analysis

        parameters = self.points.shape[-1]
        found = analysis.analyze(
            _problem(parameters),
            self.points.reshape(-1, parameters),
            figures.reshape(-1),
            num_levels=self.grid,
            num_resamples=2,
            seed=_SEED,
        )
        step = self.grid / (2 * (self.grid - 1))
        return step * np.array([found["mu_star"], found["sigma"]], np.float64)

    def errors(self, figures: Numbers) -> Numbers:
        """Give the standard errors of the effects: the jackknife over trajectories."""
        count = len(self.points)
        each = np.stack(
            [
                Trajectories(np.delete(self.points, one, 0), self.grid).effects(
                    np.delete(figures, one, 0)
                )
                for one in range(count)
            ]
        )
        return np.asarray(np.sqrt((count - 1) * each.var(axis=0)))

    def places(self, space: Space) -> NDArray[np.intp]:
        """Give the levels of each point; those of categories are in another order each time."""
        sizes = [len(values) for values in space.levels.values()]
        found = np.minimum((self.points * sizes + 1e-9).astype(np.intp), np.array(sizes) - 1)
        random = np.random.default_rng(_SEED)
        for number, values in enumerate(space.levels.values()):
            if any(isinstance(each, str) for each in values):
                orders = random.permuted(np.tile(np.arange(len(values)), (len(found), 1)), axis=1)
                found[..., number] = np.take_along_axis(orders, found[..., number], axis=1)
        return np.asarray(found)


def _trajectories_of(space: Space) -> Trajectories:
    sizes = [len(values) for values in space.levels.values()]
    tenth = math.prod(sizes) // (_SHARE_OF_CELLS * (len(sizes) + 1))
    count = min(max(tenth, _TRAJECTORIES), _MOST_TRAJECTORIES)
    return Trajectories.drawn(len(sizes), count, 2 * -(-max(*sizes, 4) // 2))


def cells_of_trajectories(plan: Plan, question: Question) -> list[str]:
    """Name the cells that Morris's method needs. Raises as `explain`."""
    space = full_space(plan, question)
    places = _trajectories_of(space).places(space)
    wanted = {tuple(each) for each in places.reshape(-1, places.shape[-1]).tolist()}
    found = (each for each in space.candidates if space.place(each) in wanted)
    return [cell.name for each in found for cell in each.cells]


def full_space(plan: Plan, question: Question) -> Space:
    """Lay out the parameters. Raises as `space_of`, and where they are not combined in full."""
    space = space_of(plan, question)
    combinations = math.prod(len(values) for values in space.levels.values())
    if combinations != len(space.candidates):
        raise UserError(
            f"sensitivity needs all {combinations} combinations of the values, this scenario has "
            f"{len(space.candidates)}; leave parameters out, or choose from other values"
        )
    return space


def explain(plan: Plan, question: Question, counted: Counted) -> Sensitivity | Screening:
    """Say what each parameter does for a figure, by the method of the question.

    The cells that are needed must have been run. Raises UserError where parameters are not combined
    in full, or a figure is undefined.
    """
    space, metric = full_space(plan, question), measure_of(plan, question["measure"])
    runs, level = plan.scenario.replications if space.is_random else 1, plan.scenario.level
    groups = np.array_split(np.arange(runs), min(_GROUPS, runs)) if runs > 1 else []
    if question["what"] == "morris":
        return _screened(question, _Table(space, metric, counted, runs), groups, level)
    sizes = [len(values) for values in space.levels.values()]
    names, every = list(space.levels), [*itertools.product(*map(range, sizes))]
    table = _Table(space, metric, counted, runs)
    figures = table.without(None, every)
    whole = sobol_indices(names, _looking_up(figures, sizes))
    parts = [
        sobol_indices(names, _looking_up(table.without(group, every), sizes), resamples=2)
        for group in groups
    ]
    alone = _ranged(whole.alone, whole.alone_error, [each.alone for each in parts], level, 1)
    total = _ranged(whole.total, whole.total_error, [each.total for each in parts], level, 1)
    effects = [Effect(*each) for each in zip(space.levels, alone, total, strict=True)]
    effects.sort(key=lambda each: -each.alone.value)
    deviation = float(figures.std())
    return Sensitivity(question, metric, space, tuple(effects), level, runs, deviation)


def _screened(
    question: Question, table: _Table, groups: Sequence[NDArray[np.intp]], level: float
) -> Screening:
    space = table.space
    trajectories = _trajectories_of(space)
    places = trajectories.places(space)
    shape, flat = places.shape[:-1], [*map(tuple, places.reshape(-1, places.shape[-1]).tolist())]
    figures = table.without(None, flat).reshape(shape)
    whole, errors = trajectories.effects(figures), trajectories.errors(figures)
    parts = [trajectories.effects(table.without(group, flat).reshape(shape)) for group in groups]
    fewest = len(places) - 1
    sizes, spreads = (
        _ranged(whole[each], errors[each], [part[each] for part in parts], level, math.inf, fewest)
        for each in (0, 1)
    )
    effects = [ElementaryEffect(*each) for each in zip(space.levels, sizes, spreads, strict=True)]
    effects.sort(key=lambda each: -each.size.value)
    return Screening(
        question, table.metric, space, tuple(effects), level, table.runs, len(set(flat))
    )


class _Table:
    """The figures of candidates by the places of their levels."""

    def __init__(self, space: Space, metric: Metric, counted: Counted, runs: int) -> None:
        self.space, self.metric, self.runs, self._counted = space, metric, runs, counted
        self._candidates = {space.place(each): each for each in space.candidates}
        self._counts: dict[tuple[int, ...], tuple[Numbers, Numbers | None]] = {}

    def without(self, group: NDArray[np.intp] | None, places: Sequence[tuple[int, ...]]) -> Numbers:
        """Give the figures at some places, some replications left out.

        Raises UserError for one that is undefined.
        """
        known = {place: self._figure(place, group) for place in dict.fromkeys(places)}
        if any(map(math.isnan, known.values())):
            raise UserError(
                f"{self.metric.title} is undefined in some cells; choose another measure"
            )
        return np.array([known[place] for place in places])

    def _figure(self, place: tuple[int, ...], group: NDArray[np.intp] | None) -> float:
        if place not in self._counts:
            each = self._candidates[place]
            self._counts[place] = self._counted.counts(each, self.metric, self.runs)
        above, below = self._counts[place]
        if group is not None:
            above = np.delete(above, group, 1)
            below = None if below is None else np.delete(below, group, 1)
        return pooled(above, below).value


def _looking_up(figures: Numbers, sizes: Sequence[int]) -> Evaluate:
    table = figures.reshape(sizes)

    def evaluate(points: Numbers) -> Numbers:
        places = np.minimum((points * sizes).astype(int), np.array(sizes) - 1)
        return np.asarray(table[tuple(places.T)])

    return evaluate


def _ranged(
    whole: Numbers,
    errors: Numbers,
    without: Sequence[Numbers],
    level: float,
    most: float,
    freedom: float = math.inf,
) -> list[Ranged]:
    """Give estimates and intervals by the jackknife, clipped to [0, most].

    `freedom` are the degrees of freedom of the errors of the sample.
    """
    values, variances, count = whole, errors**2, len(without)
    if count > 1:
        freedom = min(freedom, count - 1)
        each = np.stack(without)
        values = count * whole - (count - 1) * each.mean(axis=0)
        variances = variances + (count - 1) / count * ((each - each.mean(axis=0)) ** 2).sum(axis=0)
    half = student_quantile(level, min(freedom, 1e6)) * np.sqrt(variances)
    ends = (np.clip(each, 0, most) for each in (values, values - half, values + half))
    return [Ranged(*map(float, each)) for each in zip(*ends, strict=True)]
