"""`rebecsim step` as a user runs it: sessions as scripts, and at a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.program import Ended

MODELS = Path(__file__).resolve().parents[2] / "models"
TICKETS = MODELS / "ticket_service.rebeca"
ENVIRONMENT = {**os.environ, "COLUMNS": "120", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb"}

WORKER = """\
reactiveclass Sender(3) {
    knownrebecs { Worker worker; }
    Sender() { self.go(); }
    msgsrv go() { worker.work() deadline(1); }
}
reactiveclass Worker(4) {
    statevars { int done; }
    msgsrv work() { done++; delay(?(1, 2)); }
}
main { Sender left(worker):(); Sender right(worker):(); Worker worker():(); }
"""


@pytest.fixture
def session(run: Run) -> Callable[..., Ended]:
    """Step through a model by typing commands."""

    def typed(model: Path, *commands: str, options: tuple[str, ...] = (), cwd: Path | None = None):
        text = "".join(f"{each}\n" for each in commands)
        return run("step", model, *options, typed=text, cwd=cwd, columns=120)

    return typed


def lines(text: str) -> list[str]:
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines()]


def test_the_first_screen(session) -> None:
    done = session(TICKETS)
    assert done.returncode == 0
    assert done.stderr == ""
    assert lines(done.stdout) == [
        "",
        "ticket_service, time 0, 0 steps so far",
        "Rebec Variables Bag",
        "office left = 2 refill() from office, arrival 7",
        "ann tickets = 0, asking = false think() from ann, arrival 0",
        "bob tickets = 0, asking = false think() from bob, arrival 1",
        "",
        "Next From To: message Deadline Then",
        "1 ann ann: think() asking = true, office.buy(customer=ann) at 1",
    ]


def test_picking_and_taking_back(session) -> None:
    done = session(TICKETS, "1", "1.2", "undo", "1.1", "undo 2", "path", "quit", "never read")
    assert done.returncode == 0
    printed = lines(done.stdout)
    assert "> 1.2" in printed
    assert "1 ann -> office: buy(customer=ann); chooses 2; left = 1" in printed
    assert "1.1 chooses 1 left = 1, busy until 2, ann.ticket(sold=true) at 2" in printed
    assert "office (busy until 3) left = 1 refill() from office, arrival 7" in printed
    assert printed.count("ticket_service, time 0, 0 steps so far") == 2
    assert printed[-2:] == ["no steps so far", "> quit"]


def test_errors_do_not_end_the_session_and_show_in_the_exit_code(session) -> None:
    done = session(
        TICKETS,
        "# what is not a command",
        "dance",
        "7",
        "1.5",
        "undo",
        "run away",
        "break if office.lost == 1",
        "break nobody.buy",
        "clear 3",
        "save",
        "save /nowhere/at/all.json",
        "1",
        "1",
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[:5] == [
        "line 2: there is no command 'dance'; `help` shows all",
        "line 3: there is no 7; pick one from 1 to 1",
        "line 4: there is no 1.5; 1 has 1",
        "line 5: this is the beginning; there is no step to take back",
        "line 6: `run` takes a number, not 'away'",
    ]
    assert "line 7: <condition>:1:1: error: `office` has no state variable `lost`" in done.stderr
    assert "line 11: /nowhere/at/all.json: No such file" in done.stderr
    assert "line 13: 1 makes choices: pick one from 1.1 to 1.2" in done.stderr
    assert "ticket_service, time 1, 1 step so far" in done.stdout


def test_a_hint_is_given_once_a_session(session) -> None:
    done = session(TICKETS, "dance", "clear 3", "sing", "clear 4")
    assert done.stderr.splitlines() == [
        "line 1: there is no command 'dance'; `help` shows all",
        "line 2: there is no breakpoint 3; `break` shows them",
        "line 3: there is no command 'sing'",
        "line 4: there is no breakpoint 4",
    ]


def test_a_violation_is_saved_and_replayed(run, session, tmp_path) -> None:
    model = tmp_path / "worker.rebeca"
    model.write_text(WORKER)
    done = session(model, "1", "1", "1.2", "1", "save late.json", "1", "undo", cwd=tmp_path)
    assert done.returncode == 2
    assert "deadline missed: work() with deadline 1 is served at time 2" in done.stdout
    assert "line 6: the run has ended; there is nothing to pick" in done.stderr
    assert f"`rebecsim replay late.json {model}` replays it" in done.stdout
    replayed = run("replay", "late.json", model, cwd=tmp_path, columns=120)
    assert replayed.returncode == 1
    assert "deadline missed: work() with deadline 1 is served at time 2" in replayed.stdout


def test_breakpoints_and_runs(run, session, tmp_path) -> None:
    done = session(
        TICKETS,
        "break",
        "break if office.left == 0",
        "break refill",
        "run",
        "save sold_out.json",
        "clear 1",
        "run",
        "clear",
        "time 40",
        "time 3",
        "save some.json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    printed = lines(done.stdout)
    assert "no breakpoints" in printed
    assert "breakpoint: if office.left == 0" in printed
    assert "breakpoint: refill" in printed
    assert any(re.fullmatch(r"\.\.\. \d+ steps", line) for line in printed)
    assert any(re.fullmatch(r"\d+ steps taken back", line) for line in printed)
    assert any(line.startswith("ticket_service, time 3, ") for line in printed)
    replayed = run("replay", "sold_out.json", TICKETS, cwd=tmp_path, columns=120)
    assert "property violated: !(office.left == 0)" in replayed.stdout
    simulated = run("simulate", TICKETS, "--replay", "some.json", cwd=tmp_path, columns=120)
    assert "end of record" in simulated.stdout


def test_core_and_timed_transition_systems(session, tmp_path) -> None:
    timed = session(TICKETS, "run 20", "path", options=("--tts",))
    assert timed.returncode == 0
    assert "(time passes)" in timed.stdout
    assert "(goes on)" in timed.stdout
    core = tmp_path / "core.rebeca"
    core.write_text("reactiveclass A(2) { A() { self.go(); } msgsrv go() { } } main { A a():(); }")
    done = session(core, "run", "time 3", "help", options=("--core",))
    assert done.returncode == 2
    assert "the run has ended: no message is left" in done.stdout
    assert "a core model has no time" in done.stderr
    assert "undo [N]" in done.stdout


def test_a_model_with_errors_is_refused(session, tmp_path) -> None:
    model = tmp_path / "wrong.rebeca"
    model.write_text("main { }")
    done = session(model, "1")
    assert done.returncode == 2
    assert "wrong.rebeca:1:" in done.stderr


class Terminal:
    """A session at a terminal."""

    def __init__(self, model: Path) -> None:
        self._mine, theirs = pty.openpty()
        self._unread = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rebecsim", "step", str(model)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=ENVIRONMENT,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._mine)

    def expect(self, text: str) -> None:
        """Read up to a text; fails after 20 seconds."""
        until = time.monotonic() + 20
        while text not in self._unread:
            ready, _, _ = select.select([self._mine], [], [], max(until - time.monotonic(), 0))
            assert ready, f"no {text!r} in {self._unread!r}"
            self._unread += os.read(self._mine, 4096).decode()
        self._unread = self._unread.partition(text)[2]

    def type(self, text: str) -> None:
        """Type a line, or what else."""
        os.write(self._mine, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def interrupt_until_ended(self) -> int:
        """Press Ctrl-C every half a second until the program ends, and give its exit code."""
        for _ in range(40):
            self.interrupt()
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(0.5)
        return self.ended()

    def ended(self) -> int:
        """Wait for the end of the program and give its exit code."""
        return self._process.wait(20)


def test_at_a_terminal_errors_do_not_count() -> None:
    with Terminal(TICKETS) as terminal:
        terminal.expect("`help` shows the commands")
        terminal.expect("> ")
        terminal.type("dance\n")
        terminal.expect("there is no command 'dance'")
        terminal.expect("> ")
        terminal.type("1\n")
        terminal.expect("time 1, 1 step so far")
        terminal.expect("asking = true, office.buy(customer=bob) at 2")
        terminal.expect("> ")
        terminal.type("\x04")
        assert terminal.ended() == 0


SLOW = """reactiveclass Slow(2) {
    statevars { int n; }
    Slow() { self.go(); }
    msgsrv go() {
        for (int i = 0; i < 5000; i++) n = (n * 31 + i) % 1000003;
        self.go() after(1);
    }
}
main { Slow a():(); }
"""


def test_ctrl_c_stops_a_run_but_not_the_session(tmp_path: Path) -> None:
    model = tmp_path / "slow.rebeca"
    model.write_text(SLOW)  # so slow that the run has not ended before Ctrl-C
    with Terminal(model) as terminal:
        terminal.expect("> ")
        terminal.type("time 100000000\n")
        terminal.expect("time 100000000")
        time.sleep(1)
        terminal.interrupt()
        terminal.expect("stopped by Ctrl-C after ")
        terminal.expect("> ")
        terminal.type("quit\n")
        assert terminal.ended() == 0


def test_ctrl_c_at_the_prompt_ends_the_session() -> None:
    with Terminal(TICKETS) as terminal:
        terminal.expect("> ")
        # readline prints the prompt before it listens to signals
        assert terminal.interrupt_until_ended() == 130
