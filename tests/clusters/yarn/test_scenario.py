"""Scenario files of the kind `yarn`: what is read, and what is refused with which words."""

from __future__ import annotations

from typing import get_args

import pytest

from rebecsim.clusters.scenarios import load, load_scenario
from rebecsim.clusters.yarn.configuration import QUIRKS_OF_DSS, PlacementRules, Quirks
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.penalties import PENALTIES
from rebecsim.clusters.yarn.scenario import PenaltyName, YarnScenario
from rebecsim.studies.scenario_files import ScenarioError
from tests.clusters.yarn.scenarios import DRAWN, SCENARIO, plan_of, written


def test_a_small_scenario_is_read(tmp_path):
    loaded = load(written(tmp_path))
    scenario = loaded.scenario
    assert scenario.compared_with == "REGULAR"
    assert loaded.study.files(scenario) == {("workload", "trace"): "jobs.json"}
    assert [each.name for each in loaded.plan().cells] == ["regular_load1", "greedy_load1"]
    assert [each.replications(5) for each in loaded.plan().cells] == [1, 1]


def test_a_file_without_a_kind_is_told_which_one_it_looks_like(tmp_path):
    bare = SCENARIO.replace('kind = "yarn"\n', "")
    with pytest.raises(ScenarioError, match=r'kind: is missing .*; add kind = "yarn"'):
        load(written(tmp_path, bare))


def test_every_combination_is_a_cell_of_its_own(tmp_path):
    cells = plan_of(tmp_path, DRAWN).cells
    assert len(cells) == len({cell.name for cell in cells}) == 2 * 2 * 2
    assert cells[0].name == "regular_load1_error10"
    assert {cell.cell["error_percent"] for cell in cells} == {10, 40}


def test_all_schedulers_see_the_same_jobs_and_the_same_seed(tmp_path):
    setups = [cell.setup for cell in plan_of(tmp_path, DRAWN).cells]
    by_load = {}
    for setup in setups:
        assert isinstance(setup, RunSetup)
        by_load.setdefault(setup.load_factor, set()).add(setup.jobs(1))
        assert setup.configuration(1).seed == setups[0].configuration(1).seed
        assert setup.configuration(1).seed != setup.configuration(2).seed
        assert setup.jobs(1) != setup.jobs(2)
    assert {load: len(jobs) for load, jobs in by_load.items()} == {1.0: 1, 2.0: 1}
    slow, fast = by_load[1.0].pop(), by_load[2.0].pop()
    assert [round(job.start / 2) for job in slow] == [job.start for job in fast]


def test_what_a_scenario_says_reaches_the_cluster(tmp_path):
    setup = plan_of(tmp_path, DRAWN).cells[1].setup
    configuration = setup.configuration(0)
    assert configuration.elasticity.memory_error.percent == 40
    assert configuration.elasticity.duration_error.percent == 20
    assert configuration.elasticity.duration_error.mode == "RANDOM"
    assert configuration.master_memory == 500
    assert configuration.assign_multiple
    assert configuration.quirks == Quirks()
    assert [(node.name, node.memory) for node in setup.nodes()] == [
        ("node1", 6000),
        ("node2", 6000),
        ("node3", 6000),
    ]
    like = plan_of(tmp_path, SCENARIO.replace("[work", 'compatibility = "dss"\n[work', 1))
    assert like.cells[0].setup.configuration(0).quirks == QUIRKS_OF_DSS


def test_placement_is_off_unless_it_is_asked_for(tmp_path):
    assert plan_of(tmp_path).cells[0].setup.configuration(0).placement is None
    for text, rules in (
        ("", PlacementRules()),
        ('strict = "node"\nmost_per_node = 2', PlacementRules(None, 40, 2)),
        ('strict = "rack"\nnode_delay = 3', PlacementRules(3, None)),
    ):
        plan = plan_of(tmp_path, SCENARIO + f"\n[placement]\n{text}\n")
        assert plan.cells[0].setup.configuration(0).placement == rules
        assert "local" in [metric.name for metric in plan.metrics]


def test_a_topology_says_which_nodes_there_are(tmp_path):
    (tmp_path / "racks.json").write_text(
        '{"rack": "a", "nodes": [{"node": "x", "memory-mb": 9000}, {"node": "y"}]}\n'
        '{"rack": "b", "nodes": [{"node": "z"}]}\n'
    )
    text = SCENARIO.replace(
        "nodes = [{ count = 2, memory = 4000, cores = 4 }]",
        'topology = "racks.json"\nmemory = 4000\ncores = 4',
    )
    nodes = plan_of(tmp_path, text).cells[0].setup.nodes()
    assert [(node.name, node.number, node.memory) for node in nodes] == [
        ("x", 1, 9000),
        ("y", 2, 4000),
        ("z", 3, 4000),
    ]
    mega = text.replace("cores = 4", "cores = 4\nmeganode = true")
    nodes = plan_of(tmp_path, mega).cells[0].setup.nodes()
    assert [(node.name, node.memory, node.cores) for node in nodes] == [
        ("meganode1", 13_000, 8),
        ("meganode2", 4000, 4),
    ]
    like = mega.replace("[work", 'compatibility = "dss"\n[work', 1)
    (node,) = plan_of(tmp_path, like).cells[0].setup.nodes()
    assert (node.name, node.number, node.memory) == ("meganode1", 2, 4000)


def test_a_scenario_can_be_rebuilt_from_what_is_recorded(tmp_path):
    for text in (SCENARIO, DRAWN):
        scenario = load_scenario(written(tmp_path, text))
        assert YarnScenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_scenarios_know_all_penalties():
    assert get_args(PenaltyName) == tuple(PENALTIES)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"GREEDY"]', '"GREADY"]', "no YARN scheduler is called 'GREADY'; did you mean GREEDY?"),
        ('"GREEDY"]', '"REGULAR"]', "'REGULAR' is listed twice"),
        ('"small"', '"small"\nbaseline = "SRTF"', "baseline = 'SRTF' should be one of the"),
        ('"small"', '"small"\nreplications = 2', "has no randomness"),
        ('"small"', '"small"\nmetrics = ["makspan"]', "no metric 'makspan'; did you mean"),
        ('"small"', '"small"\nerror_percents = [5]', "needs an error without a percent"),
        ("[elast", "[errors]\nmemory = {}\n[elast", "needs error_percents ="),
        ("count = 2", "count = 0", "cluster.nodes[0].count"),
        ('trace = "jobs.json"', "", "give one of trace"),
        ('"jobs.json"', '"none.json"', "workload.trace: there is no file"),
        ("reservations = true", "gaps = true", "gaps needs reservations"),
        ("reservations = true", "racks = 2\nmemory = 5", "memory and cores are for a topology"),
        ('"STEP"', '"STAIR"', "elasticity.penalty.model"),
        ("bump = 1.5", "bump = 0.5", "elasticity.penalty.bump"),
        ("[elasticity]", "[elasticity]\noverestimated = [2, 1]", "smaller number first, not 2, 1"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, before, after, message):
    with pytest.raises(ScenarioError) as raised:
        load(written(tmp_path, SCENARIO.replace(before, after)))
    assert message in str(raised.value)
