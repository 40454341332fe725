"""A cure: the change that is proposed, and the result of trying it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.lang import syntax

CureKind = Literal["priority", "atomic", "guard"]
CURE_KINDS: tuple[CureKind, ...] = get_args(CureKind)

Outcome = Literal["removes", "lessens", "hides", "no help", "worse", "undecided", "n/a"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""What is said of a cure, the best first; see `rebecsim.exploration.races.cures`."""


class DoesNotApplyError(Exception):
    """A cure has no meaning for a model; the text says why."""


class Guarded(NamedTuple):
    """A service that looks at a flag of its rebec before it is done."""

    rebec: str
    server: str
    flag: str


@dataclass(frozen=True)
class Change:
    """A changed model. Services of the message servers `merged` are not told apart any more."""

    tree: syntax.Model
    merged: frozenset[str] = frozenset()
    guarded: Guarded | None = None


@dataclass(frozen=True)
class Proposal:
    """A cure that may be tried; `make` raises DoesNotApplyError for one that cannot."""

    kind: CureKind
    id: str
    title: str
    make: Callable[[], Change]


@dataclass(frozen=True)
class Tried:
    """A cure and what came of it.

    `found` says what exploring found, or why it does not apply. `source` is the changed model,
    empty for one that does not apply. `states` is the size of its state space, as far as it was
    looked at, and `violations` all that can go wrong in it.
    """

    kind: CureKind
    id: str
    title: str
    outcome: Outcome
    found: tuple[str, ...]
    source: str = ""
    states: int = 0
    violations: tuple[BreachKey, ...] = ()
