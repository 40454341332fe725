"""Workload scenario files: what is read, and what is refused with which words."""

from __future__ import annotations

import pytest

from rebecsim.clusters.batch.scenario import BatchScenario
from rebecsim.clusters.kinds import kind_names
from rebecsim.clusters.scenarios import load, load_scenario
from rebecsim.studies.scenario_files import ScenarioError
from tests.clusters.batch.scenarios import DRAWN, SCENARIO, plan_of, written


def test_a_small_scenario_is_read(tmp_path):
    loaded = load(written(tmp_path))
    scenario = loaded.scenario
    assert scenario.policies == ("FCFS", "EASY")
    assert scenario.compared_with == "FCFS"
    assert loaded.study.files(scenario) == {("workload", "log"): "small.swf"}
    assert [each.name for each in loaded.plan().cells] == [
        "fcfs_load1_requested",
        "easy_load1_requested",
    ]


def test_a_file_without_a_kind_is_told_which_one_it_looks_like(tmp_path):
    bare = SCENARIO.replace('kind = "batch"\n', "")
    kinds = rf"\(the kind of cluster: {', '.join(kind_names())}\)"
    message = f'kind: is missing {kinds}; add kind = "batch"'
    with pytest.raises(ScenarioError, match=message):
        load(written(tmp_path, bare))
    with pytest.raises(ScenarioError, match=":1: kind: no kind of cluster is called 'bach'; did"):
        load(written(tmp_path, SCENARIO.replace('"batch"', '"bach"')))


def test_the_builtin_scenario_needs_no_files():
    scenario = load_scenario("backfilling_or_fairshare")
    assert isinstance(scenario, BatchScenario)
    assert scenario.workload.log is None


def test_what_is_not_random_is_run_once(tmp_path):
    text = SCENARIO.replace("share", 'estimates = ["exact"]\nestimate_errors = [4]\nshare')
    cells = plan_of(tmp_path, text.replace("share", "replications = 3\nshare")).cells
    found = [(c.cell["estimates"], c.replications(3)) for c in cells if c.cell.policy == "EASY"]
    assert found == [("exact", 1), ("error 4", 3)]


def test_every_combination_is_a_cell_of_its_own(tmp_path):
    cells = plan_of(tmp_path, DRAWN).cells
    assert len(cells) == len({cell.name for cell in cells}) == 2 * 2 * 2


def test_a_scenario_can_be_rebuilt_from_what_is_recorded(tmp_path):
    for text in (SCENARIO, DRAWN):
        scenario = load_scenario(written(tmp_path, text))
        assert BatchScenario.model_validate_json(scenario.model_dump_json()) == scenario
        assert scenario.replace(seed=None) == scenario
        assert scenario.replace(seed=5).seed == 5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"EASY"', '"EASI"', r"scenario.toml:3: policies\[1\]: .*'EASI'; did you mean EASY"),
        ('"EASY"', '"FCFS"', r":3: policies\[1\]: 'FCFS' is listed twice"),
        ('"FCFS", "EASY"', "", ":3: policies: is empty"),
        ("share", "shard", ":4: shard: unknown key; did you mean share"),
        ("share = 2", "share = 0", ":4: share: must be at least 1, found 0"),
        ("share = 2", 'metrics = ["veet_median"]', "the metric veet_median needs share"),
        (
            "share = 2",
            'metrics = ["quality"]',
            r":4: metrics\[0\]: no metric 'quality'; known are mean_w",
        ),
        ("share = 2", 'metrics = ["mean_wiat"]', "no metric 'mean_wiat'; did you mean mean_wait?"),
        ("share = 2", "memory_share = 2", "memory_share needs share"),
        ("share = 2", 'baseline = "SJF"', "baseline = 'SJF' should be one of the policies"),
        ("share = 2", "replications = 2", "has no randomness"),
        ("share = 2", "load_factors = [1.0, 0]", r":4: load_factors\[1\]: must be at least 0.001"),
        ("share = 2", 'estimates = ["guessed"]', r':4: estimates\[0\]: must be "requested" or "ex'),
        ("share = 2", "gantt = { begin = 5, end = 5 }", ":4: gantt: end = 5 should be after"),
        ("share = 2", "machine = { processors = 2, nodes = [] }\nlog = 2", "log: unknown key"),
        (
            "share = 2",
            "machine = { processors = 2, nodes = [{ count = 1, processors = 2 }] }",
            "machine: a machine has processors or nodes",
        ),
        ("share = 2", 'machine = { placement = "best-fit" }', "placement needs nodes"),
        ('log = "small.swf"', "", "give one of log = "),
        ("small.swf", "other.swf", ":7: workload.log: there is no file .*other.swf"),
        ('"small.swf"', '"small.swf"\nlod = 1', ":8: workload.lod: unknown key; did you mean load"),
        ('"small.swf"', '"small.swf"\nbegin = 9\nend = 8', "end = 8 should be after begin = 9"),
        (
            'log = "small.swf"',
            "generate = { jobs = 10, processors = 4 }\nfirst = 3",
            "workload: first is for logs",
        ),
        (
            'log = "small.swf"',
            "generate = { processors = 4 }",
            ":7: workload.generate.jobs: is missing .how many jobs.; add it",
        ),
    ],
)
def test_mistakes_are_named_with_line_and_field(tmp_path, old, new, message):
    assert old in SCENARIO
    with pytest.raises(ScenarioError, match=message):
        load_scenario(written(tmp_path, SCENARIO.replace(old, new)))


def test_too_many_schedules_are_refused(tmp_path):
    text = DRAWN.replace("replications = 3", "replications = 9999")
    with pytest.raises(ScenarioError, match="79992 schedules, at most 10000"):
        load_scenario(written(tmp_path, text))
