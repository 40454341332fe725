from __future__ import annotations

from dataclasses import replace

import pytest

from rebecsim.clusters.mapreduce.columns import JOB_FIGURES
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from reproductions.capacity.published import Found, Key, as_found, published
from reproductions.capacity.running import experiment_scenarios, number_of
from reproductions.capacity.targets import SMALL_TARGETS, TARGETS, checked

BY_NAME = {each.name: each for each in (*TARGETS, SMALL_TARGETS[0])}

EVERY = set(range(1, 33))

# What makes each target fail: (figure, experiments, families, queues, factor).
SPOILT = {
    "R1": ("rack_local", EVERY, {"type7"}, None, 0.9),
    "R2": ("response_ratio", {4, 6, 7, 8}, {"type6"}, None, 1.6),
    "R3": ("response_ratio", {6}, {"type1"}, None, 1.3),
    "R4": ("response_ratio", {1}, {"type4"}, None, 3.3),
    "R5": ("makespan", {3}, None, {"queue1"}, 1.06),
    "R6": ("makespan", {13}, None, {"queue2"}, 0.85),
    "R7": ("response_ratio", {14}, {"type5"}, {"queue2"}, 0.5),
    "R8": ("response_ratio", {10}, {"type5"}, {"queue1"}, 1.2),
    "R9": ("makespan", {20, 22, 23, 24}, None, None, 1.03),
    "R10": ("response_ratio", {26}, {"type7"}, None, 1.3),
    "R11": ("response_ratio", {30}, {"type5"}, None, 1.2),
    "R12": ("response_ratio", {27}, {"type4"}, None, 0.3),
    "R13": ("makespan", {30}, None, {"queue3", "queue4"}, 1.05),
    "R14": ("variation", {4, 6, 7, 8}, {"type7"}, None, 0.2),
    "R15": ("response_ratio", {22}, {"type6"}, None, 0.4),
}


@pytest.fixture
def theirs() -> Found:
    return as_found(published())


def spoilt(found: Found, name: str) -> Found:
    figure, experiments, families, queues, factor = SPOILT[name]

    def hit(key: Key) -> bool:
        return (
            key.figure == figure
            and key.experiment in experiments
            and (families is None or key.family in families)
            and (queues is None or key.queue in queues)
        )

    changed = {key: value * factor if hit(key) else value for key, value in found.values.items()}
    assert changed != found.values
    return replace(found, values=changed)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_published_tables_say_what_they_are_taken_to_say(theirs, name):
    assert checked(BY_NAME[name], theirs).verdict == "holds"


@pytest.mark.parametrize("name", SPOILT)
def test_a_target_is_missed_by_figures_that_say_otherwise(theirs, name):
    assert checked(BY_NAME[name], spoilt(theirs, name)).verdict == "missed"


@pytest.mark.parametrize(
    ("run", "makespans", "said"),
    [
        ("ninety_capped", (1292.0, 1900.0), "caps, 90 and 10 % (queue 2)"),
        ("ninety_capped", (1100.0, 2195.0), "caps, 90 and 10 % (queue 1)"),
        ("ninety_reduces_2_factor_2", (1040.0, 1249.0), "factor 2, 90 and 10 % (queue 1)"),
        ("percent_25", (690.0,), "5 reduces for each job, not 1 (queue 1)"),
        ("system_jobs_2", (1600.0, 1700.0), "4 jobs initialised, not 2 (queue 1)"),
        ("two_capped", (1127.4, 1161.0), "caps, 50 % (queue 1)"),  # equal to the second
    ],
)
def test_each_direction_of_the_small_cluster_counts(theirs, run, makespans, said):
    changed = replace(theirs, makespans={**theirs.makespans, run: makespans})
    seen = checked(BY_NAME["R16"], changed)
    assert (seen.verdict, said in seen.ours) == ("missed", True)


def test_every_pair_of_table_5_1_that_differs_in_one_setting_is_a_row():
    pairs = published().pairs
    names = {name for pair in pairs for name in (pair.before, pair.after)}
    assert names == set(published().makespans)
    assert len(pairs) == 17
    assert checked(BY_NAME["R16"], as_found(published())).ours == "32 of 32 directions"


@pytest.mark.parametrize("name", BY_NAME)
def test_nothing_is_said_of_what_was_not_run(name):
    seen = checked(BY_NAME[name], Found({}, {}))
    assert (seen.verdict, seen.ours[:7]) == ("open", "without")


def test_the_tables_are_whole(theirs):
    tables = published().tables
    assert [each.number for each in tables] == [f"6.{number}" for number in range(1, 21)]
    for table in tables:
        assert table.figure in JOB_FIGURES
        assert all(len(row) == len(table.experiments) == 8 for row in table.rows.values())
    assert sum(len(each.rows) for each in tables) == 95
    assert theirs.of("makespan", 26, "", "queue1") == 407
    assert theirs.of("response_ratio", 10, "type5", "queue2") == 26


def settings_of(scenario: MapReduceScenario, number: int) -> tuple[object, ...]:
    """Give what tables 4.2 and 4.3 say of an experiment: capacities, whether capped, and limits."""
    settings = next(each for each in scenario.variants if number_of(each.name) == number).settings
    queues = [f"queue.queue{place}." for place in range(1, 5)]
    queues = [each for each in queues if f"{each}capacity" in settings]
    capacities = tuple(settings[f"{each}capacity"] for each in queues)
    maxima = tuple(settings[f"{each}maximum-capacity"] for each in queues)
    assert maxima in (capacities, (-1,) * len(queues))
    (factor,) = {settings[f"{each}user-limit-factor"] for each in queues}
    (percent,) = {settings[f"{each}minimum-user-limit-percent"] for each in queues}
    return capacities, maxima == capacities, factor, percent


def test_settings_are_those_of_the_tables():
    scenarios = experiment_scenarios(1)
    numbers = [number_of(each.name) for scenario in scenarios for each in scenario.variants]
    assert numbers == list(range(1, 33))
    blocks = {1: (50, 50), 9: (70, 30), 17: (50, 50), 25: (10, 10, 40, 40)}
    # In each block of eight: capped, factor and percent.
    rows = [(False, 1, 100), (True, 1, 100), (False, 2, 100), (False, 1, 25)]
    rows += [(True, 2, 100), (True, 1, 25), (False, 2, 25), (True, 2, 25)]
    for first, capacities in blocks.items():
        scenario = next(each for each in scenarios if f"experiment_{first}" in each.names)
        for place, row in enumerate(rows):
            assert settings_of(scenario, first + place) == (capacities, *row)
    patterns = [each.workload.mix.pattern for each in scenarios]
    assert patterns == ["separated", "interleaved", "apart"]
    assert scenarios[2].workload.mix.small_queues == ("queue1", "queue2")


def test_experiments_can_be_run_one_by_one():
    (scenario,) = experiment_scenarios(3, {18, 20})
    assert (scenario.name, scenario.replications) == ("capacity_interleaved", 3)
    assert scenario.names == ("experiment_18", "experiment_20")
