"""What an observer outside a model sees: variables, or the messages that a rebec serves.

Two runs look the same if they show the same values, or messages, in the same order; when they show
them does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rebecsim.errors import UserError
from rebecsim.exploration.paths.path import written_name
from rebecsim.exploration.races.arrays import NO_ACTION, Arrays
from rebecsim.exploration.states.transitions import State, TransitionSystem

_MOST = 8  # of what one run has shown and the other one not yet, before they count as different


class Lead(NamedTuple):
    """What one side has shown and the other one not yet."""

    side: int
    shown: tuple[Any, ...]


_EVEN = Lead(0, ())

_Event = Callable[[int, int], Any]
"""What an edge of a state shows, or None."""


@dataclass(frozen=True)
class Observed:
    """The items that are looked at: their names, and what edges show of each."""

    names: tuple[str, ...]
    events: tuple[_Event, ...]

    @property
    def none(self) -> tuple[Lead, ...]:
        """Nothing has been shown yet."""
        return (_EVEN,) * len(self.events)

    def after(
        self, leads: tuple[Lead, ...], side: int, state: int, edge: int
    ) -> tuple[tuple[Lead, ...], bool]:
        """Say what is ahead after an edge of one side, and whether the two have shown different."""
        if not self.events:
            return leads, False
        found, differs = [], False
        for lead, event in zip(leads, self.events, strict=True):
            shown = event(state, edge)
            if shown is not None:
                lead, apart = _pushed(lead, side, shown)
                differs |= apart
            found.append(lead)
        return tuple(found), differs


def _pushed(lead: Lead, side: int, shown: Any) -> tuple[Lead, bool]:
    if not lead.shown:
        return Lead(side, (shown,)), False
    if lead.side == side:
        if len(lead.shown) == _MOST:
            return _EVEN, True
        return Lead(side, (*lead.shown, shown)), False
    if lead.shown[0] != shown:
        return _EVEN, True
    rest = lead.shown[1:]
    return (Lead(lead.side, rest) if rest else _EVEN), False


def observed_of(
    names: Sequence[str], system: TransitionSystem, states: Sequence[State], arrays: Arrays
) -> Observed:
    """Find what `rebec.variable`, or `rebec` for its messages, names.

    Raises UserError, naming what there is, for something that does not exist.
    """
    events = tuple(_event(name, system, states, arrays) for name in names)
    return Observed(tuple(names), events)


def _event(name: str, system: TransitionSystem, states: Sequence[State], arrays: Arrays) -> _Event:
    rebec, _, variable = name.partition(".")
    names = [str(each) for each in system.runner.rebecs]
    if rebec not in names:
        raise UserError(f"--observe {name}: there is no rebec {rebec!r}; there are {_list(names)}")
    owner = names.index(rebec)
    if not variable:
        return _messages(owner, arrays)
    written = [
        written_name(system.runner.rebecs[owner], each) for each in system.runner.names[owner]
    ]
    if variable not in written:
        has = f"has {_list(written)}" if written else "has no variables"
        raise UserError(f"--observe {name}: {rebec} {has}, no {variable!r}")
    return _changes(owner, written.index(variable), states, arrays)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _messages(owner: int, arrays: Arrays) -> _Event:
    def event(state: int, edge: int) -> Any:
        number = int(arrays.action[edge])
        if number == NO_ACTION:
            return None
        action = arrays.actions[number]
        return None if action.owner != owner or action.resumed else number

    return event


def _changes(owner: int, place: int, states: Sequence[State], arrays: Arrays) -> _Event:
    def value(state: int) -> Any:
        return states[state][owner].variables[place]

    def event(state: int, edge: int) -> Any:
        target = int(arrays.target[edge])
        if target >= arrays.states:
            return None
        before, after = value(state), value(target)
        return None if before == after else (after,)

    return event
