"""Races: pairs of steps whose order matters, and what each order leads to.

`docs/background/races.md` defines every term that is used here: step, race, commuting and joining
orders, possible and inevitable breaches, and the kinds of races, the worst first.

* `step_graph` gives the state graph as arrays, `diamonds` the pairs of steps that do not commute.
* `futures` says where each breach is possible, and where it is inevitable on all fair runs.
* `following` follows two orders until they join, `judging` groups the races and judges them.
* `explaining` gives each group a witness, and names the breaches that no race decides.
* `cures` tries changes of the model that may remove a race.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
