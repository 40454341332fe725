"""A run that a person steers: forward, back, to a time, to a breakpoint, into a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import ReplayScheduler, Run
from rebecsim.errors import UserError
from rebecsim.exploration import Breach, Recorded, replay
from rebecsim.generate import build_model, load_checked
from rebecsim.lang import RebecaError, check_source
from rebecsim.live import Breakpoint, Stepper
from rebecsim.simulation import simulate
from tests.live.models import troublemaker, writers

TICKETS, CHECKED = load_checked(
    Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca"
)


def tickets(**options: object) -> Stepper:
    return Stepper(TICKETS, checked=CHECKED, **options)


def snapshot(stepper: Stepper) -> tuple[object, ...]:
    return stepper.time, len(stepper), stepper.rebecs(), stepper.turns(), stepper.breach


def test_it_begins_at_the_beginning() -> None:
    stepper = tickets()
    assert (stepper.time, len(stepper), stepper.breach) == (0, 0, None)
    assert [turn.step.server for turn in stepper.turns()] == ["think"]
    assert [each.rebec for each in stepper.rebecs()] == ["office", "ann", "bob"]


def test_a_message_that_chooses_is_one_turn_with_alternatives() -> None:
    stepper = tickets()
    stepper.take(stepper.turns()[0].alternatives[0])
    buy = stepper.turns()[0]
    assert buy.step.server == "buy"
    assert [each.step.finished for each in buy.alternatives] == [2, 3]
    assert [each.step.choices for each in buy.alternatives] == [((0, 2),), ((1, 2),)]
    assert [
        (receiver, message.server, message.arrival)
        for each in buy.alternatives
        for receiver, message in each.sent
    ] == [("ann", "ticket", 2), ("ann", "ticket", 3)]


def test_a_run_goes_on_by_the_weights_of_choices() -> None:
    text = (
        "reactiveclass A(2) { statevars { int rare; } A() { self.go(); } msgsrv go() { "
        "pAlt { prob(0.1): { if (?(true, false)) rare++; } prob(0.9): { } } self.go() after(1); } }"
        " main { A a():(); }"
    )
    checked = check_source(text)
    stepper = Stepper(build_model(checked, "a.rebeca"), checked=checked, seed=1)
    assert [each.likelihood for each in stepper.turns()[0].alternatives] == [0.05, 0.05, 0.9]
    stepper.run(steps=600)
    assert 10 <= dict(stepper.rebecs()[0].variables)["rare"] <= 60


def test_equal_messages_are_turns_of_their_own() -> None:
    from rebecsim.actors import Instance, Model, Rebec, message_server

    class Twice(Rebec, queue_size=4):
        def __init__(self) -> None:
            self.go()
            self.go()

        @message_server
        def go(self) -> None:
            self.choose(1, 2)

    stepper = Stepper(Model("twice", (Instance("twice", Twice),)))
    assert [len(turn.alternatives) for turn in stepper.turns()] == [2, 2]


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), forward=st.integers(0, 40), back=st.integers(0, 50))
def test_undo_is_the_inverse_of_steps(seed: int, forward: int, back: int) -> None:
    stepper = tickets(seed=seed)
    snapshots = [snapshot(stepper)]
    for _ in range(forward):
        stepper.run(steps=1)
        snapshots.append(snapshot(stepper))
    assert stepper.undo(back) == min(back, forward)
    assert snapshot(stepper) == snapshots[max(forward - back, 0)]


def test_time_goes_on_where_states_return() -> None:
    """States are compared modulo a shift of time; the stepper's clock is not."""
    stepper = tickets(seed=3)
    stepper.run(steps=10_000, until=500)
    assert 500 <= stepper.time < 520
    assert stepper.path().steps[-1].time < 500


def test_jumping_to_a_time_forward_and_back() -> None:
    stepper = tickets(seed=1)
    assert stepper.go_to(30, steps=1000).reason == "time"
    later = len(stepper)
    assert stepper.path().steps[-1].time < 30 <= stepper.time
    assert stepper.go_to(12, steps=1000).reason == "time"
    assert len(stepper) < later
    assert stepper.path().steps[-1].time < 12 <= stepper.time
    assert stepper.go_to(0, steps=1000).reason == "time"
    assert len(stepper) == 0


def test_a_core_model_has_no_time_to_jump_to() -> None:
    with pytest.raises(UserError, match="no time"):
        Stepper(writers(2, core=True)).go_to(3, steps=10)


def test_a_run_stops_when_a_message_becomes_enabled() -> None:
    for text in ("office.refill", "refill"):
        stepper = tickets()
        stepper.stop_at(Breakpoint("message", text))
        stop = stepper.run(steps=1000)
        assert (stop.reason, stop.breakpoint) == ("breakpoint", Breakpoint("message", text))
        assert "refill" in [turn.step.server for turn in stepper.turns()]
        assert "refill" not in [step.server for step in stepper.path().steps]
        first = stepper.time
        assert stepper.run(steps=1000).reason == "breakpoint"
        assert stepper.time > first  # the next one, not the same again


def test_a_run_stops_when_a_condition_becomes_true() -> None:
    stepper = tickets()
    sold_out = Breakpoint("condition", "office.left == 0 && ann.tickets == 1")
    stepper.stop_at(sold_out)
    assert stepper.run(steps=1000).breakpoint == sold_out
    variables = {each.rebec: each.variables for each in stepper.rebecs()}
    assert (variables["office"]["left"], variables["ann"]["tickets"]) == (0, 1)
    stepper.clear(sold_out)
    assert stepper.breakpoints == []
    assert stepper.run(steps=50).reason == "steps"


@pytest.mark.parametrize(
    ("breakpoint", "error"),
    [
        (Breakpoint("message", "office.sell"), "there are office.buy, office.refill"),
        (Breakpoint("message", "nobody.buy"), "no message 'nobody.buy'"),
        (Breakpoint("condition", "office.lost == 1"), "no state variable `lost`"),
        (Breakpoint("condition", "office.left =="), "<condition>:1:"),
        (Breakpoint("condition", "__import__('os')"), "<condition>:1:"),
    ],
)
def test_a_breakpoint_that_makes_no_sense_is_refused(breakpoint, error) -> None:
    stepper = tickets()
    with pytest.raises((UserError, RebecaError), match=error):
        stepper.stop_at(breakpoint)
    assert stepper.breakpoints == []


def test_a_violation_ends_the_run_and_can_be_taken_back() -> None:
    stepper = Stepper(troublemaker("late"))
    assert stepper.run(steps=10).reason == "end"
    assert stepper.breach == Breach(
        "deadline missed", "begin(quiet) with deadline 3 is served at time 5"
    )
    assert stepper.turns() == []
    assert stepper.undo() == 1
    assert stepper.breach is None
    assert [each.breach is not None for each in stepper.turns()[0].alternatives] == [True]


def test_runs_to_a_violation_and_to_a_condition_are_counterexamples() -> None:
    model = troublemaker("late")
    stepper = Stepper(model)
    stepper.run(steps=10)
    data, command = stepper.to_json()
    assert command == "replay"
    assert replay(Recorded.from_json(data), model).breach == stepper.breach

    stepper = tickets()
    stepper.stop_at(Breakpoint("condition", "office.left == 0"))
    stepper.run(steps=1000)
    data, command = stepper.to_json()
    assert command == "replay"
    again = replay(Recorded.from_json(data), TICKETS, CHECKED)
    assert again.breach == Breach("property violated", "!(office.left == 0)")
    assert len(again) == len(stepper)


def test_an_end_is_a_counterexample_to_that_runs_go_on() -> None:
    model = writers(2)
    stepper = Stepper(model)
    assert stepper.run(steps=100).reason == "end"
    assert (stepper.breach, stepper.has_ended) == (None, True)
    data, _ = stepper.to_json()
    assert replay(Recorded.from_json(data), model).breach.verdict == "deadlock"


def test_any_other_run_is_one_for_simulation() -> None:
    stepper = tickets(seed=4)
    stepper.run(steps=25)
    data, command = stepper.to_json()
    assert command == "simulate"
    again = simulate(TICKETS, ReplayScheduler(Run.from_json(data)))
    assert (again.outcome, again.steps) == ("end of record", 25)
    assert again.system.rebec("office").left == stepper.rebecs()[0].variables["left"]


def test_the_timed_transition_system_is_stepped_with_its_time() -> None:
    stepper = tickets(mode="TTS")
    stepper.run(steps=30)
    kinds = {step.kind for step in stepper.path().steps}
    assert kinds == {"message", "resume", "time"}
    with pytest.raises(UserError, match="cannot be saved"):
        stepper.to_json()


def test_a_run_can_be_interrupted_between_steps() -> None:
    asked = iter([False, False, True])
    stepper = tickets()
    assert stepper.run(steps=10, interrupted=lambda: next(asked)).reason == "interrupted"
    assert len(stepper) == 2
