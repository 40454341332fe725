import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.scenarios import plan_scenario
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.results import paired_moments
from tests.plans import run_plan

COUNTERS = ("queue_misses", "update_misses", "completions")


@pytest.fixture
def plan(small):
    return plan_scenario(small)


@pytest.fixture
def results(plan, tmp_path):
    results = Results.create(tmp_path / "out", plan)
    run_plan(plan, results)
    return results


def test_pairs_agree_with_the_parts_and_with_the_moments_of_cells(plan, results) -> None:
    paired = paired_moments(results, plan.cells, COUNTERS)
    assert [each.condition["app_masters"] for each in paired] == [1, 3]
    for each in paired:
        assert each.policies == ("EDF", "MDF")
        assert each.replications == 6
    for cell, moments in zip(plan.cells, results.moments(plan), strict=True):
        (mine,) = [p for p in paired if p.condition["app_masters"] == cell.cell["app_masters"]]
        for counter in COUNTERS:
            weights = mine.of_policy(cell.cell.policy, {counter: 1})
            assert mine.mean_of(weights) == moments.mean_of({counter: 1})
            assert mine.variance_of(weights) == moments.variance_of({counter: 1})
    edf, mdf = (
        pq.read_table(results.part(c)).column("completions").to_pylist()
        for c in plan.cells
        if c.cell["app_masters"] == 1
    )
    both = dict(zip(paired[0].counters, paired[0].products, strict=True))["EDF:completions"]
    place = paired[0].counters.index("MDF:completions")
    assert both[place] == sum(a * b for a, b in zip(edf, mdf, strict=True))


def test_row_groups_may_differ_between_parts(plan, results) -> None:
    before = paired_moments(results, plan.cells, COUNTERS)
    path = results.part(plan.cells[0])
    pq.write_table(pq.read_table(path), path, row_group_size=2)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert paired_moments(results, plan.cells, COUNTERS) == before


def test_a_single_policy_has_no_pairs(small, tmp_path) -> None:
    plan = plan_scenario(small.replace(policies=["EDF"]))
    results = Results.create(tmp_path / "out", plan)
    assert paired_moments(results, plan.cells, COUNTERS) == []


def test_parts_that_cannot_be_paired_are_named(plan, results) -> None:
    with pytest.raises(ResultsError, match="has no column laxity"):
        paired_moments(results, plan.cells, ["laxity"])
    path = results.part(plan.cells[0])
    whole = pq.read_table(path)
    pq.write_table(whole.slice(0, 4), path)
    with pytest.raises(ResultsError, match="cannot be paired: EDF: fewer runs than MDF"):
        paired_moments(results, plan.cells, COUNTERS)
    pq.write_table(whole.take([1, 0, 2, 3, 4, 5]), path)
    with pytest.raises(ResultsError, match="same replications in the same order"):
        paired_moments(results, plan.cells, COUNTERS)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ResultsError, match=rf"{path.name}: cannot be read"):
        paired_moments(results, plan.cells, COUNTERS)
