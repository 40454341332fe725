"""Find the best candidate with a budget of runs, and say which others may be the best.

The runs are given out by successive rejects: after each round the worst candidates get no more. The
runs of a round go with one over the number of candidates left, as in J.-Y. Audibert, S. Bubeck and
R. Munos, "Best arm identification in multi-armed bandits", COLT 2010, pages 41-53; rounds that end
with nearly as many candidates are one.

How sure the choice is, is a matter of tests. After each round with enough runs, every candidate is
compared with the leader of the moment, replication by replication (common random numbers), by
Student's one-sided paired test. One that is significantly worse is ruled out. With K candidates and
L such rounds, each test has the level a / ((K - 1) L). The truly best candidate meets at most
(K - 1) L of them, so it is ruled out with a probability of at most a (Bonferroni's inequality):
with a confidence of 1 - a it is among those that are not. That is subset selection by screening, as
in B. L. Nelson, J. Swann, D. Goldsman and W. Song, "Simple procedures for selecting the best system
when the number of alternatives is large", Operations Research 49 (2001) 950-963. A candidate that
was only dropped, not ruled out, is one of those that were not told apart. Runs that are left at the
end go to those candidates, for one more such round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rebecsim.errors import ArgumentError
from rebecsim.metrics import Metric
from rebecsim.search.space import (
    Candidate,
    Counted,
    Figure,
    Question,
    Space,
    measure_of,
    pooled,
    space_of,
)
from rebecsim.studies.plan import Plan
from rebecsim.studies.student import tail_quantile
from rebecsim.studies.study import PlannedCell

FEWEST = 5
"""Runs of a candidate from which on it can be ruled out: of fewer, the spread is not known."""

_LEAST = 2
_LEFT = 3, 4
"""What is left after a round: so many parts of so many."""


@dataclass(frozen=True, slots=True)
class Round:
    """How many candidates take part, how many runs each of their cells has, how many are left."""

    candidates: int
    runs: int
    left: int


def rounds_of(candidates: int, cells: int, budget: int) -> tuple[Round, ...]:
    """Divide a budget of runs among candidates of so many cells each.

    Raises ArgumentError for a budget with fewer than two runs of each cell.
    """
    counts = [candidates]
    while counts[-1] > 1:
        counts.append(min(counts[-1] - 1, counts[-1] * _LEFT[0] // _LEFT[1]))

    def runs(share: int) -> list[int]:
        return [max(_LEAST, share // count) for count in counts[:-1]]

    def cost(share: int) -> int:
        each = [0, *runs(share)]
        more = (after - before for before, after in pairwise(each))
        return cells * sum(count * some for count, some in zip(counts, more, strict=False))

    if cost(0) > budget:
        raise ArgumentError(
            "budget",
            f"{budget} runs are too few: {candidates} candidates of {cells} "
            f"cell{'s' if cells > 1 else ''} need at least {cost(0)} runs, two of each cell",
        )
    low, high = 0, 2 * candidates * (budget + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    found = [
        Round(count, each, left)
        for count, each, left in zip(counts, runs(low), counts[1:], strict=False)
    ]
    # Rounds in which nobody runs more are part of the one before.
    groups: dict[int, list[Round]] = {}
    for each in found:
        groups.setdefault(each.runs, []).append(each)
    return tuple(Round(some[0].candidates, runs, some[-1].left) for runs, some in groups.items())


def most_runs(space: Space, budget: int) -> int:
    """Give the most runs that a cell can get. Raises as `rounds_of`."""
    return _rounds(space, budget)[-1].runs


def _rounds(space: Space, budget: int) -> tuple[Round, ...]:
    count, cells = len(space.candidates), space.cells_each
    if space.is_random:
        return rounds_of(count, cells, budget)
    if count * cells > budget:
        raise ArgumentError(
            "budget",
            f"nothing is random here, so each of the {count * cells} cells needs one run; raise "
            f"it from {budget}, or search fewer values",
        )
    return (Round(count, 1, 1),)


Verdict = Literal["best", "not told apart", "ruled out", "undefined"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of a candidate.

    Attributes:
        candidate: which.
        runs: of each of its cells.
        value: its figure in these runs.
        difference: to the best one in the runs that both have.
        half_width: of the simultaneous interval of the difference; None where there is none.
        verdict: whether it is the choice, may be as good, or is ruled out.
        is_tied: whether it is not the choice, and the same in every run that both have.
    """

    candidate: Candidate
    runs: int
    value: float
    difference: float
    half_width: float | None
    verdict: Verdict
    is_tied: bool


@dataclass(frozen=True)
class Choice:
    """The result of a search.

    Attributes:
        question: what was asked.
        metric: the figure.
        space: what was searched.
        standings: all candidates, the best one first.
        level: the confidence that the best candidate is among those that are not ruled out.
        used: runs of all cells together.
        rounds: in which they were given out.
    """

    question: Question
    metric: Metric
    space: Space
    standings: tuple[Standing, ...]
    level: float
    used: int
    rounds: tuple[Round, ...]

    @property
    def best(self) -> Candidate:
        """The candidate with the best figure of those that were left."""
        return self.standings[0].candidate

    @property
    def tied(self) -> tuple[Candidate, ...]:
        """Those of them that were the same as the best in every run that both have."""
        return tuple(each.candidate for each in self.standings if each.is_tied)

    @property
    def not_told_apart(self) -> tuple[Candidate, ...]:
        """Those that may be as good, by what was decided."""
        return tuple(e.candidate for e in self.standings if e.verdict == "not told apart")


Run = Callable[[Sequence[PlannedCell], int], None]
"""Sees to it that cells have so many replications."""


def choose(
    plan: Plan, question: Question, counted: Counted, run: Run = lambda cells, runs: None
) -> Choice:
    """Search for the best candidate; what was counted already decides as it did before.

    Without `run`, all runs must be there.
    Raises UserError for a question that does not fit, and what `run` raises.
    """
    space, metric = space_of(plan, question), measure_of(plan, question["measure"])
    sign = 1 if question["better"] == "lower" else -1
    rounds, level = _rounds(space, question["budget"]), plan.scenario.level
    looks = sum(each.runs >= FEWEST for each in rounds) + 1
    risk = (1 - level) / ((len(space.candidates) - 1) * looks)
    race = _Race(space, metric, counted, sign, risk)
    for each in rounds:
        if len(race.left) == 1:
            break
        run([cell for candidate in race.left for cell in candidate.cells], each.runs)
        race.look(each)
    last = race.last_look(question["budget"] - race.used, rounds[-1].runs)
    if last:
        run([cell for candidate in race.undecided for cell in candidate.cells], last)
        race.look_again(last)
    return Choice(question, metric, space, race.standings(), level, race.used, rounds)


class _Race:
    """The candidates that are left, and what is known of all; `risk` is that of each test."""

    def __init__(
        self, space: Space, metric: Metric, counted: Counted, sign: int, risk: float
    ) -> None:
        self._space, self._metric, self._counted, self._sign = space, metric, counted, sign
        self._risk = risk
        self.left = list(space.candidates)
        self.runs: dict[Candidate, int] = {}
        self._dropped: list[Candidate] = []
        self._out: set[Candidate] = set()

    def look(self, each: Round) -> None:
        """Rank those who are left after a round, and drop the worst and whoever is ruled out."""
        figures = {one: self._figure(one, each.runs) for one in self.left}
        self.runs |= dict.fromkeys(self.left, each.runs)
        ranked = sorted(self.left, key=lambda one: _rank(self._sign * figures[one].value))
        leader = figures[ranked[0]]
        out = {one for one in ranked[1:] if self._is_worse(figures[one], leader)}
        self._out |= out
        kept = [one for one in ranked if one not in out][: each.left]
        self._dropped += reversed([one for one in ranked if one not in kept])
        self.left = kept

    def _figure(self, one: Candidate, runs: int) -> Figure:
        return pooled(*self._counted.counts(one, self._metric, runs))

    @property
    def used(self) -> int:
        """Runs of all cells so far."""
        return sum(
            cell.replications(runs) for each, runs in self.runs.items() for cell in each.cells
        )

    @property
    def undecided(self) -> list[Candidate]:
        """Those who may be the best, those who were left longest first."""
        ranked = (*self.left, *reversed(self._dropped))
        return [each for each in ranked if each not in self._out]

    def last_look(self, budget: int, most: int) -> int:
        """Give to how many runs all who are undecided can be brought; 0 if that tells no more."""
        open_ones = self.undecided
        few = min(self.runs[each] for each in open_ones)

        def cost(runs: int) -> int:
            each = (max(0, runs - self.runs[one]) * len(one.cells) for one in open_ones)
            return sum(each)

        enough = [runs for runs in range(max(few + 1, FEWEST), most + 1) if cost(runs) <= budget]
        return enough[-1] if enough and len(open_ones) > 1 else 0

    def look_again(self, runs: int) -> None:
        """Rule out who is worse than the leader of all who were undecided."""
        open_ones = self.undecided
        figures = {one: self._figure(one, runs) for one in open_ones}
        self.runs |= {one: max(self.runs[one], runs) for one in open_ones}
        leader = min(open_ones, key=lambda one: _rank(self._sign * figures[one].value))
        self._out |= {one for one in open_ones if self._is_worse(figures[one], figures[leader])}
        if self.left[0] in self._out:
            self._dropped.append(self.left[0])
            self._dropped.remove(leader)
            self.left = [leader]

    def _is_worse(self, figure: Figure, leader: Figure) -> bool:
        behind = self._sign * (figure.value - leader.value)
        half = self._half_width(figure, leader)
        return half is not None and behind > half

    def _half_width(self, one: Figure, other: Figure) -> float | None:
        """Give how far a difference may be from the truth; None where that is not known."""
        if math.isnan(one.value) or math.isnan(other.value):
            return None
        if not self._space.is_random:
            return 0.0
        apart, runs = one.parts - other.parts, len(one.parts)
        if runs < FEWEST or not np.ptp(apart):
            return None
        error = float(apart.std(ddof=1)) / math.sqrt(runs)
        return tail_quantile(min(1.0, 2 * self._risk), runs - 1) * error

    def standings(self) -> tuple[Standing, ...]:
        """Give what became of all, those who were left longest first."""
        best = self.left[0]
        rest = [self._standing(each, best) for each in (*self.left[1:], *reversed(self._dropped))]
        order: list[Verdict] = ["not told apart", "ruled out", "undefined"]
        rest.sort(key=lambda each: (order.index(each.verdict), _rank(self._sign * each.difference)))
        return (self._standing(best, best), *rest)

    def _standing(self, one: Candidate, best: Candidate) -> Standing:
        runs = self.runs[one]
        figure, first = self._figure(one, runs), self._figure(best, runs)
        verdict: Verdict = "ruled out" if one in self._out else "not told apart"
        if math.isnan(figure.value):
            verdict = "undefined"
        half = None if one == best else self._half_width(figure, first)
        verdict = "best" if one == best else verdict
        apart = figure.value - first.value
        is_tied = (
            verdict == "not told apart" and not apart and not np.any(figure.parts - first.parts)
        )
        return Standing(one, runs, figure.value, apart, half, verdict, is_tied)


def _rank(value: float) -> float:
    return math.inf if math.isnan(value) else value
