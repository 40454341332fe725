"""Races: two messages that a rebec may serve next, where it matters which one comes first.

In a state, two different messages that one rebec may serve are in a race if serving the first and
then the second leads to other states than serving the second and then the first. "And then" means
at once, with nothing in between; where the other message is not served at once (the first one
keeps the rebec busy, or a more urgent rebec comes first), the order ends with the first message.
With choices, each order leads to a set of states, and these sets are compared.

What comes of a race is decided on the whole state space:

* violation: one order violates something at once and the other does not, or something can be
  violated after one order and not after the other
* results: otherwise, an end that the model can come to after one order cannot be come to after the
  other. Ends are the bottom strongly connected components, see `rebecsim.explore.futures`
* joins: otherwise. Whatever a fair run does after one order, it comes to states that the other
  order can come to as well: the race decides nothing that lasts. (It need not be that both orders
  come to the same state whatever happens next; only that none of them is ruled out for good.)
* undecided: what differs lies behind the bounds of the exploration
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, NamedTuple

from rebecsim.actors import Model
from rebecsim.explore.exploring import Checks, pose
from rebecsim.explore.futures import Futures, futures
from rebecsim.explore.limits import Bound, Limits
from rebecsim.explore.local import Waiting
from rebecsim.explore.outcome import Breach, Outcome
from rebecsim.explore.search import Progress
from rebecsim.explore.state_graph import StateGraph, build_graph
from rebecsim.explore.transitions import Mode, TransitionSystem
from rebecsim.explore.witness import Ending, Witness, witness_of
from rebecsim.lang import CheckedModel

__all__ = ["RACE_KINDS", "Contender", "RaceGroup", "RaceKind", "Races", "find_races"]

RaceKind = Literal["violation", "results", "undecided", "joins"]
RACE_KINDS: tuple[RaceKind, ...] = ("violation", "results", "undecided", "joins")
"""What can come of a race, the worst first."""

_HARMFUL: frozenset[RaceKind] = frozenset({"violation", "results"})


class Contender(NamedTuple):
    """One of two messages in a race: its message server and who sent it."""

    server: str
    sender: str

    def __str__(self) -> str:
        return f"{self.server} from {self.sender}"


@dataclass(frozen=True)
class RaceGroup:
    """The races of two kinds of messages at one rebec.

    `kind` is the worst that comes of any of them, `counts` how many races there are of each kind:
    pairs of messages, over all states. The witness shows a race of the worst kind, one that shows
    a violation at once if there is one, and of these one with a shortest way to it.
    """

    rebec: str
    contenders: tuple[Contender, Contender]
    kind: RaceKind
    counts: dict[RaceKind, int]
    witness: Witness

    @property
    def is_harmful(self) -> bool:
        """Whether the order decides something that lasts."""
        return self.kind in _HARMFUL


@dataclass(frozen=True)
class Races:
    """The races of a model, the worst groups first, and how much of it was looked at.

    `pairs` counts the pairs of different messages that could be served in both orders, of which
    `commuting` lead to the same states. `bounds` are those that kept states from being expanded:
    if there are any, there may be races that were not found. `abstraction` names the variables
    left out of the state.
    """

    model: str
    mode: Mode
    groups: tuple[RaceGroup, ...]
    states: int
    pairs: int
    commuting: int
    bounds: tuple[Bound, ...]
    abstraction: tuple[str, ...]

    @property
    def is_harmful(self) -> bool:
        """Whether some race is known to decide something that lasts."""
        return any(group.is_harmful for group in self.groups)


@dataclass
class _Found:
    """The races of one group so far, and the best of them to show: state and endings."""

    counts: Counter[RaceKind] = field(default_factory=Counter)
    rank: tuple[int, bool, int] | None = None
    shown: tuple[int, list[Ending], list[Ending]] | None = None


def find_races(
    model: Model,
    *,
    mode: Mode | None = None,
    checks: Checks | None = None,
    checked: CheckedModel | None = None,
    limits: Limits | None = None,
    abstract: Sequence[str] = (),
    strict: bool = False,
    progress: Callable[[Progress], None] | None = None,
    is_interrupted: Callable[[], bool] = lambda: False,
) -> Races:
    """Find every race of a model; the arguments are those of `explore`.

    A rebec of a core model serves the first message of its queue, so core models have no races
    in this sense. Raises Violation if a constructor does, UserError or RebecaError for what does
    not fit the model.
    """
    wanted = checks or Checks()
    problem = pose(
        model,
        mode=mode,
        checks=wanted,
        checked=checked,
        abstract=abstract,
        absolute=limits is not None and limits.horizon is not None,
        strict=strict,
    )
    graph = build_graph(
        problem,
        deadlock=wanted.deadlock,
        limits=limits,
        progress=progress,
        is_interrupted=is_interrupted,
    )
    found = _Finder(problem.system, graph, futures(graph))
    was_interrupted = "interrupt" in graph.search.bounds
    if not found.look(lambda: not was_interrupted and is_interrupted()):
        graph.search.cut("interrupt")
    problem.system.runner.finish()
    return Races(
        model=problem.system.model.name,
        mode=problem.system.mode,
        groups=found.groups(),
        states=len(graph.edges),
        pairs=found.pairs,
        commuting=found.commuting,
        bounds=tuple(graph.search.bounds),
        abstraction=problem.left_out,
    )


class _Finder:
    """Looks at every pair of messages of every state of a graph."""

    def __init__(self, system: TransitionSystem, graph: StateGraph, coming: Futures) -> None:
        self._system = system
        self._graph = graph
        self._futures = coming
        self._found: dict[tuple[str, tuple[Contender, Contender]], _Found] = {}
        self.pairs = 0
        self.commuting = 0

    def look(self, is_interrupted: Callable[[], bool]) -> bool:
        """Look at every state that was expanded; false if that was interrupted."""
        for number, edges in enumerate(self._graph.edges):
            if is_interrupted():
                return False
            if edges is None or len(edges) < 2:
                continue
            messages: dict[tuple[int, Waiting], None] = {}
            for cause, _ in edges:
                if isinstance(cause, Outcome) and not cause.resumed:
                    messages[cause.owner, cause.message] = None
            for (owner, first), (other, second) in combinations(messages, 2):
                if owner == other:
                    self._compare(number, owner, first, second)
        return True

    def _compare(self, number: int, owner: int, first: Waiting, second: Waiting) -> None:
        self.pairs += 1
        one = list(self._order(number, owner, first, second))
        two = list(self._order(number, owner, second, first))
        if {ending.outcome for ending in one} == {ending.outcome for ending in two}:
            self.commuting += 1
            return
        kind, at_once = self._judge(one, two)
        contenders = self._contender(owner, first), self._contender(owner, second)
        if contenders[1] < contenders[0]:
            contenders, one, two = contenders[::-1], two, one
        key = str(self._system.runner.rebecs[owner]), contenders
        group = self._found.setdefault(key, _Found())
        group.counts[kind] += 1
        rank = RACE_KINDS.index(kind), not at_once, number
        if group.rank is None or rank < group.rank:
            group.rank, group.shown = rank, (number, one, two)

    def _contender(self, owner: int, message: Waiting) -> Contender:
        runner = self._system.runner
        return Contender(runner.server_of(owner, message).name, runner.sender_of(message))

    def _order(self, number: int, owner: int, first: Waiting, second: Waiting) -> Iterator[Ending]:
        """Give what serving the first message and then the second can lead to."""
        graph = self._graph
        for ordinal, (cause, target) in enumerate(graph.edges[number] or ()):
            if not _serves(cause, owner, first):
                continue
            assert isinstance(cause, Outcome)
            following = None if isinstance(target, Breach) else graph.edges[target]
            if isinstance(target, Breach) or following is None:
                yield Ending(((number, ordinal),), target)
                continue
            states = graph.search.states
            moved = cause.local is not None and cause.local.next != 0
            units = self._system.elapsed(states[number], cause, states[target]) if moved else 0
            later = second.earlier(units) if units else second
            rest = [
                Ending(((number, ordinal), (target, place)), end)
                for place, (next_cause, end) in enumerate(following)
                if _serves(next_cause, owner, later)
            ]
            yield from rest or [Ending(((number, ordinal),), target)]

    # --- what comes of it ----------------------------------------------------------------------

    def _judge(self, one: list[Ending], two: list[Ending]) -> tuple[RaceKind, bool]:
        """Say what comes of a race, and whether it is a violation at once."""
        coming = self._futures
        first, second = self._coming(one), self._coming(two)
        known = not (first | second) & coming.opened
        at_once = self._at_once(one) != self._at_once(two)
        if at_once and (known or not self._is_cut(one + two)):
            return "violation", True
        lost = _lacking(first, second, coming.opened) | _lacking(second, first, coming.opened)
        if lost & coming.wrong:
            return "violation", False
        if lost:
            return "results", False
        return ("joins" if first == second else "undecided"), False

    def _coming(self, endings: list[Ending]) -> int:
        """Give the ends and breaches that can be reached by an order."""
        bits = self._at_once(endings)
        for ending in endings:
            if isinstance(ending.target, int):
                bits |= self._futures.of_state[ending.target]
        return bits

    def _at_once(self, endings: list[Ending]) -> int:
        """Give the breaches in the steps of an order and the states that they lead to."""
        bits = 0
        for ending in endings:
            for breach in ending.breaches(self._graph):
                bits |= self._futures.bit(breach)
        return bits

    def _is_cut(self, endings: list[Ending]) -> bool:
        """Whether an order could not be followed to its second message, or judged behind it."""
        return any(
            isinstance(ending.target, int) and self._graph.edges[ending.target] is None
            for ending in endings
        )

    def groups(self) -> tuple[RaceGroup, ...]:
        """Give the groups, the worst first."""
        groups = [self._group(*key, found) for key, found in self._found.items()]
        groups.sort(key=lambda each: (RACE_KINDS.index(each.kind), each.rebec, each.contenders))
        return tuple(groups)

    def _group(
        self, rebec: str, contenders: tuple[Contender, Contender], found: _Found
    ) -> RaceGroup:
        assert found.rank is not None
        assert found.shown is not None
        number, one, two = found.shown
        first, second = self._coming(one), self._coming(two)
        opened = self._futures.opened
        only = (
            self._futures.named(_lacking(first, second, opened)),
            self._futures.named(_lacking(second, first, opened)),
        )
        return RaceGroup(
            rebec,
            contenders,
            RACE_KINDS[found.rank[0]],
            {kind: found.counts[kind] for kind in RACE_KINDS if found.counts[kind]},
            witness_of(self._system, self._graph, number, (one, two), only),
        )


def _serves(cause: object, owner: int, message: Waiting) -> bool:
    return (
        isinstance(cause, Outcome)
        and cause.owner == owner
        and not cause.resumed
        and cause.message == message
    )


def _lacking(there: int, elsewhere: int, opened: int) -> int:
    """Give what is among the first bits and cannot be among the second.

    An unexpanded state is nothing definite, and whoever reaches one may reach anything.
    """
    return 0 if elsewhere & opened else there & ~elsewhere & ~opened
