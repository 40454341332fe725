"""A scheduler that is compared on a log is explored, as a user would do it."""

import json
from pathlib import Path

import pytest

import rebecsim as rs
from tests.conftest import Run

LOG = """\
; MaxProcs: 4
1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 -1 1 -1 -1 -1
2 1 -1 10 4 -1 -1 4 10 -1 1 2 1 -1 1 -1 -1 -1
3 1 -1 30 2 -1 -1 2 30 -1 1 1 1 -1 1 -1 -1 -1
4 2 -1  3 1 -1 -1 1  3 -1 1 2 1 -1 1 -1 -1 -1
"""

GREEDY = '''
from rebecsim.clusters import Plugin
from rebecsim.clusters.batch import BatchPolicy, EasyBackfilling


class Greedy(EasyBackfilling):
    """Forgets what the head of the queue will need."""

    def _reservation(self):
        shadow, beside, _ = super()._reservation()
        return shadow, beside, self.machine.processors


plugin = Plugin(batch_policies=(BatchPolicy("GREEDY", "Greedy", "faulty", backfilling=Greedy),))
'''

SIZE = ("--jobs", "4", "--nodes", "4")


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "close.swf").write_text(LOG)
    write(tmp_path, '"EASY", "FCFS"')
    return "close.toml"


def write(folder: Path, policies: str) -> None:
    text = f'kind = "batch"\nname = "close"\npolicies = [{policies}]\n'
    (folder / "close.toml").write_text(f'{text}[workload]\nlog = "close.swf"\n')


def test_explore_says_whose_starts_depend_on_the_order(run: Run, scenario: str) -> None:
    result = run("explore", scenario, *SIZE)
    assert result.returncode == 0
    first, second = result.stdout.splitlines()[:2]
    assert first.startswith("close.toml, cut to 4 jobs on 4 processors: no promise is broken")
    assert second.endswith("start depends on it under EASY, FCFS.")
    assert "│ job 2     │    10 or 31 │   10 or 31 │" in result.stdout
    assert "Both orders as diagrams: `rebecsim races` with `--policy EASY`." in result.stdout


def test_a_search_that_is_cut_off_says_how_far_it_came(run: Run, scenario: str) -> None:
    result = run("explore", scenario, *SIZE, "--max-states", "20", "--policy", "EASY")
    assert result.returncode == 3
    answer = " ".join(result.stdout.split())
    assert "undecided: no promise is broken in 20 states under EASY" in answer
    assert "limit of 20 states was reached; search on with `--max-time`" in answer
    later = run("explore", scenario, *SIZE, "--horizon", "1", "--policy", "EASY")
    assert "(times are in s)" in " ".join(later.stdout.split())


def test_starts_are_those_of_the_search_itself(scenario: str) -> None:
    found = rs.explore(rs.small_clusters(scenario, policies=["FCFS"])["FCFS"])
    assert found.result.finals is not None
    variable, values = found.result.finals
    assert variable == "manager.starts"
    assert sorted(values) == sorted(found._space(rs.Limits()).final_values(variable))


def test_races_shows_both_orders(run: Run, scenario: str) -> None:
    result = run("races", scenario, *SIZE, "--policy", "EASY", "--observe", "manager.starts")
    assert result.returncode == 0
    assert "EASY: no race is harmful; in 1 of 1 kind the order matters" in result.stdout
    assert "manager.starts = [0, -1, 1, -1]" in result.stdout


def test_a_policy_at_fault_breaks_its_promise(run: Run, scenario: str, tmp_path: Path) -> None:
    (tmp_path / "greedy.py").write_text(GREEDY)
    write(tmp_path, '"GREEDY"')
    result = run("explore", scenario, *SIZE, "--plugin", "greedy.py", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)["GREEDY"]
    assert found["verdict"] == "assertion failed"
    assert found["message"] == "job 2 had a reservation at 10 s, and now has it at 31 s"
    assert found["starts"] is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("explore", "for_edf", "--jobs", "2"),
            "for_edf: clusters of kind `dispatch` cannot be explored",
        ),
        (("explore", "for_edf", "--cell", "edf"), "for_edf: no cell edf; it has edf_uniform1"),
        (("step", "for_edf", "--policy", "SJF"), "for_edf: no policy SJF; it has EDF, FIFO"),
        (("explore", "close.toml", "--cell", "easy"), "close.toml is cut by `--jobs`"),
        (("explore", "close.toml", "--as-test", "t.py"), "is for models; of a scenario"),
        (("explore", "close.toml", "--save", "run.json"), "is written for one cluster"),
        (("explore", "close.toml", "--policy", "SJF"), "no policy SJF; it has EASY, FCFS"),
        (("races", "close.toml"), "close.toml has several clusters; choose one of EASY, FCFS"),
        (("explore", "none.toml"), "none.toml"),
    ],
)
def test_mistakes_are_explained(run: Run, scenario: str, arguments, text) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert text in " ".join(result.stderr.split())


def test_a_model_is_not_cut(run: Run, scenario: str) -> None:
    Path("one.rebeca").write_text("reactiveclass A(1) { } main { A a():(); }")
    result = run("explore", "one.rebeca", "--jobs", "4")
    assert result.returncode == 2
    assert "is a model; this option works only for scenarios" in result.stderr


def test_python_has_the_clusters_as_models(scenario: str) -> None:
    clusters = rs.small_clusters(scenario, jobs=4, nodes=4)
    found = rs.explore(clusters["EASY"])
    assert found.verdict == "satisfied"
    assert clusters["EASY"].starts(found) == {
        "job 1": [0],
        "job 2": [10, 31],
        "job 3": [1, 20],
        "job 4": [2, 10],
    }
    assert not rs.races(clusters["EASY"]).races.is_harmful
    assert len(rs.simulate(clusters["FCFS"]).events) > 10


SLOTS = """\
kind = "mapreduce"
name = "slots"
cluster = { nodes = 2, map_slots = 1, reduce_slots = 1, heartbeat = 3000, replication = 1 }
workload = { block = 1, jobs = [
    { family = "first", count = 2, maps = 2, reduces = 0, arrivals = { gap = 3.0 } },
    { family = "small", count = 1, maps = 1, reduces = 0, queue = "b", arrivals = { first = 3.0 } },
] }
variants = [{ name = "FIFO", scheduler = "FIFO" }, { name = "FAIR", scheduler = "FAIR" }]
"""


def test_slots_are_explored_and_their_races_found(run: Run, scenario: str, tmp_path: Path) -> None:
    (tmp_path / "slots.toml").write_text(SLOTS)
    result = run("explore", "slots.toml")
    assert result.returncode == 0
    assert result.stdout.startswith("slots.toml, cut to 3 jobs on 2 nodes: no promise is broken")
    assert "depends on it under FAIR." in result.stdout
    assert "- FIFO: no job gets a slot while an earlier one asks" in result.stdout
    assert "- Fair: no pool gets a slot above its minimum share" in result.stdout
    races = run("races", "slots.toml", "--policy", "FAIR", "--observe", "jobtracker.starts")
    assert races.returncode == 0
    assert "order matters" in races.stdout


SOLVED = """
kind = "stages"
name = "solved"
policies = ["MILP", "EDF"]
replications = 1
[workload]
jobs = 2
rate = 0.03
map_reduce = { maps = 2, longest_map = 3 }
reserved = 0.0
[resources]
count = 2
map_slots = 1
reduce_slots = 1
"""


def test_a_solver_is_explored_that_searches_to_its_end(
    run: Run, scenario: str, tmp_path: Path
) -> None:
    (tmp_path / "stages.toml").write_text(SOLVED)
    result = run("explore", "stages.toml", "--jobs", "2")
    assert result.returncode == 0
    assert "no promise is broken" in " ".join(result.stdout.split())
    assert "MILP" in result.stdout


PEEKING = """
kind = "yarn"
name = "peeking"
policies = ["PEEK", "REGULAR"]
[workload]
trace = "two.json"
[elasticity]
penalty = { model = "STEP", bump = 2.0 }
[cluster]
nodes = [{ count = 1, memory = 2048, cores = 4 }, { count = 1, memory = 4096, cores = 4 }]
"""
TASK = """{"job.id": "one", "job.start.ms": 0,
 "job.tasks": [{"count": 1, "container.memory": 3000, "duration.ms": 2000}]}"""


def test_what_cannot_be_cut_is_left_out(run: Run, scenario: str, tmp_path: Path) -> None:
    (tmp_path / "peeking.toml").write_text(PEEKING)
    (tmp_path / "two.json").write_text(TASK)
    result = run("explore", "peeking.toml", "--nodes", "1")
    assert result.returncode == 0
    assert "left out: two.json:1: one, task 1 asks for 3000 MB" in " ".join(result.stderr.split())
    assert "PEEK" in result.stdout
    alone = run("explore", "peeking.toml", "--nodes", "1", "--policy", "REGULAR")
    assert alone.returncode == 2


def test_what_has_no_text_of_its_own_is_no_change(run: Run) -> None:
    policy = "FIFO (load factor 0.5)"
    size = ("--jobs", "2", "--nodes", "1", "--policy", policy)
    result = run("explore", "fifo_or_fair", *size, "--invariant", "manager.left_over > 1")
    assert result.returncode == 1
    assert "left_over = 1" in result.stdout
    assert "ClusterState" not in result.stdout
