"""Shares of the variance: of a function whose shares are known, and of scenarios."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from SALib.test_functions import Ishigami, Sobol_G

import rebecsim as rs
from rebecsim.clusters.scenarios import LoadedScenario, load
from rebecsim.errors import UserError
from rebecsim.search.sensitivity import (
    Evaluate,
    Ranged,
    Screening,
    Trajectories,
    explain,
    sobol_indices,
)
from rebecsim.search.space import Candidate, Numbers, Question
from rebecsim.studies.scenario_files import ScenarioText
from tests.search.counted import SMALL


def four_of_sobol_g(points: Numbers) -> Numbers:
    return np.asarray(Sobol_G.evaluate(points, np.array([0.0, 1.0, 4.5, 9.0])))


def loaded_scenario(values: dict[str, Any]) -> LoadedScenario:
    return load(ScenarioText("small", values, {}, Path()))


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


def on_grid(evaluate: Evaluate, parameters: int, grid: int) -> tuple[Numbers, Numbers]:
    """All elementary effects on a grid: their mean absolute value and standard deviation."""
    places = np.array([*itertools.product(range(grid), repeat=parameters)])
    sizes, spreads = [], []
    for number in range(parameters):
        low = places[places[:, number] < grid // 2]
        high = low.copy()
        high[:, number] += grid // 2
        changes = evaluate(high / (grid - 1)) - evaluate(low / (grid - 1))
        sizes.append(np.abs(changes).mean())
        spreads.append(changes.std())
    return np.array(sizes), np.array(spreads)


@pytest.mark.parametrize(
    ("evaluate", "parameters"),
    [(lambda points: Ishigami.evaluate(np.pi * (2 * points - 1)), 3), (four_of_sobol_g, 4)],
    ids=["Ishigami", "Sobol G"],
)
def test_elementary_effects_are_those_of_all_of_a_grid(evaluate: Evaluate, parameters: int) -> None:
    drawn = Trajectories.drawn(parameters, 400, grid=4)
    figures = evaluate(drawn.points.reshape(-1, parameters)).reshape(drawn.points.shape[:-1])
    known = np.array(on_grid(evaluate, parameters, 4))
    found, errors = drawn.effects(figures), drawn.errors(figures)
    assert (np.abs(found - known) <= 3.5 * errors + 1e-9).all()
    assert (errors[0] < 0.1 * known[0].max()).all()


def test_sobols_g_has_its_published_shares() -> None:
    found = sobol_indices(["x"] * 4, four_of_sobol_g)
    a = np.array([0.0, 1.0, 4.5, 9.0])
    assert found.alone == pytest.approx(Sobol_G.sensitivity_index(a), abs=0.01)
    assert found.total == pytest.approx(Sobol_G.total_sensitivity_index(a), abs=0.01)


def test_morris_ranks_parameters_with_few_cells(tmp_path: Path) -> None:
    """And goes on where it was stopped: the same cells are run again."""
    scenario = {**SMALL, "sweep": {"queue_size": [4, 8, 12, 16], "epsilon": [1.0, 2.0, 3.0]}}
    over: dict[str, Any] = {"app_masters": [1, 2, 3, 4], "ticks": [20, 30, 40]}
    asked = {"method": "morris", "over": over, "replications": 6, "progress": False}
    found = rs.sensitivity(scenario, **asked, out=tmp_path / "a")
    screening = found.sensitivity
    assert isinstance(screening, Screening)
    assert len(screening.space.candidates) == 2 * 4 * 4 * 3 * 3
    assert screening.candidates <= 60
    assert len(list((tmp_path / "a/parts").glob("*.parquet"))) == screening.candidates
    effects = {each.name: each.size for each in screening.effects}
    assert next(iter(effects)) == "app_masters"
    assert [each.value for each in effects.values()] == sorted(
        (each.value for each in effects.values()), reverse=True
    )
    assert all(0 <= each.low <= each.value <= each.high for each in effects.values())
    assert f"It ran {screening.candidates} of 288 combinations" in str(found)
    found.write(tmp_path / "a")
    page = (tmp_path / "a/report.html").read_bytes()
    for part in list((tmp_path / "a/parts").glob("*.parquet"))[::2]:
        part.unlink()
    again = rs.sensitivity(scenario, **asked, out=tmp_path / "a", resume=True, workers=2)
    again.write(tmp_path / "a")
    assert (tmp_path / "a/report.html").read_bytes() == page
    with pytest.raises(UserError, match="begun with another question"):
        rs.sensitivity(scenario, **{**asked, "method": "sobol"}, out=tmp_path / "a", resume=True)


def test_morris_says_what_is_unimportant_and_what_has_no_effect() -> None:
    sweep = {"queue_size": [30, 40], "epsilon": [1.0, 2.0, 3.0]}
    scenario = {**SMALL, "app_masters": [4], "sweep": sweep}
    found = rs.sensitivity(scenario, method="morris", progress=False)
    effects = {each.name: each for each in found.sensitivity.effects}
    assert effects["queue_size"].is_none
    assert "queue_size had no effect in any run" in str(found)
    first, *_ = found.sensitivity.effects
    assert first.name == "epsilon"
    scenario |= {"policies": ["EDF"], "app_masters": [6], "sweep": {"queue_size": [30, 40]}}
    same = rs.sensitivity(scenario, method="morris", progress=False)
    assert "so no effect was seen" in str(same)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_chance_in_the_runs_is_no_effect(noise: float) -> None:
    """Errors of its own in each cell would give every parameter an effect; the jackknife sees."""
    sweep = {"queue_size": [*range(4, 12)], "epsilon": [1.0, 1.5, 2.0, 2.5, 3.0]}
    values = {**SMALL, "policies": ["EDF"], "app_masters": [2], "sweep": sweep}
    plan = loaded_scenario(values).plan(replications=40)

    class Drawn:
        def counts(self, candidate: Candidate, metric: Any, runs: int) -> tuple[Numbers, None]:
            size = int(candidate.values["queue_size"])
            seed = hash(tuple(candidate.values.values()))
            random = np.random.default_rng(abs(seed))
            return 5.0 * size + noise * random.normal(0, 1, (len(candidate.cells), runs)), None

    question = Question(what="morris", measure="deadline_misses", better="lower", over=[], budget=0)
    found = explain(plan, question, Drawn())
    assert isinstance(found, Screening)
    first, second = found.effects
    assert first.size.value == pytest.approx(20, abs=0.5)  # by four sizes
    assert second.size.low == 0
    assert found.is_unimportant(second)
    assert second.is_none == (noise == 0)


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
    assert effects["queue_size"].total == Ranged(0, 0, 0)
    assert effects["epsilon"].alone.low > 0.5
    assert "queue_size has no effect on deadline misses" in str(found)
    assert "policy (2 values, as categories)" in str(found)
    for each in effects.values():
        assert each.alone.low <= each.alone.value <= each.alone.high


def test_nothing_matters_where_all_is_the_same() -> None:
    scenario = {**SMALL, "policies": ["EDF"], "app_masters": [6], "sweep": {"queue_size": [30, 40]}}
    found = rs.sensitivity(scenario, progress=False)
    assert "the same in all cells" in str(found)


@pytest.mark.parametrize("method", ["sobol", "morris"])
def test_cells_without_chance_are_run_once(method: Any) -> None:
    over = {"load_factor": [1.0, 1.5]}
    found = rs.sensitivity("changed_queues", method=method, over=over, progress=False)
    assert found.sensitivity.runs == 1
    assert "was run once" in str(found)
    assert "jackknife over" not in str(found)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"measure": "x"}, "there is no measure"),
        ({"over": {"policy": ["EDF"], "queue_size": [4]}}, "over: there is one candidate only"),
        ({"method": "fast"}, "method: there is no 'fast'"),
        ({"replications": 1}, "replications: one run of each cell does not show what is chance"),
    ],
)
def test_mistakes_are_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        rs.sensitivity(SMALL, **asked, progress=False)
