"""Message servers that the compiled search serves itself do what they do in Python.

`make test-plain` runs all of this as plain Python, with many more models than can be compiled in a
test.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings, strategies as st

from rebecsim.exploration import Checks, Limits, Result, TransitionSystem, explore
from rebecsim.exploration.compiled import serving
from rebecsim.exploration.compiled.collapse import Collapsed
from rebecsim.exploration.states import transitions
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native import engines
from rebecsim.native.cache import is_plain
from tests.examples import dear
from tests.exploration.compiled.test_engines import everything
from tests.exploration.conformance import entries, load
from tests.exploration.random_models import Drawn, models

pytestmark = [pytest.mark.large, pytest.mark.plain]

STATES = 300
PLAIN_MODELS = dear(200)
COMPILED_MODELS = 1
VALID = [
    each["file"]
    for each in entries()
    if any(result["verdict"] != "compile error" for result in each["results"])
]
COMPILED = [each for each in VALID if each.startswith(("resource_manager_edf.", "priority_"))]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile the message servers of every model."""
    monkeypatch.setattr(engines, "SERVING_LOADS", 0)
    monkeypatch.setattr(engines, "SERVING_COMPILES", 0)


def assert_same(checked: CheckedModel, **options: Any) -> Result:
    model = build_model(checked, "m.rebeca")
    by_python = explore(model, engine="python", checked=checked, **options)
    natively = explore(model, engine="native", checked=checked, **options)
    assert natively.engine == "native"
    assert everything(natively) == everything(by_python)
    return natively


@pytest.mark.parametrize("stop_at", ["first", "all"])
@pytest.mark.parametrize("file", VALID if is_plain() else COMPILED)
def test_conformance(file: str, stop_at: Any) -> None:
    entry = next(each for each in entries() if each["file"] == file)
    checked, model = load(file, entry["language"])
    for mode in ("core",) if model.core else ("FTTS", "TTS"):
        assert_same(checked, mode=mode, stop_at=stop_at, limits=Limits(states=STATES))


@settings(
    max_examples=PLAIN_MODELS if is_plain() else COMPILED_MODELS,
    suppress_health_check=list(HealthCheck),
)
@given(drawn=models(), stop_at=st.sampled_from(["first", "all"]), deadlines=st.booleans())
def test_random_models(drawn: Drawn, stop_at: Any, deadlines: bool) -> None:
    note(drawn.source)
    checked = check_source(drawn.source, "drawn.rebeca", "core" if drawn.core else "timed")
    for mode in ("core",) if drawn.core else ("FTTS", "TTS"):
        assert_same(
            checked,
            mode=mode,
            stop_at=stop_at,
            limits=Limits(states=STATES),
            checks=Checks(deadlines=deadlines, invariants=["r0.a < 3", "r0.b != 2 || r1.a != 2"]),
        )


@pytest.mark.skipif(is_plain(), reason="is too large for plain Python")
def test_a_whole_resource_manager() -> None:
    checked, model = load("resource_manager_edf.rebeca")
    found = explore(model, engine="native", checked=checked, checks=Checks(deadlock=False))
    assert (found.states, found.transitions) == (66_331, 131_767)


ARRAYS = """
reactiveclass Hub(6) {
  knownrebecs { Node a; Node b; }
  statevars { int[2][2] table; Node[2] both; byte turns; }
  Hub() { both[0] = a; both[1] = b; self.turn(table, both); }
  int sum(int[2] row) { row[0] += row[1]; return row[0]; }
  msgsrv turn(int[2][2] grid, Node[2] nodes) {
    grid[?(0.25: 0, 0.75: 1)][turns & 1] = turns;
    pAlt { prob(0.5): { nodes[0] = both[1]; } prob(0.5): { table[0][0] = sum(grid[1]); } }
    turns++;
    if (turns < 3) { nodes[0].give(turns, grid, nodes) after(1); }
  }
}
reactiveclass Node(4) {
  knownrebecs { Hub hub; }
  statevars { int seen; }
  msgsrv give(int n, int[2][2] grid, Node[2] nodes) {
    grid[1][0] = n;
    seen = grid[0][1] + grid[1][1];
    if (nodes[0] == self) { hub.turn(grid, nodes); } else { hub.turn(grid, nodes) after(n); }
  }
}
main { Hub hub(a, b):(); Node a(hub):(); Node b(hub):(); }
"""


def test_arrays_as_arguments() -> None:
    found = assert_same(
        check_source(ARRAYS), stop_at="all", checks=Checks(invariants=["a.seen < 2"])
    )
    assert found.states > 20


ALL_KINDS = """
reactiveclass Desk(6) {
  knownrebecs { Clerk clerk; }
  statevars { int[2][2] table; boolean open; Clerk last; byte served; Clerk[2] both; }
  Desk() { open = true; last = null; self.turn(1, true); }
  msgsrv turn(int by, boolean shut) {
    table[by % 2][?(0, 1)] = (table[0][0] + by) % 3;
    open = !open && shut;
    last = open ? clerk : null;
    both[by % 2] = last;
    served = (byte)(served + 100);
    self.turn((by + 1) % 2, ?(true, false)) after(?(1, 2));
    self.turn((by + 1) % 2, true) after(1) deadline(30);
    clerk.ask(last, table[1][0]);
  }
  msgsrv done() { served = 0; }
}
reactiveclass Clerk(30) {
  knownrebecs { Desk desk; }
  statevars { int asked; }
  msgsrv ask(Clerk who, int what) {
    asked = (asked + what) % 2;
    if (who == self) { delay(?(1, 2)); }
    if (sender == desk) { desk.done() after(1); }
  }
}
main { Desk desk(clerk):(); Clerk clerk(desk):(); }
"""


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_all_kinds_of_values(mode: Any) -> None:
    """Arrays of arrays, references, null, wrapping bytes; full queues are found, too."""
    checked = check_source(ALL_KINDS, "kinds.rebeca", "timed")
    limits = Limits(states=2_000)
    found = assert_same(checked, mode=mode, stop_at="all", limits=limits)
    assert {each.verdict for each in found.violations} >= {"queue overflow"}


def test_few_messages_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Collapsed] = []
    begin = Collapsed.__init__

    def begin_noted(collapsed: Collapsed, *arguments: Any) -> None:
        begin(collapsed, *arguments)
        made.append(collapsed)

    monkeypatch.setattr(Collapsed, "__init__", begin_noted)
    checked = check_source(COUNTER, "counter.rebeca", "timed")
    found = assert_same(checked)
    (collapsed,) = made
    assert collapsed.serving is not None
    assert found.states > 500
    assert collapsed.served_in_python < 10
    assert collapsed.table_sizes.tolist()[0] > 500


COUNTER = """
reactiveclass Counter(2) {
  statevars { int low; int high; }
  Counter() { self.tick(); }
  msgsrv tick() {
    low = (low + ?(1, 2)) % 30;
    if (low < 2) { high = (high + 1) % 20; }
    self.tick() after(1);
  }
}
main { Counter counter():(); }
"""


@pytest.mark.parametrize(
    ("variable", "text", "mode"),
    [
        ("int", "x = now % 2; self.tick() after(1);", "FTTS"),
        ("int", "delay(1); x = 1 - x; self.tick();", "TTS"),
        ("float", "x = x / 2; self.tick() after(1);", "FTTS"),
    ],
    ids=["absolute time", "delays", "floats"],
)
def test_what_no_step_can_stand_for(variable: str, text: str, mode: Any) -> None:
    source = f"""
        reactiveclass A(3) {{
          statevars {{ {variable} x; }}
          A() {{ self.tick(); }}
          msgsrv tick() {{ {text} }}
        }}
        main {{ A a():(); }}"""
    checked = check_source(source, "a.rebeca", "timed")
    system = TransitionSystem(build_model(checked, "a.rebeca"), mode)
    assert not transitions.can_be_served(system, checked)
    assert_same(checked, mode=mode, limits=Limits(states=50, horizon=20))


INHERITED = """
abstract reactiveclass Slow(4) {
  statevars { int left; }
  abstract msgsrv done();
  void pause(int units) { delay(units); }
  msgsrv tick() { left = (left + 1) % 4; pause(?(1, 2)); self.done() after(1); }
}
reactiveclass A extends Slow(4) {
  A() { self.tick(); }
  msgsrv done() { left = left % 3; self.tick() after(1); }
}
main { A a():(); A b():(); }
"""


def test_delays_that_are_inherited() -> None:
    checked = check_source(INHERITED, "slow.rebeca", "timed")
    system = TransitionSystem(build_model(checked, "slow.rebeca"), "TTS")
    assert not transitions.can_be_served(system, checked)
    for mode in ("FTTS", "TTS"):
        assert assert_same(checked, mode=mode, limits=Limits(states=3_000)).states > 50


def test_a_rebec_with_very_many_variables_is_served_in_python() -> None:
    text = COUNTER.replace("int low;", "int[400] many; int low;")
    checked = check_source(text, "many.rebeca", "timed")
    system = TransitionSystem(build_model(checked, "many.rebeca"), "FTTS")
    assert not transitions.can_be_served(system, checked)
    assert_same(checked)


def test_what_does_not_compile_is_served_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("no compiler")

    monkeypatch.setattr(serving, "prepare", fail)
    with pytest.warns(RuntimeWarning, match="run in Python: compiling gave ZeroDivisionError"):
        assert_same(check_source(COUNTER, "counter.rebeca", "timed"))
