"""Published tables are beside the package, not in it; without them `reproduce` says so."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_published_tables_are_not_installed() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    assert not [name for name in setup["options"]["packages"].split() if "reproduction" in name]
    assert not [file for file in (ROOT / "rebecsim").rglob("*") if "published" in file.name]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, and nothing beside it."""
    place = tmp_path_factory.mktemp("alone")
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "rebecsim", place / "rebecsim", ignore=left_out)
    return place


@pytest.mark.parametrize("words", [["for_edf"], ["capacity", "--quick", "--page", "page.md"], []])
def test_without_the_folder_one_sentence_says_where_to_get_it(
    alone: Path, words: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rebecsim", "reproduce", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=alone,
        env={**os.environ, "PYTHONPATH": str(alone)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rebecsim reproduce needs the folder reproductions, which the ")
    assert "get the source of rebecsim" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (alone / "page.md").exists()
