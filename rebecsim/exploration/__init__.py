"""All that a model can do: state spaces, verdicts and the paths that show them.

Exploring: `explore` and its `Checks`, `Limits`, `Result`, `Violated`, `Verdict`, `Progress`.

Models, strategies and paths are three things. The model: `TransitionSystem` and its `Mode`. The
strategy: `Strategy`, `BreadthFirst`, `DepthFirst`, `DepthBounded`, `RandomWalks`, walking a
`Search`, which ends by `SearchEnded`. The path: `Path` and `PathStep`, made by `path_along`; what
is wrong at its end is a `Breach`.

`Recorded`: a counterexample and the `Question` it answers, for files (`save_recorded`,
`load_recorded`); `replay` goes its way again, `recurring` in a model that has changed.

Races: `find_races` and its `Races`, `RaceGroup`, `RaceKind`, `Contender`;
`rebecsim.exploration.races.cures` tries changes that may take one away.

`UnsupportedPropertyError` and `AbstractedVariableError` are raised for properties that cannot be
checked.

They are loaded when they are asked for: exploring a small model takes less time than importing all
that there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.exploration.checks import Checks
    from rebecsim.exploration.exploring import explore
    from rebecsim.exploration.limits import Bound, Limits
    from rebecsim.exploration.paths.path import Path, PathStep, path_along
    from rebecsim.exploration.paths.recorded import (
        Question,
        Recorded,
        load_recorded,
        recurring,
        replay,
        save_recorded,
    )
    from rebecsim.exploration.predicates import AbstractedVariableError
    from rebecsim.exploration.properties import UnsupportedPropertyError
    from rebecsim.exploration.races import Contender, RaceGroup, RaceKind, Races, find_races
    from rebecsim.exploration.result import Result, Violated
    from rebecsim.exploration.search import Progress, Search, SearchEnded
    from rebecsim.exploration.states.outcome import Breach, Verdict
    from rebecsim.exploration.states.transitions import Mode, TransitionSystem
    from rebecsim.exploration.strategies import (
        BreadthFirst,
        DepthBounded,
        DepthFirst,
        RandomWalks,
        Strategy,
    )

__all__ = [
    "AbstractedVariableError",
    "Bound",
    "Breach",
    "BreadthFirst",
    "Checks",
    "Contender",
    "DepthBounded",
    "DepthFirst",
    "Limits",
    "Mode",
    "Path",
    "PathStep",
    "Progress",
    "Question",
    "RaceGroup",
    "RaceKind",
    "Races",
    "RandomWalks",
    "Recorded",
    "Result",
    "Search",
    "SearchEnded",
    "Strategy",
    "TransitionSystem",
    "UnsupportedPropertyError",
    "Verdict",
    "Violated",
    "explore",
    "find_races",
    "load_recorded",
    "path_along",
    "recurring",
    "replay",
    "save_recorded",
]

_MODULES = {
    "AbstractedVariableError": "predicates",
    "Bound": "limits",
    "Breach": "states.outcome",
    "BreadthFirst": "strategies",
    "Checks": "checks",
    "Contender": "races",
    "DepthBounded": "strategies",
    "DepthFirst": "strategies",
    "Limits": "limits",
    "Mode": "states.transitions",
    "Path": "paths.path",
    "PathStep": "paths.path",
    "Progress": "search",
    "Question": "paths.recorded",
    "RaceGroup": "races",
    "RaceKind": "races",
    "Races": "races",
    "RandomWalks": "strategies",
    "Recorded": "paths.recorded",
    "Result": "result",
    "Search": "search",
    "SearchEnded": "search",
    "Strategy": "strategies",
    "TransitionSystem": "states.transitions",
    "UnsupportedPropertyError": "properties",
    "Verdict": "states.outcome",
    "Violated": "result",
    "explore": "exploring",
    "find_races": "races",
    "load_recorded": "paths.recorded",
    "path_along": "paths.path",
    "recurring": "paths.recorded",
    "replay": "paths.recorded",
    "save_recorded": "paths.recorded",
}

__getattr__, __dir__ = names_of(__name__, _MODULES)
