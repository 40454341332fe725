from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from models import ticket_service
from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.exploration import (
    BreadthFirst,
    Checks,
    DepthBounded,
    Limits,
    Progress,
    RandomWalks,
    explore,
)
from rebecsim.exploration.checks import Meter, _grows
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native import engines
from tests.exploration.conformance import SUITE, model

MODEL = ticket_service.model


def test_the_limit_of_states_is_exact() -> None:
    whole = explore(MODEL)
    assert explore(MODEL, limits=Limits(states=whole.states)).verdict == "satisfied"
    found = explore(MODEL, limits=Limits(states=whole.states - 1))
    assert (found.verdict, found.bounds, found.states) == (
        "undecided",
        ("states",),
        whole.states - 1,
    )
    assert not found.is_violation
    assert "the limit of 8,027 states was reached" in found.message
    assert found.depth is not None
    assert found.depth > 1
    assert (found.time, whole.depth) == (None, None)


def test_time_that_is_used_up() -> None:
    found = explore(model("unbounded_counter.rebeca"), limits=Limits(seconds=0.05))
    assert (found.verdict, found.bounds) == ("undecided", ("seconds",))
    assert found.states > 1


@pytest.mark.skipif(sys.platform != "linux", reason="measures the peak in /proc")
@pytest.mark.large  # coverage needs memory of its own
def test_memory_that_is_used_up_ends_in_a_verdict() -> None:
    program = r"""
import json, re, sys
from pathlib import Path
from rebecsim.exploration import Limits, explore
from rebecsim.generate.module import load_model
model = load_model(Path(sys.argv[1]) / "ticket3.rebeca")
found = explore(model, mode="TTS", limits=Limits(memory=100))
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024
print(json.dumps({**found.to_json(), "measured": peak}))
"""
    output = subprocess.run(
        [sys.executable, "-c", program, str(SUITE)],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = json.loads(output)
    assert (found["verdict"], found["bounds"]) == ("undecided", ["memory"])
    assert found["states"] > 50_000
    assert "the memory limit of 100 MB was reached" in found["message"]
    assert found["measured"] < 100_000_000


CHAIN = """
reactiveclass A(3) { statevars { int t; } A() { self.tick(); }
  msgsrv tick() { t = WHAT; self.tick() after(1); } }
main { A a():(); }
"""


def chain(what: str) -> tuple[CheckedModel, Model]:
    """Give a model of which each state has one successor, with a value that was never there."""
    checked = check_source(CHAIN.replace("WHAT", what), "chain.rebeca")
    return checked, build_model(checked, "chain.rebeca")


@pytest.mark.parametrize("engine", ["python", "native", "auto"])
@pytest.mark.parametrize("what", ["now", "t + 1"])
def test_time_holds_where_python_is_asked_for_each_state(engine: Any, what: str) -> None:
    """Compiled code works on 20,000 states before it looks at the clock, if nothing is asked."""
    checked, built = chain(what)
    found = explore(
        built, checked=checked, engine=engine, limits=Limits(states=15_000, seconds=0.2)
    )
    assert found.bounds == ("seconds",)


@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize("engine", ["python", "native"])
def test_time_holds_in_a_message_server_with_very_many_choices(engine: Any) -> None:
    """3**40 outcomes of one message."""
    checked, built = chain("0; for (int i = 0; i < 40; i++) { t = ?(0, 1, 2); }")
    found = explore(built, checked=checked, engine=engine, limits=Limits(seconds=0.5))
    assert (found.verdict, found.bounds) == ("undecided", ("seconds",))


def test_auto_stays_in_python_where_compiled_code_would_only_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", 500)
    monkeypatch.setattr(engines, "SEARCH_COMPILES", 500)
    limits = Limits(states=5_000)
    checked, built = chain("now")
    assert explore(built, checked=checked, limits=limits).engine == "python"
    checked, built = chain("t + 1")
    assert explore(built, limits=limits).engine == "python"  # of Rebec classes
    assert explore(built, checked=checked, limits=limits).engine == "native"


@pytest.mark.skipif(sys.platform != "linux", reason="measures the peak in /proc")
@pytest.mark.large
@pytest.mark.parametrize(
    ("engine", "megabytes"), [("python", 80), ("native", 210)], ids=["python", "native"]
)
def test_memory_holds_and_its_peak_is_said(engine: str, megabytes: int) -> None:
    program = r"""
import json, re, sys
from pathlib import Path
from rebecsim.exploration import Limits, explore
from tests.exploration.test_limits import chain
checked, model = chain("now")
limits = Limits(memory=int(sys.argv[2]), states=1_000_000)
found = explore(model, checked=checked, engine=sys.argv[1], limits=limits)
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024
print(json.dumps({**found.to_json(), "measured": peak}))
"""
    output = subprocess.run(
        [sys.executable, "-c", program, engine, str(megabytes)],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = json.loads(output)
    assert found["bounds"] == ["memory"]
    assert found["states"] > 1_000
    assert found["measured"] < megabytes * 1_000_000
    assert found["measured"] - 4_000_000 < found["peak_memory"] <= found["measured"]


def test_memory_is_measured() -> None:
    ballast = [bytearray(1000) for _ in range(1000)]
    assert len(ballast) == 1000
    assert Meter(Limits(memory=1)).exceeded() == "memory"
    assert Meter(Limits(memory=10**6)).exceeded() is None
    assert Meter(Limits(memory=10**6)).exceeded(lambda: 10**13) == "memory"


def test_when_a_dictionary_grows_is_known() -> None:
    table: dict[int, None] = {}
    size = sys.getsizeof(table)
    for number in range(100_000):
        grows = _grows(number, 1) and number >= 5
        table[number] = None
        assert (sys.getsizeof(table) > size) == grows or number < 5
        size = sys.getsizeof(table)


def test_the_horizon_makes_unbounded_counters_finite() -> None:
    found = explore(model("unbounded_counter.rebeca"), limits=Limits(horizon=10))
    assert (found.verdict, found.bounds, found.absolute_time) == (
        "undecided",
        ("horizon",),
        "horizon",
    )
    assert found.states == 12  # the times 0 to 10, and 11, which is not followed
    assert (found.depth, found.time) == (11, 11)
    wanted = Checks(invariants=["a.x <= 11"])
    assert explore(
        model("unbounded_counter.rebeca"), checks=wanted, limits=Limits(horizon=10)
    ).bounds == ("horizon",)


def test_the_horizon_does_not_hide_violations_before_it() -> None:
    wanted = Checks(invariants=["a.x <= 5"])
    found = explore(model("unbounded_counter.rebeca"), checks=wanted, limits=Limits(horizon=10))
    assert found.verdict == "property violated"
    assert found.path is not None
    assert found.path.steps[-1].time == 5


def test_limits_that_make_no_sense() -> None:
    for limits in ({"states": 0}, {"seconds": -1}, {"memory": 0}, {"horizon": -1}):
        with pytest.raises(UserError):
            Limits(**limits)  # type: ignore[arg-type]


def test_depth_bounded_sees_what_is_near() -> None:
    shallow = explore(MODEL, strategy=DepthBounded(3))
    assert (shallow.verdict, shallow.bounds) == ("undecided", ("depth",))
    deep = explore(MODEL, strategy=DepthBounded(10_000))
    assert (deep.verdict, deep.states) == ("satisfied", explore(MODEL).states)
    wanted = Checks(invariants=["ann.tickets < 1"])
    short = explore(MODEL, checks=wanted)
    assert short.path is not None
    near = explore(MODEL, checks=wanted, strategy=DepthBounded(len(short.path)))
    assert near.path == short.path


def test_random_walks_find_and_prove_nothing_else() -> None:
    wanted = Checks(invariants=["ann.tickets < 2"])
    first = explore(MODEL, checks=wanted, strategy=RandomWalks(walks=20, length=200, seed=7))
    again = explore(MODEL, checks=wanted, strategy=RandomWalks(walks=30, length=200, seed=7))
    assert first.verdict == again.verdict == "property violated"
    assert first.path == again.path
    other = explore(MODEL, strategy=RandomWalks(walks=5, length=100, seed=1))
    assert (other.verdict, other.bounds) == ("undecided", ("walks",))
    assert other.transitions == 501


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    found = explore(MODEL, strategy=BreadthFirst(), progress=seen.append)
    assert seen[-1].states == found.states
    assert seen[-1].transitions == found.transitions
    assert seen[-1].frontier == 0
    assert seen[-1].states_per_second > 0


def test_results_are_plain_data() -> None:
    found = explore(MODEL)
    assert json.loads(json.dumps(found.to_json()))["states"] == found.states
    assert found.peak_memory > 10_000_000
