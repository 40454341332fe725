"""Compiled functions are kept on disk, found again, and never trusted when damaged."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rebecsim.cli.app import app
from rebecsim.native import cache, compiled, is_plain, is_ready, prepare
from rebecsim.trust import cache_directory

pytestmark = pytest.mark.skipif(is_plain(), reason="nothing is compiled")

PROGRAM = """
from rebecsim.native import cache
from rebecsim.native.cache import compiled

FACTOR = {factor}

@compiled("int64(int64)")
def scaled(x):
    return FACTOR * x

@compiled("int64(int64)")
def total(n):
    s = 0
    for i in range(n):
        s += scaled(i)
    return s

written = []
write = cache._write
cache._write = lambda file, code: (written.append(file), write(file, code))
result = total(5)
cache._write = write
print(result, len(written))  # the parts total and scaled, and the entry
"""


def run_in_a_process(directory):
    """Give the result of the program, and how many functions it compiled."""
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(factor=3)],
        env=os.environ | {"REBECSIM_CACHE": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    result, number = finished.stdout.split()
    return int(result), int(number)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the program here, as if nothing had been compiled or loaded yet."""

    def here(directory, factor=3):
        monkeypatch.setenv("REBECSIM_CACHE", str(directory))
        monkeypatch.setattr(cache, "_addresses", {})
        exec(PROGRAM.format(factor=factor), {"__name__": "program"})
        result, number = capsys.readouterr().out.split()
        return int(result), int(number)

    return here


def entries(directory):
    return sorted(Path(directory).glob("*/*.native"))


def test_a_function_is_compiled_once_and_again_when_its_content_changes(run, tmp_path):
    assert run(tmp_path) == (30, 3)
    assert run(tmp_path) == (30, 0)
    # a constant of a function that is called
    assert run(tmp_path, factor=4) == (40, 3)
    assert len(entries(tmp_path)) == 6


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-7],
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content: b"another version\n" + content,
    ],
    ids=["empty", "truncated", "one bit", "another format"],
)
def test_damaged_entries_are_compiled_again(run, tmp_path, damage):
    run(tmp_path)
    for path in entries(tmp_path):
        path.write_bytes(damage(path.read_bytes()))
    assert run(tmp_path) == (30, 3)
    assert run(tmp_path) == (30, 0)


def test_an_entry_that_is_whole_but_unreadable_is_compiled_again(run, tmp_path):
    import hashlib

    run(tmp_path)
    for path in entries(tmp_path):
        magic = path.read_bytes().split(b"\n")[0] + b"\n"
        payload = b"no pickle"
        path.write_bytes(magic + hashlib.sha256(payload).digest() + payload)
    assert run(tmp_path) == (30, 3)


def test_a_new_process_links_parts_that_are_kept(tmp_path):
    assert run_in_a_process(tmp_path) == (30, 3)
    for path in tmp_path.rglob("total-*"):
        path.unlink()
    assert run_in_a_process(tmp_path) == (30, 2)


def test_processes_that_compile_at_the_same_time_do_not_disturb_each_other(tmp_path):
    command = [sys.executable, "-c", PROGRAM.format(factor=3)]
    environment = os.environ | {"REBECSIM_CACHE": str(tmp_path)}
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ended = [process.communicate()[0].split() for process in running]
    assert [result for result, _ in ended] == ["30"] * 2
    if sys.platform != "win32":  # where they lock what they compile
        assert sum(int(number) for _, number in ended) == 3
    assert run_in_a_process(tmp_path) == (30, 0)
    assert {path.suffix for path in tmp_path.glob("*/*")} == {".native"}


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there")
def test_what_another_process_compiles_is_left_to_the_end(tmp_path, monkeypatch):
    import fcntl

    monkeypatch.setenv("REBECSIM_CACHE", str(tmp_path))

    @compiled("int64(int64)")
    def first(x):
        return x + 17

    @compiled("int64(int64)")
    def second(x):
        return x + 19

    prepare(second)
    entry = entries(tmp_path)[0]
    digest = cache._digest(first)
    lock = entry.with_name(cache._file_name("first", digest) + ".lock")
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert not first.prepare(wait=False)
        assert not is_ready(first)
    prepare(first, second)
    assert (first(1), second(1)) == (18, 20)
    assert len(entries(tmp_path)) == 4


def test_a_directory_that_cannot_be_made_is_no_hindrance(run, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "cache") == (30, 3)


def test_the_directory_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("REBECSIM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "rebecsim"
    monkeypatch.setenv("REBECSIM_CACHE", str(tmp_path / "own"))
    assert cache_directory() == tmp_path / "own"


def test_the_command_shows_and_clears_the_cache(run, monkeypatch, tmp_path):
    monkeypatch.setenv("REBECSIM_CACHE", str(tmp_path))
    show = lambda *options: CliRunner().invoke(app, ["cache", *options])  # noqa: E731
    assert f"{tmp_path}: 0 functions, 0.0 MB" in show().output
    run(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    shown = show().output
    assert f"{tmp_path}: 3 functions" in shown
    assert "numba" in shown.splitlines()[1]
    assert "cleared" in show("--clear").output
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_other_types_of_arguments_are_refused():
    @compiled("int64(int64[::1])")
    def first(cells):
        return cells[0]

    assert first(np.arange(3) + 7) == 7
    with pytest.raises(TypeError):
        first(np.arange(3.0))


def test_what_cannot_be_hashed_is_refused():
    thing = object()

    @compiled("int64(int64)")
    def odd(x):
        return x if thing is None else 0

    with pytest.raises(TypeError, match="thing: a compiled function may not refer to a object"):
        odd(1)
