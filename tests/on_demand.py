"""Exploring by hand: only the states that are asked for are expanded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.actors import Model
from rebecsim.exploration import (
    Breach,
    Checks,
    Mode,
    Path,
    PathStep,
    Problem,
    Search,
    path_along,
    pose,
    shown_variables,
    step_of,
    written_name,
)
from rebecsim.lang import CheckedModel


@dataclass(frozen=True)
class Successor:
    """A transition: what happens, and the number of the state it leads to or the breach."""

    step: PathStep
    state: int | None
    breach: Breach | None


class OnDemand:
    """The state space of a model, expanded where a user looks.

    States are numbered as they are met; the arguments are those of `explore`. Raises Violation if
    a constructor does, UserError or RebecaError for what does not fit.
    """

    def __init__(
        self,
        model: Model,
        *,
        mode: Mode | None = None,
        checks: Checks | None = None,
        checked: CheckedModel | None = None,
        abstract: Sequence[str] = (),
    ) -> None:
        problem = pose(model, mode=mode, checks=checks, checked=checked, abstract=abstract)
        self._problem = problem
        self._system = problem.system
        self._search = Search(Problem(problem.system))  # which does not end at a breach
        self._times = [problem.system.start_time]

    @property
    def roots(self) -> tuple[int, ...]:
        """The states to begin with: the initial one."""
        return (0,)

    def __len__(self) -> int:
        return len(self._search.states)

    def successors(self, state: int) -> list[Successor]:
        """Give every transition of a state; none is a deadlock.

        Raises IndexError for a state that has not been met.
        """
        source = self._search.states[state]
        time = self._times[state]
        found = []
        for cause, target, units in self._search.successors(state):
            step = step_of(self._system, source, cause, time)
            if isinstance(target, Breach):
                found.append(Successor(step, None, target))
                continue
            if target == len(self._times):  # met for the first time
                self._times.append(time + units)
            found.append(Successor(step, target, self._breach_of(target)))
        return found

    def _breach_of(self, state: int) -> Breach | None:
        return next(iter(self._problem.broken_in(self._search.states[state])), None)

    def path(self, state: int) -> Path:
        """Give the path on which a state was first met."""
        return path_along(self._system, self._search.way_to(state), self._breach_of(state))

    def time(self, state: int) -> int:
        """Give the time of a state on its path."""
        return self._times[state]

    def variables(self, state: int) -> dict[str, dict[str, Any]]:
        """Give the variables of every rebec in a state."""
        runner = self._system.runner
        return {
            str(rebec): {
                written_name(rebec, name): value
                for name, value in zip(names, shown_variables(local), strict=True)
            }
            for rebec, names, local in zip(
                runner.rebecs, runner.names, self._search.states[state], strict=False
            )
        }
