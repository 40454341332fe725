"""LTL: verdicts and runs are what the definition says, on random graphs and formulas."""

from __future__ import annotations

import random
import time
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.exploration.temporal.automaton import (
    FALSE,
    Both,
    Either,
    Literal,
    Release,
    automaton_of,
    normal,
)
from rebecsim.exploration.temporal.product import accepted_run, product_of
from rebecsim.files import LimitError
from tests.examples import dear
from tests.exploration.temporal.formulas_at_random import (
    formula_at_random,
    graph_at_random,
    holds_on,
    lassos,
    posed,
)

_REBECS = 2
_LONGEST = 6


@settings(max_examples=dear(1200, share=30))
@given(seed=st.integers(0, 2**32), is_fair=st.booleans())
def test_a_formula_is_violated_exactly_if_some_run_does_not_meet_it(seed, is_fair):
    draw = random.Random(seed)
    graph, labels = graph_at_random(draw, draw.randint(1, 4), _REBECS)
    formula = formula_at_random(draw, "ltl", 2)
    asked = posed(formula, "ltl")
    automaton = automaton_of(normal(asked.formula, asked.number_of, negated=True))
    product = product_of(graph, labels, automaton)
    wanted = ((1 << automaton.untils) - 1) << product.shift
    if is_fair:
        wanted |= graph.fair
    run = accepted_run(product, wanted)
    if run is not None:
        edges = [*run.stem, *run.loop]
        states = [0, *(int(graph.target[each]) for each in edges)]
        assert states.pop() == states[len(run.stem)]
        assert not holds_on(formula, [int(labels[each]) for each in states], len(run.stem))
        assert not is_fair or _bits(graph, run.loop) & graph.fair == graph.fair
        return
    for states, edges, first in lassos(graph, _LONGEST):
        if not is_fair or _bits(graph, edges[first:]) & graph.fair == graph.fair:
            assert holds_on(formula, [int(labels[each]) for each in states], first)


def _bits(graph, edges):
    found = 0
    for each in edges:
        source = int(np.searchsorted(graph.first[1:], each, side="right"))
        found |= graph.mark(source, each)
    return found


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_automata_of_small_formulas_are_small(depth):
    draw = random.Random(depth)
    for _ in range(50):
        asked = posed(formula_at_random(draw, "ltl", depth), "ltl")
        automaton = automaton_of(normal(asked.formula, asked.number_of))
        assert len(automaton.moves) <= 4 ** (2 * depth)


def together(parts, propositions, first=0):
    """Build a formula of parts that hold together, each met by any one of its propositions."""
    begins = range(first, first + parts * propositions, propositions)
    ways = [reduce(Either, map(Literal, range(each, each + propositions))) for each in begins]
    return reduce(Both, ways)


def test_ways_are_compared_only_where_one_can_need_more_than_the_other():
    begun = time.process_time()
    assert len(automaton_of(together(4, 13)).moves[0]) == 13**4
    assert time.process_time() - begun < 12  # each compared with each took more than 30 s
    assert len(automaton_of(Either(Both(Literal(0), Literal(1)), Literal(1))).moves[0]) == 1


def test_an_automaton_is_too_large_before_it_is_made():
    """Of a billion ways, no more are made than the limit allows."""
    with pytest.raises(LimitError, match="the limit is 100,000 for the automaton of a formula"):
        automaton_of(Both(together(5, 8), together(5, 8, first=40)))


def test_operators_within_each_other_do_not_double_the_work():
    formula = Literal(0)
    for _ in range(60):
        formula = Release(FALSE, formula)
    assert len(automaton_of(formula).moves) == 2
