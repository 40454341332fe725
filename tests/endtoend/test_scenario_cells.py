"""Cells of scenarios that are models as they stand: explored, and searched for races."""

import json
from pathlib import Path

import pytest

import rebecsim as rs
from tests.conftest import Run
from tests.every_order import ends_of_every_order

CLUSTER = """
kind = "dispatch"
name = "one_master"
policies = [{policies}]
app_masters = [1, 2]
queue_size = 2
epsilon = 1.0
replications = 10
ticks = 4
seed = 1
{eviction}
[high_priority]
probability = 0
length = 0

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
{lengths}
"""
EVICTION = "\n[eviction]\ncheckpoint_overhead = 1\n"
CONSTANT = 'pattern = "uniform"\nlength = 2'
DRAWN = 'pattern = "nondet"\nminimum = 2\nmaximum = 3'
TICK = "    self.checkQueue() after(1);"
LAST_TICK = "    if (m_arrived_jobs < 5) { self.checkQueue() after(1); }"
DONE = "      m_jobs_complete++;"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    plain = CLUSTER.format(policies='"FIFO", "EDF"', eviction="", lengths=CONSTANT)
    (tmp_path / "plain.toml").write_text(plain)
    evicting = CLUSTER.format(policies='"MDF"', eviction=EVICTION, lengths=DRAWN)
    (tmp_path / "evicting.toml").write_text(evicting)
    return tmp_path


def test_the_race_of_the_thesis_is_in_the_kind_itself(run: Run, folder: Path) -> None:
    """The two kinds of races of `models/races/natjam_race.rebeca`; the manager's tick is its check.

    The model was written beside the kind, after the thesis; this is what is simulated.
    """
    result = run("races", "evicting.toml", "--horizon", "3", "--json")
    assert result.returncode == 3  # beyond the horizon nothing was looked at
    groups = json.loads(result.stdout)["groups"]
    found = {
        frozenset(f"{each['rebec']}.{each['server']}" for each in group["contenders"])
        for group in groups
    }
    assert found == {
        frozenset({"am1.process", "am1.runJob"}),
        frozenset({"rm.checkQueue", "rm.update"}),
    }


def ending(folder: Path, policy: str) -> rs.LoadedModel:
    """Give a cell whose cluster stops after three jobs."""
    text = rs.load(folder / "plain.toml", policy=policy).text
    assert text is not None
    assert text.count(TICK) == 1
    return rs.loads(text.replace(TICK, LAST_TICK), policy)


@pytest.mark.parametrize("policy", ["FIFO", "EDF"])
def test_a_small_cluster_has_the_ends_of_all_orders(folder: Path, policy: str) -> None:
    model = ending(folder, policy)
    found = rs.explore(model)
    assert found.verdict == "satisfied"
    variable = "rm.m_jobs_complete"
    ends = set(ends_of_every_order(model.model, variable))
    assert set(found.finals(variable)) == ends
    assert ends


def test_a_fault_in_the_manager_is_found(folder: Path) -> None:
    text = ending(folder, "EDF").text
    assert text is not None
    assert text.count(DONE) == 1
    found = rs.explore(rs.loads(text.replace(DONE, ""), "forgetful"))
    assert found.verdict == "assertion failed"
    assert found.path.breach.text == "every job that arrived is accounted for"


def test_a_cell_is_chosen_by_name_and_drawn(run: Run, folder: Path) -> None:
    name = "edf_uniform1_uniform2_am2"
    result = run("draw", "plain.toml", "--cell", name, "--out", "two.svg")
    assert result.returncode == 0
    assert "am2" in Path("two.svg").read_text()
    assert rs.load("plain.toml", cell=name).name == name


def test_a_counterexample_of_a_cell_is_replayed(run: Run, folder: Path) -> None:
    explored = run(
        *("explore", "plain.toml", "--policy", "EDF", "--horizon", "3"),
        *("--invariant", "rm.m_arrived_jobs < 2", "--save", "run.json"),
    )
    assert explored.returncode == 1
    replayed = run("replay", "run.json", "plain.toml", "--policy", "EDF")
    assert replayed.returncode == 1
    assert replayed.stdout.splitlines()[-1] == "property violated: rm.m_arrived_jobs < 2"


def test_a_variant_of_a_model_is_explored(run: Run) -> None:
    result = run("explore", "fresh_readings", "--horizon", "20")
    assert result.returncode == 1
    assert "deadline missed: reading() with deadline 4 is served at time 5" in result.stdout


COUNTER = """
env int LIMIT = 2;
reactiveclass Counter(5) {
  statevars { int asked; int last; }
  Counter() { asked = 0; last = 0; }
  msgsrv ask(int who) { asked++; last = who; assertion(asked <= LIMIT); }
}
reactiveclass Client(2) {
  knownrebecs { Counter counter; }
  Client(int who) { self.go(who); }
  msgsrv go(int who) { counter.ask(who) after(1); }
}
main { Counter counter():(); Client ann(counter):(1); Client bob(counter):(2); }
"""
COUNTED = """
kind = "model"
name = "counted"
model = "counter.rebeca"
until = 5
replications = 1
sweep = { LIMIT = [1, 2] }
observe = [{ value = "counter.last" }]
"""


def test_a_cell_of_the_kind_model_is_explored_as_brute_force_does(folder: Path) -> None:
    """The first cell has the fault: its counter takes one client for all."""
    (folder / "counter.rebeca").write_text(COUNTER)
    (folder / "counted.toml").write_text(COUNTED)
    faulty, right = (rs.load("counted.toml", cell=f"limit_{each}") for each in (1, 2))
    assert rs.explore(faulty).verdict == "assertion failed"
    found = rs.explore(right)
    assert found.verdict == "satisfied"
    ends = set(ends_of_every_order(right.model, "counter.last"))
    assert set(found.finals("counter.last")) == ends == {1, 2}
