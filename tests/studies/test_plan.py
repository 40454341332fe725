"""Cells and their seeds."""

from rebecsim.clusters.dispatch.study import cell_key
from rebecsim.clusters.scenarios import plan_scenario


def test_policies_share_seeds_and_workloads_do_not(small):
    plan = plan_scenario(small)
    keys = {
        (planned.cell.policy, planned.cell["app_masters"]): planned.key for planned in plan.cells
    }
    assert keys["EDF", 1] == keys["MDF", 1]
    assert keys["EDF", 3] == keys["MDF", 3]
    assert keys["EDF", 1] != keys["EDF", 3]
    assert plan.cells[0].setup.until == 19
    assert len({planned.name for planned in plan.cells}) == 4


def test_a_cell_keeps_its_seed_in_another_scenario(small):
    other = small.model_copy(update={"policies": ("FIFO",), "app_masters": (2, 3)})
    mine, theirs = plan_scenario(small).cells[1], plan_scenario(other).cells[1]
    assert mine.cell["app_masters"] == theirs.cell["app_masters"] == 3
    assert mine.key == theirs.key


def test_the_key_is_pinned(small):
    """Results of earlier versions stay reproducible only if the key of a cell stays the same."""
    configuration = plan_scenario(small).cells[0].setup.configuration
    assert cell_key(7, configuration) == (17915115468311017886, 16022864002300240920)
    assert cell_key(8, configuration) != cell_key(7, configuration)
