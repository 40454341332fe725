"""Explore all that a model can do: state spaces, verdicts and counterexamples.

* Explore: `explore` and its `Checks`, `Limits`, `Result`, `Violated`, `Verdict`, `Progress`.
* The model: `TransitionSystem` and its `Mode`; `pose` builds it, with what is checked, as a
  `Problem`.
* The strategy: `Strategy`, `BreadthFirst`, `DepthFirst`, `DepthBounded`, `RandomWalks`, walking a
  `Search`, which ends by `SearchEnded`.
* The path: `Path` and `PathStep`, made by `path_along`; the violation at its end is a `Breach`.
* The graph of all states: `state_space` gives a `StateSpace`, `neighbourhood_of` the states near
  one.
* Counterexamples in files: `Recorded` and the `Question` it answers (`save_recorded`,
  `load_recorded`); `replay` follows it again, `recurring` in a model that has changed.
* Races: `find_races` and its `Races`, `RaceGroup`, `RaceKind`, `Contender`;
  `rebecsim.exploration.races.cures` tries changes that may remove one.
* Exact values over all orders: `rebecsim.exploration.orders`.

`AbstractedVariableError` is raised for properties that cannot be checked.

Names are loaded on first use: exploring a small model takes less time than importing everything.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
