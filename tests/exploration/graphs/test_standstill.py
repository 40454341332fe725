"""Time that need not advance: found on both engines, said by every command, bounded in runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

from rebecsim.actors import semantics
from rebecsim.cli.app import app
from rebecsim.errors import ExitCode
from rebecsim.exploration import (
    BreadthFirst,
    Checks,
    DepthFirst,
    Limits,
    Mode,
    Search,
    StateSpace,
    cycles,
    explore,
    pose,
    state_space,
)
from rebecsim.exploration.cycles import on_cycles
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.live import LiveLimits, check_log, conductor, run_live
from rebecsim.native import engines
from rebecsim.simulation import Tracer, simulate
from rebecsim.simulation.simulator import make_scheduler
from tests.examples import dear
from tests.exploration.random_models import Drawn, models

ZENO = """
reactiveclass A(3) {
    statevars { int n; }
    A() { self.go(); }
    msgsrv go() { n = (n + 1) % 2; self.go(); }
}
main { A a():(); }
"""
PLAYERS = """
reactiveclass Player(5) {
    knownrebecs { Player other; }
    statevars { int hits; }
    Player(boolean begins) { if (begins) { self.serve(); } }
    msgsrv serve() {
        hits = (hits + 1) % 3;
        if (hits == 2) { other.ball(?(1, 2)); }
        self.serve() after(1);
    }
    msgsrv ball(int speed) { PLAY }
}
main { Player p(q):(true); Player q(p):(false); }
"""
FOR_EVER = "other.ball(speed);"
ONCE = "if (speed == 2) { other.ball(1); }"
LATER = "if (speed == 2) { other.ball(2) after(1); }"


def _built(text: str, **replaced: str) -> Any:
    for name, new in replaced.items():
        text = text.replace(name, new)
    checked = check_source(text, "zeno.rebeca")
    return checked, build_model(checked, "zeno.rebeca")


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_a_cycle_without_time_is_found_and_changes_no_verdict(mode: Mode, engine: Any) -> None:
    checked, model = _built(ZENO)
    found = explore(model, checked=checked, mode=mode, engine=engine)
    assert (found.verdict, found.states) == ("satisfied", 2)
    assert found.standstill is not None
    assert found.standstill_decided
    assert [step.changed for step in found.standstill.repeated] == [(("n", 1),), (("n", 0),)]


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize(("play", "steps"), [(FOR_EVER, 2), (ONCE, 0), (LATER, 0)])
def test_the_shortest_cycle_is_shown_with_the_way_to_it(
    play: str, steps: int, mode: Mode, engine: Any
) -> None:
    """The ball goes to and fro at one time; `serve` waits and is not on the shortest cycle."""
    checked, model = _built(PLAYERS, PLAY=play)
    overflows = Checks(overflows=False)
    limits = Limits(states=300)
    found = explore(
        model, checked=checked, mode=mode, engine=engine, checks=overflows, limits=limits
    )
    assert found.standstill_decided
    if not steps:
        assert found.standstill is None
        return
    assert found.standstill is not None
    cycle = found.standstill.repeated
    assert [(step.rebec, step.server) for step in cycle] == [("q", "ball"), ("p", "ball")]
    assert {step.time for step in cycle} == {cycle[0].time}
    assert found.standstill.steps[found.standstill.loop - 1].server == "serve"


def test_core_models_have_no_time() -> None:
    checked = check_source(ZENO, "zeno.rebeca", "core")
    found = explore(build_model(checked, "zeno.rebeca"), checked=checked)
    assert (found.standstill, found.standstill_decided) == (None, True)


def test_other_strategies_and_reduction_find_it_too() -> None:
    _, model = _built(PLAYERS, PLAY=FOR_EVER)
    limits = Limits(states=300)
    found = explore(model, strategy=DepthFirst(), limits=limits, checks=Checks(overflows=False))
    assert found.standstill is not None
    checked, model = _built(ZENO.replace("A a():(); ", "A a():(); A b():(); "))
    reduced = explore(model, checked=checked, reduce=True)
    assert reduced.symmetries == 2
    assert reduced.standstill is not None


def test_fingerprints_cannot_tell() -> None:
    checked, model = _built(ZENO)
    found = explore(model, checked=checked, engine="native", strategy=BreadthFirst(compact=True))
    assert (found.standstill, found.standstill_decided) == (None, False)
    checked, model = _built(ZENO.replace("self.go();", "self.go() after(1);"))
    found = explore(model, checked=checked, engine="native", strategy=BreadthFirst(compact=True))
    assert found.standstill_decided  # no message is sent and served at one time


def _has_cycle_without_time(space: StateSpace) -> bool:
    still = sorted(
        (edge.source, edge.target) for edge in space.edges if edge.rebec and not edge.duration
    )
    return bool(on_cycles([source for source, _ in still], [target for _, target in still]))


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_delay_of_no_time_needs_no_message_to_go_on(engine: Any) -> None:
    shown = []
    for duration in ("0", "1"):
        waits = f"while (true) {{ delay({duration}); }} }}\n}}"
        checked, model = _built(ZENO.replace("self.go(); }\n}", waits))
        limits = Limits(states=50)
        shown += [explore(model, checked=checked, mode="TTS", engine=engine, limits=limits)]
    assert shown[1].standstill is None
    assert shown[1].standstill_decided
    found = shown[0].standstill
    assert found is not None
    assert [(step.kind, step.server) for step in found.repeated] == [("resume", "go")]


def test_engines_see_the_same_of_a_search_that_is_cut_off() -> None:
    """Only what leads on from states that were expanded to the end counts, in both of them."""
    checked, model = _built(PLAYERS, PLAY=FOR_EVER)
    seen = []
    for states in range(2, 40, 4):
        found = [
            explore(
                model,
                checked=checked,
                engine=engine,
                checks=Checks(overflows=False),
                limits=Limits(states=states),
            ).standstill
            for engine in ("python", "native")
        ]
        assert found[0] == found[1], states
        seen.append(found[0] is not None)
    assert seen == sorted(seen)
    assert seen[0] != seen[-1]


@pytest.mark.large
@settings(max_examples=dear(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=models(core=False))
def test_it_is_what_the_whole_graph_says(drawn: Drawn) -> None:
    checked = check_source(drawn.source, "drawn.rebeca")
    model = build_model(checked, "drawn.rebeca")
    for mode in ("FTTS", "TTS"):
        whole = state_space(pose(model, mode=mode, checked=checked), Limits(states=300))
        if not whole.complete:
            continue
        for engine in ("python", "native"):
            found = explore(
                model,
                mode=mode,
                checked=checked,
                engine=engine,
                checks=Checks(deadlock=False),
                stop_at="all",
            )
            assert found.standstill_decided
            assert (found.standstill is not None) == _has_cycle_without_time(whole)


@pytest.mark.large
@pytest.mark.parametrize(("play", "stands"), [(FOR_EVER, True), (ONCE, False)])
def test_served_by_compiled_code(play: str, stands: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiled message servers have sent counts as what those in Python have."""

    monkeypatch.setattr(engines, "SERVING_LOADS", 1)
    monkeypatch.setattr(engines, "SERVING_COMPILES", 1)
    checked, model = _built(PLAYERS, PLAY=play)
    found = explore(
        model,
        checked=checked,
        engine="native",
        checks=Checks(overflows=False),
        limits=Limits(states=300),
    )
    assert found.standstill_decided
    assert (found.standstill is not None) == stands


def test_components_of_large_graphs_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    checked, model = _built(PLAYERS, PLAY=FOR_EVER)
    options: Any = {"checks": Checks(overflows=False), "limits": Limits(states=300)}
    small = explore(model, checked=checked, **options).standstill
    monkeypatch.setattr(cycles, "_MANY", 0)
    assert explore(model, checked=checked, **options).standstill == small


def test_not_decided_in_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Search, "_edges", lambda *_: None)  # as when a limit is reached
    checked, model = _built(PLAYERS, PLAY=FOR_EVER)
    checks = Checks(overflows=False)
    found = explore(model, checked=checked, checks=checks, engine="python")
    assert (found.verdict, found.standstill, found.standstill_decided) == ("satisfied", None, False)


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture
def zeno(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("zeno.rebeca").write_text(ZENO)
    Path("clock.rebeca").write_text(ZENO.replace("self.go();", "self.go() after(1);"))
    return "zeno.rebeca"


def test_exploring_warns_and_has_a_flag_for_ci(zeno: str) -> None:
    shown = CliRunner().invoke(app, ["explore", zeno])
    assert shown.exit_code == ExitCode.FINE
    assert (
        "warning: time need not advance. a.go can repeat for ever at one time, in a cycle of "
        "2 transitions that begins in the initial state:\n" in shown.output
    )
    assert "a -> a: go(); n = 1" in shown.output
    flagged = CliRunner().invoke(app, ["explore", zeno, "--time-advances"])
    assert flagged.exit_code == ExitCode.RESERVATION
    clock = CliRunner().invoke(app, ["explore", "clock.rebeca", "--time-advances"])
    assert clock.exit_code == ExitCode.FINE
    assert "advance" not in clock.output


def test_core_models_are_not_asked_for_what_they_have_not(zeno: str) -> None:
    plain = CliRunner().invoke(app, ["explore", zeno, "--core"])
    assert plain.exit_code == ExitCode.FINE
    assert "advance" not in plain.output
    flagged = CliRunner().invoke(app, ["explore", zeno, "--core", "--time-advances"])
    assert flagged.exit_code == ExitCode.BAD_INPUT
    assert "a core model has no time" in flagged.output


def test_what_is_not_decided_is_undecided_for_ci(zeno: str) -> None:
    shown = CliRunner().invoke(app, ["explore", zeno, "--compact", "--engine", "native"])
    assert "Whether time always advances is undecided: fingerprints cannot tell" in shown.output
    assert shown.exit_code == ExitCode.FINE
    flagged = CliRunner().invoke(app, ["explore", zeno, "--compact", "--time-advances"])
    assert flagged.exit_code == ExitCode.UNDECIDED


def test_json_has_the_cycle(zeno: str) -> None:
    found = json.loads(CliRunner().invoke(app, ["explore", zeno, "--json"]).stdout)
    assert found["standstill"]["before"] == 0
    assert len(found["standstill"]["path"]["steps"]) == 2
    assert found["standstill_decided"] is True
    clock = json.loads(CliRunner().invoke(app, ["explore", "clock.rebeca", "--json"]).stdout)
    assert clock["standstill"] is None


@pytest.mark.parametrize("engine", ["auto", "native"])
@pytest.mark.parametrize("steps", ["3", "100", "2000", "50000"])
def test_a_simulation_stops_where_nothing_else_can_happen(
    zeno: str, engine: str, steps: str
) -> None:
    shown = CliRunner().invoke(app, ["simulate", zeno, "--engine", engine, "--steps", steps])
    assert shown.exit_code == ExitCode.FINE
    assert (
        "time stands still: the state equals the one 2 messages before (3 messages served, "
        "the last one at time 0)" in " ".join(shown.output.split())
    )
    clock = CliRunner().invoke(
        app, ["simulate", "clock.rebeca", "--steps", "9", "--engine", engine]
    )
    assert "step limit (9 messages served" in clock.output


def test_a_simulation_goes_on_where_chance_may_lead_out() -> None:
    _, model = _built(ZENO.replace("% 2; self.go();", "% 2; if (?(0, 1) == 0) { self.go(); }"))
    result = simulate(
        model,
        make_scheduler("random", 0, "fair"),
        max_steps=1000,
        tracer=Tracer(),
        stop_at_repeats=True,
    )
    assert result.outcome == "ended"


@pytest.mark.parametrize("engine", ["python", "native"])
def test_runs_are_bounded_at_one_time(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit of steps, as in an experiment."""
    checked, model = _built(ZENO)
    wanted = semantics.MOST_AT_ONE_TIME
    if engine == "python":
        wanted = 500
        monkeypatch.setattr("rebecsim.simulation.simulator.MOST_AT_ONE_TIME", wanted)
        result = simulate(model, make_scheduler("random", 0, "fair"), until=10)
    else:
        from rebecsim.native.layout import native_model
        from rebecsim.simulation.native import run_native

        runs = run_native(native_model(model, checked), key=(0, 0), replications=range(1), until=10)
        from rebecsim.simulation import OUTCOMES, RunResult

        outcome, steps, time = runs.ends[0].tolist()
        result = RunResult(OUTCOMES[outcome], steps, time, runs.detail, None)
    assert (result.outcome, result.steps, result.time) == ("time stands still", wanted, 0)
    assert result.detail == f"{wanted:,} messages were served at time 0"


def test_so_are_live_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conductor, "MOST_AT_ONE_TIME", 200)
    _, model = _built(ZENO)
    log = run_live(model, LiveLimits(until=10)).log
    assert (log.ending.outcome, log.ending.detail) == (
        "time stands still",
        "200 messages were served at time 0",
    )
    check_log(model, log)
