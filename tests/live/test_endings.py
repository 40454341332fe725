"""How live runs end when something goes wrong: clearly, soon, and without a thread left."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    ModelError,
    Rebec,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.live import LiveLimits, check_log, run_live
from tests.live.models import RELEASE, ring, troublemaker


@pytest.mark.parametrize(
    ("trouble", "outcome", "detail"),
    [
        ("raise", "failed", "KeyError: 'raise'"),
        ("loop", "not answering", "running for more than 0.3 s"),
        ("assert", "assertion failed", "count > 1"),
        ("late", "deadline missed", "begin(quiet) with deadline 3 is served at time 5"),
        ("flood", "queue overflow", "no place for begin(quiet) in a queue of 3"),
        ("elsewhere", "failed", "ModelError: culprit.begin"),
    ],
)
def test_the_culprit_is_named_and_all_threads_end(trouble, outcome, detail) -> None:
    model = troublemaker(trouble, bystanders=3)
    began = time.monotonic()
    run = run_live(model, patience=0.3)
    assert time.monotonic() - began < 5
    ending = run.log.ending
    assert ending.outcome == outcome
    assert ending.is_violation
    assert detail in ending.detail
    if outcome in ("failed", "not answering"):
        assert (ending.rebec, ending.server) == ("culprit", f"begin({trouble})")
    assert run.unstopped == ()
    assert not [each for each in threading.enumerate() if each.name.startswith("rebec")]
    check_log(model, run.log)


def test_what_an_actor_raised_is_kept_with_its_place() -> None:
    run = run_live(troublemaker("raise"))
    assert isinstance(run.error, KeyError)
    assert "models.py:" in run.log.ending.detail


def test_sending_from_a_thread_of_ones_own_is_refused() -> None:
    assert isinstance(run_live(troublemaker("elsewhere")).error, ModelError)


def test_a_thread_that_waits_outside_of_python_is_named() -> None:
    """It cannot be stopped. It is a daemon, so that the program ends all the same."""
    run = run_live(troublemaker("block"), patience=0.1)
    assert run.log.ending.outcome == "not answering"
    assert run.unstopped == ("culprit",)
    left = [each for each in threading.enumerate() if each.name == "rebec culprit"]
    assert [each.daemon for each in left] == [True]
    RELEASE.set()
    left[0].join(5)
    assert not left[0].is_alive()


class _Waiting(Rebec, queue_size=2):
    @message_server
    def take(self, number: int) -> None:
        self.delay(1)


class _Hasty(Rebec, queue_size=2):
    waiting: _Waiting = known_rebec()
    done: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        self.done = 1
        self.waiting.take(self.choose(1, 2), after=5)
        self.done = 2
        self.delay(self.choose(3, 4, site=1))
        if _meet is not None:
            _meet.wait()
        self.waiting.take(3, after=5)
        self.done = 3


_meet: threading.Barrier | None = None


def test_a_bag_that_several_fill_at_the_same_time_overflows_as_in_the_semantics(
    monkeypatch,
) -> None:
    """Both have sent everything before either has ended: the later one to end has no place for its
    first message, and did not come further than that."""
    model = Model(
        "hasty",
        (
            Instance("waiting", _Waiting),
            Instance("a", _Hasty, ["waiting"]),
            Instance("b", _Hasty, ["waiting"]),
        ),
    )
    monkeypatch.setattr(f"{__name__}._meet", threading.Barrier(2, timeout=5))
    run = run_live(model)
    monkeypatch.setattr(f"{__name__}._meet", None)
    first, second = run.log.served
    assert run.log.ending.outcome == "queue overflow"
    assert first.event.changed == {"done": 3}
    assert len(first.sent) == 2
    assert second.event.changed == {"done": 1}
    assert len(second.event.choices) == 1
    assert (second.sent, second.event.finished) == ((), 0)
    check_log(model, run.log)


def test_a_constructor_may_fail() -> None:
    class Full(Rebec, queue_size=1):
        def __init__(self) -> None:
            self.go()
            self.go()

        @message_server
        def go(self) -> None: ...

    model = Model("full", (Instance("full", Full),))
    run = run_live(model)
    assert run.log.ending.outcome == "queue overflow"
    assert "in a constructor" in run.log.ending.detail
    assert check_log(model, run.log).system is None


@pytest.mark.parametrize("speed", [0, 5])
def test_ctrl_c_ends_a_run_with_everything_served_so_far(speed) -> None:
    model = ring(10, 10**7)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    before = signal.getsignal(signal.SIGINT)
    run = run_live(model, LiveLimits(speed=speed))
    timer.join()
    assert run.log.ending.outcome == "interrupted"
    assert signal.getsignal(signal.SIGINT) is before
    assert run.unstopped == ()
    if not speed:
        assert len(run.log.served) > 100
    assert not run.log.ending.is_violation
    some = replace(run.log, served=run.log.served[:500])
    check_log(model, some)


def test_ctrl_c_stops_an_endless_message_server() -> None:
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    run = run_live(troublemaker("loop"))
    assert run.log.ending.outcome == "interrupted"
    assert run.unstopped == ()
    assert time.monotonic() - began < 6
