"""Ask changed models the same questions as the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rebecsim.exploration.checks import Checks, Problem, pose
from rebecsim.exploration.graphs.state_graph import StateGraph, build_graph
from rebecsim.exploration.limits import Limits
from rebecsim.exploration.races.finding import MOST_FOLLOWED, find_races
from rebecsim.exploration.races.result import Races
from rebecsim.exploration.search import Progress
from rebecsim.exploration.states.transitions import Mode
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel


@dataclass(frozen=True)
class Asked:
    """The arguments of `find_races` for a model that was read from Rebeca.

    The limits hold for each model that is explored by itself.
    """

    mode: Mode | None = None
    checks: Checks | None = None
    limits: Limits = field(default_factory=Limits)
    abstract: tuple[str, ...] = ()
    observe: tuple[str, ...] = ()
    most_followed: int = MOST_FOLLOWED
    progress: Callable[[Progress], None] | None = None

    def races(self, checked: CheckedModel, name: str) -> Races:
        """Find the races of a model."""
        return find_races(
            build_model(checked, name),
            mode=self.mode,
            checks=self.checks,
            checked=checked,
            limits=self.limits,
            abstract=self.abstract,
            observe=self.observe,
            most_followed=self.most_followed,
            progress=self.progress,
        )

    def graph(self, checked: CheckedModel, name: str) -> tuple[Problem, StateGraph]:
        """Build the state graph of a model."""
        problem = pose(
            build_model(checked, name),
            mode=self.mode,
            checks=self.checks,
            checked=checked,
            abstract=self.abstract,
            absolute=self.limits.horizon is not None,
        )
        return problem, build_graph(problem, limits=self.limits, progress=self.progress)
