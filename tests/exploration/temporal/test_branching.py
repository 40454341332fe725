"""TCTL: verdicts are what the definition says, on random graphs and formulas; runs show them."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings, strategies as st

from rebecsim.exploration.temporal.branching import Evaluation
from rebecsim.exploration.temporal.stretches import stretches_of
from tests.examples import dear
from tests.exploration.temporal.formulas_at_random import (
    ByDefinition,
    formula_at_random,
    graph_at_random,
    posed,
)


@settings(max_examples=dear(1200, share=30))
@given(seed=st.integers(0, 2**32))
def test_a_formula_holds_exactly_if_the_definition_says_so(seed):
    draw = random.Random(seed)
    graph, labels = graph_at_random(draw, draw.randint(1, 4), 1)
    duration = np.array([draw.randrange(4) for _ in graph.target], np.int64)
    asked = posed(formula_at_random(draw, "tctl", 2), "tctl")
    evaluation = Evaluation(asked, stretches_of(graph, duration), labels)
    expected = ByDefinition(asked, graph, duration, labels).holds(asked.formula)
    assert bool(evaluation.truth(asked.formula)[0]) is expected
    shown = evaluation.shown(asked.formula, expected)
    if shown is None:
        return
    state = 0
    for place in shown.edges:
        assert graph.first[state] <= place < graph.first[state + 1]
        state = int(graph.target[place])
    if shown.before is not None:
        assert shown.before <= len(shown.edges)
