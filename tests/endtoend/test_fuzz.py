"""Damaged inputs do no harm, and the program that looks for those that do finds them."""

import json
import os
import random
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks import fuzz
from benchmarks.damage import damaged
from benchmarks.readers import READERS, Reader, lay_out

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"


def fuzzed(*arguments: object, script: object = ROOT / "benchmarks/fuzz.py") -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_damaged_inputs_of_every_reader_give_results_or_errors(tmp_path: Path) -> None:
    code, printed = fuzzed("--inputs", 20 * len(READERS), "--seed", 20, "--out", tmp_path)
    assert code == 0, printed
    rows = [line.strip("| ").split(" | ") for line in printed.splitlines()]
    assert [row[0] for row in rows[2:]] == [*(each.name for each in READERS), "all"]
    inputs, accepted, refused, long, failed = (int(each.replace(",", "")) for each in rows[-1][1:6])
    assert inputs == accepted + refused + long + failed == 20 * len(READERS)
    assert failed == 0
    assert accepted > inputs / 6
    assert refused > inputs / 6


def test_inputs_depend_on_reader_seed_and_number_only(tmp_path: Path) -> None:
    lay_out(tmp_path)
    swf = next(each for each in READERS if each.name == "swf")
    inputs = [fuzz.input_of(swf, 1, number, tmp_path) for number in range(20)]
    assert inputs == [fuzz.input_of(swf, 1, number, tmp_path) for number in range(20)]
    assert inputs != [fuzz.input_of(swf, 2, number, tmp_path) for number in range(20)]
    assert len({each.content for each in inputs}) > 10
    assert len({each.words for each in inputs}) > 2


def test_an_input_is_shown(tmp_path: Path) -> None:
    code, printed = fuzzed("--show", "dax:7", "--seed", 3, "--out", tmp_path)
    assert code == 0
    assert printed.startswith(f"{tmp_path}/dax-7.dax: rebecsim workflow data/readers/workflow.dax")
    assert (tmp_path / "dax-7.dax").read_bytes() != (DATA / "readers/workflow.dax").read_bytes()


@pytest.mark.parametrize(
    ("name", "form", "read"),
    [
        ("readers/workflow.dax", "xml", ET.fromstring),
        ("readers/instance.json", "json", json.loads),
        ("readers/yarn.toml", "toml", tomllib.loads),
    ],
)
def test_values_are_changed_in_files_that_can_still_be_read(name, form, read) -> None:
    content = (DATA / name).read_bytes()
    readable = 0
    for number in range(300):
        changed = damaged(content, form, random.Random(number))
        try:
            read(changed.decode("utf-8"))
            readable += changed != content
        except (ValueError, RecursionError, ET.ParseError):
            continue
    assert readable > 100


MISTAKES = {
    "raises": "raise RuntimeError('a mistake')",
    "ends": "os.abort()",
    "loops": "while True: pass",
    "takes": "bytearray(3 << 30)",
    "writes": "Path('../canary/more').write_text('')",
    "starts": "os.system('true')",
    "exits": "raise SystemExit(75)",
    "fine": "raise UserError('this is refused')",
    "said": "print('a word'); time.sleep(0); [None for _ in iter(int, 1)]",
}
SCRIPT = """
import os, sys, time
from pathlib import Path
from benchmarks import fuzz
from rebecsim.cli import app
from rebecsim.errors import UserError

def program():
    return run

def run(words, prog_name):
    text = Path(words[1]).read_bytes()
    if b"runtime" in text:
        MISTAKE

app.program = program
fuzz._undamaged = lambda *_: None
fuzz.SECONDS = 0.5
if __name__ == "__main__":
    sys.exit(fuzz.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        ("raises", "RuntimeError mistaken.py:run"),
        ("ends", "exit code -6"),
        ("loops", "no word in 0.5 s"),
        ("takes", "MemoryError"),
        ("writes", "touches open "),
        ("starts", "touches os.system"),
        ("exits", "exit code 75"),
        ("fine", None),
        ("said", None),
    ],
)
def test_a_mistake_is_found_and_kept_once_by_a_small_input(tmp_path, mistake, found) -> None:
    script = tmp_path / "mistaken.py"
    script.write_text(SCRIPT.replace("MISTAKE", MISTAKES[mistake]))
    code, printed = fuzzed(
        *("--inputs", 4, "--readers", "dax", "--out", tmp_path / "kept"), script=script
    )
    assert code == (found is not None)
    lines = printed.splitlines()
    if found is None:
        assert len(lines) == 4
        return
    assert lines[4].startswith(found)
    assert "by dax, such as " in lines[4]
    if mistake == "raises":
        (kept,) = (tmp_path / "kept").glob("*.dax")
        assert kept.read_bytes() == b"runtime"
        assert "a mistake" in kept.with_suffix(".txt").read_text()


def test_all_commands_read_something_that_is_damaged() -> None:
    from rebecsim.cli.app import all_commands

    used = {
        line.split()[0]
        for each in READERS
        for line in (*each.commands, *(each.files if each.given == "arguments" else ()))
    }
    # These read nothing, or what the program has written itself, or serve until they are ended.
    others = {"new", "scenarios", "reproduce", "cache", "web", "lsp"}
    assert used - {"{}"} == set(all_commands()) - others


def test_a_reader_has_inputs_of_its_own(tmp_path: Path) -> None:
    lay_out(tmp_path)
    for each in READERS:
        assert each.inputs(tmp_path) or each.kept, each.name
    assert Reader("a", ("data/readers/*.xml",), ("check {}",)).inputs(tmp_path)[0].name == (
        "capacity-scheduler.xml"
    )
