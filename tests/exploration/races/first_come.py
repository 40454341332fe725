"""Two runners who arrive at the same time, and a judge: the model of many tests of races."""

from __future__ import annotations

from typing import Any

from rebecsim.exploration import Races, find_races
from rebecsim.generate import build_model
from rebecsim.lang import check_source

__all__ = ["FIRST_COME", "kinds_of", "races_of"]

FIRST_COME = """
reactiveclass Judge(5) {
  statevars { int winner; int met; }
  Judge() { winner = 0; }
  msgsrv arrived(int who) { BODY }
}
reactiveclass Runner(3) {
  knownrebecs { Judge judge; }
  Runner(int who) { self.run(who); }
  msgsrv run(int who) { judge.arrived(who) after(2); AGAIN }
}
main { Judge j():(); Runner a(j):(1); Runner b(j):(2); }
"""


def races_of(body: str, again: str = "self.run(who) after(5);", **options: Any) -> Races:
    """Find the races of the two runners, with a body of `arrived` and an end of `run`."""
    checked = check_source(FIRST_COME.replace("BODY", body).replace("AGAIN", again))
    return find_races(build_model(checked, "judge"), checked=checked, **options)


def kinds_of(races: Races) -> list[str]:
    """Give what comes of each group."""
    return [group.kind for group in races.groups]
