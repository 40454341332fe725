"""Python is run only where the user has named it, or has agreed."""

from __future__ import annotations

import ast
import json
import os
import pty
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rebecsim as rs
from rebecsim.exploration import Question, Recorded, explore
from rebecsim.generate import build_model, python_source
from rebecsim.lang import check_file, check_source
from rebecsim.report.messages import pytest_source
from rebecsim.studies.scenario_files import ScenarioError
from rebecsim.trust import UntrustedCodeError
from rebecsim.web import Admission, Library, make_app
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.scenarios import checked, text_in_form
from tests.clusters.model.models import QUEUE_PYTHON, SCENARIO, written
from tests.conftest import Run
from tests.on_asgi import ask
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
ABOUT_PYTHON = SCENARIO.replace("queue.rebeca", "queue.py").replace("SERVICE", '"desk.service"')
OPTIONS = ("--workers", 1, "--replications", 2, "--no-orders")
HOSTILE = 'x"""\nraise SystemExit(3)\n"""\\'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A scenario and a suite that name a program, which leaves a trace when it is run."""
    written(tmp_path, ABOUT_PYTHON)
    trace = f"from pathlib import Path\n\nPath({str(trace_of(tmp_path))!r}).touch()\n"
    (tmp_path / "queue.py").write_text(trace + QUEUE_PYTHON)
    results = [{"mode": "FTTS", "verdict": "undecided"}]
    models = [
        {"file": name, "language": "timed", "results": results}
        for name in ("queue.rebeca", "queue.py")
    ]
    (tmp_path / "manifest.json").write_text(json.dumps({"suite": "x", "models": models}))
    return tmp_path


def trace_of(place: Path) -> Path:
    return place / "was run"


COMPARE = ("compare", "scenario.toml", "--out", "out", *OPTIONS)
SUITE = ("conformance", ".", "--max-states", 5)


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("command", [COMPARE, SUITE], ids=["scenario", "suite"])
def test_a_program_that_a_file_names_is_not_run(
    run: Run, place: Path, command: tuple[object, ...]
) -> None:
    done = run(*command, cwd=place)
    assert done.returncode == 2
    origin = "scenario.toml" if command is COMPARE else "manifest.json"
    assert done.stderr == (
        f"{origin}: names Python code, which rebecsim would run: queue.py; read it first, then add "
        "--trust (in Python, trust=True)\n"
    )
    assert not done.stdout
    assert not trace_of(place).exists()
    assert not (place / "out").exists()
    trusted = run(*command, "--trust", cwd=place)
    assert trusted.returncode == 0, trusted.stderr
    assert trace_of(place).exists()


@pytest.mark.parametrize(("typed", "agreed"), [("y\n", True), ("n\n", False), ("\x04", False)])
def test_the_user_is_asked(place: Path, typed: str, agreed: bool) -> None:
    """On a terminal, with the files that would be run."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "rebecsim", *map(str, SUITE)],
        cwd=place,
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        said = ""
        while "[y/N]" not in said:
            said += os.read(ours, 1000).decode()
        assert not trace_of(place).exists()
        os.write(ours, typed.encode())
        code = process.wait(PATIENCE)
    os.close(ours)
    assert "manifest.json names Python code" in said
    assert "\n  queue.py\r\n" in said
    assert code == (0 if agreed else 2)
    assert trace_of(place).exists() == agreed


@pytest.mark.usefixtures("without_charts")
def test_a_program_in_python_says_so_itself(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    how: Any = {"orders": False, "progress": False, "replications": 2}
    with pytest.raises(UntrustedCodeError, match=r"would run: .*queue\.py; .*trust=True"):
        rs.compare("scenario.toml", **how)
    assert not trace_of(place).exists()
    rs.compare("scenario.toml", trust=True, **how)
    assert trace_of(place).exists()
    rs.compare(tomllib.loads(ABOUT_PYTHON), **how)  # named by the caller


def test_a_model_that_the_user_names_is_run(run: Run, place: Path) -> None:
    done = run("simulate", "queue.py", "--steps", 3, cwd=place)
    assert done.returncode == 0, done.stderr
    assert trace_of(place).exists()


def test_generating_runs_no_model(run: Run, place: Path) -> None:
    done = run("generate", "scenario.toml", "--out", "out", cwd=place)
    assert done.returncode == 2
    assert "queue.py, which is not a model in Rebeca" in done.stderr
    assert not trace_of(place).exists()


# --- what is only read ---------------------------------------------------------------------------


@pytest.mark.usefixtures("without_charts")
def test_reading_runs_runs_no_model(run: Run, place: Path) -> None:
    """Neither the model that is recorded nor the one beside it."""
    assert run(*COMPARE, "--trust", cwd=place).returncode == 0
    record = place / "out/run.json"
    assert "from rebecsim.actors" in record.read_text()
    for file in (place / "queue.py", record):
        file.write_text(file.read_text().replace("from rebecsim.actors", "raise SystemExit(3)\\nx"))
    trace_of(place).unlink()
    commands = [
        ("runs", "."),
        ("query", "select * from cells", "."),
        ("report", "out"),
        ("diff", "out", "out"),
    ]
    for command in commands:
        done = run(*command, cwd=place)
        assert done.returncode == 0, (command, done.stderr)
    pages = make_app(Library(place), Admission(8765, None))
    shown = ask(pages, f"/runs/{id_of('out')}")
    assert "Complete" in shown.text
    assert not trace_of(place).exists()


def test_a_scenario_in_the_browser_may_not_name_a_program(place: Path) -> None:
    with pytest.raises(ScenarioError, match="neither a link nor a program"):
        checked(text_in_form(ABOUT_PYTHON, False, place))
    assert not trace_of(place).exists()


def test_nothing_of_a_model_in_rebeca_becomes_python_but_names_and_numbers() -> None:
    text = (ROOT / "models/teaching/ping_pong.rebeca").read_text("utf-8")
    model = check_source(f"// {HOSTILE!r}\n{text}", f"{HOSTILE}.rebeca")
    assert build_model(model, f"{HOSTILE}.rebeca").instances
    tree = ast.parse(python_source(model, f"{HOSTILE}.rebeca"))
    assert not any(isinstance(each, ast.Raise) for each in ast.walk(tree))


def test_what_a_saved_run_says_is_data_in_its_test(tmp_path: Path) -> None:
    file = ROOT / "models/ticket_service.rebeca"
    checked_model = check_file(file)
    invariant = "office.left > 1000"
    found = explore(
        build_model(checked_model),
        checked=checked_model,
        checks=Question("FTTS", invariants=(invariant,)).checks(),
    )
    assert found.path is not None
    recorded = Recorded.of(found.path, Question("FTTS", invariants=(invariant,)))
    hostile = replace(
        recorded,
        model=HOSTILE,
        breach=recorded.breach._replace(text=HOSTILE),
        question=replace(recorded.question, file=HOSTILE, properties=HOSTILE),
    )
    text = pytest_source(
        hostile, tmp_path / f"{HOSTILE.replace('/', '')}.rebeca", tmp_path / "t.py"
    )
    assert "raise SystemExit" in text
    assert not any(isinstance(each, ast.Raise) for each in ast.walk(ast.parse(text)))
