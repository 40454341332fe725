from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

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
from rebecsim.exploration import (
    Breach,
    Cause,
    Checks,
    Limits,
    Result,
    State,
    Successor,
    TransitionSystem,
    explore,
    pose,
)
from rebecsim.exploration.states import suspension
from rebecsim.exploration.states.effects import Outcome
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.steps import waiting
from tests.examples import dear


def _source(body: str, *, variables: str = "int x;", members: str = "") -> Model:
    return build_model(_checked(body, variables, members))


def _checked(body: str, variables: str = "int x;", members: str = "") -> CheckedModel:
    text = f"""
        reactiveclass A(3) {{
          statevars {{ {variables} }}
          A() {{ self.go(); }}
          {members}
          msgsrv go() {{ {body} self.go() after(1); }}
        }}
        main {{ A a():(); }}
    """
    return check_source(text)


WORK = "int work(int n) { int m = n + 1; if (m > 2) { delay(1); m = 0; } return m; }"
STATES = 100


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Draw statements over x, y and locals, some of which wait."""
    lines = [_statement(draw, 0) for _ in range(draw(st.integers(1, 4)))]
    return f"int t = 0; int u = ?(0, 1); {' '.join(lines)} x = x % 3; y = y % 3;"


def _statement(draw: st.DrawFn, depth: int) -> str:
    place = draw(st.sampled_from("xytu"))
    value = draw(
        st.sampled_from(
            ["0", "1", "x", "y", "t", "u", "t - t", "?(0, 1)", "work(t)", "u + work(t)"]
        )
    )
    test = f"{draw(st.sampled_from('xytu'))} < {draw(st.integers(0, 2))}"
    kinds = ["assign", "assign", "delay", "delay", "assertion"]
    if depth < 2:
        kinds += ["if", "block", "switch", "for", "while"]
    match draw(st.sampled_from(kinds)):
        case "assign":
            return f"{place} = ({value}) % 3;"
        case "delay":
            return draw(st.sampled_from(["delay(1);", "delay(?(0, 1));"]))
        case "assertion":
            return f"assertion({test} || x < 2);"
        case kind:
            inner, other = _statement(draw, depth + 1), _statement(draw, depth + 1)
    name = f"{kind[0]}{depth}"
    match kind:
        case "if":
            return f"if ({test}) {{ {inner} }} else {{ {other} }}"
        case "block":
            return f"{{ int {name} = {value}; {inner} {other} u = {name}; }}"
        case "switch":
            return f"switch ({place}) {{ case 0: {inner} case 1: t = 1; break; default: {other} }}"
        case "for":
            return f"for (int {name} = 0; {name} < 2; {name}++) {{ {inner} }}"
    return (
        f"{{ int {name} = 0; while ({name} < 2) {{ {name}++; {inner} if ({test}) {{ continue; }} "
        f"{other} if (u == 1) {{ break; }} }} }}"
    )


Graph = list[tuple[State, list[Successor]]]


def _graph(system: TransitionSystem) -> Graph:
    """Expand the first states, breadth first."""
    seen = {system.initial: None}
    graph: Graph = []
    pending = [system.initial]
    for state in pending:
        found = system.expand(state)
        graph.append((state, found))
        new = {target: None for _, target, _ in found if not isinstance(target, Breach)}
        if len(seen) < STATES:
            pending += [target for target in new if target not in seen]
            seen |= new
    return graph


def _label(cause: Cause) -> object:
    if not isinstance(cause, Outcome):
        return "time"
    effect = cause.effect
    return effect.owner, effect.message, effect.resumed, effect.drawn


def _counts(result: Result) -> tuple[str, int, int]:
    return result.verdict, result.states, result.transitions


def test_every_delay_of_a_loop_ends_a_transition() -> None:
    """Ready, three times in a delay and at its end, after the end: 8 states in a circle."""
    for loop in (
        "for (int i = 0; i < 3; i++) { delay(1); }",
        "int i = 0; while (i < 3) { delay(1); i++; }",
    ):
        assert _counts(explore(_source(loop), mode="TTS")) == ("satisfied", 8, 9)


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_message_server_that_waits_for_ever_comes_back_to_the_same_state(engine: Any) -> None:
    model = _source("while (true) { delay(1); }")
    found = explore(model, mode="TTS", engine=engine, limits=Limits(states=50))
    assert _counts(found) == ("satisfied", 3, 4)


@pytest.mark.parametrize(
    "reading",
    [
        "x = now - currentMessageArrival;",
        "x = currentMessageDeadline - currentMessageDeadline;",
        "x = currentMessageWaitingTime;",
        "look();",
    ],
)
def test_times_of_a_message_that_can_be_read_count(reading: str) -> None:
    checked = _checked(
        f"while (true) {{ delay(1); {reading} x = 0; }}",
        members="void look() { see(); } void see() { x = now - currentMessageArrival; }",
    )
    found = explore(build_model(checked), checked=checked, mode="TTS", limits=Limits(states=50))
    assert "states" in found.bounds


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


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    ("body", "counts"),
    [
        ("switch (x) { case 0: x = 1; break; default: x = 1; } delay(1);", (5, 6)),
        ("{ int t; t = ?(1, 2); x = t - t; } delay(1);", (4, 6)),
        ("int t = ?(1, 2); delay(1); t = 0; x = t;", (4, 6)),
        ("int t = ?(1, 2); delay(1); x = t; x = 0;", (6, 8)),
        ("int[2] t; t[0] = ?(1, 2); delay(1);", (4, 6)),
        ("for (int i = 0; i < 2; i++) { int t = ?(1, 2); delay(1); t = 0; }", (6, 9)),
        ("int t = 0; while (t < 2) { delay(1); if (t == 1) { break; } t++; }", (6, 7)),
        ("int t = 0; while (true) { t++; if (t < 2) { continue; } delay(1); break; }", (4, 5)),
        ("int t = ?(1, 2); if (t == 2) { t = 1; } delay(1); x = t - 1;", (4, 6)),
        ("x = work(?(1, 2));", (4, 6)),
        ("int u = ?(1, 2); u = u + work(2); x = u; x = 0;", (6, 8)),
    ],
)
def test_what_is_never_read_again_does_not_tell_states_apart(
    body: str, counts: tuple[int, int], engine: Any
) -> None:
    """Ready, in the delay, at its end, after the end; more only where a live local differs."""
    model = _source(body, members="int work(int n) { int m = n; delay(1); m = 0; return m; }")
    found = explore(model, mode="TTS", engine=engine)
    assert _counts(found) == ("satisfied", *counts)


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_part_before_a_delay_is_done_again_at_its_own_time(engine: Any) -> None:
    """At time 0 there is one choice more: it must not be taken for a later one of x."""
    model = _source(
        "int k = 0; if (now == 0) { k = ?(1, 2); } delay(1);"
        "x = ?(1, 2); assertion(x != 2 || now < 2); x = 0;"
    )
    found = explore(model, mode="TTS", engine=engine, limits=Limits(horizon=12))
    assert found.verdict == "assertion failed"
    assert found.path is not None
    assert found.path.steps[-1].time == 3


class Peeping(Rebec, queue_size=2):
    """Reads its locals by other means than their names."""

    seen: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        mine = self.choose(1, 2)
        self.delay(1)
        self.seen = locals()["mine"]
        require(self.seen != 2, "it was 2")
        self.seen = 0
        self.go(after=1)


def test_locals_that_are_read_by_other_means_are_alive() -> None:
    model = Model("peeping", (Instance("a", Peeping),))
    assert explore(model, mode="TTS").verdict == "assertion failed"


class Guarding(Rebec, queue_size=2):
    """Reads a local only where something has been raised, and in an inner function."""

    tries: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        first = self.choose(0, 1)
        second = self.choose(0, 1)
        third = self.choose(0, 1)
        try:
            self.delay(1)
            1 // first
            first = 2
        except ZeroDivisionError:
            require(second == 0, "it was 1")
        self.tries = (lambda: first)()
        third = 0
        self.tries = third
        self.go(after=1)


def test_locals_of_handlers_and_inner_functions_are_alive() -> None:
    """`second` matters if an exception is raised, `first` is shared; `third` may matter, too."""
    model = Model("guarding", (Instance("a", Guarding),))
    found = explore(model, mode="TTS", stop_at="all")
    assert found.verdict == "assertion failed"
    assert found.states == 2 + 2 * 8


def _where_all_is_live(frame: FrameType) -> waiting.Wait | None:
    found = waiting.wait_of(frame)
    return None if found is None else found._replace(live=None)


@settings(max_examples=dear(100), suppress_health_check=list(HealthCheck))
@given(body=bodies())
def test_states_without_dead_locals_are_a_quotient(body: str) -> None:
    """Each state with dead locals does what its state without them does, and nothing else."""
    model = _source(body, variables="int x; int y;", members=WORK)
    whole = pose(model, mode="TTS").system
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suspension, "wait_of", _where_all_is_live)
        full = _graph(whole)
    small = pose(model, mode="TTS").system
    paired = {full[0][0]: small.initial}
    for state, transitions in full:
        own = small.expand(paired[state])
        assert len(own) == len(transitions)
        for (cause, target, units), (own_cause, own_target, own_units) in zip(
            transitions, own, strict=True
        ):
            assert (_label(cause), units) == (_label(own_cause), own_units)
            if isinstance(target, Breach) or isinstance(own_target, Breach):
                assert target == own_target
            else:
                assert paired.setdefault(target, own_target) == own_target


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
    checked = _checked("delay(?(0, 3)); delay(2); assertion(currentMessageWaitingTime == 0);")
    found = explore(build_model(checked), checked=checked, mode=mode)
    assert found.verdict == "satisfied"


@pytest.mark.parametrize("waited", [0, 3])
def test_how_long_a_message_waited_tells_states_apart(waited: int) -> None:
    """It arrived three units ago either way, and was served at once or then."""
    checked = check_source(
        f"""
        reactiveclass A(3) {{
          A() {{ self.busy(); }}
          msgsrv busy() {{ self.go(); delay(?(0, 3)); }}
          msgsrv go() {{
            delay(?(0, 3));
            delay(1);
            assertion(now - currentMessageArrival != 4 || currentMessageWaitingTime != {waited});
          }}
        }}
        main {{ A a():(); }}
        """
    )
    found = explore(build_model(checked), checked=checked, mode="TTS")
    assert found.verdict == "assertion failed"


def test_a_delay_back_in_time_is_a_failed_assertion() -> None:
    for mode in ("FTTS", "TTS"):
        found = explore(_source("x = 0 - 1; delay(x);"), mode=mode)  # type: ignore[arg-type]
        assert found.verdict == "assertion failed"
        assert "a delay of -1 time units" in found.message


def test_shipped_model_in_both_modes(shipped: Callable[[str], Model]) -> None:
    model = shipped("ticket_service.rebeca")
    assert explore(model, mode="FTTS").verdict == explore(model, mode="TTS").verdict


def test_a_case_that_is_fallen_into_is_one_place() -> None:
    falling = "switch (x) { case 0: x = 1; case 1: delay(1); break; default: x = 0; }"
    model = _source(f"x = ?(0, 1); {falling}")
    result = explore(model, mode="TTS")
    # whichever way x became 1, the delay is the same: waiting, woken, and the state after the end
    straight = explore(_source("x = ?(0, 1); x = 1; delay(1);"), mode="TTS")
    assert (result.states, result.transitions) == (straight.states, straight.transitions)
