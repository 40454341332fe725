from __future__ import annotations

from dataclasses import replace

import pytest

from rebecsim.clusters.mapreduce.figures.jobs import JOB_FIGURES
from rebecsim.clusters.mapreduce.reproduction.found import Found, Key, as_found
from rebecsim.clusters.mapreduce.reproduction.published import published
from rebecsim.clusters.mapreduce.reproduction.targets import TARGETS, checked

BY_NAME = {each.name: each for each in TARGETS}

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
    ("run", "makespans"),
    [
        ("ninety_capped", (1292.0, 1900.0)),
        ("ninety_reduces_2", (847.0, 1200.0)),
        ("percent_25", (690.0,)),
        ("system_jobs_2", (1600.0, 1700.0)),
        ("active_tasks_100", (1200.0, 1300.0)),
    ],
)
def test_each_direction_of_the_small_cluster_counts(theirs, run, makespans):
    changed = replace(theirs, makespans={**theirs.makespans, run: makespans})
    assert checked(BY_NAME["R16"], changed).verdict == "missed"


@pytest.mark.parametrize("name", BY_NAME)
def test_nothing_is_said_of_what_was_not_run(name):
    seen = checked(BY_NAME[name], Found({}, {}))
    assert (seen.verdict, seen.figure[:7]) == ("open", "without")


def test_the_tables_are_whole(theirs):
    tables = published().tables
    assert [each.number for each in tables] == [f"6.{number}" for number in range(1, 21)]
    for table in tables:
        assert table.figure in JOB_FIGURES
        assert all(len(row) == len(table.experiments) == 8 for row in table.rows.values())
    assert sum(len(each.rows) for each in tables) == 95
    assert theirs.of("makespan", 26, "", "queue1") == 407
    assert theirs.of("response_ratio", 10, "type5", "queue2") == 26


def test_settings_are_those_of_the_tables():
    settings = published().experiments
    assert list(settings) == list(range(1, 33))
    assert {each.pattern for each in settings.values()} == {"separated", "interleaved", "apart"}
    # Each block of eight is a full factorial of cap, factor and percent.
    for begin in range(1, 33, 8):
        block = [settings[number] for number in range(begin, begin + 8)]
        assert len({(each.capped, each.factor, each.percent) for each in block}) == 8
        assert len({(each.pattern, each.capacities) for each in block}) == 1
    assert all(sum(each.capacities) == 100 for each in settings.values())
