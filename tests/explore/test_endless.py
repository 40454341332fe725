"""Searches and message servers that do not end: stopped, and named."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable
from rebecsim.actors.watchdog import EndlessError, Watchdog
from rebecsim.cli import app
from rebecsim.cli.endings import ending_of
from rebecsim.exit_codes import ExitCode
from rebecsim.explore import Limits, explore, find_races
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulate import simulate
from rebecsim.simulate.saved import make_scheduler

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
        explore(model, checked=checked, mode=mode, engine=engine, patience=0.3)
    assert str(caught.value) in (f"{NAMED}6)", f"{NAMED}7)")
    assert ending_of(caught.value).code == ExitCode.MODEL_FAILED


def test_so_do_simulation_and_races() -> None:
    _, model = _built(ENDLESS)
    with pytest.raises(EndlessError) as caught, Watchdog(patience=0.3) as watchdog:
        simulate(model, make_scheduler("random", 0, "fair"), max_steps=9, watchdog=watchdog)
    assert str(caught.value).startswith(NAMED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rebecsim.explore.search.Search.expanding.__wrapped__.__defaults__", (0.3,))
        with pytest.raises(EndlessError):
            find_races(model)


@pytest.mark.large
def test_compiled_simulation_counts_the_rounds_of_loops() -> None:
    from rebecsim.native.layout import native_model
    from rebecsim.native.operations import MOST_ROUNDS
    from rebecsim.simulate.native import simulate_native

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
        explore(model, patience=0.3)


def test_a_limit_of_time_holds_in_a_message_server() -> None:
    checked, model = _built(ENDLESS)
    found = explore(model, checked=checked, limits=Limits(seconds=0.3))
    assert (found.verdict, found.bounds) == ("out of bounds", ("seconds",))
    assert "it was stopped in a, serving go(2) (endless.rebeca, line " in found.message


def test_a_message_server_that_ends_late_is_left_alone() -> None:
    checked, model = _built(
        ENDLESS.replace("if (n > 2) { continue; }", "").replace("n--", "n -= 1")
    )
    assert explore(model, checked=checked, patience=0.2).verdict == "satisfied"


def test_step_and_the_command_line_name_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("endless.rebeca").write_text(ENDLESS)
    for command in (["explore", "endless.rebeca"], ["simulate", "endless.rebeca"]):
        ended = CliRunner().invoke(app, [*command, "--patience", "1"])
        assert isinstance(ended.exception, EndlessError)
        assert "go(2): has not ended after 1 s (endless.rebeca, line" in str(ended.exception)


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
    found = explore(model, checked=checked, engine=engine, is_interrupted=_after(3))
    assert (found.verdict, found.bounds) == ("out of bounds", ("interrupt",))
    assert "the search was interrupted; nothing wrong so far" in found.message
    assert found.states > 100


def test_an_interrupt_reaches_a_message_server_that_does_not_end() -> None:
    checked, model = _built(ENDLESS)
    wanted = time.monotonic() + 0.5
    found = explore(model, checked=checked, is_interrupted=lambda: time.monotonic() > wanted)
    assert found.bounds == ("interrupt",)


def test_interrupted_races_are_those_found_so_far() -> None:
    checked, model = _built(COUNTER)
    found = find_races(model, checked=checked, is_interrupted=_after(3))
    assert found.bounds == ("interrupt",)
    assert found.states > 100


@pytest.mark.parametrize("command", [["explore"], ["races"]])
def test_ctrl_c_has_its_exit_code(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.rebeca").write_text(COUNTER)
    monkeypatch.setattr("rebecsim.interrupts.Interrupt.seen", True)
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
        "ever new values, with which the search may have no end: a.n, argument 1 of a.tick, b.n, "
        "argument 1 of b.tick; `--ignore a.n` leaves a variable out of the state, "
        "`--horizon TIME` looks at what happens up to a time" in shown.output
    )
    Path("now.rebeca").write_text(COUNTER.replace("n + 1", "now"))
    shown = CliRunner().invoke(app, ["explore", "now.rebeca", "--max-states", "600"])
    assert "a.n" in shown.output
    assert "--ignore" not in shown.output  # time would still tell states apart
