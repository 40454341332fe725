"""The races of a state space by brute force: from the definition alone, and from exported edges.

It shares nothing with `rebecsim.exploration.races` but the definition in its docstring. Every race
is looked at by itself, with dictionaries and sets; fairness is the fixpoint of Emerson and Lei
("Efficient model checking in fragments of the propositional mu-calculus", LICS 1986) and not a
matter of components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

from rebecsim.exploration import StateSpace, Transition
from tests.exploration.races.fair_cycles import backward, fair_cycles

__all__ = ["Brute", "TooManyError", "Verdict"]

MOST_OWED = 8
MOST_FOLLOWED = 20_000
WORST = ("inevitable", "avoidable", "results", "while", "joins")

Place = int
Service = tuple[Any, ...]


class TooManyError(Exception):
    """There are more pairs of states to follow than there is time for."""


class Verdict(NamedTuple):
    """What comes of the races of two kinds of services, and what can go wrong after one order."""

    kind: str
    races: int
    breaches: frozenset[tuple[int, str]]


class Debt(NamedTuple):
    side: int
    service: Service
    arguments: Any
    choice: int
    when: int


class Two(NamedTuple):
    """Two runs that are followed."""

    at: tuple[Place, Place]
    ahead: int
    debts: tuple[Debt, ...]
    met: tuple[frozenset[str], frozenset[str]]


class Brute:
    """Looks at a complete state space. Raises TooManyError where that takes too long."""

    def __init__(self, space: StateSpace) -> None:
        assert space.complete
        self.space = space
        self.out: dict[Place, list[int]] = {place: [] for place in range(space.nodes)}
        for number, edge in enumerate(space.edges):
            self.out[edge.source].append(number)
        self.wrong = {
            place: frozenset(str(key) for key in space.wrong.get(place, ()))
            for place in range(space.nodes)
        }
        self.choice = self._choices()
        self.keys = sorted({key for keys in self.wrong.values() for key in keys})
        self.ended = {
            place: self._end(place) for place in range(len(space.states)) if not self.out[place]
        }
        self._fates: dict[str, tuple[set[Place], set[Place]]] = {}
        self._followed = 0

    def _choices(self) -> list[int]:
        """Number the outcomes of each message of each state."""
        numbers = []
        before: tuple[Any, ...] | None = None
        for edge in self.space.edges:
            now = (edge.source, *self.message(edge))
            again = now == before and any(index for index, _ in edge.choices)
            numbers.append(numbers[-1] + 1 if again else 0)
            before = now
        return numbers

    def _end(self, place: Place) -> Any:
        """What is left of a state in which nothing can happen: the variables."""
        return [(each.rebec, repr(each.variables)) for each in self.space.rebecs(place)]

    @staticmethod
    def service(edge: Transition) -> Service:
        return edge.rebec, edge.server, edge.sender, edge.resumed

    @staticmethod
    def arguments(edge: Transition) -> Any:
        return repr(edge.arguments)

    def message(self, edge: Transition, later: int = 0) -> tuple[Any, ...]:
        deadline = None if edge.deadline is None else edge.deadline - later
        return (*self.service(edge), self.arguments(edge), edge.arrival - later, deadline)

    # --- what can come, and what must ------------------------------------------------------------

    def can(self, key: str) -> set[Place]:
        return self._fate(key)[0]

    def must(self, key: str) -> set[Place]:
        return self._fate(key)[1]

    def _fate(self, key: str) -> tuple[set[Place], set[Place]]:
        if key not in self._fates:
            goal = {place for place in self.out if self.is_wrong(place, key)}
            can = self._until(set(self.out), goal)
            self._fates[key] = can, set(self.out) - self._avoiding(goal)
        return self._fates[key]

    def is_wrong(self, place: Place, key: str) -> bool:
        return bool(self.wrong[place]) if key == "any" else key in self.wrong[place]

    def _until(self, through: set[Place], goal: set[Place]) -> set[Place]:
        """Where a run through some places can come to others."""
        return backward(self._before, through, goal)

    @cached_property
    def _before(self) -> dict[Place, set[Place]]:
        before: dict[Place, set[Place]] = {place: set() for place in self.out}
        for edge in self.space.edges:
            before[edge.target].add(edge.source)
        return before

    def _avoiding(self, goal: set[Place]) -> set[Place]:
        free = set(self.out) - goal
        ends = {place for place in free if not self.out[place]}
        able = {
            place: {self.space.edges[edge].rebec for edge in edges}
            for place, edges in self.out.items()
        }
        arcs = [(edge.source, edge.target, edge.rebec) for edge in self.space.edges]
        lasting = fair_cycles(free, arcs, able)
        return backward(self._before, free, ends | lasting)

    # --- the races -------------------------------------------------------------------------------

    def pairs(self) -> Iterable[tuple[Place, Transition, Transition]]:
        """Every two different messages that can be served in one state."""
        for place in range(len(self.space.states)):
            seen: dict[tuple[Any, ...], Transition] = {}
            for number in self.out[place]:
                edge = self.space.edges[number]
                if edge.rebec:
                    seen.setdefault(self.message(edge), edge)
            for one, other in combinations(seen.values(), 2):
                yield place, one, other

    def order(self, place: Place, one: Transition, two: Transition) -> list[tuple[int, ...]]:
        """Every way to serve one message and then at once the other one, if that is possible."""
        ways: list[tuple[int, ...]] = []
        for number in self.out[place]:
            first = self.space.edges[number]
            if self.message(first) != self.message(one):
                continue
            behind = [
                after
                for after in self.out[first.target]
                if self.message(self.space.edges[after]) == self.message(two, first.duration)
                and self.space.edges[after].rebec
            ]
            ways += [(number, after) for after in behind] or [(number,)]
        return ways

    def reached(self, ways: list[tuple[int, ...]]) -> set[Any]:
        found: set[Any] = set()
        for way in ways:
            for number in way:
                found |= self.wrong[self.space.edges[number].target]
            found.add(repr(self.stands_for(self.space.edges[way[-1]].target)))
        return found

    def stands_for(self, place: Place) -> Any:
        return self.ended.get(place, place)

    def verdicts(self) -> tuple[int, int, dict[tuple[Any, ...], Verdict]]:
        """Count pairs and those that commute, and judge the rest."""
        pairs = commuting = 0
        found: dict[tuple[Any, ...], list[Verdict]] = {}
        for place, one, other in self.pairs():
            pairs += 1
            sides = [(one.rebec, one.server, one.sender), (other.rebec, other.server, other.sender)]
            there, back = self.order(place, one, other), self.order(place, other, one)
            in_time = not any(
                len(way) == 2 and self.space.edges[way[0]].duration for way in (*there, *back)
            )
            if in_time and self.reached(there) == self.reached(back):
                commuting += 1
                continue
            if sides[1] < sides[0]:
                sides, there, back = sides[::-1], back, there
            found.setdefault(tuple(sides), []).append(self.judge(there, back))
        groups = {
            key: Verdict(
                min((each.kind for each in all_), key=WORST.index),
                len(all_),
                frozenset().union(*(each.breaches for each in all_)),
            )
            for key, all_ in found.items()
        }
        return pairs, commuting, groups

    def judge(self, there: list[tuple[int, ...]], back: list[tuple[int, ...]]) -> Verdict:
        breaches: set[tuple[int, str]] = set()
        inevitable = False
        for side, mine, theirs in ((0, there, back), (1, back, there)):
            for key in self.keys:
                if self.all_must(mine, key) and not self.all_must(theirs, key):
                    inevitable = True
                    breaches.add((side, key))
                if self.some_can(mine, key) and not self.some_can(theirs, key):
                    breaches.add((side, key))
            if self.all_must(mine, "any") and not self.all_must(theirs, "any"):
                inevitable = True
                breaches |= {(side, key) for key in self.keys if self.some_can(mine, key)}
        alone, apart, unlike = self.followed(there, back)
        breaches |= alone
        kind = "inevitable" if inevitable else "avoidable" if breaches else ""
        kind = kind or ("results" if apart else "while" if unlike else "joins")
        return Verdict(kind, 1, frozenset(breaches))

    def passes(self, way: tuple[int, ...], key: str) -> bool:
        return any(self.is_wrong(self.space.edges[number].target, key) for number in way)

    def all_must(self, ways: list[tuple[int, ...]], key: str) -> bool:
        return all(
            self.passes(way, key) or self.space.edges[way[-1]].target in self.must(key)
            for way in ways
        )

    def some_can(self, ways: list[tuple[int, ...]], key: str) -> bool:
        return any(
            self.passes(way, key) or self.space.edges[way[-1]].target in self.can(key)
            for way in ways
        )

    # --- following -------------------------------------------------------------------------------

    def followed(
        self, there: list[tuple[int, ...]], back: list[tuple[int, ...]]
    ) -> tuple[set[tuple[int, str]], bool, bool]:
        """What only one side meets, whether they can stay apart, whether they are ever unlike."""
        fitting = [
            (i, j)
            for i, j in product(there, back)
            if all(
                k is None or m is None or self.choice[k] == self.choice[m]
                for k, m in ((i[0], nth(j, 1)), (nth(i, 1), j[0]))
            )
        ]
        lonely = [i for i in there if all(i != k for k, _ in fitting)]
        fitting += list(product(lonely, back))
        lonely = [j for j in back if all(j != k for _, k in fitting)]
        fitting += list(product(there, lonely))
        alone: set[tuple[int, str]] = set()
        unlike = False
        roots = set()
        for i, j in fitting:
            root, found = self.settle(self.begin(i, j))
            alone |= found
            roots.add(root)
            unlike |= any(len(way) == 2 and self.space.edges[way[0]].duration > 0 for way in (i, j))
        after: dict[Two, list[tuple[Two, frozenset[str]]]] = {}
        pending = list(roots)
        while pending:
            two = pending.pop()
            if two in after:
                continue
            after[two] = []
            self._followed += 1
            if self._followed > MOST_FOLLOWED:
                raise TooManyError
            if self.together(two) or len(two.debts) > MOST_OWED:
                continue
            for numbers, is_unlike in self.moves(two):
                reached, found = self.settle(self.move(two, numbers))
                alone |= found
                unlike |= is_unlike
                who = frozenset(self.space.edges[n].rebec for n in numbers if n is not None)
                after[two].append((reached, who - {""}))
                pending.append(reached)
        return alone, bool(roots & self._apart(after)), unlike

    def _apart(self, after: dict[Two, list[tuple[Two, frozenset[str]]]]) -> set[Two]:
        """Where two runs need never come together."""
        free = {two for two in after if not self.together(two)}
        ends = {two for two in free if not after[two]}
        before: dict[Two, set[Two]] = {two: set() for two in after}
        arcs = []
        for two, reached in after.items():
            for other, who in reached:
                before[other].add(two)
                arcs += [(two, other, each) for each in who or {""}]
        able = {two: {each for _, who in reached for each in who} for two, reached in after.items()}
        # Two rebecs act in one move where both sides do: both are served there.
        return backward(before, free, ends | fair_cycles(free, arcs, able))

    def begin(self, there: tuple[int, ...], back: tuple[int, ...]) -> Two:
        edges = self.space.edges
        ways = (there, back)
        at = tuple(self.state_of(edges[way[-1]].target) for way in ways)
        time = [sum(edges[number].duration for number in way) for way in ways]
        debts = tuple(
            Debt(
                side,
                self.service(edges[ways[1 - side][0]]),
                self.arguments(edges[ways[1 - side][0]]),
                self.choice[ways[1 - side][0]],
                -time[side],
            )
            for side in (0, 1)
            if len(ways[side]) == 1 and at[side] < len(self.space.states)
        )
        met = [
            frozenset().union(*(self.wrong[edges[number].target] for number in way)) for way in ways
        ]
        return Two((at[0], at[1]), time[0] - time[1], debts, (met[0], met[1]))

    def state_of(self, place: Place) -> Place:
        """The first of the ended states that are alike."""
        if place not in self.ended:
            return place
        return min(each for each, held in self.ended.items() if held == self.ended[place])

    def over(self, two: Two, side: int) -> bool:
        """Whether a run has met a breach that is no deadlock."""
        return two.at[side] >= len(self.space.states) or bool(two.met[side] - {"deadlock"})

    def owes(self, two: Two, side: int) -> bool:
        return any(debt.side == side for debt in two.debts)

    def together(self, two: Two) -> bool:
        if two.at[0] == two.at[1]:
            return two.ahead == 0 or not self.out[two.at[0]]
        if self.over(two, 0) and self.over(two, 1):
            return True
        return any(
            self.over(two, side) and not self.over(two, 1 - side) and not self.owes(two, 1 - side)
            for side in (0, 1)
        )

    def settle(self, two: Two) -> tuple[Two, set[tuple[int, str]]]:
        alone = set()
        for side in (0, 1):
            for key in two.met[side] - two.met[1 - side]:
                if self.is_alone(two, side, key):
                    alone.add((side, key))
        both = frozenset(key for _, key in alone)
        return two._replace(met=(two.met[0] | both, two.met[1] | both)), alone

    def is_alone(self, two: Two, side: int, key: str) -> bool:
        theirs = two.at[1 - side]
        if self.over(two, 1 - side):
            return True
        if theirs in self.must(key):
            return False
        return theirs not in self.can(key) or not self.owes(two, 1 - side)

    def moves(self, two: Two) -> list[tuple[tuple[int | None, int | None], bool]]:
        first, second = ([] if self.over(two, side) else self.out[two.at[side]] for side in (0, 1))
        if not first and not second:
            return []
        if not first or not second:
            return self.alone(two, 0 if first else 1)
        if two.ahead != 0:
            return self.alone(two, 0 if two.ahead < 0 else 1)
        for side in (0, 1):
            paid = self.pay(two, side)
            if paid:
                return paid
        waits = [not self.space.edges[each[0]].rebec for each in (first, second)]
        if waits == [True, False]:
            return self.alone(two, 1)
        if waits == [False, True]:
            return self.alone(two, 0)
        return self.both(first, second)

    def alone(self, two: Two, side: int) -> list[tuple[tuple[int | None, int | None], bool]]:
        return self.pay(two, side) or [
            (one_sided(side, number), bool(self.space.edges[number].rebec))
            for number in self.out[two.at[side]]
        ]

    def pay(self, two: Two, side: int) -> list[tuple[tuple[int | None, int | None], bool]]:
        for debt in two.debts:
            if debt.side != side:
                continue
            fitting = self.out[two.at[side]]
            fitting = [n for n in fitting if self.service(self.space.edges[n]) == debt.service]
            tests: tuple[Callable[[int], bool], ...] = (
                lambda n, debt=debt: self.arguments(self.space.edges[n]) == debt.arguments,
                lambda n, debt=debt: self.choice[n] == debt.choice,
            )
            for test in tests:
                fitting = [n for n in fitting if test(n)] or fitting
            if fitting:
                return [(one_sided(side, n), debt.when != 0 or not tests[0](n)) for n in fitting]
        return []

    def both(
        self, first: list[int], second: list[int]
    ) -> list[tuple[tuple[int | None, int | None], bool]]:
        edges = self.space.edges
        found: list[tuple[tuple[int | None, int | None], bool]] = []
        for service in {self.service(edges[n]) for n in (*first, *second)}:
            mine = [n for n in first if self.service(edges[n]) == service]
            theirs = [n for n in second if self.service(edges[n]) == service]
            common = {self.arguments(edges[n]) for n in mine}
            common &= {self.arguments(edges[n]) for n in theirs}
            for arguments in common:
                found += self.match(
                    [n for n in mine if self.arguments(edges[n]) == arguments],
                    [n for n in theirs if self.arguments(edges[n]) == arguments],
                )
            mine = [n for n in mine if self.arguments(edges[n]) not in common]
            theirs = [n for n in theirs if self.arguments(edges[n]) not in common]
            if mine and theirs:
                found += self.match(mine, theirs)
            else:
                found += [((n, None), True) for n in mine] + [((None, n), True) for n in theirs]
        return found

    def match(
        self, mine: list[int], theirs: list[int]
    ) -> list[tuple[tuple[int | None, int | None], bool]]:
        found: list[tuple[tuple[int | None, int | None], bool]] = []
        for one, other in product(mine, theirs):
            partner = any(self.choice[n] == self.choice[one] for n in theirs)
            theirs_has = any(self.choice[n] == self.choice[other] for n in mine)
            if self.choice[one] == self.choice[other] or not (partner and theirs_has):
                unlike = self.arguments(self.space.edges[one]) != self.arguments(
                    self.space.edges[other]
                )
                found.append(((one, other), unlike))
        return found

    def move(self, two: Two, numbers: tuple[int | None, int | None]) -> Two:
        at, met, ahead, debts = list(two.at), list(two.met), two.ahead, list(two.debts)
        for side, number in enumerate(numbers):
            if number is None:
                continue
            edge = self.space.edges[number]
            if numbers[1 - side] is None and edge.rebec:
                mine = [d for d in debts if d.side == side and d.service == self.service(edge)]
                exact = [d for d in mine if d.arguments == self.arguments(edge)]
                if mine:
                    debts.remove((exact or mine)[0])
                else:
                    when = two.ahead if side == 0 else -two.ahead
                    debts.append(
                        Debt(
                            1 - side,
                            self.service(edge),
                            self.arguments(edge),
                            self.choice[number],
                            when,
                        )
                    )
            at[side] = self.state_of(edge.target)
            met[side] = met[side] | self.wrong[edge.target]
            ahead += edge.duration if side == 0 else -edge.duration
            debts = [
                debt._replace(when=max(debt.when - edge.duration, -1))
                if debt.side == side
                else debt
                for debt in debts
            ]
        debts = [debt for debt in debts if at[debt.side] < len(self.space.states)]
        return Two((at[0], at[1]), ahead, tuple(debts), (met[0], met[1]))


def nth(way: tuple[int, ...], place: int) -> int | None:
    return way[place] if place < len(way) else None


def one_sided(side: int, number: int) -> tuple[int | None, int | None]:
    return (number, None) if side == 0 else (None, number)
