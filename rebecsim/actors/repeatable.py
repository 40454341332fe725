"""Refuse models in Python whose message servers are not functions of state and message."""

from __future__ import annotations

from typing import Self

from rebecsim.actors.rebec import Rebec
from rebecsim.actors.suspects import suspects
from rebecsim.actors.system import ModelError


class NotRepeatableError(ModelError):
    """A message server that does something else when it is run again from the same state."""

    @classmethod
    def of(cls, rebec: Rebec, server: str, difference: str) -> Self:
        """Report a message server, with what differs and what is likely to be the cause."""
        text = (
            f"{rebec}, message {server}: run again from the same state, it does something else: "
            f"{difference}. What a message server does may depend on the state variables of its "
            "rebec, the message and `self.choose` only"
        )
        return cls(f"{text}; {_cause(rebec, server)}")


def _cause(rebec: Rebec, server: str) -> str:
    found = suspects(type(rebec))
    mine = [each for each in found if each.method == server] or found
    if not mine:
        return "look for what it reads from elsewhere"
    return f"likely because {mine[0]}"
