from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.clusters.mapreduce.attempts import Rates
from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.job import JobPriority
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.study import STUDY
from rebecsim.clusters.scenarios import load_scenario, plan_scenario
from rebecsim.errors import UserError
from rebecsim.studies.scenario_files import ScenarioError
from reproductions.capacity.published import published
from reproductions.capacity.running import (
    experiment_scenarios,
    small_scenarios,
    validation_scenarios,
)

BEGIN = """
kind = "mapreduce"
name = "small"
"""
JOBS = '[[workload.jobs]]\nfamily = "some"\nmaps = 3\nqueue = "one"\n'
VARIANT = '[[variants]]\nname = "even"\nscheduler = "CAPACITY"\n'
SETTINGS = 'settings = { "queue.one.capacity" = 60, "queue.two.capacity" = 40 }\n'
GOOD = BEGIN + JOBS + VARIANT + SETTINGS


@pytest.fixture
def load(tmp_path: Path):
    def load_text(text: str) -> MapReduceScenario:
        path = tmp_path / "given.toml"
        path.write_text(text)
        return load_scenario(path)

    return load_text


def test_a_small_scenario_gets_the_defaults(load):
    scenario = load(GOOD)
    assert (scenario.compared_with, scenario.replications) == ("even", 10)
    rates = Rates.of(scenario.configuration(scenario.variants[0]).cluster)
    assert (scenario.cluster.nodes, rates.cycles, rates.link) == (30, 2500, 125)
    shown = {each.name for each in STUDY.measures(scenario)}
    assert "response_ratio" in shown
    assert not shown & {"remote", "backups", "lost", "rejected"}


def test_figures_are_shown_where_they_say_something(load):
    cluster = "[cluster]\nracks = 2\n[speculation]\n[failures]\nmean_time_between = 1000\n"
    shown = {each.name for each in STUDY.measures(load(GOOD + cluster))}
    assert shown >= {"remote", "wasted_backups", "lost"}
    only = {each.name for each in STUDY.measures(load('metrics = ["rejected"]\n' + GOOD))}
    assert only == {"rejected"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            BEGIN + VARIANT + "[workload]\n",
            "give at least one source of jobs: mix, jobs, drawn, swim or rumen",
        ),
        (GOOD.replace("CAPACITY", "CAPACTY"), "did you mean CAPACITY"),
        (GOOD.replace("= 60", "= 50"), "the capacities of the queues are 90 percent together"),
        (GOOD.replace("settings", 'file = "a.xml"\nsettings'), "give either file or settings"),
        (GOOD.replace(SETTINGS, 'file = "a.xml"\n'), "there is no file"),
        (GOOD + VARIANT, "there are two variants 'even'"),
        (GOOD + "[cluster]\nnodes = 2\n", "replication = 3 needs as many nodes"),
        (GOOD + "[cluster]\nracks = 31\n", "31 racks, but 30 nodes"),
        (GOOD + "[cluster]\nmap_slots = 0\n", "must be at least 1"),
        (GOOD + "[cluster]\nreplication = 0\n", "must be at least 1"),
        (GOOD + "[variation]\nslow_nodes = 2.0\n", "must be at most 1"),
        (GOOD + "[variation]\nnode_slowdown = 0.0\n", "must be at least 1"),
        (GOOD + "[variation]\njitter = -1.0\n", "must be at least 0"),
        (
            GOOD + "[[failures.outages]]\nnode = 30\nstart = 5\n",
            "failures.outages[0]: there is no node 30; nodes are 0 to 29",
        ),
        (GOOD + "[[failures.outages]]\nnode = 3\nstart = 5\nend = 5\n", "should be after start"),
        (GOOD.replace("maps = 3", "maps = 3\ninput = 4"), "give either input = MiB or maps"),
        (GOOD.replace('family = "some"\n', ""), "or the program that sets their costs"),
        ('baseline = "odd"\n' + GOOD, "should be one of even"),
        ('metrics = ["rejcted"]\n' + GOOD, "did you mean rejected"),
        (
            GOOD + '[workload.mix]\npattern = "apart"\nqueues = ["one"]\n',
            "1 queues need as many small_queues, not 0",
        ),
        (
            GOOD + '[workload.mix]\npattern = "separated"\nqueues = ["a"]\nsmall_queues = ["b"]\n',
            "small_queues needs pattern",
        ),
    ],
)
def test_what_is_wrong_is_said(load, text, complaint):
    with pytest.raises(ScenarioError) as caught:
        load(text)
    assert complaint in str(caught.value)


def test_a_queue_that_jobs_name_and_nobody_defines_is_refused(load):
    scenario = load(GOOD.replace('queue = "one"', 'queue = "onne"'))
    with pytest.raises(UserError, match="'onne', which is not defined; did you mean one"):
        list(RunSetup(scenario, Path(), "even").require_sense())


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (
            '[[variants.changes]]\nat = 5.0\nsettings = { "queue.one.maximum-capacity" = 20 }\n',
            "changes: .*maximum-capacity: 20 is below the capacity",
        ),
        (
            '[[variants.changes]]\nat = 5.0\nsettings = { "queue.onne.maximum-capacity" = 80 }\n',
            "changes: .*queue.onne.maximum-capacity",
        ),
        ("[cluster]\nreduce_slots = 0\n", "reduce"),
    ],
)
def test_what_would_go_wrong_later_is_said_before_the_first_run(load, more, complaint):
    with pytest.raises(UserError, match=complaint):
        list(RunSetup(load(GOOD + more), Path(), "even").require_sense())


def test_settings_can_change_while_the_cluster_runs(load):
    later = (
        "[[variants.changes]]\nat = 5.0\n"
        'settings = { "queue.one.minimum-user-limit-percent" = 25 }\n'
    )
    setup = RunSetup(load(GOOD + later), Path(), "even")
    assert list(setup.require_sense()) == []
    assert [each.time for each in setup.configuration.changes] == [5_000_000]


def test_a_file_of_settings_is_read_and_what_has_no_effect_is_named(load, tmp_path):
    (tmp_path / "a.xml").write_text(
        "<configuration>\n"
        "<property><name>mapred.capacity-scheduler.queue.one.capacity</name>"
        "<value>100</value></property>\n"
        "<property><name>mapred.capacity-scheduler.init-worker-threads</name>"
        "<value>3</value></property>\n"
        "</configuration>\n"
    )
    scenario = load(GOOD.replace(SETTINGS, 'file = "a.xml"\n'))
    (told,) = RunSetup(scenario, tmp_path, "even").require_sense()
    assert told.endswith("a.xml:3: mapred.capacity-scheduler.init-worker-threads has no effect")
    fingerprints = plan_scenario(scenario, tmp_path).fingerprints()
    assert list(fingerprints) == ["variants_0_file_blake2b"]


def test_replications_and_variants_share_what_they_should(load):
    more = VARIANT.replace("even", "uneven") + SETTINGS.replace("60", "80").replace("40", "20")
    drawn = '[workload.drawn]\njobs = 5\nqueues = ["one", "two"]\nusers = 3\n'
    scenario = load(GOOD + more + drawn)
    even, uneven = (RunSetup(scenario, Path(), name) for name in ("even", "uneven"))
    assert even.jobs(0) == uneven.jobs(0)
    assert even.jobs(0) != even.jobs(1)
    assert [job.number for job in even.jobs(0)] == list(range(6))
    submitted = [job.submit for job in even.jobs(0)]
    assert submitted == sorted(submitted)


def test_published_experiments_are_scenarios():
    separated, interleaved, apart = experiment_scenarios(10)
    assert [len(each.variants) for each in (separated, interleaved, apart)] == [16, 8, 8]
    # Experiment 10 is capped at its capacities; of four queues the first two have small jobs.
    tenth = separated.variant("experiment_10").settings
    assert (tenth["queue.queue1.capacity"], tenth["queue.queue1.maximum-capacity"]) == (70, 70)
    jobs = RunSetup(apart, Path(), "experiment_25").jobs(0)
    assert max(job.maps for job in jobs if job.queue in ("queue1", "queue2")) == 10
    assert apart.variant("experiment_25").settings["queue.queue1.capacity"] == 10


def test_runs_of_the_small_cluster_are_those_of_the_table():
    scenarios = small_scenarios(3)
    names = [variant.name for each in scenarios for variant in each.variants]
    assert sorted(names) == sorted(published().makespans)
    jobs = {
        variant.name: RunSetup(each, Path(), variant.name).jobs(0)
        for each in scenarios
        for variant in each.variants
    }
    assert [job.maps for job in jobs["two"]] == [75] * 6
    assert len(jobs["three"]) == 9
    assert {job.reduces for job in jobs["percent_25_reduces_5"]} == {5}
    assert len({job.user for job in jobs["percent_100"]}) == 4
    assert {job.family: job.priority for job in jobs["priorities"]} == {
        "sort": JobPriority.VERY_LOW,
        "terasort": JobPriority.NORMAL,
        "wordcount": JobPriority.VERY_HIGH,
    }
    # More tasks than a user may have initialised would be rejected.
    assert all(job.tasks <= 80 for job in jobs["active_tasks_100"])


def test_validation_has_four_jobs_in_one_queue_and_eight_in_two():
    scenarios = {each.name: each for each in validation_scenarios(2)}
    assert len(scenarios) == 4
    one, two = (
        RunSetup(scenarios[f"capacity_validation2_{name}"], Path(), variant).jobs(0)
        for name, variant in (("one", "one"), ("two", "queues"))
    )
    assert ([job.maps for job in one], len(two)) == ([32, 16, 32, 16], 8)
    assert {job.user for job in two if job.queue == "queue2"} == {"user3", "user4"}
    # Each sort comes after the TeraSort of its user.
    assert all(two[job.after].user == job.user for job in two if job.family == "sort")
