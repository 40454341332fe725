"""`rebecsim live` as a user runs it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.program import started

MODELS = Path(__file__).resolve().parents[2] / "models"
TICKETS = MODELS / "ticket_service.rebeca"

UNBUFFERED = {"PYTHONUNBUFFERED": "1"}

TROUBLE = """\
import os, time
from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable

class Culprit(Rebec, queue_size=2):
    count: int = state_variable(Int)

    def __init__(self) -> None:
        self.go(os.environ["TROUBLE"])

    @message_server
    def go(self, trouble: str) -> None:
        self.count += 1
        if trouble == "raise":
            raise KeyError("lost")
        print("in the message server", flush=True)
        while trouble == "loop":
            self.count += 1
        if trouble == "block":
            time.sleep(600)
        if trouble == "full":
            self.go("quiet")
            self.go("quiet")

model = Model("trouble", (Instance("culprit", Culprit),))
"""


@pytest.fixture
def trouble(tmp_path: Path) -> Path:
    file = tmp_path / "trouble.py"
    file.write_text(TROUBLE)
    return file


def test_a_run_is_shown_and_checked_and_kept(run: Run, tmp_path) -> None:
    log = tmp_path / "run.json"
    code, printed, _ = run("live", TICKETS, "--until", 20, "--speed", 0, "--seed", 1, "--log", log)
    assert code == 0
    lines = printed.splitlines()
    assert lines[0] == "ticket_service: 3 rebecs, virtual time, seed 1"
    assert re.match(r" +Time  From    To: message", lines[1])
    assert re.match(r" +1-[23]  ann +office: buy\(customer=ann\) +12  [12] ", lines[3] + lines[4])
    assert "time limit" in lines[-3]
    assert lines[-2] == "checked: every message served was enabled, and did what the model says"
    assert lines[-1] == f"run in {log}"
    served = len(json.loads(log.read_text())["served"])

    code, again, _ = run("live", TICKETS, "--replay", log)
    assert code == 0
    assert again.splitlines()[1 : 1 + served] == lines[2 : 2 + served]

    code, simulated, _ = run("simulate", TICKETS, "--replay", log)
    assert code == 0
    assert f"time limit ({served} messages served" in simulated


def test_a_forged_log_is_refused(run: Run, tmp_path) -> None:
    log = tmp_path / "run.json"
    run("live", TICKETS, "--until", 20, "--speed", 0, "--seed", 1, "--log", log)
    data = json.loads(log.read_text())
    data["served"][3], data["served"][9] = data["served"][9], data["served"][3]
    log.write_text(json.dumps(data))
    code, printed, complaint = run("live", TICKETS, "--replay", log)
    assert (code, printed) == (2, "")
    assert complaint.startswith(f"{log}: message 4, at time ")
    assert "it is not enabled; the enabled messages are: " in complaint


def test_scaled_time_and_checking_at_once(run: Run) -> None:
    began = time.monotonic()
    code, printed, _ = run(
        "live", TICKETS, "--until", 20, "--speed", 20, "--check", "--tolerance", 5000, "--quiet"
    )
    assert code == 0
    assert time.monotonic() - began > 0.8
    first, end, checked, on_time = printed.splitlines()
    assert re.fullmatch(r"ticket_service: 3 rebecs, 20 time units a second, seed \d+", first)
    assert end.startswith("time limit (")
    assert checked.startswith("checked:")
    assert re.fullmatch(r"on time: no message was more than \d+\.\d ms late", on_time)


def test_lateness_is_reported(run: Run) -> None:
    code, printed, _ = run(
        "live", TICKETS, "--until", 20, "--speed", 100, "--tolerance", 0, "--quiet"
    )
    assert code == 0
    assert re.search(r"^late: \d+ of \d+ messages were served more than 0 ms after", printed, re.M)


@pytest.mark.parametrize(
    ("kind", "report"),
    [
        ("raise", r"failed: culprit, serving go\(raise\): KeyError: 'lost' \(.*trouble.py:14\)"),
        ("loop", r"not answering: culprit, serving go\(loop\): .* for more than 1 s"),
        ("block", r"not answering: culprit, .*\n.*the thread of culprit could not be stopped"),
        ("full", r"queue overflow: no place for go\(quiet\) in a queue of 2"),
    ],
)
def test_trouble_is_reported_with_the_culprit_and_the_program_ends(trouble, kind, report) -> None:
    arguments = ("live", trouble, "--patience", 1, "--speed", 0)
    with started(*arguments, columns=120, environment={"TROUBLE": kind}) as process:
        printed, complaint = process.communicate(timeout=60)
    code = process.returncode
    assert code == (1 if kind == "full" else 4)
    assert re.search(report, printed), printed
    assert complaint == ""


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Send Ctrl-C once the first message is being served, or has been: two lines come before."""
    first = "".join(process.stdout.readline() for _ in range(3))
    process.send_signal(signal.SIGINT)
    printed, complaint = process.communicate(timeout=20)
    return process.returncode, first + printed, complaint


def test_ctrl_c_gives_a_report() -> None:
    code, printed, complaint = interrupted(
        started("live", TICKETS, "--until", 10**6, environment=UNBUFFERED)
    )
    assert code == 130
    assert re.search(r"^interrupted \(\d+ messages? served", printed, re.M)
    assert "checked: every message served was enabled" in printed
    assert complaint == ""


@pytest.mark.parametrize("kind", ["loop", "block"])
def test_ctrl_c_ends_a_message_server_that_does_not_end(trouble, kind) -> None:
    code, printed, _ = interrupted(
        started("live", trouble, environment={"TROUBLE": kind} | UNBUFFERED)
    )
    assert code == 130
    assert "interrupted (0 messages served)" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.rebeca"], "nothing.rebeca"),
        ([TICKETS, "--replay", "no.json"], "no.json: No such file"),
        ([TICKETS, "--replay", "no.json", "--seed", "1"], "--replay"),
        ([TICKETS, "--core", "--speed", "2"], "no `delay`"),
        ([TICKETS, "--speed", "nan"], "--speed"),
        ([TICKETS, "--until", "3", "--speed", "0", "--log", "no/run.json"], "No such file"),
    ],
)
def test_bad_input_is_refused(run: Run, arguments, message, tmp_path) -> None:
    code, _, complaint = run("live", *arguments, cwd=tmp_path)
    assert code == 2
    assert message in complaint
    assert list(tmp_path.iterdir()) == []
