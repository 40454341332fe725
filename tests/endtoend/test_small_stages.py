"""A resource manager of stages that is compared in a scenario is explored, as a user would do."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run

BURST = """\
kind = "stages"
name = "burst"
policies = ["EDF", "FIFO"]

[workload]
jobs = 3
rate = 1000
map_reduce = { maps = 3, longest_map = 10 }
reserved = 0
multiplier = 3

[resources]
count = 2
map_slots = 1
reduce_slots = 1
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "burst.toml").write_text(BURST)
    return "burst.toml"


def test_explore_says_whose_starts_depend_on_the_order(run: Run, scenario: str) -> None:
    result = run("explore", scenario, "--jobs", "2")
    assert result.returncode == 0
    text = " ".join(result.stdout.split())
    assert "burst.toml, cut to 2 jobs on 2 resources: no promise is broken in any order" in text
    assert "when jobs start depends on it under EDF, FIFO." in text
    assert "- a resource never runs more tasks than it has slots" in text


def test_races_shows_both_orders(run: Run, scenario: str) -> None:
    result = run(
        *("races", scenario, "--jobs", "2", "--policy", "EDF", "--observe", "manager.starts")
    )
    assert result.returncode == 0
    assert "EDF: no race is harmful; in 1 of 1 kind the order matters" in result.stdout
    assert "consider() from manager; submit(job_1) from arrivals" in result.stdout


def test_a_built_in_scenario_is_explored(run: Run) -> None:
    result = run("explore", "slots_by_deadlines", "--jobs", "2", "--policy", "MLF", "--json")
    assert result.returncode == 0
    found = json.loads(result.stdout)
    assert len(found) == 2  # loads
    assert all(each["starts"] is not None for each in found.values())


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("[resources]", "[hadoop]\n[resources]", "a Hadoop cluster cannot be explored"),
        (
            "[resources]",
            '[decisions]\ncharged_by = "clock"\n[resources]',
            "decisions are charged by the wall clock",
        ),
    ],
)
def test_what_cannot_be_cut_is_said(run: Run, scenario: str, old, new, text) -> None:
    Path(scenario).write_text(BURST.replace(old, new))
    result = run("explore", scenario)
    assert result.returncode == 2
    assert text in " ".join(result.stderr.split())
