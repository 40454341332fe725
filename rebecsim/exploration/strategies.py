"""Search strategies: the order in which states are expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rebecsim.actors import Streams
from rebecsim.actors.randomness import key_of
from rebecsim.errors import UserError
from rebecsim.exploration.search import Search

_WALK_STREAM = 0


class Strategy(Protocol):
    """Expands the states of a search until none is left, or the search ends itself."""

    @property
    def name(self) -> str:
        """What the strategy is called in results."""

    def run(self, search: Search) -> None:
        """Expand states."""


@dataclass(frozen=True)
class BreadthFirst:
    """States in the order in which they were found: the first breach is a shortest one.

    `compact` is hash compaction: compiled code tells states apart by fingerprints; the result says
    how likely it is that one was missed. With 2 `workers`, compiled code uses two threads where
    many states wait, with the same result.
    """

    compact: bool = False
    workers: int = 1
    name: str = "breadth first"

    def run(self, search: Search) -> None:
        """Expand every state."""
        self.run_from(search, 0)

    def run_from(self, search: Search, number: int) -> None:
        """Expand every state from the one with that number on."""
        search.done = number
        while number < len(search.states):
            search.expand(number)
            search.done = number = number + 1

    def run_to(self, search: Search, states: int, number: int = 0) -> int:
        """Expand states from that one on until so many are found; gives the number of the next."""
        search.done = number
        while number < len(search.states) < states:
            search.expand(number)
            search.done = number = number + 1
        return number


@dataclass(frozen=True)
class DepthFirst:
    """The state found last comes first: deep states are reached soon."""

    name: str = "depth first"

    def run(self, search: Search) -> None:
        """Expand every state."""
        pending = [0]
        while pending:
            new = search.expand(pending.pop())
            new.reverse()
            pending.extend(new)


@dataclass(frozen=True)
class DepthBounded:
    """Breadth first, up to states that are `depth` transitions away from the initial one.

    Raises UserError for a depth below 0.
    """

    depth: int
    name: str = "depth bounded"

    def __post_init__(self) -> None:
        if self.depth < 0:
            raise UserError(f"the depth must be 0 or more, not {self.depth}")

    def run(self, search: Search) -> None:
        """Expand every state that is not too deep."""
        level = [0]
        for _ in range(self.depth):
            level = [new for number in level for new in search.expand(number)]
        if level:
            search.cut("depth")


@dataclass(frozen=True)
class RandomWalks:
    """Walks from the initial state, each transition equally likely; for spaces that are too large.

    Walk number i of a seed is the same however many there are. They prove nothing but what they
    find. Raises UserError for numbers below 1.
    """

    walks: int = 100
    length: int = 10_000
    seed: int = 0
    name: str = "random walks"

    def __post_init__(self) -> None:
        if self.walks < 1 or self.length < 1:
            raise UserError("there must be at least 1 random walk of at least 1 transition")

    def run(self, search: Search) -> None:
        """Walk."""
        search.cut("walks")
        key = key_of(self.seed)
        for walk in range(self.walks):
            stream = Streams(key, walk)[_WALK_STREAM]
            number = 0
            for _ in range(self.length):
                following = search.follow(number, stream.below)
                if following is None:
                    break
                number = following
