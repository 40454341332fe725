"""Searches and message servers that do not end: stopped, and named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable
from rebecsim.actors.watchdog import EndlessError, Watchdog
from rebecsim.cli.app import app
from rebecsim.cli.endings import ending_of
from rebecsim.errors import ExitCode
from rebecsim.exploration import Limits, explore, find_races
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.live import LiveLimits, run_live
from rebecsim.simulation import simulate
from rebecsim.simulation.simulator import make_scheduler

pytestmark = pytest.mark.usefixtures("no_collections")

ENDLESS = """
reactiveclass A(3) {
    statevars { int t; }
    A() { self.go(0); }
    int wait(int n) {
        while (n > 0) {
            if (n > 2) { continue; }
            n--;
        }
        return 0;
    }
    msgsrv go(int n) {
        t = (t + 1) % 4;
        if (t == 3) { t = wait(t); }
        self.go(t) after(1);
    }
}
main { A a():(); }
"""
NAMED = "a, serving go(2): has not ended after 0.3 s (endless.rebeca, line "


def _built(text: str, name: str = "endless.rebeca") -> Any:
    checked = check_source(text, name)
    return checked, build_model(checked, name)


@pytest.mark.parametrize("engine", ["python", "native", "auto"])
@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_exploring_names_a_message_server_that_does_not_end(engine: Any, mode: Any) -> None:
    checked, model = _built(ENDLESS)
    with pytest.raises(EndlessError) as caught:
        explore(model, checked=checked, mode=mode, engine=engine, limits=Limits(patience=0.3))
    assert str(caught.value) in (f"{NAMED}6)", f"{NAMED}7)")
    assert ending_of(caught.value).code == ExitCode.MODEL_FAILED


@pytest.mark.parametrize("engine", ["python", "native"])
def test_the_limit_that_stopped_a_message_server_is_named_when_it_no_longer_holds(
    engine: Any,
) -> None:
    """Memory may have been given back since, and where no time was given, time is no limit."""
    checked, model = _built(ENDLESS)
    seen_by_watchdog = Limits(
        is_interrupted=lambda: threading.current_thread() is not threading.main_thread()
    )
    found = explore(model, checked=checked, engine=engine, limits=seen_by_watchdog)
    assert found.bounds == ("interrupt",)
    assert found.message.startswith("the search was interrupted, in a, serving go(2) (")


def test_so_do_simulation_and_races() -> None:
    _, model = _built(ENDLESS)
    with pytest.raises(EndlessError) as caught, Watchdog(patience=0.3) as watchdog:
        simulate(model, make_scheduler("random", 0, "fair"), max_steps=9, watchdog=watchdog)
    assert str(caught.value).startswith(NAMED)
    with pytest.raises(EndlessError):
        find_races(model, limits=Limits(patience=0.3))


@pytest.mark.large
def test_compiled_simulation_counts_the_rounds_of_loops() -> None:
    from rebecsim.native.layout import native_model
    from rebecsim.native.operations import MOST_ROUNDS
    from rebecsim.simulation.native import simulate_native

    checked, model = _built(ENDLESS)
    with pytest.raises(EndlessError) as caught:
        simulate_native(native_model(model, checked), key=(0, 0), max_steps=9)
    assert str(caught.value) == (
        f"a, serving go(2): has not ended after {MOST_ROUNDS:,} rounds of loops "
        "(endless.rebeca, line 6)"
    )


class Swallowing(Rebec, queue_size=2):
    """Does not let itself be stopped by an exception of the usual kind."""

    rounds: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        while True:
            try:
                self.rounds = 0
            except Exception:
                self.rounds = 1


def test_a_class_in_python_is_named_with_its_file() -> None:
    model = Model("swallowing", (Instance("a", Swallowing),))
    with pytest.raises(EndlessError, match=r"a, serving go\(\): .* \(.*test_endless\.py:\d+\)"):
        explore(model, limits=Limits(patience=0.3))


def test_a_limit_of_time_holds_in_a_message_server() -> None:
    checked, model = _built(ENDLESS)
    found = explore(model, checked=checked, limits=Limits(seconds=0.3))
    assert (found.verdict, found.bounds) == ("undecided", ("seconds",))
    assert "in a, serving go(2) (endless.rebeca, line " in found.message


AFTERWARDS = """
import sys
from tests.exploration.test_endless import ENDLESS, EndlessError, Limits, _built, explore
try:
    explore(_built(ENDLESS)[1], engine="python", limits=Limits(patience=0.2))
except EndlessError as error:
    sys.settrace(lambda *_: None)
    print(repr(_built(ENDLESS)) != "", error)
"""


def test_after_it_calls_can_be_traced_as_by_a_debugger() -> None:
    """CPython 3.11 stays at the first call where an exception has been taken back."""
    done = subprocess.run(
        [sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith("True a, serving go(2): ")


def test_a_message_server_that_ends_late_is_left_alone() -> None:
    checked, model = _built(
        ENDLESS.replace("if (n > 2) { continue; }", "").replace("n--", "n -= 1")
    )
    assert explore(model, checked=checked, limits=Limits(patience=0.2)).verdict == "satisfied"


def test_step_and_the_command_line_name_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("endless.rebeca").write_text(ENDLESS)
    Path("born.rebeca").write_text(BORN.replace("UNTIL", "3"))
    for command in (["explore", "born.rebeca"], ["simulate", "born.rebeca", "--engine", "native"]):
        ended = CliRunner().invoke(app, [*command, "--patience", "1"])
        assert "b, in the constructor of Loop: has not ended after 1 s" in str(ended.exception)
    ended = CliRunner().invoke(app, ["simulate", "endless.rebeca", "--patience", "1"])
    assert isinstance(ended.exception, EndlessError)
    assert "go(2): has not ended after 1 s (endless.rebeca, line" in str(ended.exception)


# --- constructors ---------------------------------------------------------------------------------

BORN = """
reactiveclass Other(2) { Other() { self.go(); } msgsrv go() { self.go() after(1); } }
reactiveclass Loop(2) {
    statevars { int n; }
    Loop(int until) {
        while (n != until) { n = (n + 1) % 3; }
    }
    msgsrv go() { }
}
main { Other o():(); Loop a():(2); Loop b():(UNTIL); }
"""
ENDLESS_BIRTH = "b, in the constructor of Loop: has not ended after 0.3 s (endless.rebeca, line 6)"


def _all_that_begin(checked: Any, model: Any) -> dict[str, Any]:
    from rebecsim.native.layout import native_model

    def simulated() -> Any:
        with Watchdog(patience=0.3) as watchdog:
            scheduler = make_scheduler("random", 0, "fair")
            return simulate(model, scheduler, max_steps=9, watchdog=watchdog)

    def laid_out() -> Any:
        with Watchdog(patience=0.3):
            return native_model(model, checked)

    return {
        "explore": lambda: explore(model, checked=checked, limits=Limits(patience=0.3)),
        "native": lambda: explore(
            model, checked=checked, limits=Limits(patience=0.3), engine="native"
        ),
        "live": lambda: run_live(model, LiveLimits(steps=5), patience=0.3),
        "simulate": simulated,
        "native simulate": laid_out,
    }


@pytest.mark.parametrize("way", ["explore", "native", "live", "simulate", "native simulate"])
def test_a_constructor_that_does_not_end_is_named(way: str) -> None:
    with pytest.raises(EndlessError) as caught:
        _all_that_begin(*_built(BORN.replace("UNTIL", "3")))[way]()
    assert str(caught.value) == ENDLESS_BIRTH
    assert ending_of(caught.value).code == ExitCode.MODEL_FAILED


def test_constructors_that_end_are_left_alone() -> None:
    checked, model = _built(BORN.replace("UNTIL", "1"))
    for begin in _all_that_begin(checked, model).values():
        begin()
    assert explore(model, checked=checked).verdict == "satisfied"


def test_an_empty_loop_in_a_constructor_is_named_too() -> None:
    checked, model = _built(
        "reactiveclass A(2) {\n A() { while (true) { } }\n}\nmain { A a():(); }"
    )
    with pytest.raises(EndlessError, match=r"a, in the constructor of A: .*rebeca, line 2\)$"):
        explore(model, checked=checked, limits=Limits(patience=0.3))


def test_without_a_watchdog_a_system_has_one_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Watchdog.__init__.__kwdefaults__, "patience", 0.3)
    _, model = _built(BORN.replace("UNTIL", "3"))
    with pytest.raises(EndlessError) as caught:
        model.start()
    assert str(caught.value) == ENDLESS_BIRTH


def test_systems_that_are_made_one_after_the_other_have_the_same_watchdog_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, model = _built(BORN.replace("UNTIL", "1"))
    begun = []
    begin = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda each: (begun.append(each), begin(each)))
    for _ in range(50):
        model.start()
    assert len(begun) <= 2  # the second if the first was about to end


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of its threads
def test_a_process_that_was_forked_has_a_watchdog_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(Watchdog.__init__.__kwdefaults__, "patience", 0.3)
    model = _built(BORN.replace("UNTIL", "3"))[1]
    with Watchdog():
        pass  # this process has a thread for them
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            model.start()
        except EndlessError:
            os._exit(3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


def test_limits_hold_in_constructors() -> None:
    checked, model = _built(BORN.replace("UNTIL", "3"))
    found = explore(model, checked=checked, limits=Limits(seconds=0.3))
    assert (found.verdict, found.bounds, found.states) == ("undecided", ("seconds",), 0)
    assert found.message == (
        "the time limit of 0.3 s was reached, in b, in the constructor of Loop "
        "(endless.rebeca, line 6)"
    )
    races = find_races(model, checked=checked, limits=Limits(seconds=0.3))
    assert (races.bounds, races.is_complete, races.states) == (("seconds",), False, 0)
    wanted = time.monotonic() + 0.3
    found = explore(
        model, checked=checked, limits=Limits(is_interrupted=lambda: time.monotonic() > wanted)
    )
    assert found.bounds == ("interrupt",)


# --- interrupted ----------------------------------------------------------------------------------

COUNTER = """
reactiveclass A(3) {
    knownrebecs { A other; }
    statevars { int n; int[2] seen; boolean odd; }
    A() { self.tick(0); }
    msgsrv tick(int k) { n = n + 1; odd = !odd; seen[k % 2] = n % 3; self.tick(k + 1) after(1); }
}
main { A a(b):(); A b(a):(); }
"""


def _after(states: int) -> Any:
    """Ask for the end when so many looks have been taken."""
    looks = iter(range(states))
    return lambda: next(looks, None) is None


@pytest.mark.parametrize("engine", ["python", "native"])
def test_an_interrupted_search_says_what_it_has_found(engine: Any) -> None:
    checked, model = _built(COUNTER)
    found = explore(model, checked=checked, engine=engine, limits=Limits(is_interrupted=_after(3)))
    assert (found.verdict, found.bounds) == ("undecided", ("interrupt",))
    assert "the search was interrupted" in found.message
    assert found.states > 100


def test_an_interrupt_reaches_a_message_server_that_does_not_end() -> None:
    checked, model = _built(ENDLESS)
    wanted = time.monotonic() + 0.5
    found = explore(
        model, checked=checked, limits=Limits(is_interrupted=lambda: time.monotonic() > wanted)
    )
    assert found.bounds == ("interrupt",)


def test_interrupted_races_are_those_found_so_far() -> None:
    checked, model = _built(COUNTER)
    found = find_races(model, checked=checked, limits=Limits(is_interrupted=_after(3)))
    assert found.bounds == ("interrupt",)
    assert found.states > 100


@pytest.mark.parametrize("command", [["explore"], ["races"]])
def test_ctrl_c_has_its_exit_code(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.rebeca").write_text(COUNTER)
    monkeypatch.setattr("rebecsim.actors.watchdog.Interrupt.seen", True)
    ended = CliRunner().invoke(app, [*command, "counter.rebeca"])
    assert ended.exit_code == ExitCode.INTERRUPTED
    assert "interrupted" in ended.output


# --- growing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["python", "native"])
def test_what_never_repeats_is_named(engine: Any) -> None:
    checked, model = _built(COUNTER)
    found = explore(model, checked=checked, engine=engine, limits=Limits(states=600))
    assert found.growing == (
        "a.n",
        "argument 1 of a.tick",
        "b.n",
        "argument 1 of b.tick",
    )
    assert found.to_json()["growing"] == list(found.growing)


def test_what_is_left_out_or_finite_is_not_named() -> None:
    checked, model = _built(COUNTER.replace("tick(k + 1)", "tick((k + 1) % 40)"))
    found = explore(model, checked=checked, abstract=("A.n",), limits=Limits(states=100))
    assert found.growing == ()
    found = explore(model, checked=checked, abstract=("a.n",), limits=Limits(states=600))
    assert found.growing == ("b.n",)


def test_the_report_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.rebeca").write_text(COUNTER)
    shown = CliRunner().invoke(app, ["explore", "counter.rebeca", "--max-states", "600"])
    assert shown.exit_code == ExitCode.UNDECIDED
    assert (
        "Always new values, so the search may have no end: a.n, argument 1 of a.tick, b.n, "
        "argument 1 of b.tick\n"
        "Try a larger `--max-states`, or `--ignore a.n`, or `--horizon TIME`.\n" in shown.output
    )
    Path("now.rebeca").write_text(COUNTER.replace("n + 1", "now"))
    shown = CliRunner().invoke(app, ["explore", "now.rebeca", "--max-states", "600"])
    assert "a.n" in shown.output
    assert "--ignore" not in shown.output  # time would still tell states apart
