"""A search in progress: the states found, how each was reached, and what was found wrong.

A `Recording` keeps the transitions of a search as numbers. It begins in Python; where compiled code
goes on, that writes rows of its own, which are put behind the others at the end.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rebecsim.actors.watchdog import ServerStopped, Watchdog
from rebecsim.exploration.checks import Bound, Limits, Meter, Problem, bytes_to_grow
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.states.effects import Breach, BreachKey
from rebecsim.exploration.states.memoized_runner import SentAtOnce
from rebecsim.exploration.states.rebec_states import Waiting
from rebecsim.exploration.states.transitions import Cause, State, TransitionSystem
from rebecsim.native.engines import EngineUsed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = array[int] | NDArray[np.int64]

NO_SERVICE = -1
"""Stands for the number of a service where only time passes."""

_WIDTH = 5


class Service(NamedTuple):
    """A message that a rebec serves; `resumed`: its message server goes on after a delay."""

    owner: int
    message: Waiting
    resumed: bool


class Recording:
    """Rows of source, target, service, choice and time units that pass, in the order of sources.

    A choice is which of the outcomes of the service it is. Where something goes wrong there is no
    target; `breached` then says what it is, as row and key. `expanded` is the first state of which
    not all transitions may have been followed.
    """

    def __init__(self) -> None:
        self._rows = array("q")
        self._services: dict[Service, int] = {}
        self.breached: list[tuple[int, BreachKey]] = []
        self.expanded = 0
        self.go_on: Callable[[], Iterator[NDArray[np.integer]]] | None = None
        """Gives the columns that compiled code has written."""

    @property
    def services(self) -> tuple[Service, ...]:
        """The services by their numbers."""
        return tuple(self._services)

    def __len__(self) -> int:
        return len(self._rows) // _WIDTH

    def service(self, service: Service) -> int:
        """Give the number of a service."""
        return self._services.setdefault(service, len(self._services))

    def append(self, source: int, target: int, service: int, choice: int, units: int) -> None:
        """Write down a transition."""
        self._rows.extend((source, target, service, choice, units))

    def breach(self, source: int, service: int, choice: int, key: BreachKey) -> None:
        """Write down a transition in which something goes wrong."""
        self.breached.append((len(self), key))
        self.append(source, 0, service, choice, 0)

    def take_columns(self) -> list[NDArray[np.signedinteger[Any]]]:
        """Give the columns of all rows whose source was expanded, and keep none of them.

        Each has the narrowest integers that hold it.
        """
        import numpy as np

        rows = np.frombuffer(self._rows, dtype=np.int64).reshape(-1, _WIDTH)
        parts: Iterator[list[NDArray[np.integer[Any]]]] = ([column] for column in rows.T)
        if self.go_on is not None:
            pairs = zip(rows.T, self.go_on(), strict=True)
            parts = (list(pair) for pair in pairs)
        self._rows, self.go_on = array("q"), None
        found: list[NDArray[np.signedinteger[Any]]] = []
        known = 0
        for part in parts:
            column = _narrowed(part)
            known = known if found else _below(column, self.expanded)
            found.append(column[:known])
        return found


def _below(column: NDArray[np.signedinteger[Any]], limit: int) -> int:
    """Count the rows below a limit in a column that grows, without a copy of wider numbers."""
    import numpy as np

    if limit > np.iinfo(column.dtype).max:
        return len(column)
    return int(np.searchsorted(column, column.dtype.type(limit)))


def _narrowed(parts: list[NDArray[np.integer[Any]]]) -> NDArray[np.signedinteger[Any]]:
    """Put columns behind each other."""
    import numpy as np

    least = min(int(each.min(initial=0)) for each in parts)
    most = max(int(each.max(initial=0)) for each in parts)
    signed = np.min_scalar_type(min(least, -1 - most))
    return np.concatenate(parts, dtype=signed, casting="unsafe")


_ALLOCATIONS = 50_000


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let more objects be made between two searches for reference cycles.

    An exploration keeps nearly all that it makes, so that these searches cost much and find
    little; they still take place, as message servers written in Python may make cycles.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(_ALLOCATIONS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


StopAt = Literal["first", "all"]

Edges = tuple["Integers", "Integers", "Integers"]
"""Transitions: from which states to which, and by which ordinals."""


RecomputedEdges = Callable[[bool], Edges | None]
"""Recomputes the transitions of a search that is over, or those that take no time if that is true.

It gives None if a limit is reached before.
"""

_CHECK_EVERY = 256  # expanded states, or messages served, between two checks of clock and memory
_COMING = 16 * _CHECK_EVERY  # states that may be found between them
_REPORT_EVERY = 0.5  # seconds between two reports of progress


@dataclass(frozen=True)
class Progress:
    """How far a search is. `frontier`: states found but not yet (fully) expanded."""

    states: int
    transitions: int
    frontier: int
    seconds: float

    @property
    def states_per_second(self) -> float:
        """States found per second of wall time."""
        return self.states / self.seconds if self.seconds > 0 else 0.0


@dataclass
class Finding:
    """A breach, the way to it as the transition taken in each state, and how often it was met.

    Breaches of the same kind and text are one finding, with the way to the first one met, and the
    number of the state in which, or after which, it is met.
    `of_state`: the breach is of the state that the way leads to, not of its last transition.
    """

    breach: Breach
    state: int
    ordinals: tuple[int, ...]
    of_state: bool
    count: int = 1


class SearchEnded(Exception):  # noqa: N818 - no error: the search has nothing more to do
    """A search stops before it has covered everything; caught by `explore`."""


class Search:
    """Stores states and checks them; a strategy says which one is expanded next.

    States are numbered as they are found, the initial one is 0. The `meter` may have been running
    before.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        limits: Limits | None = None,
        meter: Meter | None = None,
        stop_at: StopAt = "first",
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.problem = problem
        self.system = problem.system
        self.limits = limits or Limits()
        self.meter = meter or Meter(self.limits)
        self.stopped_in = ""
        """The message server that ran when a limit was reached, if it had to be stopped."""
        self._states: list[State]
        self._numbers: dict[State, int]
        self.states: Sequence[State]
        self.parents: Sequence[int] | NDArray[np.uint32]
        self.ordinals: Sequence[int] | NDArray[np.uint32]
        self.done: int | None
        """How many states have been followed to the end, where that is done in their order."""
        self.ends: int
        """How many states were found in which a run has ended; a walk that ends counts again."""
        self.first_end: int | None
        self.last: list[int]
        """The states in which a run has ended, as far as Python has expanded them."""
        self.findings: dict[Breach, Finding] = {}
        self.bounds: list[Bound] = []
        self.engine: EngineUsed = "python"
        self.recording: Recording | None = None
        """Where transitions are written down, if they are."""
        self._followed = 0
        self.edges: RecomputedEdges = self._edges
        self.sent_by_compiled_code: Callable[[], set[SentAtOnce]] = set
        self.growth: Callable[[int], int] = self._growth
        """Gives the bytes that tables need if each may get so many more entries."""
        self._stop_at = stop_at
        self._progress = progress
        self._reported = 0.0
        self._most = self.limits.states
        self.restart()

    def sent_at_once(self) -> set[SentAtOnce]:
        """Give which message servers send which messages that may be served at the same time."""
        found = self.system.runner.sent_at_once | self.sent_by_compiled_code()
        system = self.system
        if not isinstance(system, SymmetricSystem):
            return found
        places = {place: system.orbit(*place) for pair in found for place in pair}
        return {(places[by], places[to]) for by, to in found}  # others were left out by symmetry

    def _edges(self, still: bool) -> Edges | None:
        """Recompute transitions between states, see `RecomputedEdges`."""
        source, targets, ordinals = array("L"), array("L"), array("L")
        for number, state in enumerate(self._states[: self.done]):
            if not number % _CHECK_EVERY and self.meter.is_over():
                return None
            if self.is_beyond(state):
                continue
            for ordinal, (_, target, units) in enumerate(self.system.expand(state)):
                known = None if isinstance(target, Breach) else self._numbers.get(target)
                if known is None or (still and units):
                    continue
                source.append(number)
                targets.append(known)
                ordinals.append(ordinal)
        return source, targets, ordinals

    @property
    def frontier(self) -> int:
        """How many states have been found of which not every transition has been followed."""
        return len(self.states) - self.expanded

    def expand(self, number: int) -> list[int]:
        """Follow every transition of a state and give the numbers of the states that are new.

        Raises SearchEnded when a limit is reached or the first breach was wanted.
        """
        if not self.expanded % _CHECK_EVERY:
            self.check_limits()
        self.expanded += 1
        return [] if self.is_beyond(self.states[number]) else self._follow_all(number)

    def _follow_all(self, number: int) -> list[int]:
        found = self.system.expand(self.states[number])
        if not found:
            self.ends_in(number)
            return []
        numbers = self._numbers
        new: list[int] = []
        for ordinal, (_, target, _) in enumerate(found):
            if type(target) is Breach:
                self.breached(target, number, ordinal)
                continue
            self.transitions += 1
            if target not in numbers:
                assert not isinstance(target, Breach)
                new.append(self._store(target, number, ordinal))
        return new

    def follow(self, number: int, pick: Callable[[int], int]) -> int | None:
        """Follow one transition of a state, the one that `pick` gives when told their number.

        Gives the number of the state it leads to, None if there is none. Raises SearchEnded as
        `expand` does.
        """
        if not self._followed % _CHECK_EVERY:
            self.check_limits()
        state = self.states[number]
        self._followed += 1
        if self.is_beyond(state):
            return None
        found = self.system.expand(state)
        if not found:
            self.ends_in(number)
            return None
        ordinal = pick(len(found))
        _, target, _ = found[ordinal]
        if isinstance(target, Breach):
            self.breached(target, number, ordinal)
            return None
        self.transitions += 1
        return self.number_of(target, number, ordinal)

    def successors(self, number: int) -> list[tuple[Cause, int | Breach, int]]:
        """Give every transition of a state with the number of the state it leads to."""
        return [
            (
                cause,
                target if isinstance(target, Breach) else self.number_of(target, number, ordinal),
                units,
            )
            for ordinal, (cause, target, units) in enumerate(
                self.system.expand(self.states[number])
            )
        ]

    def adopt(
        self, states: Sequence[State], parents: NDArray[np.uint32], ordinals: NDArray[np.uint32]
    ) -> None:
        """Let another store keep the states and how each was found; `expand` is over then."""
        self.states, self.parents, self.ordinals = states, parents, ordinals
        self._states, self._numbers = [], {}

    def number_of(self, state: State, parent: int, ordinal: int) -> int:
        """Give the number of a state reached from another, which is new if it was not known."""
        known = self._numbers.get(state)
        return self._store(state, parent, ordinal) if known is None else known

    def way_to(self, number: int) -> tuple[int, ...]:
        """Give the transition to take in each state on the way to a state."""
        return tuple([int(self.ordinals[each]) for each in self.states_to(number)[1:]])

    def states_to(self, number: int) -> list[int]:
        """Give the numbers of the states on the way to a state, from 0 to its own."""
        way = [number]
        while number:
            number = int(self.parents[number])
            way.append(number)
        return way[::-1]

    def followed(
        self, ordinals: tuple[int, ...], through: Iterable[int]
    ) -> tuple[TransitionSystem, tuple[int, ...]]:
        """Give the system in which a way is a run, and the transitions that it takes there.

        `through` are the numbers of the states behind the initial one that the way leads through.
        """
        system = self.system
        if not isinstance(system, SymmetricSystem):
            return system, ordinals
        states = (self.states[number] for number in through)
        return system.full, system.unfolded(ordinals, states)

    def restart(self) -> None:
        """Begin, or begin again with other representatives of states."""
        initial = self.system.initial
        self._states, self._numbers = [initial], {initial: 0}
        self._parents, self._ordinals = array("L", [0]), array("L", [0])
        self.states, self.parents, self.ordinals = self._states, self._parents, self._ordinals
        self.transitions = 1  # as the reference counts: storing the initial state is one
        self.expanded, self.done = 0, None
        self.ends, self.first_end, self.last = 0, None, []
        self.findings.clear()
        self.bounds.clear()

    # --- what goes wrong -----------------------------------------------------------------------

    def breached(self, breach: Breach, number: int, ordinal: int | None) -> None:
        """Note a breach in a state, or in one of its transitions."""
        known = self.findings.get(breach)
        if known is not None:
            known.count += 1
        else:
            way = self.way_to(number)
            if ordinal is not None:
                way = (*way, ordinal)
            self.findings[breach] = Finding(breach, number, way, ordinal is None)
        if self._stop_at == "first":
            raise SearchEnded

    def ends_in(self, number: int) -> None:
        """Note and judge a state without transitions."""
        self.ends += 1
        self.last.append(number)
        if self.first_end is None:
            self.first_end = number
        for breach in self.problem.wrong_at_end(self.states[number]):
            self.breached(breach, number, None)

    def _store(self, state: State, parent: int, ordinal: int) -> int:
        number = len(self.states)
        if number == self._most:
            self.stop("states")
        self._parents.append(parent)
        self._ordinals.append(ordinal)
        self._states.append(state)
        self._numbers[state] = number
        for breach in self.problem.broken_in(state):
            self.breached(breach, number, None)
        return number

    # --- limits --------------------------------------------------------------------------------

    def _growth(self, coming: int) -> int:
        return bytes_to_grow([self._numbers, *self.system.tables()], coming)

    def stop(self, bound: Bound) -> None:
        """End the search because a bound is reached."""
        self.bounds.append(bound)
        raise SearchEnded

    def cut(self, bound: Bound) -> None:
        """Note that a bound has kept something out of the search, which goes on."""
        if bound not in self.bounds:
            self.bounds.append(bound)

    @contextmanager
    def expanding(self) -> Iterator[None]:
        """Let a strategy expand states until it is done or a limit is reached.

        Limits hold in message servers that take long, too. Raises EndlessError for one that has
        been running for longer than the limits say.
        """
        runner = self.system.runner
        runner.check_limits, runner.check_every = self.check_limits, _CHECK_EVERY
        dog = Watchdog(runner.system, patience=self.limits.patience, is_over=self.meter.is_over)
        try:
            with collecting_rarely(), dog:
                yield
        except SearchEnded:
            pass
        except MemoryError:
            self.cut("memory")
        except ServerStopped:
            self.stopped_in = dog.stopped_in
            assert self.meter.reached is not None
            self.cut(self.meter.reached)
        finally:
            runner.check_every = 0

    def check_limits(self) -> None:
        """Report progress, and end the search if a limit is reached."""
        seconds = self.meter.seconds
        if self._progress is not None and seconds - self._reported >= _REPORT_EVERY:
            self._reported = seconds
            self._progress(self.progress())
        bound = self.meter.exceeded(lambda: self.growth(_COMING))
        if bound is not None:
            self.stop(bound)

    def progress(self) -> Progress:
        """Say how far the search is."""
        return Progress(len(self.states), self.transitions, self.frontier, self.meter.seconds)

    def is_beyond(self, state: State) -> bool:
        """Say whether a state lies behind the horizon, and note that there is one."""
        horizon = self.limits.horizon
        if horizon is None or not self.system.absolute or state[-1] <= horizon:
            return False
        self.cut("horizon")
        return True
