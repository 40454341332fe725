"""Random models in Python: as they run, as they are read, and printed as Rebeca, they are one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import rebecsim.interface as rs
from rebecsim.exploration import Limits
from rebecsim.generate import python_model
from rebecsim.lang import print_model
from rebecsim.steps import steps_of
from tests.steps.python_models import sources

STATES = 400
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Not made smaller: that takes minutes, and the texts are short."""


def explored(model, **how):
    """What a search has found, without what differs between texts of the same model."""
    found = rs.explore(model, limits=Limits(states=STATES), **how)
    result = getattr(found, "result", found)
    return result.verdict, result.states, result.transitions, result.frontier


@given(sources())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_python_and_the_rebeca_printed_of_it_have_the_same_states(text):
    check(text)


@pytest.mark.slow
@given(sources())
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_a_thousand_models_have_the_same_states_as_their_rebeca(text):
    check(text)


def check(text):
    model = python_model(text, Path("drawn.py"))
    checked = steps_of(model)
    assert checked.lacks == ""
    read = rs.LoadedModel(model, checked)
    plain = replace(read, checked=None)
    printed = rs.loads(print_model(checked.tree), "drawn", core=model.core)
    modes = [{}] if model.core else [{}, {"tts": True}]
    for mode in modes:
        expected = explored(plain, engine="python", **mode)
        assert explored(read, engine="python", **mode) == expected
        assert explored(printed, engine="python", **mode) == expected
