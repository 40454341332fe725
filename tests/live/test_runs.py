"""Live runs of models: they are runs of the semantics, in many orders, and none loses a message."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from pathlib import Path

import pytest

from rebecsim.actors import Model, plain
from rebecsim.errors import UserError
from rebecsim.exploration import StateSpace, pose, state_space, step_of
from rebecsim.generate import load_checked, load_model
from rebecsim.live import Checked, LiveLimits, LiveRun, Log, check_log, run_live
from rebecsim.simulation import state_of
from tests.exploration.conformance import SUITE
from tests.live.models import ring, writers

MODELS = Path(__file__).resolve().parents[2] / "models"

FINITE = (
    "bag_two_senders",
    "busy_fifo_by_arrival",
    "deadlock_after_last",
    "delay_after_send",
    "global_priority",
    "leader_ring3",
    "nondet_in_loop",
    "overflow_executing_counts",
    "philosophers3_deadlock",
    "ping_pong",
    "priority_msgsrv",
    "priority_rebec",
    "race_two_writers",
    "rebec_statevar_array",
    "ticket1",
)


def threads_of_rebecs() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith(("rebec", "timekeeper"))]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    assert threads_of_rebecs() == []


def shown(log: Log) -> list[str]:
    return [f"{each.event.rebec}.{each.event.server}" for each in log.served]


def test_a_live_run_is_a_run_of_the_semantics() -> None:
    model = load_model(MODELS / "ticket_service.rebeca")
    run = run_live(model, LiveLimits(until=40), seed=1)
    checked = check_log(model, run.log)
    assert run.log.ending.outcome == "time limit"
    assert len(run.log.served) > 30
    assert len([each for each in checked.run.choices if each.kind == "step"]) == len(run.log.served)
    assert run.unstopped == ()


@pytest.mark.parametrize("core", [False, True])
def test_different_orders_really_occur_and_all_are_accepted(core: bool) -> None:
    model = writers(3, core=core)
    seen = Counter()
    for seed in range(60):
        run = run_live(model, seed=seed)
        system = check_log(model, run.log).system
        assert run.log.ending.outcome == "ended"
        seen[state_of(system.rebec("register"))["history"]] += 1
    possible = {int("".join(map(str, order))) for order in itertools.permutations((1, 2, 3))}
    assert set(seen) <= possible
    assert len(seen) >= 4, seen


def test_a_published_race_goes_both_ways() -> None:
    """Whether the AppMaster counts a unit of work before or after it is given another job."""
    model = load_model(MODELS / "races/natjam_race.rebeca")
    orders = set()
    for seed in range(60):
        run = run_live(model, LiveLimits(steps=60), seed=seed)
        check_log(model, run.log)
        for one, other in itertools.pairwise(
            each.event for each in run.log.served if each.event.rebec == "am"
        ):
            if one.time == other.time:
                orders.add((one.server, other.server))
    assert {("process", "runJob"), ("runJob", "process")} <= orders


def final_state_is_explored(model: Model, log: Log, checked: Checked, problem, states) -> bool:
    """Follow the log through the transition system; the state it ends in must be one that is known
    there, and be that of the rebecs."""
    system = problem.system
    state, time = system.initial, system.start_time
    for each in log.served:
        event = each.event
        after, units = next(
            (after, units)
            for cause, after, units in system.expand(state)
            for step in [step_of(system, state, cause, time)]
            if (step.rebec, step.server, step.sender, step.time)
            == (event.rebec, event.server, event.sender, event.time)
            and (step.arrival, step.deadline) == (event.arrival, event.deadline)
            and tuple(map(plain, step.arguments)) == event.arguments
            and tuple(index for index, _ in step.choices) == event.choices
        )
        if not isinstance(after, tuple) or hasattr(after, "verdict"):
            return after.verdict == log.ending.outcome
        time += units
        state = after
    described = StateSpace(system, (state,), (), {}, complete=True).rebecs(0)
    for rebec, found in zip(checked.system.rebecs, described, strict=True):
        assert {name: plain(value) for name, value in state_of(rebec).items()} == {
            name: plain(value) for name, value in found.variables.items()
        }
        assert len(rebec._bag) == len(found.bag)
    return state in states


@pytest.mark.parametrize("name", FINITE)
def test_every_final_state_lies_in_the_explored_space(name: str) -> None:
    file = SUITE / f"{name}.rebeca"
    core = "core" in name or name in ("leader_ring3", "philosophers3_deadlock")
    model, checked_model = load_checked(file, "core" if core else "timed")
    problem = pose(model, checked=checked_model)
    states = set(state_space(problem).states)
    for seed in range(8):
        run = run_live(model, LiveLimits(steps=5 + 7 * seed), seed=seed)
        checked = check_log(model, run.log)
        assert final_state_is_explored(model, run.log, checked, problem, states)


def test_every_model_of_the_conformance_suite_runs_live() -> None:
    ran = 0
    for file in sorted(SUITE.glob("*.rebeca")):
        for dialect in ("timed", "core"):
            try:
                model, _ = load_checked(file, dialect)
            except Exception:
                continue  # a model of the other dialect, or one that must be refused
            check_log(model, run_live(model, LiveLimits(steps=40), seed=3).log)
            ran += 1
            break
    assert ran > 60


@pytest.mark.parametrize(
    "each", [40, pytest.param(200, marks=pytest.mark.slow)], ids="{} messages each".format
)
@pytest.mark.parametrize("core", [False, True])
def test_many_actors_lose_and_duplicate_nothing(core: bool, each: int) -> None:
    model = ring(100, 100 * each, core=core)
    run = run_live(model)
    assert run.log.ending.outcome == "ended"
    assert len(run.log.served) == 100 * each
    assert run.unstopped == ()
    served = Counter((one.event.rebec, one.event.arguments) for one in run.log.served)
    sent = Counter((new.receiver, new.arguments) for one in run.log.served for new in one.sent)
    first = Counter((f"s{number}", (each - 1,)) for number in range(100))
    assert served == sent + first
    assert threads_of_rebecs() == []
    system = check_log(model, run.log).system
    assert [state_of(rebec)["served"] for rebec in system.rebecs] == [each] * 100


def test_scaled_time_passes_with_real_time() -> None:
    model = load_model(MODELS / "ticket_service.rebeca")
    run = run_live(model, LiveLimits(until=10, speed=50), seed=1)
    check_log(model, run.log)
    last = max(each.event.time for each in run.log.served)
    assert run.seconds >= last / 50
    assert all(each.late >= 0 for each in run.log.served)
    assert run.log.speed == 50


def test_the_seed_fixes_what_each_choice_draws_in_turn() -> None:
    model = load_model(MODELS / "ticket_service.rebeca")

    def drawn(seed: int) -> list[int]:
        run = run_live(model, LiveLimits(until=60), seed=seed)
        return [each.event.choices[0] for each in run.log.served if each.event.server == "buy"]

    one, again, other = drawn(5), drawn(5), drawn(6)
    common = min(len(one), len(again))
    assert common > 15
    assert one[:common] == again[:common]
    assert one[:10] != other[:10]


def test_steps_are_counted_exactly() -> None:
    for steps in (1, 7, 150):
        run = run_live(ring(10, 1000), LiveLimits(steps=steps))
        assert len(run.log.served) == steps
        assert run.log.ending.outcome == "step limit"


def test_a_core_model_has_no_speed() -> None:
    with pytest.raises(ValueError, match="no time"):
        run_live(writers(2, core=True), LiveLimits(speed=1))


@pytest.mark.parametrize("speed", [-1.0, float("inf"), float("nan")])
def test_a_speed_that_is_none_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="a finite number, 0 or more"):
        run_live(writers(2), LiveLimits(speed=speed))


def test_a_system_without_threads_is_reported(monkeypatch) -> None:
    begun = threading.Thread.start
    started = []

    def start(self: threading.Thread) -> None:
        if self.name != "watchdog":  # of the constructors; it has ended before the rebecs begin
            if len(started) == 3:
                raise RuntimeError("can't start new thread")
            started.append(self)
        begun(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(UserError, match="each of its 5 rebecs needs a thread, after 3"):
        run_live(writers(4))


def test_who_watches_sees_every_message_in_order_and_may_stop_the_run() -> None:
    seen = []
    run = run_live(ring(5, 500), watch=seen.append)
    assert tuple(seen) == run.log.served

    def refuse(entry: object) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        run_live(ring(5, 100_000), watch=refuse)


def test_message_servers_run_at_the_same_time() -> None:
    """Two message servers wait for each other; one after the other they would wait for ever."""
    from rebecsim.actors import Instance, Rebec, message_server

    barrier = threading.Barrier(2, timeout=5)

    class Partner(Rebec, queue_size=2):
        def __init__(self) -> None:
            self.meet()

        @message_server
        def meet(self) -> None:
            barrier.wait()

    model = Model("partners", (Instance("a", Partner), Instance("b", Partner)))
    run: LiveRun = run_live(model)
    assert run.log.ending.outcome == "ended"
    assert len(run.log.served) == 2
