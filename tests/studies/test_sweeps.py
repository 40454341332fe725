"""Sweeps: keys of scenarios of every kind that take several values, one after the other."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

import rebecsim as rs
from rebecsim.clusters.kinds import kind_names
from rebecsim.clusters.scenarios import load, open_run, plan_of_run
from rebecsim.errors import UserError
from rebecsim.studies.scenario_files import ScenarioError, ScenarioText
from rebecsim.studies.stored_runs import compare_runs
from rebecsim.studies.sweeps import read_sweep
from tests.clusters.model.models import QUEUE

READERS = Path(__file__).resolve().parents[1] / "data/readers"
KINDS: dict[str, dict[str, Any]] = {
    "dispatch": {
        "policies": ["EDF", "FIFO"],
        "app_masters": [1, 2],
        "queue_size": 4,
        "epsilon": 2.0,
        "ticks": 30,
        "order": "fifo",
        "arrivals": [{"pattern": "uniform", "count": 1}],
        "lengths": [{"pattern": "nondet", "minimum": 1, "maximum": 6}],
        "sweep": {"queue_size": [2, 4]},
    },
    "batch": {
        "policies": ["FCFS", "EASY"],
        "workload": {"generate": {"jobs": 40, "processors": 16}},
        "machine": {"processors": 16},
        "sweep": {"workload.load": [0.5, 0.9]},
    },
    "model": {
        "model": "queue.rebeca",
        "until": 60,
        "observe": [{"value": "desk.served"}],
        "sweep": {"until": [30, 60], "SERVICE": [1, 3]},
    },
    "yarn": {
        "policies": ["REGULAR", "GREEDY"],
        "workload": {
            "generate": {
                "jobs": 6,
                "start": {"low": 0, "high": 30},
                "tasks": {"low": 1, "high": 8},
                "duration": {"low": 5, "high": 40},
                "memory": {"low": 500, "high": 3000},
            }
        },
        "cluster": {
            "nodes": [{"count": 6, "memory": 4000, "cores": 4}],
            "master_memory": 500,
        },
        "elasticity": {"penalty": {"model": "STEP", "bump": 1.5}},
        "sweep": {"cluster.master_memory": [500, 900]},
    },
    "mapreduce": {
        "workload": {"jobs": [{"family": "some", "maps": 3, "reduces": 1, "count": 4}]},
        "cluster": {"nodes": 3},
        "variants": [
            {"name": "fifo", "scheduler": "FIFO"},
            {"name": "fair", "scheduler": "FAIR"},
        ],
        "sweep": {"cluster.nodes": [3, 5]},
    },
    "stages": {
        "policies": ["WFBB_PD_SL_TSP1", "EDF"],
        "workload": {"jobs": 6, "rate": 0.03, "workflows": ["cybershake"], "reserved": 0.0},
        "resources": {"count": 5, "slots": 2},
        "sweep": {"workload.multiplier": [2, 10]},
    },
    "slurm": {
        "log": "sacct.txt",
        "confs": ["slurm.conf"],
        "run_time_errors": [1.5],
        "settings": {"bf_interval": 30},
        "sweep": {"settings.bf_window": [60, 600]},
    },
}


def scenario(kind: str, **changes: Any) -> dict[str, Any]:
    return {"kind": kind, "name": "swept", "replications": 3, **KINDS[kind], **changes}


def text_of(values: dict[str, Any], folder: Path) -> ScenarioText:
    (folder / "queue.rebeca").write_text(QUEUE)
    for name in ("sacct.txt", "slurm.conf"):
        shutil.copy(READERS / name, folder)
    return ScenarioText("swept.toml", values, {}, folder)


def ran(values: dict[str, Any], folder: Path, name: str = "run") -> rs.Comparison:
    from rebecsim.interface.comparing import Comparison, Running, compare_loaded

    how = Running(out=folder / name, orders=False)
    return compare_loaded(load(text_of(values, folder)), how, Comparison, progress=False)


def test_there_is_a_sweep_for_each_kind() -> None:
    assert set(KINDS) == set(kind_names())


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_any_kind_is_a_coordinate_of_its_results(kind: str, tmp_path: Path) -> None:
    values = scenario(kind)
    key, swept = next(iter(values["sweep"].items()))
    column = key.replace(".", "_")
    found = ran(values, tmp_path)
    rows = found.query(f"SELECT DISTINCT {column} FROM cells ORDER BY 1").to_pylist()
    assert [row[column] for row in rows] == swept
    assert found.query(f"SELECT {column} FROM replications").num_rows >= 3 * len(swept)
    assert found.report.axis is not None
    assert found.report.axis.coordinate == column
    measure = found.report.metrics[0].name
    page = found.write(tmp_path / "report").read_text()
    assert f"Along {column.replace('_', ' ')}" in page
    assert (tmp_path / "report" / "charts" / f"{measure}.png").exists()
    with (tmp_path / "report" / f"by_{column}.csv").open() as file:
        assert {row[column] for row in csv.DictReader(file)} == {f"{each}" for each in swept}
    with (tmp_path / "report" / "table.csv").open() as file:
        assert {row[column] for row in csv.DictReader(file)} == {f"{each}" for each in swept}
    stored = open_run(tmp_path / "run")
    assert plan_of_run(stored).cells == stored.cells
    assert all(each.identical for each in compare_runs(stored, stored).cells)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_those_of_a_scenario_with_the_value(kind: str, tmp_path: Path) -> None:
    """So a sweep is nothing but several scenarios, with the same random numbers."""
    values = scenario(kind)
    key, swept = next(iter(values["sweep"].items()))
    rest = {name: each for name, each in values["sweep"].items() if name != key}
    column = key.replace(".", "_")
    found = ran(values, tmp_path)
    for value in swept:
        alone = {**values, "sweep": rest}
        table, _, name = key.rpartition(".")
        if table:
            alone[table] = {**alone[table], name: value}
        else:
            alone[key] = value
        other = ran(alone, tmp_path, f"alone_{value}")
        measure = found.report.metrics[0].name
        sql = f"SELECT policy, {measure} FROM cells {{}} ORDER BY ALL"
        mine = found.query(sql.format(f"WHERE {column} = {value}")).to_pylist()
        assert mine == other.query(sql.format("")).to_pylist()


def test_arrivals_that_are_swept_share_their_random_numbers(tmp_path: Path) -> None:
    swept = {"arrivals[0].count": [1, 2], "lengths[0].maximum": [4, 6]}
    cells = load(text_of(scenario("dispatch", sweep=swept), tmp_path)).plan().cells
    assert len(cells) == 4 * 2 * 2
    assert len({cell.key for cell in cells}) == 2  # one for each cluster size
    assert len({cell.name for cell in cells}) == len(cells)
    told = {(cell.cell["lengths"], cell.cell["lengths_0_maximum"]) for cell in cells}
    assert {place for _, place in told} == {4, 6}
    assert len({label for label, _ in told}) == 2


def test_what_a_value_changes_is_told_from_the_same_runs(tmp_path: Path) -> None:
    values = scenario("stages", sweep={"workload.multiplier": [1, 50]}, policies=["EDF"])
    found = ran(values, tmp_path)
    found.write(tmp_path / "report")
    with (tmp_path / "report" / "differences_by_workload_multiplier.csv").open() as file:
        rows = {row["metric"]: row for row in csv.DictReader(file)}
    sql = "SELECT workload_multiplier, replication, late FROM replications ORDER BY ALL"
    late = found.query(sql).column("late").to_pylist()
    differences = [second - first for first, second in zip(late[:3], late[3:], strict=True)]
    assert sum(differences) < 0
    assert float(rows["late"]["difference"]) == pytest.approx(sum(differences) / 3)
    assert (rows["late"]["workload_multiplier"], rows["late"]["compared_with"]) == ("50", "1")


def test_words_are_grouped_and_further_keys_are_drawn(tmp_path: Path) -> None:
    swept = {"workload.multiplier": [2, 10], "workload.alone": ["resources", "sequential"]}
    found = ran(scenario("stages", sweep=swept), tmp_path)
    found.write(tmp_path / "report")
    charts = {path.name for path in (tmp_path / "report" / "charts").iterdir()}
    assert {"late.png", "late_by_workload_alone.png"} <= charts
    lines = [each for along in found.report.by_axis.values() for each in along.policies]
    assert "EDF, workload alone sequential" in lines


def test_charts_of_the_kind_stay_beside_those_of_a_swept_key(tmp_path: Path) -> None:
    ran(scenario("dispatch"), tmp_path).write(tmp_path / "report")
    report = tmp_path / "report"
    assert (report / "charts" / "deadline_misses_by_cluster_size.png").exists()
    with (report / "by_cluster_size.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["app_masters"] for row in rows} == {"1", "2"}
    assert {row["policy"] for row in rows} >= {"EDF, queue size 2", "FIFO, queue size 4"}


def test_what_is_compared_apart_stays_apart_along_a_swept_key(tmp_path: Path) -> None:
    values = scenario("batch", load_factors=[1.0, 2.0], estimate_errors=[0.0, 5.0])
    ran(values, tmp_path).write(tmp_path / "report")
    with (tmp_path / "report" / "differences_by_workload_load.csv").open() as file:
        lines = {row["policy"] for row in csv.DictReader(file)}
    assert len(lines) == 2 * 2 * 2
    assert "EASY, load factor 2.0, estimates error 5" in lines


def test_tables_of_toml_are_parts_of_keys(tmp_path: Path) -> None:
    swept = {"workload": {"multiplier": {"from": 2, "to": 6, "step": 2}}}
    plan = load(text_of(scenario("stages", sweep=swept), tmp_path)).plan()
    assert plan.scenario.sweep == {"workload.multiplier": (2, 4, 6)}


@pytest.mark.parametrize(
    ("kind", "sweep", "said"),
    [
        ("stages", {"workload.multiplyer": [2]}, "did you mean workload.multiplier?"),
        ("stages", {"multiplier": [2]}, "did you mean workload.multiplier?"),
        ("stages", {"workload.multiplier": [2, 0]}, "must be at least 1, found 0"),
        ("stages", {"resources.count": [2.5]}, "must be a whole number, found 2.5"),
        ("stages", {"workload.map_reduce.maps": [2]}, "there is no [workload.map_reduce]"),
        ("stages", {"workload.jobs.x": [2]}, "workload.jobs is not a table"),
        ("stages", {"workload.rate": []}, "must be a list of values, or { from = 1"),
        ("stages", {"workload.rate": [1, 1]}, "1 is listed twice; remove one"),
        ("stages", {"workload.rate[": [1]}, "is not a key; write it as in workload.rate"),
        ("stages", {"policies": [["EDF"]]}, "value by value already; list its values in policies"),
        ("stages", {"policies[0]": ["EDF"]}, "value by value already; list its values in policies"),
        ("stages", {"seed": [1, 2]}, "holds for the whole comparison"),
        ("stages", {"resources.slots": [None]}, "give either slots"),
        ("stages", {"warm_up": ["mser6"]}, "warm_up"),
        ("dispatch", {"arrivals.count": [1]}, "arrivals is a list; name one of its entries"),
        ("dispatch", {"arrivals[1].count": [1]}, "arrivals has 1 entries, counted from 0"),
        ("dispatch", {"arrivals[0].cont": [1]}, "did you mean arrivals[0].count?"),
        ("dispatch", {"app_masters": [[1], [2]]}, "list its values in app_masters"),
        ("dispatch", {"speeds": [[1.0], [2.0]]}, "sweep"),
        ("mapreduce", {"variants[0].name": ["a", "b"]}, "changes what is compared"),
        ("mapreduce", {"variants[0].scheduler": ["FIF"]}, "FIF"),
        ("model", {"untill": [1]}, "there is no env constant of this name"),
        ("model", {"model": ["a.rebeca"]}, "holds for the whole comparison"),
    ],
)
def test_what_cannot_be_swept_is_said(
    kind: str, sweep: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as caught:
        load(text_of(scenario(kind, sweep=sweep), tmp_path)).plan()
    assert said in str(caught.value)
    assert "sweep" in str(caught.value)


def test_values_are_checked_together(tmp_path: Path) -> None:
    log = "".join(
        f"{n} {90 * n} -1 10 1 -1 -1 1 10 -1 1 1 -1 -1 -1 -1 -1 -1\n" for n in range(1, 5)
    )
    (tmp_path / "a.swf").write_text(log)
    values = scenario(
        "batch",
        replications=1,
        machine={"processors": 4},
        workload={"log": "a.swf", "begin": 0, "end": 100},
        sweep={"workload.begin": [200], "workload.end": [300, 400]},
    )
    assert len(load(text_of(values, tmp_path)).plan().cells) == 4
    values["sweep"] = {"workload.begin": [0, 200], "workload.end": [150, 400]}
    with pytest.raises(ScenarioError) as caught:
        load(text_of(values, tmp_path))
    assert str(caught.value) == (
        "swept.toml: sweep: with workload.begin=200, workload.end=150: workload: "
        "end = 150 should be after begin = 200"
    )


def test_a_wrong_key_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    lines = [
        'kind = "stages"',
        'name = "wrong"',
        'policies = ["EDF"]',
        "resources = { count = 5, slots = 2 }",
        'workload = { jobs = 5, rate = 1, workflows = ["ligo"] }',
        "[sweep]",
        '"workload.rate" = [1, 2]',
        "workload.multiplyer = [1, 2]",
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:8: sweep.'workload.multiplyer': there is no")


def test_files_of_all_values_are_there_and_in_the_record(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.swf").write_text("1 0 -1 10 1 -1 -1 1 10 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    values = scenario(
        "batch", replications=1, workload={"log": "one.swf"}, machine={"processors": 4}
    )
    values["sweep"] = {"workload.log": ["one.swf", "two.swf"]}
    plan = load(text_of(values, tmp_path)).plan()
    assert sorted(plan.files().values()) == ["one.swf", "two.swf"]
    assert len(plan.fingerprints()) == 2
    values["sweep"] = {"workload.log": ["one.swf", "three.swf"]}
    with pytest.raises(ScenarioError, match=r"there is no file .*three\.swf"):
        load(text_of(values, tmp_path))


def test_a_run_that_is_gone_on_with_has_the_same_sweep(tmp_path: Path) -> None:
    found = rs.compare(scenario("stages", replications=2), out=tmp_path / "a", progress=False)
    more = {"replications": 3, "resume": True, "progress": False}
    again = rs.compare(scenario("stages"), out=tmp_path / "a", **more)
    assert (found.report.moments[0].replications, again.report.moments[0].replications) == (2, 3)
    with pytest.raises(UserError, match="holds a run of another scenario"):
        rs.compare(
            scenario("stages", sweep={"workload.multiplier": [2]}), out=tmp_path / "a", **more
        )


def test_python_and_the_command_line_sweep_alike(tmp_path: Path, run: Any) -> None:
    values = scenario("stages", sweep={})
    swept = {"workload.multiplier": [2, 10]}
    found = rs.compare(values, out=tmp_path / "python", sweep=swept, progress=False)
    path = tmp_path / "swept.toml"
    path.write_text(
        'kind = "stages"\nname = "swept"\nreplications = 3\npolicies = ["WFBB_PD_SL_TSP1", "EDF"]\n'
        "resources = { count = 5, slots = 2 }\n"
        '[workload]\njobs = 6\nrate = 0.03\nworkflows = ["cybershake"]\nreserved = 0.0\n'
    )
    out = tmp_path / "cli"
    ended = run(
        "compare", path, "--out", out, "--workers", 1, "--sweep", "workload.multiplier=2,10"
    )
    assert ended.returncode == 0, ended.stderr
    both = compare_runs(open_run(tmp_path / "python"), open_run(out))
    assert len(both.cells) == 4
    assert all(each.identical for each in both.cells)
    ended = run("compare", path, "--out", out, "--sweep", "workload.multiplyer=2")
    assert ended.returncode == 2
    assert "did you mean workload.multiplier?" in ended.stderr
    assert found.report.swept == ("workload_multiplier",)


def test_values_of_the_command_line_are_numbers_words_and_lists() -> None:
    given = ["a=1,2.5,true", "b.c=resources,sequential", 'd=["small"],["large"]', "e=1e-3"]
    assert read_sweep(given) == {
        "a": [1, 2.5, True],
        "b.c": ["resources", "sequential"],
        "d": [["small"], ["large"]],
        "e": [0.001],
    }
    for wrong in ("a", "a=", "=1"):
        with pytest.raises(UserError, match="write it as NAME=VALUE"):
            read_sweep([wrong])
    with pytest.raises(UserError, match=r"^--sweep a=3\.\.1: a range needs `from` up to `to`"):
        read_sweep(["a=3..1"])
    with pytest.raises(UserError, match="was given before"):
        read_sweep(["a=1", "a=2"])


def test_patterns_are_told_apart_beside_a_swept_key(tmp_path: Path) -> None:
    lengths = [{"pattern": "nondet", "minimum": 1, "maximum": each} for each in (3, 6)]
    found = ran(scenario("dispatch", lengths=lengths), tmp_path).report
    assert found.separate == ("lengths", "queue_size")
    along = found.by_axis
    assert [condition.names for condition in along] == [("lengths",)] * 2
    assert all(each.policies == ("EDF", "FIFO") for each in along.values())
    assert all(each.places == (2, 4) for each in along.values())


def test_a_comparison_that_one_of_the_values_makes_unfair_says_so(tmp_path: Path) -> None:
    values = scenario(
        "dispatch", policies=["EDF", "PRIORITY"], high_priority={"probability": 30, "length": 2}
    )
    values["workload"] = "as-published"
    values["sweep"] = {"high_priority.length": [0, 2]}  # where it is 0, priorities decide nothing
    assert "so this is no fair comparison" in ran(values, tmp_path).report.caution
    values["sweep"] = {"high_priority.length": [0]}
    assert ran(values, tmp_path, "fair").report.caution == ""
