"""Products are searched by compiled code as by plain Python."""

from __future__ import annotations

import random

import pytest

from rebecsim.exploration.temporal.automaton import automaton_of, normal
from rebecsim.exploration.temporal.product import accepted_run, product_of
from rebecsim.exploration.temporal.product_loops import PLAIN_LOOPS
from rebecsim.native import engines
from rebecsim.native.cache import is_plain
from tests.exploration.temporal.formulas_at_random import formula_at_random, graph_at_random, posed


@pytest.mark.slow
@pytest.mark.skipif(is_plain(), reason="nothing is compiled")
def test_compiled_code_finds_the_components_and_runs_that_plain_python_finds(monkeypatch):
    found = 0
    for seed in range(200):
        draw = random.Random(seed)
        graph, labels = graph_at_random(draw, draw.randint(1, 30), 2)
        asked = posed(formula_at_random(draw, "ltl", 2), "ltl")
        automaton = automaton_of(normal(asked.formula, asked.number_of, negated=True))
        answers = []
        for least in (1 << 60, 0):
            monkeypatch.setattr(engines, "PRODUCT_LOADS", least)
            monkeypatch.setattr(engines, "PRODUCT_COMPILES", least)
            product = product_of(graph, labels, automaton)
            assert (product.loops is PLAIN_LOOPS) is (least > 0)
            run = accepted_run(product, ((1 << automaton.untils) - 1) << product.shift | graph.fair)
            answers.append((list(map(int, product.component)), product.bits.tolist(), run))
        assert answers[0] == answers[1]
        found += answers[0][2] is not None
    assert 50 < found < 150
