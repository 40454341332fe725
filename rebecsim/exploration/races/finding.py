"""Find the races of a model, and what each order leads to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rebecsim.actors import Model, Violation
from rebecsim.actors.watchdog import ServerStopped, Watchdog
from rebecsim.exploration.checks import (
    Checks,
    Limits,
    Meter,
    Problem,
    in_constructor,
    peak_bytes,
    pose,
)
from rebecsim.exploration.races.diamonds import find_diamonds
from rebecsim.exploration.races.explaining import Explainer, FutureComparison, unexplained
from rebecsim.exploration.races.following import Follower
from rebecsim.exploration.races.futures import futures_of
from rebecsim.exploration.races.judging import LOOK_EVERY, GroupFollower, group_races
from rebecsim.exploration.races.result import RACE_KINDS, Races, alike
from rebecsim.exploration.races.step_graph import Arrays, arrays_of, observed_of
from rebecsim.exploration.search import Progress, Search
from rebecsim.exploration.state_graph import build_graph
from rebecsim.exploration.states.transitions import Mode
from rebecsim.lang import CheckedModel
from rebecsim.native.engines import Engine

_EXPLORING = 0.5
"""The part of a limit of time that states are looked for in. Their races take two thirds as long
again in a token ring, and some times as long among philosophers.
"""

MOST_FOLLOWED = 200_000
"""The pairs of states that are followed, at most, unless the caller says otherwise."""


def find_races(
    model: Model,
    *,
    mode: Mode | None = None,
    checks: Checks | None = None,
    checked: CheckedModel | None = None,
    limits: Limits | None = None,
    abstract: Sequence[str] = (),
    observe: Sequence[str] = (),
    most_followed: int = MOST_FOLLOWED,
    engine: Engine = "auto",
    strict: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Races:
    """Find every race of a model; the arguments are those of `explore`.

    `observe` names what an observer sees: variables, as `rebec.variable`, or the messages of a
    `rebec`. Then an order matters only if the observer sees a difference, or something is violated.
    `most_followed` limits the pairs of states that are followed.

    Raises UserError or RebecaError for what does not fit the model.
    """
    limits = limits or Limits()
    to_explore = _to_explore(limits)
    meter, meter_to_explore = Meter(limits), Meter(to_explore)
    nothing = Races(
        model=model.name,
        mode=mode or ("core" if model.core else "FTTS"),
        abstraction=tuple(abstract),
        observed=tuple(observe),
    )
    try:
        with Watchdog(patience=limits.patience, is_over=meter.is_over):
            problem = pose(
                model,
                mode=mode,
                checks=checks,
                checked=checked,
                abstract=abstract,
                absolute=limits.horizon is not None,
                strict=strict,
            )
    except Violation as violation:
        return replace(nothing, in_constructor=in_constructor(violation))
    except ServerStopped:
        assert meter.reached is not None
        return replace(nothing, bounds=(meter.reached,), is_complete=False)
    graph = build_graph(
        problem,
        checked=checked,
        limits=to_explore,
        meter=meter_to_explore,
        engine=engine,
        progress=progress,
    )
    arrays = arrays_of(graph)
    found = _Finder(problem, graph.search, arrays, observe, most_followed, meter).races()
    problem.system.runner.finish()
    return replace(found, cut=problem.cut(checked))


def _to_explore(limits: Limits) -> Limits:
    """Leave time for comparing orders in the states that are found."""
    seconds = None if limits.seconds is None else limits.seconds * _EXPLORING
    return replace(limits, seconds=seconds)


class _Finder:
    """Finds all races of a graph."""

    def __init__(
        self,
        problem: Problem,
        search: Search,
        arrays: Arrays,
        observe: Sequence[str],
        most_followed: int,
        meter: Meter,
    ) -> None:
        self._problem = problem
        self._search = search
        self._arrays = arrays
        self._observe = tuple(observe)
        with search.meter.leaving_out():
            self._diamonds = find_diamonds(arrays, compiled=search.engine == "native")
        self._futures = futures_of(arrays)
        # No race decides a breach that is inevitable from the start.
        self._interesting = {
            key for key, future in enumerate(self._futures.of_key) if not future.inevitable[0]
        }
        observed = observed_of(observe, problem.system, search.states, arrays)
        self._follower = Follower(arrays, self._futures, observed)
        self._group_follower = GroupFollower(
            self._follower,
            arrays,
            self._diamonds,
            "avoidable" if self._interesting else "observed" if observe else "results",
            most_followed,
            meter.exceeded,
        )
        self._groups = group_races(problem.system, arrays, self._diamonds)

    def races(self) -> Races:
        """Give the result."""
        comparison = FutureComparison(self._arrays, self._diamonds, self._futures)
        for group in self._groups:
            for place, pair in enumerate(group.pairs):
                if place % LOOK_EVERY == 0 and self._group_follower.is_over():
                    break
                comparison.compare(group, pair)
        self._group_follower.follow_groups(self._groups, thorough=False)
        is_open = bool(self._interesting & set(self._unexplained_keys()))
        if is_open and not self._group_follower.bounds:
            self._group_follower.follow_groups(self._groups, thorough=True)
        system, search = self._problem.system, self._search
        ordered = sorted(
            self._groups, key=lambda each: (RACE_KINDS.index(each.kind or "joins"), each.contenders)
        )
        explainer = Explainer(search, comparison, self._group_follower.analysis)
        groups = tuple(explainer.explained(each, observing=bool(self._observe)) for each in ordered)
        return Races(
            model=system.model.name,
            mode=system.mode,
            groups=groups,
            unexplained=unexplained(
                self._problem, search, self._arrays, self._futures, self._unexplained_keys()
            ),
            states=len(search.states),
            pairs=len(self._diamonds.left) + self._diamonds.commuting,
            commuting=self._diamonds.commuting,
            followed=len(self._follower.nodes),
            bounds=tuple(dict.fromkeys((*search.bounds, *self._group_follower.bounds))),
            is_complete=not search.bounds,
            unfinished=self._group_follower.unfinished,
            abstraction=self._problem.left_out,
            observed=self._observe,
            alike=alike(system, groups),
            deciding=self._problem.deciding,
            memory=peak_bytes() or 0,
        )

    def _unexplained_keys(self) -> list[int]:
        """Give the breaches that can come and that no group explains."""
        explained = {key for group in self._groups for keys in group.keys for key in keys}
        return [
            key
            for key, future in enumerate(self._futures.of_key)
            if key not in explained and future.distance[0] >= 0
        ]
