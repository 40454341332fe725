"""What the program says, and the code it ends with, when something goes wrong."""

import errno
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rebecsim.errors import ExitCode
from tests import held
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/command-line.md"

RAISING = """\
from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable


class A(Rebec, queue_size=3):
    n: int = state_variable(Int)

    def __init__(self, start: int) -> None:
        if start < 0:
            raise ValueError("no start")
        self.go(start)

    @message_server
    def go(self, step: int) -> None:
        self.n += step
        if self.n == 3:
            int("three")
        self.go(1, after=1)


model = Model("raising", (Instance("lamp", A, (), (START,)),))
"""

ENDLESS = """\
reactiveclass A(2) {
    statevars { int n; }
    A() { self.go(); }
    msgsrv go() { n = n + 1; self.go() after(1); }
}
main { A a():(); }
"""


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("models/office.rebeca", "No such file or directory; there is no folder models"),
        ("offce.rebeca", "No such file or directory; did you mean office.rebeca?"),
        ("lamp.rebeca", "No such file or directory"),
    ],
)
def test_a_missing_file_is_named_with_what_to_try(run, tmp_path, monkeypatch, file, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "office.rebeca").touch()
    assert run("explore", file) == (ExitCode.BAD_INPUT, "", f"{file}: {said}\n")


@pytest.fixture
def raising(tmp_path):
    def write(start):
        file = tmp_path / "raising.py"
        file.write_text(RAISING.replace("START", str(start)))
        return file

    return write


def started(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "rebecsim", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_the_page_says_what_every_code_means():
    table = PAGE.read_text().partition("Results go to")[0]
    assert [int(code) for code in re.findall(r"^\|(\d+)\|", table, re.M)] == list(ExitCode)


@pytest.mark.parametrize(
    "command",
    [
        ["simulate"],
        ["explore"],
        ["explore", "--tts"],
        ["explore", "--engine", "native"],
        ["races"],
        ["draw", "--states", "--out", "drawn.svg"],
    ],
)
def test_an_exception_of_a_model_names_its_place(run, raising, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = raising(1)
    code, _, complaint = run(command[0], file, *command[1:])
    assert code == ExitCode.MODEL_FAILED
    (line,) = complaint.splitlines()
    assert line.startswith("the model's own code failed: lamp, serving go(1): ValueError: invalid")
    assert line.endswith(f"({file}:16)")


def test_live_ends_with_the_same_code(run, raising):
    code, printed, _ = run("live", raising(1), "--speed", 0, "--quiet")
    assert code == ExitCode.MODEL_FAILED
    assert re.search(
        r"failed: lamp, serving go\(1\): ValueError: invalid.*raising.py:16\)", printed
    )


@pytest.mark.parametrize("command", ["simulate", "explore", "races", "live", "step"])
def test_an_exception_of_a_constructor_names_its_place(run, raising, command):
    file = raising(-1)
    code, _, complaint = run(command, file)
    assert code == ExitCode.MODEL_FAILED
    expected = f"lamp, in its constructor: ValueError: no start ({file}:9)"
    assert complaint == f"the model's own code failed: {expected}\n"


def test_a_session_goes_on_after_an_exception_of_the_model(raising):
    with started("step", raising(1), stdin=subprocess.PIPE) as process:
        printed, complaint = process.communicate("run\nshow\nundo\npath\n", timeout=60)
    assert process.returncode == ExitCode.MODEL_FAILED
    assert complaint.startswith("line 1: the model's own code failed: lamp, serving go(1)")
    assert "1 step taken back" in printed


def test_arithmetic_in_a_constructor_is_a_failed_assertion(run, tmp_path):
    file = tmp_path / "zero.rebeca"
    file.write_text(
        "reactiveclass A(2) { statevars { int x; } A() { x = 1 / x; } msgsrv go() { delay(1); } }\n"
        "main { A a():(); }\n"
    )
    for command in ("simulate", "explore"):
        code, printed, complaint = run(command, file)
        assert (code, complaint) == (ExitCode.VIOLATED, "")
        assert 'assertion failed: integer division or modulo by zero, method "a.c' in printed
    code, _, complaint = run("draw", file, "--states", "--out", tmp_path / "drawn.svg")
    assert code == ExitCode.VIOLATED
    assert complaint.startswith("assertion failed: integer division or modulo by zero")


def test_a_mistake_of_the_program_says_what_to_report(run, monkeypatch, tmp_path):
    def broken(*_):
        raise KeyError("lost")

    monkeypatch.setenv("REBECSIM_CACHE", str(tmp_path))
    monkeypatch.setattr("rebecsim.trust.cache_folders", broken)
    code, _, complaint = run("cache")
    assert code == ExitCode.INTERNAL_ERROR
    first, second, *facts = complaint.splitlines()
    assert re.fullmatch(r"internal error: KeyError: 'lost' \(.*test_exit_codes.py:\d+\)", first)
    assert "mistake of rebecsim" in second
    said = dict(line.split(maxsplit=1) for line in facts)
    assert said["command"] == "rebecsim cache"
    assert f"Python {platform.python_version()}" in said["versions"]
    assert f"numpy {np.__version__}" in said["packages"]
    (log,) = tmp_path.glob("errors/*.log")
    assert said["traceback"] == str(log)
    assert "Traceback (most recent call last)" in log.read_text()
    assert len(complaint.splitlines()) < 10
    monkeypatch.setenv("REBECSIM_DEBUG", "1")
    assert "Traceback (most recent call last)" in run("cache")[2]


def test_a_mistake_is_told_where_no_file_can_be_kept(run, monkeypatch):
    def broken(*_):
        raise KeyError("lost")

    monkeypatch.setattr("rebecsim.cli.endings.cache_directory", broken)
    monkeypatch.setattr("rebecsim.trust.cache_folders", broken)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", broken)
    code, _, complaint = run("cache")
    assert (code, "traceback " in complaint) == (ExitCode.INTERNAL_ERROR, False)
    assert complaint.startswith("internal error: KeyError: 'lost'")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_names_the_directory(run, monkeypatch, number):
    def full(*_):
        raise OSError(number, os.strerror(number), "kept/run.json")

    monkeypatch.setattr("rebecsim.trust.cache_directory", full)
    code, _, complaint = run("cache")
    assert code == ExitCode.NOT_WRITTEN
    assert complaint.startswith(
        f"kept/run.json: {os.strerror(number)}; it was not written. Make room in kept"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", [["cache"], ["check", "--help"]])
def test_standard_output_without_room_is_said_once(command):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rebecsim", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == ExitCode.NOT_WRITTEN
    (line,) = done.stderr.splitlines()
    assert line.startswith("standard output: No space left on device")


@pytest.mark.parametrize("command", ["simulate", "live", "check"])
def test_a_closed_pipe_ends_quietly(tmp_path, command):
    file = tmp_path / "endless.rebeca"
    file.write_text(ENDLESS)
    rest = {
        "simulate": [file, "--steps", 4000],  # more than a pipe holds
        "live": [file, "--speed", 0, "--steps", 3000],
        "check": [file] * 3000,
    }
    with started(command, *rest[command]) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait(60) == ExitCode.CLOSED_PIPE
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_output_that_nobody_reads_at_all_ends_quietly(tmp_path):
    read, write = os.pipe()
    os.close(read)
    file = tmp_path / "endless.rebeca"
    file.write_text(ENDLESS)
    for command in (["check", str(file)], ["simulate", str(file)], ["--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "rebecsim", *command],
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (ExitCode.CLOSED_PIPE, b"")
    os.close(write)


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_a_killed_worker_says_how_to_go_on(tmp_path):
    held.fill(tmp_path)
    with held.start(tmp_path, "--workers", 2) as process:
        (victim, *_) = iter_workers(process.pid)
        os.kill(victim, signal.SIGKILL)
        try:
            _, complaint = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == ExitCode.WORKER_KILLED
    *_, line = complaint.splitlines()  # after what Python's own helper processes may say
    assert line.startswith("a worker process was killed")
    assert line.endswith("held: continue with --resume")


def iter_workers(parent):
    """Wait for the workers of a comparison: grandchildren, forked from a server."""
    return wait_for(lambda: [each for child in children(parent) for each in children(child)])


def children(process):
    listed = Path(f"/proc/{process}/task/{process}/children")
    return list(map(int, listed.read_text().split())) if listed.exists() else []
