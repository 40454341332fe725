"""Values that no figure and no file can hold are refused where they stand, or mean nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run

DATA = Path(__file__).resolve().parents[1] / "data"
NODES = ("--nodes", "2:memory=16000,cores=16")
DIGITS = pytest.mark.parametrize("number", ["1" + "0" * 400, "9" * 5000], ids=len)


def changed(folder: Path, name: str, old: str, new: str) -> Path:
    path = folder / Path(name).name
    text = (DATA / name).read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    return path


@DIGITS
@pytest.mark.parametrize(
    ("name", "old", "place"),
    [
        ("fair-scheduler.xml", "2048 mb", "4: queue nightly: minResources: "),
        ("fair-scheduler.xml", "70%", "5: queue nightly: maxResources: "),
        ("capacity-scheduler.xml", ">50<", "4: yarn.scheduler.capacity.root.etl.capacity: "),
    ],
)
def test_resources_of_queues(
    run: Run, tmp_path: Path, number: str, name: str, old: str, place: str
) -> None:
    new = {"70%": f"{number}%", ">50<": f">[memory={number}gi]<"}.get(old, f"{number} mb")
    path = changed(tmp_path, f"readers/{name}", old, new)
    code, _, errors = run("yarn", DATA / "containers/dss.json", *NODES, "--queues", path)
    assert code == 2
    assert errors.startswith(f"{path}:{place}")


@DIGITS
def test_properties_of_a_site(run: Run, tmp_path: Path, number: str) -> None:
    path = changed(tmp_path, "readers/yarn-site.xml", ">512<", f">{number}<")
    queues = DATA / "readers/capacity-scheduler.xml"
    code, _, errors = run(
        *("yarn", DATA / "containers/dss.json", *NODES, "--queues", queues, "--yarn-site", path)
    )
    assert code == 2
    assert errors.splitlines()[-1].startswith(
        f"{path}:3: yarn.scheduler.minimum-allocation-mb: should be "
    )


@DIGITS
@pytest.mark.parametrize("key", ["UnixStartTime", "MaxProcs", "User", "TimeZone"])
def test_headers_of_logs(run: Run, tmp_path: Path, number: str, key: str) -> None:
    path = changed(tmp_path, "readers/log.swf", "; Note: written", f"; {key}: {number} ann;")
    text = path.read_text("utf-8").replace("; UnixStartTime: 1118087915\n", "")
    path.write_text(text.replace("; MaxProcs: 16\n", "") if key == "MaxProcs" else text)
    code, _, errors = run("workload", "info", path)
    assert code == 0, errors


@DIGITS
@pytest.mark.parametrize(
    "command",
    [
        ("mapreduce", "--jobs", "a:maps={}"),
        ("workload", "metrics", DATA / "readers/log.swf", "--user", "{}"),
        ("yarn", DATA / "containers/dss.json", "--nodes", "{}:memory=1,cores=1"),
    ],
    ids=lambda command: command[0],
)
def test_options(run: Run, number: str, command: tuple[object, ...]) -> None:
    code, _, errors = run(*(str(word).replace("{}", number) for word in command))
    assert code == 2
    assert len(errors) < 3000


@pytest.mark.parametrize(
    ("name", "old", "command"),
    [
        ("readers/instance.json", '"filter"', ("workflow", "--manager", "EDF", "--gantt", "w.svg")),
        ("containers/rumen.json", '"etl"', ("mapreduce", "--out", "tables")),
        ("containers/dss.json", '"etl"', ("yarn", *NODES, "--out", "tables")),
    ],
)
def test_halves_of_characters(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    old: str,
    command: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = changed(tmp_path, name, old, r'"\ud800"')
    code, _, errors = run(*command, path)
    assert code == 2
    assert "incomplete character" in errors
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_name_in_a_scenario_makes_no_long_error(run: Run, tmp_path: Path) -> None:
    lines = "\n".join(f"x{number} = 1" for number in range(400))
    path = tmp_path / "long.toml"
    path.write_text(f'kind = "yarn"\nname = "{"x" * 70_000}"\n{lines}\n')
    code, _, errors = run("compare", path, "--dry-run")
    assert code == 2
    assert f"{path}:2: name: " in errors
    assert max(map(len, errors.splitlines())) < 2100
    assert len(errors.splitlines()) == 101
    assert "more lines" in errors.splitlines()[-1]


def test_counts_of_a_suite_may_be_one_of_two(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lamp.rebeca").write_text("reactiveclass A(1) { } main { A a():(); }")
    result = {"mode": "FTTS", "verdict": "satisfied", "transitions": 7}
    entry = {"file": "lamp.rebeca", "language": "timed", "results": [result]}
    (tmp_path / "manifest.json").write_text(json.dumps({"models": [entry]}))
    code, printed, _ = run("conformance", tmp_path)
    assert code == 1
    assert "satisfied ?/7" in printed


@pytest.mark.parametrize("name", ["file", "property"])
def test_names_that_no_file_can_have_are_refused(run: Run, tmp_path: Path, name: str) -> None:
    result = {"mode": "FTTS", "verdict": "satisfied", "property": "lamp.property"}
    entry = {"file": "lamp.rebeca", "language": "timed", "results": [result]}
    (entry if name == "file" else result)[name] = "lamp\ud800"
    (tmp_path / "manifest.json").write_text(json.dumps({"models": [entry]}))
    code, _, errors = run("conformance", tmp_path)
    assert code == 2
    assert f"models[0]{'.results[0]' if name == 'property' else ''}: `{name}` cannot be " in errors
