"""Cures: small changes of a model that may remove a race, each tested by exploration.

`docs/background/races.md` lists the cures and says what each outcome means. The change is made to
the syntax tree and printed, and the printed text is explored as the model was.

Violations are told apart as in `rebecsim.exploration.states.effects`. If `deadlock` asks for
them, a deadlock that the model had before hides that there are more: say with `terminal` which
ends are allowed.
"""

from rebecsim.exploration.races.cures.change import CURE_KINDS, OUTCOMES, CureKind, Outcome, Tried
from rebecsim.exploration.races.cures.trying import Cures, RaceCures, RaceQuery, try_cures

__all__ = [
    "CURE_KINDS",
    "OUTCOMES",
    "CureKind",
    "Cures",
    "Outcome",
    "RaceCures",
    "RaceQuery",
    "Tried",
    "try_cures",
]
