"""Search a scenario for its best cell, and find which of its parameters matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack, get_args

from rebecsim.clusters.scenarios import LoadedScenario, load, open_run, plan_of_run
from rebecsim.errors import ArgumentError
from rebecsim.extras import require
from rebecsim.interface.comparing import AnyScenario, Comparison, Running, compare_loaded
from rebecsim.native.engines import Engine
from rebecsim.search.sensitivity import (
    Screening,
    Sensitivity,
    cells_of_trajectories,
    explain,
    full_space,
)
from rebecsim.search.space import Question, StoredCounts, What, measure_of, restricted, space_of
from rebecsim.search.tuning import Choice, choose, most_runs
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario_files import ScenarioError, ScenarioText, read_scenario_text
from rebecsim.trust import refuse_programs, run_programs

DEFAULT_BUDGET = 1_000
"""Runs of all cells together that `tune` makes at most, unless it is told otherwise."""

Better = Literal["lower", "higher"]
Method = Literal["sobol", "morris"]
Loading = Callable[[ScenarioText], LoadedScenario]


@dataclass(frozen=True)
class Tuned(Comparison):
    """The best cell of a scenario, and how sure that is.

    >>> found = rs.tune("for_edf", budget=600, progress=False)
    >>> len(found.choice.standings)
    4
    """

    @cached_property
    def choice(self) -> Choice:
        """The result of the search: the standings of all candidates, the best one first."""
        stored = open_run(self.directory)
        plan = plan_of_run(stored)
        return choose(plan, plan.search, StoredCounts(stored.results))

    @property
    def best(self) -> dict[str, Any]:
        """The values of the best candidate, by the names of parameters."""
        return dict(self.choice.best.values)

    @property
    def tied(self) -> list[dict[str, Any]]:
        """The values of those among them that were the same as the best in every common run."""
        return [dict(each.values) for each in self.choice.tied]

    @property
    def not_told_apart(self) -> list[dict[str, Any]]:
        """The values of those that may be as good."""
        return [dict(each.values) for each in self.choice.not_told_apart]

    def __repr__(self) -> str:
        return f"<Tuned {self.report.title}: {self.choice.best.name}>"


@dataclass(frozen=True)
class Sensitivities(Comparison):
    """Which parameters of a scenario matter for a figure.

    >>> found = rs.sensitivity("for_edf", over={"app_masters": [1, 3]}, replications=20,
    ...                        progress=False)
    >>> [each.is_none for each in found.sensitivity.effects]
    [False, False]
    """

    @cached_property
    def sensitivity(self) -> Sensitivity | Screening:
        """The result: the effect of each parameter, the largest first."""
        stored = open_run(self.directory)
        plan = plan_of_run(stored)
        return explain(plan, plan.search, StoredCounts(stored.results))

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.sensitivity.effects)
        return f"<Sensitivities {self.report.title}: {names}>"


class SearchOptions(TypedDict, total=False):
    """How a search is run; all as for `rebecsim.compare`."""

    out: str | Path | None
    resume: bool
    workers: int
    dask: str | None
    engine: Engine
    progress: bool
    trust: bool
    seed: int | None


def tune(
    scenario: AnyScenario,
    *,
    minimise: str | None = None,
    maximise: str | None = None,
    over: Mapping[str, Sequence[Any]] | None = None,
    budget: int = DEFAULT_BUDGET,
    **how: Unpack[SearchOptions],
) -> Tuned:
    """Search the cells of a scenario for the best one, with a budget of runs.

    Args:
        scenario: as for `rebecsim.compare`.
        minimise: the name of the measure whose lowest value is searched, or a part of the name.
        maximise: instead, one whose highest value is. Without both: the first measure, the better
            way.
        over: parameters with the values to choose from, instead of the scenario's: "policy", keys
            that list what is compared, such as "app_masters", and any other key. Coordinates that
            are neither here nor swept are averaged over.
        budget: the most runs of all cells together; a run is one replication of one cell.
        how: `out`, `resume`, `workers`, `dask`, `engine`, `progress`, `trust` and `seed`, as for
            `rebecsim.compare`.

    The result does not depend on how it is run. Raises UserError for a scenario, a measure or
    parameters that are wrong, and ArgumentError, which is one, for a budget that is too small.

    >>> found = rs.tune("for_edf", over={"policy": ["EDF", "FIFO"]}, budget=240, progress=False)
    >>> found.best
    {'policy': 'EDF'}
    """
    loaded = searched(
        _text(scenario),
        "tune",
        measure=_measure(minimise, maximise),
        over=over or {},
        budget=budget,
        seed=how.pop("seed", None),
        loading=_loading(scenario, how.pop("trust", False)),
    )
    return _found(loaded, Tuned, how)


def sensitivity(
    scenario: AnyScenario,
    *,
    measure: str | None = None,
    method: Method = "sobol",
    over: Mapping[str, Sequence[Any]] | None = None,
    replications: int | None = None,
    **how: Unpack[SearchOptions],
) -> Sensitivities:
    """Find how much of the variance of a measure each parameter explains, or rank parameters.

    Args:
        scenario: as for `rebecsim.compare`.
        method: "sobol" runs all cells, and shares the variance (Sobol's indices); "morris" runs few
            of many, ranks parameters, and says which are unimportant (elementary effects).
        measure: its name, or a part of it; the first one unless given.
        over: parameters with their values, as for `rebecsim.tune`. Each value is equally likely;
            numbers are levels, names are categories.
        replications: runs of each cell, instead of the scenario's.
        how: as for `rebecsim.tune`.

    Raises UserError for a scenario, a measure or parameters that are wrong, and without SALib.

    >>> found = rs.sensitivity("for_edf", over={"app_masters": [1, 3]}, replications=20,
    ...                        progress=False)
    >>> [each.name for each in found.sensitivity.effects]
    ['app_masters', 'policy']
    """
    if method not in get_args(Method):
        raise ArgumentError("method", f"there is no {method!r}; there are sobol and morris")
    loaded = searched(
        _text(scenario),
        "sensitivity" if method == "sobol" else "morris",
        measure=(measure, None),
        over=over or {},
        replications=replications,
        seed=how.pop("seed", None),
        loading=_loading(scenario, how.pop("trust", False)),
    )
    return _found(loaded, Sensitivities, how)


F = TypeVar("F", bound=Comparison)


def _found(loaded: LoadedScenario, result: type[F], how: SearchOptions) -> F:
    progress = how.get("progress", True)
    rest: dict[str, Any] = {name: each for name, each in how.items() if name != "progress"}
    return compare_loaded(loaded, Running(orders=False, **rest), result, progress=progress)


def _measure(minimise: str | None, maximise: str | None) -> tuple[str | None, Better | None]:
    if minimise is not None and maximise is not None:
        raise ArgumentError("maximise", "give one of minimise and maximise")
    if maximise is not None:
        return maximise, "higher"
    return minimise, None if minimise is None else "lower"


def _text(scenario: AnyScenario) -> ScenarioText:
    if isinstance(scenario, Mapping):
        return ScenarioText("the scenario", dict(scenario), {}, Path())
    return read_scenario_text(scenario)


def _loading(scenario: AnyScenario, trust: bool) -> Loading:
    may_run = trust or isinstance(scenario, Mapping)
    return partial(load, consent=run_programs if may_run else refuse_programs)


def searched(
    text: ScenarioText,
    what: What,
    *,
    measure: tuple[str | None, Better | None] = (None, None),
    over: Mapping[str, Sequence[Any]],
    budget: int = 0,
    replications: int | None = None,
    seed: int | None = None,
    loading: Loading = load,
) -> LoadedScenario:
    """Read a scenario with a question about it: the measure, and which values of it are better.

    `loading` reads the scenario, once more with the values of `over`.
    Raises UserError for what does not fit.
    """
    if what != "tune":
        require("sensitivity", "SALib")
    loaded = loading(text)
    names: list[str] = []
    if over:
        values, swept, names = restricted(text.values, loaded.plan(), over)
        try:
            loaded = loading(replace(text, values=values).with_sweep(swept))
        except ScenarioError as error:
            wrong = (f"{e.field.removeprefix('sweep.')}: {e.message}" for e in error.problems)
            raise ArgumentError("over", "; ".join(wrong)) from error
    plan = loaded.plan(replications=replications, seed=seed)
    metric = measure_of(plan, measure[0])
    better = measure[1] or metric.better
    if better == "neither":
        if what == "tune":
            raise ArgumentError(
                "minimise", f"neither a low nor a high {metric.name} is better; say which is wanted"
            )
        better = "lower"
    question = Question(what=what, measure=metric.name, better=better, over=names, budget=budget)
    scenario = plan.scenario.model_copy(update={"precision": None})
    if what == "tune":
        most = most_runs(space_of(plan, question), budget)
        scenario = scenario.replace(replications=most)
    elif full_space(plan, question).is_random and scenario.replications == 1:
        raise ArgumentError(
            "replications", "one run of each cell does not show what is chance; give 2 or more"
        )
    if what == "morris":
        question["cells"] = cells_of_trajectories(plan, question)
    return replace(loaded, scenario=scenario, search=question)


def cells_text(plan: Plan) -> str:
    """Say how many cells and runs a plan has: "8 cells, at most 240 runs"."""
    most = plan.search["budget"] if plan.search else 0
    runs = f"at most {most:,}" if most else f"{plan.total:,}"
    return f"{len(plan.cells):,} cells, {runs} {plan.study.counted}"
