"""`check` for other programs, and again and again; `new`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import Run

RIGHT = "reactiveclass R(2) { R() { self.m(); } msgsrv m() { } } main { R r():(); }"
LATE = """\
reactiveclass R(2) {
    R() { self.m() after(5) deadline(2); }
    msgsrv m() { }
}
main { R r():(); }
"""
FIELDS = (
    "file",
    *("line", "column", "end_line", "end_column", "severity", "message", "hint", "code"),
)


def test_problems_are_values(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.rebeca").write_text(RIGHT.replace("self.m()", "self.n()"))
    (tmp_path / "late.rebeca").write_text(LATE)
    (tmp_path / "right.rebeca").write_text(RIGHT)
    files = [f"{name}.rebeca" for name in ("wrong", "right", "missing", "late")]
    done = run("check", "--json", *files, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    wrong, missing, late = json.loads(done.stdout)
    assert tuple(wrong) == tuple(missing) == tuple(late) == FIELDS
    column = RIGHT.index("self.m()") + 1
    assert wrong["file"] == "wrong.rebeca"
    assert (wrong["line"], wrong["end_line"], wrong["severity"]) == (1, 1, "error")
    assert column <= wrong["column"] < wrong["end_column"] <= column + len("self.n()")
    assert wrong["hint"] == "there is `m`"
    assert (missing["file"], missing["message"]) == ("missing.rebeca", "No such file or directory")
    assert (late["line"], late["severity"]) == (2, "warning")


def test_warnings_alone_change_no_exit_code(run: Run, tmp_path: Path) -> None:
    (tmp_path / "late.rebeca").write_text(LATE)
    (tmp_path / "right.rebeca").write_text(RIGHT)
    assert run("check", "--json", tmp_path / "late.rebeca").returncode == 0
    assert run("check", "--json", tmp_path / "right.rebeca")[:2] == (0, "[]\n")


def test_what_is_suspicious_in_python_and_a_program_that_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("1 / 0\n")
    (tmp_path / "clock.py").write_text(
        "import time\nfrom rebecsim.actors import Instance, Model, Rebec, message_server\n"
        "class R(Rebec, queue_size=2):\n    @message_server\n"
        "    def m(self):\n        time.time()\n"
        "model = Model('m', (Instance('r', R),))\n"
    )
    done = run("check", "--json", "fails.py", "clock.py", cwd=tmp_path)
    failed, warned = json.loads(done.stdout)
    assert failed["message"] == "ZeroDivisionError: division by zero"
    assert done.returncode == 2
    assert (warned["severity"], warned["line"], warned["end_line"]) == ("warning", 6, 6)
    assert warned["message"].startswith("`m` of R ")


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_watching_checks_again_what_was_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    file, other = tmp_path / "a.rebeca", tmp_path / "b.rebeca"
    file.write_text(RIGHT)
    other.write_text(RIGHT)

    def nothing() -> None: ...

    def stop() -> None:
        raise KeyboardInterrupt

    steps = iter(
        [nothing, lambda: file.write_text("main"), nothing, file.unlink, nothing, stop],
    )
    # not that of all modules: other threads sleep, too
    waiting = SimpleNamespace(sleep=lambda seconds: next(steps)())
    monkeypatch.setattr("rebecsim.cli.check.time", waiting)
    done = run("check", "--watch", *option, file.name, other.name, cwd=tmp_path)
    assert done.returncode == 130
    if option:
        first, second, third = map(json.loads, done.stdout.splitlines())
        assert (first, third[0]["message"]) == ([], "No such file or directory")
        assert second[0]["line"] == 1
        return
    assert done.stdout.count("a.rebeca changed") == 2
    assert done.stdout.count("a.rebeca: ok") == 1
    assert done.stdout.count("b.rebeca: ok") == 3
    assert "a.rebeca:1:" in done.stderr


def test_a_new_model_is_right_and_its_properties_hold(run: Run, tmp_path: Path) -> None:
    done = run("new", "kiosk", cwd=tmp_path)
    names = ["kiosk.rebeca", "kiosk.property", "test_kiosk.py"]
    assert done.stdout.splitlines()[:3] == names
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(names)
    checked = run("check", "kiosk.rebeca", cwd=tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    explored = run("explore", "kiosk.rebeca", "--property", "kiosk.property", cwd=tmp_path)
    assert explored.returncode == 0, explored.stdout


def test_the_test_of_a_new_model_passes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert run("new", "sub/kiosk", cwd=tmp_path).returncode == 0
    test = tmp_path / "sub" / "test_kiosk.py"
    there: dict[str, object] = {"__file__": str(test)}
    exec(compile(test.read_text("utf-8"), test, "exec"), there)
    tests = [value for name, value in there.items() if name.startswith("test_")]
    assert len(tests) == 2
    for each in tests:
        assert callable(each)
        each()


@pytest.mark.parametrize("taken", ["kiosk.rebeca", "kiosk.property", "test_kiosk.py"])
def test_nothing_is_replaced(run: Run, tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    done = run("new", "kiosk", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{taken}: exists already" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


@pytest.mark.parametrize("name", ["", "1st", "a-b", "naïve", "a.rebeca", "..", "nowhere/a"])
def test_what_is_no_name_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    done = run("new", name, cwd=tmp_path)
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())
