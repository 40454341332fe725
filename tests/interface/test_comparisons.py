"""Comparisons from Python: the same results as those of the command."""

import gc
import multiprocessing
from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.files import LimitError
from rebecsim.studies.plan import Plan
from rebecsim.studies.query import QueryError
from rebecsim.studies.scenario_files import ScenarioError
from tests.endtoend.test_cli import SCENARIO


@pytest.fixture(scope="module")
def comparison():
    return rs.compare("for_edf", replications=3, orders=False, progress=False)


def test_how_large_it_is_is_known_before(run, monkeypatch, capsys):
    size = rs.size("for_edf", replications=3, workers=2)
    assert size.runs == 3 * 24 * 4
    _, printed, _ = run("compare", "for_edf", "--replications", 3, "--workers", 2, "--dry-run")
    assert printed == f"{size.text}\n"
    assert rs.size("for_edf", orders=False, sweep={"queue_size": [6, 12, 24]}).runs == 3 * 24 * 100
    monkeypatch.setattr("rebecsim.files.LARGE", 0.0)
    rs.compare("for_edf", replications=1, orders=False)
    assert capsys.readouterr().out.startswith("24 runs, each of up to 99 time units: estimated ")
    rs.compare("for_edf", replications=1, orders=False, progress=False)
    assert capsys.readouterr().out == ""


def test_runs_of_too_many_tasks_are_refused_before_anything_is_prepared(monkeypatch, tmp_path):
    monkeypatch.setattr(Plan, "prepare", lambda *_: pytest.fail("it was prepared"))
    monkeypatch.setenv("REBECSIM_MAX_TASKS", "100")
    with pytest.raises(LimitError, match=r"tasks; the limit is 100 for a run"):
        rs.compare("fifo_or_fair", out=tmp_path / "out", replications=1, progress=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("without_charts")
def test_it_is_what_the_command_gives(comparison, run, tmp_path):
    out = tmp_path / "out"
    _, printed, _ = run(
        "compare", "for_edf", "--replications", 3, "--no-orders", "--out", out, "--workers", 1
    )
    page = comparison.write(tmp_path / "written")
    assert page.name == "report.html"
    for name in ("table.csv", "pairs.csv"):
        assert (page.parent / name).read_bytes() == (out / name).read_bytes()
    assert str(comparison).split()[:40] == printed.split()[:40]


def test_it_is_data(comparison):
    assert comparison.summary.policies == ("EDF", "FIFO", "MDF", "PRIORITY")
    assert len({pair.metric.name for pair in comparison.differences}) > 1
    table = comparison.to_arrow()
    assert table.num_rows == 24
    assert {"policy", "app_masters", "deadline_misses", "deadline_misses_low"} <= set(
        table.column_names
    )
    assert set(comparison.to_pandas()["replications"]) == {3}
    counted = comparison.query("SELECT count(*) AS n FROM replications").to_pylist()
    assert counted == [{"n": 72}]
    with pytest.raises(QueryError):
        comparison.query("DROP TABLE cells")


def test_it_is_drawn(comparison):
    assert comparison.plot().axes[0].get_xlabel()
    name = comparison.summary.metrics[1].name
    assert comparison.summary.metrics[1].title in comparison.plot(name).axes[0].get_title()
    with pytest.raises(KeyError):
        comparison.plot("no")


def test_results_are_kept_where_they_are_wanted_only(tmp_path):
    scenario = tmp_path / "tiny.toml"
    scenario.write_text(SCENARIO)
    kept = rs.compare(scenario, out=tmp_path / "a", orders=False, progress=False)
    assert kept.directory == tmp_path / "a"
    lost = rs.compare(scenario, orders=False, progress=False)
    assert lost.to_arrow() == kept.to_arrow()
    directory = lost.directory
    assert directory.is_dir()
    del lost
    gc.collect()
    assert not directory.exists()
    assert (tmp_path / "a").is_dir()


def test_nothing_is_left_of_a_comparison_that_failed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("rebecsim.interface.comparing.compared", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rs.compare("for_edf", replications=2, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_workers_change_nothing(comparison):
    other = rs.compare("for_edf", replications=3, orders=False, workers=2, progress=False)
    assert other.to_arrow() == comparison.to_arrow()
    assert multiprocessing.active_children() == []


def test_a_wrong_scenario_is_named():
    with pytest.raises(ScenarioError, match="kind"):
        rs.compare({"policies": ["EDF"]})
    with pytest.raises(ScenarioError, match="did you mean for_edf"):
        rs.compare("for_efd")
    with pytest.raises(ScenarioError, match=r"no\.toml"):
        rs.compare(Path("no.toml"))
