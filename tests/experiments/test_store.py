"""Finding and opening the runs below a directory."""

import json

import pytest

from rebecsim.experiments import Results, ResultsError, plan_scenario, run_plan
from rebecsim.experiments.store import find_runs, open_run


@pytest.fixture
def make(small):
    def make_run(directory, **changes):
        scenario = small.replace(**changes)
        run_plan(plan_scenario(scenario), Results.create(directory, scenario))
        return directory

    return make_run


def test_runs_are_found_at_any_depth(make, tmp_path):
    for name in ("b", "a", "deep/er/c", "a/inside"):
        make(tmp_path / name, replications=1)
    make(tmp_path / ".hidden" / "d", replications=1)
    make(tmp_path / "a" / "charts" / "e", replications=1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("{}")  # a saved run of a model, say
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = list(find_runs(tmp_path))
    assert [name for name, _ in found] == ["a", "a/inside", "b", "deep/er/c"]
    assert all(path == tmp_path / name for name, path in found)


def test_a_run_may_be_the_root(make, tmp_path, monkeypatch):
    directory = make(tmp_path / "only", replications=1)
    assert list(find_runs(directory)) == [("only", directory)]
    monkeypatch.chdir(directory)
    assert [name for name, _ in find_runs(directory.relative_to(directory))] == ["only"]


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_root_must_be_a_directory(name, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=f"{name}: is no directory"):
        list(find_runs(tmp_path / name))


def test_a_run_knows_what_it_is(make, small, tmp_path):
    run = open_run(make(tmp_path / "run"), "run")
    assert (run.name, run.scenario) == ("run", small)
    assert run.finished == run.plan.cells
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert run.size == sum(path.stat().st_size for path in files) > 4_000
    run.results.part(run.plan.cells[2]).unlink()
    left = open_run(tmp_path / "run")
    assert left.name == str(tmp_path / "run")
    assert left.finished == (*run.plan.cells[:2], run.plan.cells[3])


def test_runs_that_cannot_be_opened(make, tmp_path):
    with pytest.raises(ResultsError, match="nowhere: there is no run here"):
        open_run(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="file: there is no run here"):
        open_run(tmp_path / "file")
    record = make(tmp_path / "run", replications=1) / "run.json"
    changed = json.loads(record.read_text())
    changed["scenario"]["policies"] = ["NONE"]
    record.write_text(json.dumps(changed))
    with pytest.raises(ResultsError, match=r"run\.json: holds no valid scenario: policies"):
        open_run(tmp_path / "run")
