"""A modeller's way: from a model to the run that goes wrong, its test, and a fix that is proven."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.docs.markdown import read_document

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guides/explore.md"
SCREEN = ROOT / "tests/data/modeller_screen.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the guide in a folder."""
    for block in read_document(GUIDE).blocks:
        if file := block.options.get("file"):
            (tmp_path / file).write_text(block.text + "\n")
    return tmp_path


def test_the_first_screen_is_the_run_that_goes_wrong(run: Run, folder: Path) -> None:
    ended = run("explore", "worker.rebeca", cwd=folder, columns=80)
    assert ended.returncode == 1
    lines = [re.sub(r"[\d.]+ s;", "... s;", line.rstrip()) for line in ended.stdout.splitlines()]
    assert lines == SCREEN.read_text().splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_a_fix_is_proven_and_the_test_of_the_fault_tells(run: Run, folder: Path) -> None:
    kept = ("--as-regression", "test_late.py")
    assert run("explore", "worker.rebeca", *kept, cwd=folder).returncode == 1
    text = (folder / "worker.rebeca").read_text()
    (folder / "worker.rebeca").write_text(text.replace("deadline(1)", "deadline(2)"))
    proven = run("explore", "worker.rebeca", cwd=folder, columns=80)
    assert proven.returncode == 0
    assert proven.stdout.startswith("worker: no violation in any order: ")
    races = run("races", "worker.rebeca", cwd=folder, columns=80)
    assert races.returncode == 0
    assert races.stdout.startswith("worker: no race is harmful")
