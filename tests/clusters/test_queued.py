"""Systems with lines of messages against the semantics, and what they refuse."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rebecsim.clusters.kit.queued as queued
from rebecsim.actors import (
    FifoScheduler,
    Instance,
    Int,
    Model,
    ModelError,
    Rebec,
    RebecNamed,
    enabled,
    execute,
    message_server,
    state_variable,
)
from rebecsim.actors.violations import NegativeTimeError
from rebecsim.clusters.kit.queued import NeverClosing, QueuedSystem, serve, under_way
from rebecsim.simulation import simulate
from tests.examples import dear

MOST = 300
Sends = tuple[tuple[int, int, int], ...]
"""To whom, which message server, after how long."""


class Quick(Rebec, queue_size=10_000):
    """Never delays, and serves its messages of one time by priorities that hold over all."""

    served: int = state_variable(Int)

    def __init__(self, log: list[Any], plan: tuple[Sends, ...], first: int, *all_: Quick) -> None:
        self.log, self.plan, self.all = log, plan, all_
        self.one(0, after=first)

    def act(self, server: str, number: int) -> None:
        self.log.append((self.now, str(self), server, number))
        if self.served < len(self.plan):
            for to, which, after in self.plan[self.served]:
                receiver = self.all[to % len(self.all)]
                servers = [receiver.one, receiver.two, receiver.three]
                servers[which](len(self.log), after=after)
        self.served += 1

    @message_server
    def one(self, number: int) -> None:
        self.act("one", number)

    @message_server(priority=2, global_priority=2)
    def two(self, number: int) -> None:
        self.act("two", number)

    @message_server(priority=1, global_priority=1)
    def three(self, number: int) -> None:
        self.act("three", number)


sends = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 2), st.sampled_from([0, 0, 1, 1, 2, 7])),
    max_size=3,
).map(tuple)
rebecs = st.lists(
    st.tuples(st.lists(sends, max_size=8).map(tuple), st.integers(0, 2)), min_size=1, max_size=12
)


def model_of(quick: list[Any], log: list[Any]) -> Model:
    names = [f"r{number}" for number in range(len(quick))]
    all_ = tuple(map(RebecNamed, names))
    return Model(
        "quick",
        tuple(
            Instance(name, Quick, (), (log, plan, first, *all_))
            for name, (plan, first) in zip(names, quick, strict=True)
        ),
    )


@settings(max_examples=dear(100))
@given(quick=rebecs)
def test_runs_are_those_of_the_semantics(quick: list[Any]) -> None:
    log: list[Any] = []
    expected: list[Any] = []
    assert serve(QueuedSystem(model_of(quick, log)), NeverClosing()) == len(log)
    assert simulate(model_of(quick, expected), FifoScheduler()).steps == len(expected)
    assert log == expected
    alone: list[Any] = []
    system = model_of(quick, alone).start()
    while steps := enabled(system):
        execute(system, min(steps, key=lambda step: step.message.sequence))
    assert log == alone


@settings(max_examples=dear(100))
@given(quick=rebecs, ends=st.lists(st.integers(0, 40)))
def test_serving_until_some_times_is_serving_at_once(quick: list[Any], ends: list[int]) -> None:
    log: list[Any] = []
    expected: list[Any] = []
    serve(QueuedSystem(model_of(quick, expected)), NeverClosing())
    system = QueuedSystem(model_of(quick, log))
    for end in sorted(ends):
        serve(system, NeverClosing(), (end, 0, 0))
        assert log == [each for each in expected if each[0] < end]
    serve(system, NeverClosing())
    assert log == expected


@settings(max_examples=dear(30))
@given(quick=rebecs, end=st.integers(0, 20), order=st.randoms(use_true_random=False))
def test_messages_may_be_taken_over_in_any_order(quick: list[Any], end: int, order: Random) -> None:
    log: list[Any] = []
    expected: list[Any] = []
    serve(QueuedSystem(model_of(quick, expected)), NeverClosing())
    system = QueuedSystem(model_of(quick, log))
    serve(system, NeverClosing(), (end, 0, 0))
    waiting = under_way(system)
    order.shuffle(waiting)
    system.calendar.clear()
    for message in waiting:
        system.take_over(message)
    serve(system, NeverClosing())
    assert log == expected


@settings(max_examples=dear(100))
@given(quick=rebecs)
def test_the_messages_under_way_are_those_of_the_bags(quick: list[Any]) -> None:
    def known(waiting: list[queued.Waiting]) -> list[Any]:
        return sorted((*each[:3], str(each[3]), each[4].name, each[5]) for each in waiting)

    system = QueuedSystem(model_of(quick, []))
    assert known(under_way(system)) == known(under_way(model_of(quick, []).start()))


class Odd(Rebec, queue_size=5):
    """Does one thing that is not possible in a queued system, or goes on for ever."""

    closed = False

    def __init__(self, what: str) -> None:
        self.go(what)

    @message_server
    def go(self, what: str) -> None:
        if what == "delay":
            self.delay(2)
        elif what == "deadline":
            self.go(what, deadline=3)
        elif what == "past":
            self.go(what, after=-1)
        elif what == "close":
            self.closed = True
        self.go(what)


class Ranked(Odd, queue_size=5):
    """Has a priority that holds within a rebec only."""

    @message_server(priority=1)
    def other(self) -> None: ...


@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ("delay", ModelError, "odd: a delay of 2 time units is not possible here"),
        ("deadline", ModelError, "odd.go: there are no deadlines here"),
        ("past", NegativeTimeError, r"odd.go: after\(-1\) is in the past"),
    ],
)
def test_what_is_not_possible_is_refused(what: str, error: type[Exception], text: str) -> None:
    system = QueuedSystem(Model("odd", (Instance("odd", Odd, (), (what,)),)))
    with pytest.raises(error, match=text):
        serve(system, NeverClosing())


def test_priorities_within_a_rebec_only_are_refused() -> None:
    with pytest.raises(ModelError, match="its priority is not its global one"):
        QueuedSystem(Model("odd", (Instance("odd", Ranked, (), ("",)),)))


def test_it_ends_when_something_is_closed() -> None:
    system = QueuedSystem(Model("odd", (Instance("odd", Odd, (), ("close",)),)))
    odd = system.rebecs[0]
    assert isinstance(odd, Odd)
    assert serve(system, odd) == 1
    assert len(under_way(system)) == 1


def test_it_ends_when_time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queued, "MOST_AT_ONE_TIME", 100)
    system = QueuedSystem(Model("odd", (Instance("odd", Odd, (), ("",)),)))
    assert serve(system, NeverClosing()) == 100
