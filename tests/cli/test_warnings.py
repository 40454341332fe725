"""What the checker warns of is said by every command that reads a model, and changes no result."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rebecsim.cli import main

LATE = """reactiveclass A(3) {
    A() { self.tick() after(5) deadline(3); }
    msgsrv tick() { }
}
main { A a():(); }
"""


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    [
        (["check"], 0, "ok, 1 class, 1 rebec"),
        (["simulate"], 1, "deadline missed"),
        (["simulate", "--engine", "native"], 1, "deadline missed"),
        (["explore", "--engine", "python"], 1, "deadline missed"),
        (["explore", "--engine", "python", "--no-deadlines"], 1, "deadlock"),
    ],
)
def test_a_warning_is_printed_beside_the_result(
    command: list[str],
    code: int,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    model = tmp_path / "late.rebeca"
    model.write_text(LATE, "utf-8")
    name, *options = command
    monkeypatch.setattr(sys, "argv", ["rebecsim", name, str(model), *options])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capfd.readouterr()
    assert ended.value.code in (code, None if code == 0 else code)
    assert shown in printed.out
    assert "warning:" not in printed.out
    assert printed.err.startswith(
        f"{model}:2:41: warning: this message is always late: it arrives after 5, its deadline is 3"
    )
    assert printed.err.count("warning:") == 1
