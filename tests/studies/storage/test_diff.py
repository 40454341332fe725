"""Two runs side by side."""

import math

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.clusters.scenarios import open_run, plan_scenario
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.estimates import estimate
from rebecsim.studies.stored_runs import Setting, compare_runs
from tests.plans import run_plan


@pytest.fixture
def run(small, tmp_path):
    def make(name, **changes):
        scenario = small.replace(**changes)
        plan = plan_scenario(scenario)
        results = Results.create(tmp_path / name, plan)
        run_plan(plan, results)
        return open_run(results.directory, name)

    return make


def test_runs_of_one_scenario_are_identical(run):
    first, second = run("a"), run("b")
    part = second.results.part(second.cells[0])
    diff = compare_runs(first, second)
    assert (diff.first, diff.second) == ("a", "b")
    assert diff.settings == diff.only_first == diff.only_second == ()
    assert [cell.cell for cell in diff.cells] == [planned.cell for planned in first.cells]
    assert all(cell.identical for cell in diff.cells)
    assert all(d.value == 0 for cell in diff.cells for d in cell.differences)
    assert pq.read_table(part).num_rows == 6


def test_what_differs_is_named_and_measured(run):
    first = run("a", replications=40)
    second = run("b", replications=50, seed=8, epsilon=1.0)
    diff = compare_runs(first, second)
    assert set(diff.settings) == {
        Setting("scenario.epsilon", 0.5, 1.0),
        Setting("scenario.replications", 40, 50),
        Setting("scenario.seed", 7, 8),
    }
    assert not any(cell.identical for cell in diff.cells)
    ours, theirs = (r.results.moments(r.cells)[0] for r in (first, second))
    for difference, metric in zip(diff.cells[0].differences, DISPATCH_METRICS, strict=True):
        a, b = estimate(metric, [ours]), estimate(metric, [theirs])
        assert difference.metric == metric
        assert difference.value == b.value - a.value
        expected = math.sqrt(a.standard_error**2 + b.standard_error**2)
        assert difference.standard_error == pytest.approx(expected)
        assert not difference.shares_random_numbers


def test_random_numbers_are_shared_under_one_seed(run):
    diff = compare_runs(run("a"), run("b", choice_law="rmc"))
    assert [setting.name for setting in diff.settings] == ["scenario.choice_law"]
    assert all(d.shares_random_numbers for cell in diff.cells for d in cell.differences)


def test_cells_that_only_one_has(run):
    first = run("a", policies=["EDF", "MDF"], app_masters=[1])
    second = run("b", policies=["EDF", "FIFO"], app_masters=[1])
    diff = compare_runs(first, second)
    assert [(cell.cell.policy, cell.identical) for cell in diff.cells] == [("EDF", True)]
    assert [cell.policy for cell in diff.only_first] == ["MDF"]
    assert [cell.policy for cell in diff.only_second] == ["FIFO"]


def test_settings_in_tables_have_dotted_names(run):
    pattern = {"pattern": "nondet", "minimum": 0, "maximum": 3}
    diff = compare_runs(run("a"), run("b", arrivals=[pattern]))
    assert diff.settings == (Setting("scenario.arrivals.0.maximum", 2, 3),)
    assert len(diff.only_first) == len(diff.only_second) == 4


def test_one_run_of_each_has_no_error(run):
    diff = compare_runs(run("a", replications=1), run("b", replications=1, seed=9))
    assert {d.standard_error for cell in diff.cells for d in cell.differences} == {None}


def test_incomplete_and_damaged_runs_are_not_compared(run):
    first, second = run("a"), run("b")
    part = first.results.part(first.cells[1])
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(ResultsError, match="is damaged"):
        compare_runs(second, first)
    part.unlink()
    with pytest.raises(ResultsError, match="is missing"):
        compare_runs(first, second)
