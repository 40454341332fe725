"""Finding and opening the runs below a directory."""

import json

import pytest

from rebecsim.clusters.scenarios import open_run, plan_of_run, plan_scenario
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.stored_runs import find_runs
from tests.plans import run_plan


@pytest.fixture
def make(small):
    def make_run(directory, **changes):
        scenario = small.replace(**changes)
        plan = plan_scenario(scenario)
        run_plan(plan, Results.create(directory, plan))
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
    with pytest.raises(ResultsError, match=f"{name}: is not a directory"):
        list(find_runs(tmp_path / name))


def test_a_run_knows_what_it_is(make, small, tmp_path):
    run = open_run(make(tmp_path / "run"), "run")
    assert (run.name, run.kind) == ("run", "dispatch")
    assert run.scenario == small.model_dump(mode="json")
    assert plan_of_run(run).scenario == small
    assert run.finished == run.cells
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert run.size == sum(path.stat().st_size for path in files) > 4_000
    run.results.part(run.cells[2]).unlink()
    left = open_run(tmp_path / "run")
    assert left.name == str(tmp_path / "run")
    assert left.finished == (*run.cells[:2], run.cells[3])


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
    of_a_plugin = open_run(tmp_path / "run")  # can be read all the same
    with pytest.raises(ResultsError, match=r"run\.json: holds no valid scenario: policies"):
        plan_of_run(of_a_plugin)
    changed["cells"][0]["name"] = "../elsewhere"
    record.write_text(json.dumps(changed))
    with pytest.raises(ResultsError, match=r"run\.json: is damaged: cells\.0\.name: String should"):
        open_run(tmp_path / "run")


def test_a_run_of_a_kind_that_is_not_there_is_read_but_not_reported(make, tmp_path):
    record = make(tmp_path / "run", replications=1) / "run.json"
    changed = {**json.loads(record.read_text()), "kind": "unheard"}
    record.write_text(json.dumps(changed))
    run = open_run(tmp_path / "run")
    assert run.kind == "unheard"
    with pytest.raises(ResultsError, match="no kind of cluster is called 'unheard'"):
        plan_of_run(run)


def test_runs_of_format_2_say_nothing_of_their_results(make, tmp_path):
    record = make(tmp_path / "run", replications=2) / "run.json"
    now = json.loads(record.read_text())
    kept = ("scenario", "versions", "plugins", "started", "engines")
    earlier = {"format": 2, **{name: now[name] for name in kept}}
    del earlier["scenario"]["kind"]
    record.write_text(json.dumps(earlier))
    run = open_run(tmp_path / "run")
    assert run.kind == "dispatch"
    assert len(run.finished) == len(run.cells) == 4
    assert run.contents.measures[0].name == "deadline_misses"
