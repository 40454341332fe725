"""TCTL: verdicts are what the definition says, on random graphs and formulas; runs show them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from hypothesis import given, settings, strategies as st

from rebecsim.exploration.predicates import TimeBound
from rebecsim.exploration.temporal.judging import Evaluation
from rebecsim.exploration.temporal.labelled_graph import stretches_of
from tests.examples import dear
from tests.exploration.temporal.formulas_at_random import (
    ByDefinition,
    formula_at_random,
    graph_at_random,
    posed,
)

MANY = 1_000_003
"""By how much time is stretched; below it, one could still go unit by unit."""


@settings(max_examples=dear(400, share=10))
@given(seed=st.integers(0, 2**32))
def test_time_may_be_a_million_times_as_long(seed):
    """What holds within so many units then holds within a million times as many."""
    draw = random.Random(seed)
    graph, labels = graph_at_random(draw, draw.randint(1, 4), 1)
    duration = np.array([draw.randrange(4) for _ in graph.target], np.int64)
    asked = posed(formula_at_random(draw, "tctl", 1), "tctl")
    if any(bound.comparison == ">" for bound in asked.bounds.values()):
        return  # just behind a bound there are more moments
    longer = {
        each: TimeBound(bound.comparison, bound.limit * MANY)
        for each, bound in asked.bounds.items()
    }
    stretched = replace(asked, bounds=longer)
    evaluation = Evaluation(stretched, stretches_of(graph, duration * MANY), labels)
    expected = ByDefinition(asked, graph, duration, labels).holds(asked.formula)
    assert bool(evaluation.truth(stretched.formula)[0]) is expected


@settings(max_examples=dear(200, share=10))
@given(seed=st.integers(0, 2**32))
def test_the_nodes_do_not_grow_with_time(seed):
    draw = random.Random(seed)
    graph, labels = graph_at_random(draw, 4, 1)
    duration = np.array([draw.randrange(4) for _ in graph.target], np.int64)
    asked = posed(formula_at_random(draw, "tctl", 2), "tctl")
    sizes = set()
    for times in (10_007, 1_000_003):
        system = stretches_of(graph, duration * times)
        bounds = {
            each: TimeBound(bound.comparison, bound.limit * times)
            for each, bound in asked.bounds.items()
        }
        evaluation = Evaluation(replace(asked, bounds=bounds), system, labels)
        evaluation.truth(asked.formula)
        sizes.add(len(evaluation._system.state))
    assert len(sizes) == 1


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
    edges, before = shown
    for place in edges:
        assert graph.first[state] <= place < graph.first[state + 1]
        state = int(graph.target[place])
    if before is not None:
        assert before <= len(edges)
