"""Shares of the variance: of a function whose shares are known, and of scenarios."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rebecsim as rs
from rebecsim.errors import UserError
from rebecsim.search.sensitivity import Share, sobol_indices
from rebecsim.search.space import Numbers
from tests.search.test_tuning import SMALL


def ishigami(points: Numbers) -> Numbers:
    """T. Ishigami and T. Homma, ISUMA 1990, with a = 7 and b = 0.1, on the unit cube."""
    x = np.pi * (2 * points - 1)
    first, second, third = x.T
    return np.asarray(np.sin(first) * (1 + 0.1 * third**4) + 7 * np.sin(second) ** 2)


def test_the_indices_of_ishigami_and_homma_are_found() -> None:
    a, b = 7, 0.1
    alone = np.array([0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, 0])
    together = b**2 * np.pi**8 * (1 / 18 - 1 / 50)
    variance = alone.sum() + together
    total = alone + np.array([together, 0, together])
    found = sobol_indices(["x1", "x2", "x3"], ishigami)
    assert found.alone == pytest.approx(alone / variance, abs=0.01)
    assert found.total == pytest.approx(total / variance, abs=0.01)
    assert (np.abs(found.alone - alone / variance) < 2 * found.alone_error).all()
    assert (np.abs(found.total - total / variance) < 2 * found.total_error).all()


def test_a_constant_has_no_shares() -> None:
    found = sobol_indices(["x", "y"], lambda points: np.full(len(points), 3.0))
    assert not found.alone.any()
    assert not found.total.any()


def test_a_parameter_without_effect_explains_nothing() -> None:
    """A queue that never fills may be longer."""
    sweep = {"queue_size": [30, 40], "epsilon": [1.0, 2.0, 3.0]}
    scenario = {**SMALL, "app_masters": [4], "sweep": sweep}
    found = rs.sensitivity(scenario, progress=False)
    effects = {each.name: each for each in found.sensitivity.effects}
    assert list(effects) == ["epsilon", "policy", "queue_size"]
    assert effects["queue_size"].is_none
    assert effects["queue_size"].total == Share(0, 0, 0)
    assert effects["epsilon"].alone.low > 0.5
    assert "queue_size has no effect on deadline misses" in str(found)
    assert "policy (2 values, as categories)" in str(found)
    for each in effects.values():
        assert each.alone.low <= each.alone.value <= each.alone.high


def test_nothing_matters_where_all_is_the_same() -> None:
    scenario = {**SMALL, "policies": ["EDF"], "app_masters": [6], "sweep": {"queue_size": [30, 40]}}
    found = rs.sensitivity(scenario, progress=False)
    assert "the same in all cells" in str(found)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"measure": "x"}, "there is no measure"),
        ({"over": {"policy": ["EDF"], "queue_size": [4]}}, "one candidate only"),
    ],
)
def test_mistakes_are_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        rs.sensitivity(SMALL, **asked, progress=False)
