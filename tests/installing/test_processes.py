"""Processes import the rebecsim that started them, whatever lies in the working directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rebecsim.processes import importing_as_here, last_words, start_module, worker_variables

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rebecsim as it is installed: not editable, no checkout."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "rebecsim", site / "rebecsim")
    for name in ("models", "templates"):
        shutil.copytree(ROOT / name, site / "rebecsim" / name)
    return site


@pytest.fixture
def crowded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files that are called like modules, and with another rebecsim."""
    (tmp_path / "rebecsim").mkdir()
    for name in ("statistics.py", "numpy.py", "json.py", "rebecsim/__init__.py"):
        (tmp_path / name).write_text("raise SystemExit('imported by mistake')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


_ASKED = """
import sys
sys.path.insert(0, sys.argv[1])
{body}
"""

_VERDICT = """
from rebecsim.web.library import Library
from rebecsim.web.verdicts import Verdicts
import time
library = Library()
listed = next(each for each in library.models() if each.file.stem == "ticket_service")
verdicts = Verdicts()
while (inquiry := verdicts.ask(listed)).state != "done":
    time.sleep(0.05)
verdicts.close()
print(inquiry.verdict, inquiry.text)
"""

_POOL = """
from rebecsim.studies.executors import executor_of
with executor_of(2, ("rebecsim.wording",)) as executor:
    print(executor.submit(eval, "__import__('rebecsim').__file__").result())
"""


def asked(body: str, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", _ASKED.format(body=body), str(site)],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )


def test_a_module_is_run_where_names_of_modules_lie_about(crowded: Path) -> None:
    with tempfile.TemporaryFile() as errors:
        process = start_module(
            "rebecsim", "--version", stdout=subprocess.PIPE, stderr=errors, encoding="utf-8"
        )
        with process:
            printed, _ = process.communicate()
        assert (printed[:9], last_words(errors)) == ("rebecsim ", "")


def test_the_last_words_of_a_process_are_one_line() -> None:
    with tempfile.TemporaryFile() as errors:
        assert last_words(errors) == ""
        errors.write(b"Traceback:\n  somewhere\nKeyError: \xff'x'\n\n")
        assert last_words(errors) == "KeyError: \ufffd'x'"


def test_the_environment_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setattr("sys.path", [str(ROOT), *sys.path])
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    with importing_as_here():
        assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ["PYTHONPATH"] == os.pathsep.join([str(ROOT), "elsewhere"])
    assert "PYTHONSAFEPATH" not in os.environ
    assert os.environ["PYTHONPATH"] == "elsewhere"


def test_a_folder_that_python_finds_by_itself_is_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("site.getsitepackages", lambda: [str(ROOT)])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert worker_variables() == {"PYTHONSAFEPATH": "1"}


def test_workers_of_a_study_import_what_their_parent_did(crowded: Path, installed: Path) -> None:
    done = asked(_POOL, installed)
    assert done.stdout.strip() == str(installed / "rebecsim" / "__init__.py"), done.stderr


def test_a_verdict_is_found_in_a_checkout_beside_files_called_like_modules(
    crowded: Path, installed: Path
) -> None:
    done = asked(_VERDICT, installed)
    assert done.stdout.startswith("satisfied"), done.stdout + done.stderr


def test_a_search_that_stops_says_why(installed: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(installed, broken)
    worker = broken / "rebecsim" / "web" / "verdict_worker.py"
    worker.write_text("raise ImportError('no such engine')\n")
    done = asked(_VERDICT, broken)
    assert "undecided the search stopped: ImportError: no such engine" in done.stdout, done.stderr
