"""A kind from a plug-in has all that others have: command, comparison, report, step and form."""

from __future__ import annotations

import json
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rebecsim.clusters import load_plugin, unload_plugin
from rebecsim.web import Admission, Library, make_app
from rebecsim.web.studies.study_process import ALIVE, Request, start_study
from tests.conftest import Run
from tests.docs.markdown import ROOT
from tests.on_asgi import ask
from tests.waiting import wait_for

PLUGIN = ROOT / "models/plugins/kubernetes.py"
FILES = ROOT / "models/kubernetes"
COMMAND = ("kubernetes", "pods.json", "--nodes", "nodes.json", "--plugin", PLUGIN)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_the_command_compares_strategies(run: Run, place: Path) -> None:
    done = run(*COMMAND, "--replications", 3, cwd=place)
    assert done.returncode == 0, done.stderr
    for text in ("LeastAllocated", "MostAllocated", "Wait", "Evictions"):
        assert text in done.stdout
    again = run(*COMMAND, "--replications", 3, "--workers", 2, cwd=place)
    assert again.stdout == done.stdout


def test_options_are_the_keys_of_scenarios(run: Run, place: Path) -> None:
    done = run(*COMMAND, "--policy", "MostAllocated", "--no-preemption", "--out", "kept", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "LeastAllocated" not in done.stdout
    kept = json.loads((place / "kept/run.json").read_text())["scenario"]
    assert (kept["policies"], kept["preemption"]) == (["MostAllocated"], False)
    assert (place / "kept/report.html").is_file()
    shown = run("kubernetes", "--help", f"--plugin={PLUGIN}").stdout
    for text in ("--speed", "--preemption / --no-preemption", "LeastAllocated|MostAllocated"):
        assert text in shown


@pytest.mark.parametrize(
    ("changed", "words", "complaint"),
    [
        ({}, ["--policy", "Best"], 'policies[0]: must be "LeastAllocated" or "MostAllocated"'),
        ({}, ["--speed", "0"], "speed: "),
        ({}, ["--nodes", "none.json"], "nodes: there is no file none.json"),
        (
            {"nodes.json": "pods.json"},
            [],
            "nodes.json: items[0] is not a Node: it lacks 'allocatable'",
        ),
        ({"pods.json": "nodes.json"}, [], "pods.json: items[0] is not a Pod: it lacks"),
    ],
)
def test_mistakes(
    run: Run, place: Path, changed: dict[str, str], words: list[str], complaint: str
) -> None:
    for to, source in changed.items():
        shutil.copy(FILES / source, place / to)
    done = run(*COMMAND, *words, "--out", "kept", cwd=place)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert not (place / "kept").exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"items": [', "pods.json:1:12: is not JSON: "),
        ("[]", "pods.json: has no list 'items'"),
        ('{"items": []}', "pods.json: 'items' must be a list of at least one entry"),
        ('{"items": [3]}', "pods.json: items[0] is not a Pod: "),
    ],
)
def test_files_that_are_wrong(run: Run, place: Path, text: str, complaint: str) -> None:
    (place / "pods.json").write_text(text)
    done = run(*COMMAND, cwd=place)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_scenario_is_compared_with_its_variants(run: Run, place: Path) -> None:
    done = run("compare", "shop.toml", "--plugin", PLUGIN, "--out", "kept", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "preemption" in done.stdout
    page = (place / "kept/report.html").read_text()
    assert "Pods on no node" in page
    found = run("query", "SELECT count(*) AS cells FROM cells", "kept", cwd=place)
    assert "4" in found.stdout


def test_a_cluster_is_stepped_through(run: Run, place: Path) -> None:
    typed = "1\n1\ntime 3605\nquit\n"
    done = run("step", "shop.toml", "--plugin", PLUGIN, cwd=place, typed=typed)
    assert done.returncode == 0, done.stderr
    assert "scheduler: create(number=0)" in done.stdout
    assert "kubernetes, time 3605" in done.stdout


@pytest.fixture
def loaded() -> Any:
    record = load_plugin(PLUGIN)
    yield record
    unload_plugin(record)


@pytest.mark.usefixtures("loaded")
def test_a_form_in_the_browser(place: Path) -> None:
    page = unescape(
        ask(make_app(Library(place), Admission(8765)), "/studies/new?kind=kubernetes").text
    )
    for key in ("policies", "pods", "nodes", "speed", "preemption"):
        assert f'name="f:{key}"' in page
    assert "how many times as fast pods are created" in page


@pytest.mark.usefixtures("loaded")
def test_a_study_from_the_browser_knows_the_plugin(place: Path) -> None:
    text = (place / "shop.toml").read_text().replace("replications = 20", "replications = 2")
    study = start_study(place, Request("shop", text, False, 1, False))
    wait_for(lambda: study.state not in ALIVE)
    assert study.state == "done", (place / "shop/.study/log.txt").read_text()
    assert (place / "shop/report.html").is_file()
