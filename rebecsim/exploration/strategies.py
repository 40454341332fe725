"""Search strategies: the order in which states are expanded, and the engine that expands them.

The engine is Python, or compiled code for large searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from rebecsim.actors import Streams
from rebecsim.actors.randomness import key_of
from rebecsim.errors import UserError
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.transitions import can_be_served
from rebecsim.lang.checked import CheckedModel
from rebecsim.native import engines
from rebecsim.native.engines import Engine, TimeTooLargeError, usable

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

    `compact` is hash compaction: compiled code compares states by fingerprints; the result says
    how likely it is that one was missed. With 2 `workers`, compiled code uses two threads where
    many states wait, with the same result.
    """

    compact: bool = False
    workers: int = 1
    name: str = "breadth first"

    def run(self, search: Search) -> None:
        """Expand every state."""
        self.run_to(search)

    def run_to(self, search: Search, states: float = math.inf, number: int = 0) -> int:
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


Found = TypeVar("Found", bound=Search)


class NativeEngineError(UserError):
    """The native engine was asked for something that only the Python engine can do."""

    def __init__(self, obstacle: str) -> None:
        super().__init__(f"the native engine {obstacle}; use the engine python or auto")


def run_search(
    make: Callable[[], Found],
    strategy: Strategy,
    engine: Engine,
    checked: CheckedModel | None = None,
) -> Found:
    """Make a search and let a strategy expand states, in compiled code where that is worth it.

    Message servers are compiled too, where that is worth it, if the tree `checked` of the model is
    given. Where a time has no place in compiled code, all is done again in Python.

    Raises NativeEngineError if compiled code was asked for (as hash compaction does too) and has no
    such search, MissingPackagesError if there is no compiler, EndlessError for a message server
    that does not end.
    """
    engine = usable("native" if is_compact(strategy) and engine == "auto" else engine)
    if is_compact(strategy) and engine == "python":
        raise UserError("hash compaction needs the native engine; use the engine native or auto")
    search = make()
    try:
        with search.expanding():
            _run(search, strategy, engine, checked)
    except TimeTooLargeError as error:
        if is_compact(strategy) or engine == "native":
            raise NativeEngineError("cannot store a time this large") from error
        return run_search(make, strategy, "python")
    return search


def _run(search: Search, strategy: Strategy, engine: Engine, checked: CheckedModel | None) -> None:
    compact = is_compact(strategy)
    needed = compact or engine == "native"
    obstacle = _obstacle(search, strategy)
    if needed and obstacle is not None:
        raise NativeEngineError(obstacle)
    if engine == "python" or obstacle is not None or not isinstance(strategy, BreadthFirst):
        strategy.run(search)
        return
    number = 0
    if not needed:
        number = _begin_in_python(search, checked)
        if number == len(search.states):
            return
        if isinstance(search.system, SymmetricSystem):  # each engine has its own representatives
            search.restart()
            number = 0
    import numpy as np

    search.engine = "native"
    with search.meter.leaving_out():
        from rebecsim.exploration.compiled.compiled_search import CompiledSearch, load_compiled_code

        load_compiled_code()
    with np.errstate(over="ignore"):  # hashes wrap; without a compiler NumPy would warn of that
        CompiledSearch(search, number, checked, compact, strategy.workers).run()


def is_compact(strategy: Strategy) -> bool:
    """Whether states are compared by fingerprints only."""
    return isinstance(strategy, BreadthFirst) and strategy.compact


def _begin_in_python(search: Search, checked: CheckedModel | None) -> int:
    """Expand states until it is worth handing them over; gives the number of the next one."""
    breadth_first = BreadthFirst()
    system = search.system
    slower = len(system.group) if isinstance(system, SymmetricSystem) else 1
    number = breadth_first.run_to(search, engines.SEARCH_LOADS // slower)
    if checked is None or not can_be_served(system, checked):
        number = _while_serving(search, number)
    if number == len(search.states):
        return number
    if search.meter.would_exceed(engines.BYTES_TO_COMPILE):
        return breadth_first.run_to(search, number=number)
    with search.meter.leaving_out():  # the compiler's memory says nothing about states
        compiled = _is_compiled()
    if not compiled:
        number = breadth_first.run_to(search, engines.SEARCH_COMPILES // slower, number)
        if (
            search.meter.would_exceed(engines.BYTES_TO_COMPILE)
            or search.meter.seconds_left < engines.SECONDS_TO_COMPILE
        ):
            return breadth_first.run_to(search, number=number)
    return number


def _while_serving(search: Search, number: int) -> int:
    """Go on in Python as long as most of the work is to serve messages, which only Python can do.

    So it is with a chain of states of which each has a time or a value that was never there before.
    """
    runner, breadth_first = search.system.runner, BreadthFirst()
    served, states = 0, 0
    while number < len(search.states):
        serving = (runner.runs - served) / (len(search.states) - states)
        if serving <= engines.SERVED_PER_STATE:
            break
        served, states = runner.runs, len(search.states)
        number = breadth_first.run_to(search, states + engines.SEARCH_LOADS, number)
    return number


def _is_compiled() -> bool:
    """Whether the compiled loop is on disk."""
    from rebecsim.native.cache import is_ready
    from rebecsim.native.loops.breadth_first import expand_states

    return is_ready(expand_states)


def _obstacle(search: Search, strategy: Strategy) -> str | None:
    """Say why compiled code cannot do a search, if it cannot."""
    if not isinstance(strategy, BreadthFirst):
        return "searches breadth first only"
    if isinstance(search.system, SymmetricSystem) and strategy.compact:
        return "does not reduce by symmetry with hash compaction"
    return None
