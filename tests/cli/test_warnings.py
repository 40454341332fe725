"""What the checker warns of is said by every command that reads a model, and changes no result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

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
        (["explore", "--engine", "python", "--no-deadlines"], 0, "Every run ends"),
    ],
)
def test_a_warning_is_printed_beside_the_result(
    command: list[str],
    code: int,
    shown: str,
    run: Run,
    tmp_path: Path,
) -> None:
    model = tmp_path / "late.rebeca"
    model.write_text(LATE, "utf-8")
    name, *options = command
    done = run(name, model, *options)
    assert done.returncode == code
    assert shown in done.stdout
    assert "warning:" not in done.stdout
    assert done.stderr.startswith(
        f"{model}:2:41: warning: this message is always late: it arrives after 5, its deadline is 3"
    )
    assert done.stderr.count("warning:") == 1
