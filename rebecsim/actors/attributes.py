"""Keep the attributes of a rebec declared: message servers make no new ones.

An attribute that comes and goes would be state that nobody sees, and a known rebec that changes
would be a network that is not that of main.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from rebecsim.actors.rebec import Rebec
from rebecsim.actors.system import ModelError


class Attributes:
    """The attributes of one rebec, as its constructor has left them."""

    def __init__(self, rebec: Rebec) -> None:
        self._rebec = rebec
        self._names = frozenset(vars(rebec))
        self._known = [getattr(rebec, each.name) for each in type(rebec).__known_rebecs__]

    def check(self) -> None:
        """Raise ModelError if there are others now, or other known rebecs."""
        rebec = self._rebec
        known = [getattr(rebec, each.name, None) for each in type(rebec).__known_rebecs__]
        if vars(rebec).keys() != self._names or known != self._known:
            refuse_attributes(rebec, self._known)


def refuse_attributes(rebec: Rebec, bound: Sequence[Rebec]) -> NoReturn:
    """Raise ModelError: the attributes are others than before; `bound` were the known rebecs."""
    for known, before in zip(type(rebec).__known_rebecs__, bound, strict=True):
        if vars(rebec).get(known.name, before) is not before:
            raise ModelError(f"{rebec}: a message server changes the known rebec `{known.name}`")
    raise ModelError(
        f"{rebec}: a message server makes or deletes an attribute; declare it as a state variable"
    )
