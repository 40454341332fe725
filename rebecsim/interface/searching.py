"""Search a scenario for its best cell, and find which of its parameters matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from rebecsim.clusters.scenarios import LoadedScenario, load, open_run, plan_of_run
from rebecsim.errors import ArgumentError
from rebecsim.extras import require
from rebecsim.interface.comparing import AnyScenario, Comparison, Running, compare_loaded
from rebecsim.native.engines import Engine
from rebecsim.search.sensitivity import Sensitivity, explain
from rebecsim.search.space import Question, StoredCounts, measure_of, restricted, space_of
from rebecsim.search.tuning import Choice, choose, most_runs
from rebecsim.studies.scenario_files import ScenarioText, read_scenario_text
from rebecsim.trust import Consent, refuse_programs, run_programs

DEFAULT_BUDGET = 1_000
"""Runs of all cells together that `tune` makes at most, unless it is told otherwise."""

Better = Literal["lower", "higher"]
What = Literal["tune", "sensitivity"]


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
    def not_told_apart(self) -> list[dict[str, Any]]:
        """The values of those that may be as good."""
        return [dict(each.values) for each in self.choice.not_told_apart]

    def __repr__(self) -> str:
        return f"<Tuned {self.report.title}: {self.choice.best.name}>"


@dataclass(frozen=True)
class Sensitivities(Comparison):
    """How much of the variance of a figure each parameter of a scenario explains.

    >>> found = rs.sensitivity("for_edf", over={"app_masters": [1, 3]}, replications=20,
    ...                        progress=False)
    >>> [each.is_none for each in found.sensitivity.effects]
    [False, False]
    """

    @cached_property
    def sensitivity(self) -> Sensitivity:
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
    parameters that are wrong, and for a budget that is too small.

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
        consent=_consent(scenario, how.pop("trust", False)),
    )
    return _found(loaded, Tuned, how)


def sensitivity(
    scenario: AnyScenario,
    *,
    measure: str | None = None,
    over: Mapping[str, Sequence[Any]] | None = None,
    replications: int | None = None,
    **how: Unpack[SearchOptions],
) -> Sensitivities:
    """Find how much of the variance of a measure each parameter explains: Sobol's indices.

    Args:
        scenario: as for `rebecsim.compare`; all its cells are run.
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
    loaded = searched(
        _text(scenario),
        "sensitivity",
        measure=(measure, None),
        over=over or {},
        replications=replications,
        seed=how.pop("seed", None),
        consent=_consent(scenario, how.pop("trust", False)),
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


def _consent(scenario: AnyScenario, trust: bool) -> Consent:
    return run_programs if trust or isinstance(scenario, Mapping) else refuse_programs


def searched(
    text: ScenarioText,
    what: What,
    *,
    measure: tuple[str | None, Better | None],
    over: Mapping[str, Sequence[Any]],
    budget: int = 0,
    replications: int | None = None,
    seed: int | None = None,
    consent: Consent = refuse_programs,
) -> LoadedScenario:
    """Read a scenario with a question about it: the measure, and which values of it are better.

    Raises UserError for what does not fit.
    """
    loaded = load(text, consent)
    names: list[str] = []
    if over:
        values, swept, names = restricted(text.values, loaded.plan(), over)
        loaded = load(replace(text, values=values).with_sweep(swept), consent)
    return asked(loaded, what, measure, names, budget, replications=replications, seed=seed)


def asked(
    loaded: LoadedScenario,
    what: What,
    measure: tuple[str | None, Better | None] = (None, None),
    names: Sequence[str] = (),
    budget: int = 0,
    **changes: int | None,
) -> LoadedScenario:
    """Ask a question about a scenario; `names` are parameters beside those of its sweep.

    Raises as `searched`.
    """
    if what == "sensitivity":
        require("sensitivity", "SALib")
    plan = loaded.plan(**changes)
    metric = measure_of(plan, measure[0])
    better = measure[1] or metric.better
    if better == "neither":
        if what == "tune":
            raise ArgumentError(
                "minimise", f"neither a low nor a high {metric.name} is better; say which is wanted"
            )
        better = "lower"
    question = Question(what=what, measure=metric.name, better=better, over=[*names], budget=budget)
    space = space_of(plan, question)
    scenario = plan.scenario.model_copy(update={"precision": None})
    if what == "tune":
        scenario = scenario.replace(replications=most_runs(space, budget))
    return replace(loaded, scenario=scenario, search=question)
