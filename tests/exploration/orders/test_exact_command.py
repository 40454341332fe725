"""The command `exact`, as a user gives it."""

from __future__ import annotations

import json
from pathlib import Path

from rebecsim.errors import ExitCode
from tests.conftest import Run

TICKETS = Path(__file__).resolve().parents[3] / "models" / "ticket_service.rebeca"


def test_a_run_of_the_worst_order_is_done_again(run: Run, tmp_path: Path) -> None:
    reach = ("--reach", "bob.tickets == 2")
    found = run("exact", TICKETS, "--until", "10", *reach, "--save-max", "most.json", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "run in most.json\n")
    assert found.stdout.splitlines()[-1].split()[-3:] == ["0.265625", "0.367188", "0.46875"]
    again = run("simulate", "--replay", "most.json", TICKETS, cwd=tmp_path)
    assert again.returncode == 0
    assert "time limit" in again.stdout
    assert json.loads((tmp_path / "most.json").read_text())["until"] == 10


def test_a_limit_is_said_and_gives_a_code_of_its_own(run: Run) -> None:
    short = run("exact", TICKETS, "--until", "40", "--goes-wrong", "--max-states", "500")
    assert short.returncode == ExitCode.UNDECIDED
    assert "stopped by the limit of states, so this is up to time 10 and not 40" in short.stdout
    nothing = run("exact", TICKETS, "--until", "40", "--goes-wrong", "--max-states", "1")
    assert nothing.returncode == ExitCode.UNDECIDED
    assert nothing.stdout.endswith("nothing is known\n")
    told = run("exact", TICKETS, "--until", "40", "--goes-wrong", "--max-states", "500", "--json")
    assert json.loads(told.stdout)["stopped_by"] == "states"


def test_mistakes_name_what_is_wrong(run: Run) -> None:
    for options, text in (
        ((), "no quantity is given"),
        (("--reward", "ann.ticets"), "did you mean `tickets`?"),
        (
            ("--final", "ann.asking"),
            "expected a number, found boolean\n    ann.asking\n    ^^^^^^^^^^",
        ),
        (("--reach", "ann.tickets"), "condition"),
        (
            ("--goes-wrong", "--reward", "ann.tickets", "--save-min", "x.json"),
            "exactly one quantity",
        ),
    ):
        found = run("exact", TICKETS, "--until", "3", *options)
        assert found.returncode == ExitCode.BAD_INPUT
        assert text in found.stderr
