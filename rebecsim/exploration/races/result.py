"""The result of a search for races."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from rebecsim.exploration.analysis.ignoring import Deciding
from rebecsim.exploration.limits import Bound
from rebecsim.exploration.paths.path import Path
from rebecsim.exploration.races.witness import Witness
from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.exploration.states.outcome import Breach
from rebecsim.exploration.states.transitions import Mode

RaceKind = Literal["inevitable", "avoidable", "observed", "results", "undecided", "while", "joins"]
RACE_KINDS: tuple[RaceKind, ...] = get_args(RaceKind)
"""What can come of a race, the worst first; see `rebecsim.exploration.races`."""

RaceBound = Bound | Literal["pairs"]
"""What kept from looking at everything; "pairs" is the limit of pairs of states to follow."""

_HARMFUL: frozenset[RaceKind] = frozenset({"inevitable", "avoidable"})


class Contender(NamedTuple):
    """One of two services in a race: the rebec, its message server and who sent the message."""

    rebec: str
    server: str
    sender: str

    def __str__(self) -> str:
        return f"{self.rebec}.{self.server} from {self.sender}"


class Distance(NamedTuple):
    """How far something lies behind the state of a race, in steps and in model time."""

    steps: int
    time: int


@dataclass(frozen=True)
class RaceGroup:
    """The races of two kinds of services.

    `kind` is the worst that comes of any of them, `races` how many there are: pairs of messages,
    over all states. `breaches` are what can go wrong after one order and not after the other,
    for each of the two orders: the first contender first, and the second one first. `distance` is
    how far away the first breach of the witness is, or for kind "while" at most how long the
    orders differ. The witness shows a race of this kind, and of these one that is found soonest.
    `matters` tells whether the order decides something that lasts, a violation or a result.
    """

    contenders: tuple[Contender, Contender]
    kind: RaceKind
    races: int
    breaches: tuple[tuple[BreachKey, ...], tuple[BreachKey, ...]]
    distance: Distance | None
    witness: Witness
    matters: bool

    @property
    def id(self) -> str:
        """A name that stays the same as long as rebecs and message servers keep theirs."""
        return "~".join(f"{each.rebec}.{each.server}<{each.sender}" for each in self.contenders)

    @property
    def is_harmful(self) -> bool:
        """Whether something is violated after one of the orders."""
        return self.kind in _HARMFUL


class Decision(NamedTuple):
    """The last step that could have kept a breach from coming: what was done, and what instead.

    `by_order`: the two are different messages; otherwise it is a choice.
    """

    taken: Path
    instead: Path
    by_order: bool


@dataclass(frozen=True)
class Unexplained:
    """A breach that can come and that no race of the list decides.

    Without a `decision` it comes whatever is done. `breach` is what a run to it shows.
    """

    key: BreachKey
    breach: Breach
    decision: Decision | None


@dataclass(frozen=True)
class Races:
    """The races of a model, the worst groups first, and how much of it was looked at.

    `pairs` counts the pairs of steps that could be taken in both orders, of which `commuting` come
    to the same. `followed` counts the pairs of states that were followed to see what comes of the
    others. `bounds` are those that kept from looking further: if there are any, there may be
    races that were not found. `abstraction` names the variables left out of the state; those in
    `deciding` decide something, so there may be other races with them. `observed` is what was
    looked at. `is_complete` says whether all states are known, so that no race is missing;
    `unfinished` counts the groups that were not followed to the end. `alike` puts groups together
    that differ by an exchange of rebecs only, as their places in `groups`, the one shown first.
    `in_constructor` is a breach before anything else happens; there are no races then. `memory` is
    the most memory the process took up, in bytes.
    """

    model: str
    mode: Mode
    abstraction: tuple[str, ...]
    observed: tuple[str, ...]
    groups: tuple[RaceGroup, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    states: int = 0
    pairs: int = 0
    commuting: int = 0
    followed: int = 0
    bounds: tuple[RaceBound, ...] = ()
    alike: tuple[tuple[int, ...], ...] = ()
    in_constructor: Breach | None = None
    deciding: tuple[Deciding, ...] = ()
    is_complete: bool = True
    unfinished: int = 0
    memory: int = 0

    @property
    def is_harmful(self) -> bool:
        """Whether something is violated, after one order of a race or without any."""
        return (
            any(group.is_harmful for group in self.groups)
            or bool(self.unexplained)
            or self.in_constructor is not None
        )

    @property
    def is_decided(self) -> bool:
        """Whether everything was looked at that could be harmful."""
        return not self.bounds and all(group.kind != "undecided" for group in self.groups)
