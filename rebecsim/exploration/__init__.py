"""Explore all that a model can do: state spaces, verdicts and counterexamples.

Exploring: `explore` and its `Checks`, `Limits`, `Result`, `Violated`, `Verdict`, `Progress`.

Models, strategies and paths are three things. The model: `TransitionSystem` and its `Mode`. The
strategy: `Strategy`, `BreadthFirst`, `DepthFirst`, `DepthBounded`, `RandomWalks`, walking a
`Search`, which ends by `SearchEnded`. The path: `Path` and `PathStep`, made by `path_along`; what
is wrong at its end is a `Breach`.

`Recorded`: a counterexample and the `Question` it answers, for files (`save_recorded`,
`load_recorded`); `replay` goes its way again, `recurring` in a model that has changed.

Races: `find_races` and its `Races`, `RaceGroup`, `RaceKind`, `Contender`;
`rebecsim.exploration.races.cures` tries changes that may take one away.

`AbstractedVariableError` is raised for properties that cannot be checked.

They are loaded when they are asked for: exploring a small model takes less time than importing all
that there is.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
