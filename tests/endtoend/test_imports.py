"""Models that import parts, by the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.lang.test_imports import DESK, OFFICE

QUEUE = Path(__file__).resolve().parents[2] / "models/queue.rebeca"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/desk.rebeca").write_text(DESK)
    (tmp_path / "office.rebeca").write_text(OFFICE)
    return tmp_path


def test_a_model_with_imports_is_a_model(run: Run, folder: Path) -> None:
    assert run("check", "office.rebeca", cwd=folder)[:2] == (
        0,
        "office.rebeca: ok, 5 classes, 2 rebecs\n",
    )
    files = ("office.rebeca", "parts/desk.rebeca")
    assert run("format", *files, cwd=folder)[:2] == (0, "2 files, nothing to change\n")
    assert "satisfied" in run("explore", "office.rebeca", "--json", cwd=folder).stdout
    shown = [
        run("simulate", "office.rebeca", "--until", "9", "--engine", engine, cwd=folder)
        for engine in ("python", "native")
    ]
    assert shown[0] == shown[1]
    assert "desk: arrive()" in shown[0].stdout
    stepped = run("step", "office.rebeca", cwd=folder, typed="1\n1\n")
    assert "few: initial()" in stepped.stdout
    drawn = run("draw", "office.rebeca", "--out", "office.svg", cwd=folder)
    assert drawn.returncode == 0, drawn


def test_a_record_needs_no_file(run: Run, folder: Path) -> None:
    options = ("--until", "50", "--runs", "4", "--observe", "desk.busy", "--seed", "1")
    first = run("simulate", "office.rebeca", *options, "--out", "out", cwd=folder)
    assert first.returncode == 0, first
    (text,) = _values(json.loads((folder / "out/run.json").read_text()), "text")
    shutil.rmtree(folder / "parts")
    gone = run("simulate", "office.rebeca", *options, "--out", "again", cwd=folder)
    assert gone.returncode == 2
    assert "office.rebeca:1:8: error: there is no file `parts/desk.rebeca`" in gone.stderr
    assert not (folder / "again").exists()
    (folder / "office.rebeca").write_text(text)
    again = run("simulate", "office.rebeca", *options, "--out", "again", cwd=folder)
    assert again.returncode == 0, again
    tables = [(folder / each / "table.csv").read_text() for each in ("out", "again")]
    assert tables[0] == tables[1]


def _values(record: object, key: str) -> list[str]:
    if not isinstance(record, dict):
        return []
    found = [str(record[key])] if key in record else []
    return [*found, *(each for value in record.values() for each in _values(value, key))]


def test_constants_that_distributions_read_are_swept(run: Run, folder: Path) -> None:
    text = OFFICE.replace("uniform(1, 2)", "uniform(1, MOST)").replace(
        "\nreactive", "\nenv int MOST = 2;\n\nreactive", 1
    )
    (folder / "office.rebeca").write_text(text)
    options = ("--until", "50", "--runs", "4", "--observe", "few.sent", "--env", "MOST=2,4")
    done = run("simulate", "office.rebeca", *options, cwd=folder)
    assert done.returncode == 0, done
    assert "MOST=4" in done.stdout


def test_what_fails_in_a_part_names_its_file(run: Run, folder: Path) -> None:
    wrong = DESK.replace("= 2;\n", "= 2;\n    statevars { int[1] v; int n; }\n").replace(
        "}\n", "}\n    void leave() { n++; v[n - 1] = n; }\n", 1
    )
    (folder / "parts/desk.rebeca").write_text(wrong.replace("    void", "    void", 1))
    for engine in ("python", "native"):
        done = run("simulate", "office.rebeca", "--engine", engine, cwd=folder)
        assert "line 7 of parts/desk.rebeca" in " ".join(done.stdout.split()), done


def test_the_queue_is_the_one_of_the_formula(run: Run) -> None:
    done = run("simulate", QUEUE, "--measure", "counter", "--runs", "20", "--until", "200_000")
    assert done.returncode == 0, done
    wait = next(line for line in done.stdout.splitlines() if " wait " in line).replace(",", "")
    low, _, high = wait.split()[-3:]
    assert float(low) <= 70 * 7 / 3 <= float(high)  # M/M/1: service * load / (1 - load)
