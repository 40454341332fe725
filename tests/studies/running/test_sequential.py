"""Runs until the figures are precise enough, and the same runs in other message orders."""

from dataclasses import replace

import pytest

from rebecsim.clusters.scenarios import plan_scenario
from rebecsim.studies import Results
from rebecsim.studies.estimates import estimate
from rebecsim.studies.precision import FIRST_BATCH
from rebecsim.studies.running import companion_directory, run_until_precise, stored_companions
from rebecsim.studies.scenario_files import ScenarioError
from tests.plans import run_plan


def precise(scenario, results, interrupt_at=None):
    plan = plan_scenario(scenario)

    def run(replications):
        if replications == interrupt_at:
            raise KeyboardInterrupt
        run_plan(plan, results, replications=replications)

    return plan, run_until_precise(plan, results, plan.precisions, run)


@pytest.fixture
def wanted(small):
    return small.replace(precision="6%", replications=2_000)


def test_runs_go_on_until_the_figures_are_known_well_enough(wanted, tmp_path):
    results = Results.create(tmp_path / "out", plan_scenario(wanted))
    plan, done = precise(wanted, results)
    assert FIRST_BATCH < done < 2_000
    metric = plan.metrics[0]
    moments = results.moments(plan)
    assert {each.replications for each in moments} == {done}
    for policy in wanted.policies:
        found = estimate(metric, [each for each in moments if each.cell.policy == policy])
        assert found.half_width <= 0.06 * found.value


def test_several_figures_are_all_known_well_enough(small, tmp_path):
    """The dearest target decides; here it is not the first figure's."""
    first, *_, last = plan_scenario(small).metrics
    both = small.replace(precision=f"{first.name}=30%, {last.name}=2%", replications=3_000)
    results = Results.create(tmp_path / "both", plan_scenario(both))
    plan, done = precise(both, results)
    assert [each.half_width for each in plan.precisions] == [0.3, 0.02]
    for policy in both.policies:
        mine = [each for each in results.moments(plan) if each.cell.policy == policy]
        for target in plan.precisions:
            found = estimate(target.metric, mine)
            assert found.half_width <= target.half_width * found.value
    alone = small.replace(precision=f"{first.name}=30%", replications=3_000)
    easier = Results.create(tmp_path / "alone", plan_scenario(alone))
    assert precise(alone, easier)[1] < done


def test_an_interrupted_search_ends_at_the_same_number(wanted, tmp_path):
    whole = Results.create(tmp_path / "whole", plan_scenario(wanted))
    plan, done = precise(wanted, whole)
    broken = Results.create(tmp_path / "broken", plan_scenario(wanted))
    with pytest.raises(KeyboardInterrupt):
        precise(wanted, broken, interrupt_at=done)
    # One cell is further than the others, as after a kill in the middle of a round.
    first = plan.cells[0]
    run_plan(replace(plan, cells=(first,)), broken, replications=done)
    assert precise(wanted, Results.resume(tmp_path / "broken", plan))[1] == done
    for cell in plan.cells:
        assert broken.part(cell).read_bytes() == whole.part(cell).read_bytes()


def test_the_cap_ends_the_search(small, tmp_path):
    capped = small.replace(precision="0.1%", replications=60)
    results = Results.create(tmp_path / "out", plan_scenario(capped))
    assert precise(capped, results)[1] == 60


def test_a_precision_must_be_readable(small):
    for text in ("much", "0%", "0.5pp"):
        with pytest.raises(ScenarioError, match="precision"):
            small.replace(precision=text)


def test_other_orders_have_the_same_seeds_and_fewer_runs(small):
    plan = plan_scenario(small)
    plans = plan.beside(400)
    assert list(plans) == ["updates-first", "ticks-first", "fifo"]
    for order, other in plans.items():
        assert (other.scenario.order, other.scenario.replications) == (order, 100)
        assert [cell.key for cell in other.cells] == [cell.key for cell in plan.cells]
    assert {each.scenario.replications for each in plan.beside(6).values()} == {6}
    assert plan_scenario(small.replace(order="fifo")).beside(400) == {}


def test_stored_companions_are_those_that_are_complete(small, tmp_path):
    plan = plan_scenario(small)
    results = Results.create(tmp_path / "out", plan)
    run_plan(plan, results)
    assert stored_companions(plan, results) == {}
    for order, other in plan.beside(6).items():
        elsewhere = Results.create(companion_directory(results, order), other)
        if order != "fifo":
            run_plan(other, elsewhere)
    found = stored_companions(plan, results)
    assert list(found) == ["updates-first", "ticks-first"]
    figures = {
        order: sum(each.sums[0] for each in other.moments(other_plan))
        for order, (other_plan, other) in found.items()
    }
    assert figures["updates-first"] != figures["ticks-first"]
