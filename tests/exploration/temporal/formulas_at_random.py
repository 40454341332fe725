"""Random formulas and graphs, and what formulas mean by definition, without any cleverness."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from rebecsim.exploration.predicates import Comparison, FormulaKind, PosedFormula, TimeBound, plain
from rebecsim.exploration.temporal.labelled_graph import EndlessGraph
from rebecsim.exploration.temporal.product_loops import TIME
from rebecsim.lang.properties import Bound, Connective, Formula, Negation, Proposition, Temporal
from rebecsim.lang.syntax import Name
from rebecsim.lang.traversal import walk

PROPOSITIONS = ("p", "q")
LINEAR = {"G": 1, "F": 1, "X": 1, "U": 2, "W": 2, "LeadsTo": 2, "Precedes": 2, "Recurs": 1}
BRANCHING = {"AG": 1, "AF": 1, "EG": 1, "EF": 1, "AU": 2, "EU": 2, "LeadsTo": 2, "Recurs": 1}
COMPARISONS: tuple[Comparison, ...] = ("<=", "<", ">=", ">", "==")


def formula_at_random(draw: random.Random, kind: FormulaKind, depth: int) -> Formula:
    """Draw a formula whose operators are nested so deep at most."""
    if depth == 0 or draw.random() < 0.15:
        return Proposition(Name(draw.choice(PROPOSITIONS)))
    shape = draw.random()
    if shape < 0.15:
        return Negation(formula_at_random(draw, kind, depth - 1))
    if shape < 0.3:
        sides = [formula_at_random(draw, kind, depth - 1) for _ in range(2)]
        return Connective(draw.choice(("&&", "||")), *sides)
    operators = LINEAR if kind == "ltl" else BRANCHING
    operator = draw.choice(list(operators))
    operands = tuple(formula_at_random(draw, kind, depth - 1) for _ in range(operators[operator]))
    bound = None
    if kind == "tctl" and draw.random() < 0.7:
        bound = Bound(draw.choice(COMPARISONS), Name(str(draw.randrange(5))))
    return Temporal(operator, bound, operands)


def posed(formula: Formula, kind: FormulaKind) -> PosedFormula:
    """Pose a formula over the propositions p and q."""
    numbers = {Name(each): place for place, each in enumerate(PROPOSITIONS)}
    bounds = {
        node: TimeBound(node.operator, int(node.limit.identifier))
        for node in walk(formula)
        if isinstance(node, Bound) and isinstance(node.limit, Name)
    }
    return PosedFormula("f", kind, "f:1", plain(formula, kind), (), numbers, bounds)


def graph_at_random(
    draw: random.Random, states: int, rebecs: int
) -> tuple[EndlessGraph, np.ndarray]:
    """Draw a graph without ends, and which of p and q hold in each of its states."""
    successors = [
        draw.sample(range(states), draw.randint(1, min(2, states))) for _ in range(states)
    ]
    counts = [len(each) for each in successors]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    edges = int(first[-1])
    act = [draw.randrange(rebecs + 1) + TIME * draw.getrandbits(1) for _ in range(edges)]
    idle = [draw.getrandbits(rebecs) for _ in range(states)]
    labels = np.array([draw.getrandbits(2) for _ in range(states)], np.int64)
    target = np.array([each for several in successors for each in several], np.int32)
    graph = EndlessGraph(
        first,
        target,
        np.arange(edges, dtype=np.int32),
        np.array(act, np.uint8),
        np.array(idle, np.int64),
        np.zeros(states, np.bool_),
        rebecs,
    )
    return graph, labels


# --- LTL on a word that repeats its end ----------------------------------------------------------


def holds_on(formula: Formula, word: Sequence[int], loop: int) -> bool:
    """Say whether a formula holds on letters, of which those from `loop` on repeat for ever."""
    following = [*range(1, len(word)), loop]
    return _positions(plain(formula, "ltl"), word, following)[0]


def _positions(formula: Formula, word: Sequence[int], following: Sequence[int]) -> list[bool]:
    match formula:
        case Proposition(Name(name)):
            return [bool(letter >> PROPOSITIONS.index(name) & 1) for letter in word]
        case Negation(operand):
            return [not each for each in _positions(operand, word, following)]
        case Connective(operator, left, right):
            pairs = zip(
                _positions(left, word, following), _positions(right, word, following), strict=True
            )
            return [(a and b) if operator == "&&" else (a or b) for a, b in pairs]
        case Temporal(operator, _, operands):
            made = [_positions(each, word, following) for each in operands]
            return [_from(operator, made, place, following) for place in range(len(word))]
    raise AssertionError(formula)


def _from(operator: str, made: list[list[bool]], start: int, following: Sequence[int]) -> bool:
    """Look along the word from a position on, long enough to have seen all that comes."""
    seen, at = [], start
    for _ in range(2 * len(following) + 1):
        seen.append(at)
        at = following[at]
    last = made[-1]
    if operator == "X":
        return last[following[start]]
    if operator == "F":
        return any(last[each] for each in seen)
    if operator == "G":
        return all(last[each] for each in seen)
    left = made[0]
    for each in seen:
        if last[each]:
            return True
        if not left[each]:
            return False
    return operator == "W"


def lassos(graph: EndlessGraph, longest: int) -> Iterator[tuple[list[int], list[int], int]]:
    """Give the runs that repeat their end: states, the transitions taken, where the loop begins."""
    ways: list[tuple[list[int], list[int]]] = [([0], [])]
    while ways:
        states, edges = ways.pop()
        for edge in range(int(graph.first[states[-1]]), int(graph.first[states[-1] + 1])):
            target = int(graph.target[edge])
            for loop, each in enumerate(states):
                if each == target:
                    yield states, [*edges, edge], loop
            if len(states) < longest:
                ways.append(([*states, target], [*edges, edge]))


# --- TCTL by looking at all runs -----------------------------------------------------------------


_Moment = tuple[int, int, int]
"""A state, the transition that is under way or -1, and how many units of it have passed."""

_Timed = tuple[_Moment, int]


class ByDefinition:
    """Evaluates TCTL by going along all runs, up to times at which nothing new can come."""

    def __init__(
        self,
        posed_formula: PosedFormula,
        graph: EndlessGraph,
        duration: np.ndarray,
        labels: np.ndarray,
    ) -> None:
        self._bounds = posed_formula.bounds
        self._labels = labels
        self._graph, self._duration = graph, duration
        self._span = 2 * int(duration.sum() + len(labels)) + 2

    def _hops(self, moment: _Moment) -> list[tuple[_Moment, int]]:
        """Give what follows a moment, and the time between."""
        state, edge, done = moment
        if edge >= 0:
            return [(self._after(edge, done), 1)]
        found = []
        for each in range(int(self._graph.first[state]), int(self._graph.first[state + 1])):
            takes = int(self._duration[each])
            found.append(
                (self._after(each, 0), 1) if takes else ((int(self._graph.target[each]), -1, 0), 0)
            )
        return found

    def _after(self, edge: int, done: int) -> _Moment:
        if done + 1 == int(self._duration[edge]):
            return int(self._graph.target[edge]), -1, 0
        source = int(np.searchsorted(self._graph.first, edge, side="right")) - 1
        return source, edge, done + 1

    def holds(self, formula: Formula, moment: _Moment = (0, -1, 0)) -> bool:
        """Say whether a formula holds at a moment."""
        match formula:
            case Proposition(Name(name)):
                return bool(int(self._labels[moment[0]]) >> PROPOSITIONS.index(name) & 1)
            case Negation(operand):
                return not self.holds(operand, moment)
            case Connective(operator, left, right):
                if operator == "&&":
                    return self.holds(left, moment) and self.holds(right, moment)
                return self.holds(left, moment) or self.holds(right, moment)
            case Temporal(operator, bound, operands):
                return self._temporal(operator, bound, operands, moment)
        raise AssertionError(formula)

    def _temporal(
        self,
        operator: str,
        bound: Bound | None,
        operands: tuple[Formula, ...],
        moment: _Moment,
    ) -> bool:
        if operator in ("AG", "EG"):
            dual = "EF" if operator == "AG" else "AF"
            return not self._temporal(dual, bound, (Negation(operands[0]),), moment)
        asked = TimeBound(">=", 0) if bound is None else self._bounds[bound]
        every = all if operator[0] == "A" else any
        met: set[_Timed] = set()
        ways: dict[_Timed, list[_Timed]] = {}
        pending = [(moment, 0)]
        while pending:
            at, time = here = pending.pop()
            if here in ways:
                continue
            ways[here] = []
            if _meets(time, asked) and self.holds(operands[-1], at):
                met.add(here)
            elif time <= asked.limit + self._span and (
                len(operands) == 1 or self.holds(operands[0], at)
            ):
                ways[here] = [(other, time + units) for other, units in self._hops(at)]
                pending += ways[here]
        grown = True
        while grown:
            more = {
                here
                for here, others in ways.items()
                if here not in met and others and every(other in met for other in others)
            }
            met |= more
            grown = bool(more)
        return (moment, 0) in met


def _meets(time: int, bound: TimeBound) -> bool:
    match bound.comparison:
        case "<=":
            return time <= bound.limit
        case "<":
            return time < bound.limit
        case ">=":
            return time >= bound.limit
        case ">":
            return time > bound.limit
    return time == bound.limit
