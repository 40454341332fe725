from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rebecsim.actors import (
    Boolean,
    Instance,
    Int,
    Model,
    Rebec,
    message_server,
    require,
    state_variable,
)
from rebecsim.explore import Checks, Result, explore
from rebecsim.generate import build_model
from rebecsim.lang import check_source


def _source(body: str, *, variables: str = "int x;", members: str = "") -> Model:
    text = f"""
        reactiveclass A(3) {{
          statevars {{ {variables} }}
          A() {{ self.go(); }}
          {members}
          msgsrv go() {{ {body} self.go() after(1); }}
        }}
        main {{ A a():(); }}
    """
    return build_model(check_source(text))


def _counts(result: Result) -> tuple[str, int, int]:
    return result.verdict, result.states, result.transitions


def test_every_delay_of_a_loop_ends_a_transition() -> None:
    """Ready, three times in a delay and at its end, after the end: 8 states in a circle."""
    for loop in (
        "for (int i = 0; i < 3; i++) { delay(1); }",
        "int i = 0; while (i < 3) { delay(1); i++; }",
    ):
        assert _counts(explore(_source(loop), mode="TTS")) == ("satisfied", 8, 9)


def test_a_delay_in_a_method_goes_on_there_and_then_in_its_caller() -> None:
    model = _source(
        "int before = 5; x = before + work(2); assertion(x == 9); x = 0;",
        members="int work(int n) { int mine = n; delay(n); return mine * 2; }",
    )
    assert _counts(explore(model, mode="TTS")) == ("satisfied", 4, 5)


def test_choices_before_a_delay_are_not_drawn_again() -> None:
    """Ready; for each value in the delay and at its end, and after it (x is 0 again)."""
    model = _source("int k = ?(1, 2); delay(3); assertion(k > 0); k = ?(3, 4);")
    found = explore(model, mode="TTS")
    assert _counts(found) == ("satisfied", 6, 10)


def test_what_was_sent_before_a_delay_is_sent_once() -> None:
    model = build_model(
        check_source(
            """
            reactiveclass A(2) {
              knownrebecs { B b; }
              A() { self.go(); }
              msgsrv go() { b.tell(1); delay(1); b.tell(2); delay(1); self.go() after(2); }
            }
            reactiveclass B(2) {
              statevars { int told; }
              msgsrv tell(int n) { assertion(told == n - 1 || n == 1 && told == 2); told = n; }
            }
            main { A a(b):(); B b():(); }
            """
        )
    )
    assert explore(model, mode="TTS").verdict == "satisfied"


class Interrupted(Rebec, queue_size=2):
    """Does what Python allows around a delay."""

    x: int = state_variable(Int)
    cleaned: bool = state_variable(Boolean)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        try:
            self.x = 1
            self.delay(2)
            require(self.x == 1, "the delay was not taken up where it was left")
            self.x = 0
        except Exception:
            self.x = 7
        finally:
            self.cleaned = not self.cleaned
        self.go(after=1)


def test_try_and_finally_around_a_delay() -> None:
    model = Model("interrupted", (Instance("a", Interrupted),))
    found = explore(model, mode="TTS", checks=Checks(invariants=["a.x != 7"]))
    assert _counts(found) == ("satisfied", 8, 9)


class Iterating(Rebec, queue_size=2):
    """Waits where its local variables do not say how far it has come."""

    seen: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        for _ in [1, 1]:
            self.delay(1)
        self.seen = 1 - self.seen
        self.go(after=1)


def test_equal_locals_at_different_turns_of_a_loop_are_different_states() -> None:
    """For each value: ready, twice in a delay and at its end, after the end."""
    model = Model("iterating", (Instance("a", Iterating),))
    assert _counts(explore(model, mode="TTS")) == ("satisfied", 12, 13)


class Aliasing(Rebec, queue_size=2):
    """Has one list under two names, or two equal lists."""

    shared: bool = state_variable(Boolean)
    values: list[int] = state_variable(Int[1])
    bad: bool = state_variable(Boolean)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        mine = list(self.values) if self.choose(True, False) else self.values
        self.delay(1)
        mine[0] = 1
        self.bad = self.values[0] == 1
        self.values = [0]
        self.go(after=1)


def test_a_list_with_two_names_is_not_taken_for_two_lists() -> None:
    model = Model("aliasing", (Instance("a", Aliasing),))
    found = explore(model, mode="TTS", checks=Checks(invariants=["!a.bad"]))
    assert found.verdict == "property violated"


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_waiting_time_is_counted_to_the_start_of_the_message_server(mode: Any) -> None:
    model = _source("delay(?(0, 3)); delay(2); assertion(currentMessageWaitingTime == 0);")
    assert explore(model, mode=mode).verdict == "satisfied"


def test_a_delay_back_in_time_is_a_failed_assertion() -> None:
    for mode in ("FTTS", "TTS"):
        found = explore(_source("x = 0 - 1; delay(x);"), mode=mode)  # type: ignore[arg-type]
        assert found.verdict == "assertion failed"
        assert "time does not go back" in found.message


def test_shipped_model_in_both_modes(shipped: Callable[[str], Model]) -> None:
    model = shipped("ticket_service.rebeca")
    assert explore(model, mode="FTTS").verdict == explore(model, mode="TTS").verdict
