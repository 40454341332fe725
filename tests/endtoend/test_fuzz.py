"""Damaged inputs do no harm, and the program that looks for those that do finds them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import damage, fuzz

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("kind", "count"), [("model", 100), ("property", 60), ("scenario", 40), ("trace", 150)]
)
def test_damaged_inputs_give_results_or_errors(kind, count, tmp_path):
    accepted = 0
    for number in range(count):
        source, content = damage.damaged(kind, 20, number)
        found = fuzz.attempt(kind, number, source, content, tmp_path)
        assert not isinstance(found, fuzz.Failure), (content, found.details)
        accepted += found
    assert count / 12 < accepted < count


def test_cases_depend_on_seed_and_number_only():
    cases = [damage.damaged("model", 1, number) for number in range(20)]
    assert cases == [damage.damaged("model", 1, number) for number in range(20)]
    assert cases != [damage.damaged("model", 2, number) for number in range(20)]
    assert all(content != source.text.encode() for source, content in cases[:3])


def raising(source: damage.Source, file: Path) -> None:
    if b"buy" in file.read_bytes():
        raise RuntimeError("a mistake")


def endless(source: damage.Source, file: Path) -> None:
    content = file.read_bytes()
    while b"buy" in content:
        pass


@pytest.mark.parametrize(
    ("mistake", "error"), [(raising, "RuntimeError"), (endless, "TooLongError")]
)
def test_a_failure_is_found_and_made_smaller(mistake, error, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "use", lambda kind, source, file: mistake(source, file))
    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    source = damage.Source("ticket_service.rebeca", "a\nmsgsrv buy ( )\nb\nc\n")
    found = fuzz.attempt("model", 7, source, source.text.encode(), tmp_path)
    assert isinstance(found, fuzz.Failure)
    assert found.error == error
    assert fuzz.smaller(found, source, tmp_path).content == b"buy"


CRASH = """
import os
from pathlib import Path
from benchmarks import fuzz

def crash(kind, source, file):
    here = Path(__file__).with_name("met")
    with here.open("a") as met:
        met.write("x")
    if here.stat().st_size == 2:
        os.abort()

fuzz.use = crash

if __name__ == "__main__":
    for each in fuzz.results_of("model", 1, range(3)):
        print(getattr(each, "error", each), getattr(each, "number", ""))
"""


def test_a_crash_is_found_and_the_other_cases_go_on(tmp_path):
    script = tmp_path / "crash.py"
    script.write_text(CRASH)
    done = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=-1, text=True
    )
    assert done.stdout == "True \nexit code -6 1\nTrue \n"


def test_each_mistake_is_kept_once_by_its_smallest_input(tmp_path, capsys):
    failures = [
        fuzz.Failure("model", 1, b"long text", "KeyError", "checker.py:look", "a"),
        fuzz.Failure("model", 2, b"text", "KeyError", "checker.py:look", "b"),
        fuzz.Failure("model", 3, b"other", "exit code -11", ""),
    ]
    fuzz.report(failures, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.rebeca")) == [
        "model-2.rebeca",
        "model-3.rebeca",
    ]
    assert (tmp_path / "model-2.rebeca").read_bytes() == b"text"
    assert "KeyError checker.py:look: 2 model cases" in capsys.readouterr().out
