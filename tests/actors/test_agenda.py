"""Agendas against the semantics: the same rebecs may act, and runs are the same to the message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings, strategies as st

import rebecsim.actors.agenda as agenda_module
from rebecsim.actors import (
    DeadlineMissedError,
    FifoScheduler,
    FirstValues,
    Instance,
    Int,
    Model,
    RandomScheduler,
    RankedScheduler,
    Rebec,
    RebecNamed,
    Recorder,
    ReplayScheduler,
    Scheduler,
    Step,
    Streams,
    System,
    agenda_for,
    execute,
    message_server,
    ready,
    serve,
    state_variable,
    steps,
)
from rebecsim.actors.system import Calendar
from rebecsim.simulation import simulate
from tests.examples import dear

MOST = 300


@dataclass(frozen=True)
class Act:
    """What a rebec does when it serves a message: it waits, sends, and waits again."""

    before: int
    sends: tuple[tuple[int, int, int, int | None], ...]  # to whom, which, after, deadline
    delay: int


class Player(Rebec, queue_size=10_000):
    """Does one act after the other, one for each message; notes what it serves."""

    served: int = state_variable(Int)

    def __init__(self, log: list[Any], acts: tuple[Act, ...], first: int, *all_: Player) -> None:
        self.log, self.acts, self.all = log, acts, all_
        self.one(0, after=first)

    def act(self, server: str, number: int) -> None:
        self.log.append((self._system.started, str(self), server, number))
        if self.served < len(self.acts):
            act = self.acts[self.served]
            self.delay(act.before)
            for to, which, after, deadline in act.sends:
                receiver = self.all[to % len(self.all)]
                servers = [receiver.one, receiver.two, receiver.three]
                servers[which](len(self.log), after=after, deadline=deadline)
            self.delay(act.delay)
        self.served += 1

    @message_server
    def one(self, number: int) -> None:
        self.act("one", number)

    @message_server(priority=2)
    def two(self, number: int) -> None:
        self.act("two", number)

    @message_server(priority=1)
    def three(self, number: int) -> None:
        self.act("three", number)


class Global(Player):
    """The same with global priorities, other than those within a rebec."""

    @message_server(global_priority=3)
    def one(self, number: int) -> None:
        self.act("one", number)

    @message_server(priority=5, global_priority=1)
    def two(self, number: int) -> None:
        self.act("two", number)


class Turning(Player):
    """The same with several global priorities for messages of one priority."""

    @message_server(global_priority=2)
    def one(self, number: int) -> None:
        self.act("one", number)

    @message_server(global_priority=3)
    def two(self, number: int) -> None:
        self.act("two", number)

    @message_server(global_priority=1)
    def three(self, number: int) -> None:
        self.act("three", number)


class LastScheduler(FirstValues):
    """The enabled message that was sent last is served first."""

    priorities = True

    def pick(self, rebecs: list[Rebec]) -> Step:
        return max(steps(rebecs), key=lambda step: step.message.sequence)


SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "fifo": FifoScheduler,
    "lifo": LastScheduler,
    "random": lambda: RandomScheduler(Streams((1, 2), 3)),
    "rmc": lambda: RandomScheduler(Streams((1, 2), 3), "rmc"),
    "ranked": lambda: RankedScheduler(Streams((1, 2), 3), "fair", lambda each: each.sequence % 2),
}

acts = st.builds(
    Act,
    st.sampled_from([0, 0, 1]),
    st.lists(
        st.tuples(
            st.integers(0, 30),
            st.integers(0, 2),
            st.sampled_from([0, 0, 1, 1, 2, 7]),
            st.sampled_from([None, None, None, None, 3, 9]),
        ),
        max_size=3,
    ).map(tuple),
    st.sampled_from([0, 0, 0, 2]),
)

players = st.lists(
    st.tuples(
        st.sampled_from([Player, Player, Global, Turning]),
        st.lists(acts, max_size=6).map(tuple),
        st.integers(0, 2),
        st.sampled_from([1, 2, 2]),
    ),
    min_size=1,
    max_size=12,
)


def model_of(rebecs: list[Any], log: list[Any]) -> Model:
    names = [f"r{number}" for number in range(len(rebecs))]
    return Model(
        "players",
        tuple(
            Instance(
                name,
                reactive_class,
                (),
                (log, own, first, *map(RebecNamed, names)),
                priority=priority,
            )
            for name, (reactive_class, own, first, priority) in zip(names, rebecs, strict=True)
        ),
    )


def by_the_semantics(model: Model, scheduler: Scheduler) -> None:
    """Run a model as slowly as it is specified."""
    system = model.start(scheduler.choose)
    for _ in range(MOST):
        rebecs = ready(system, scheduler.priorities)[1]
        if not rebecs:
            return
        step = scheduler.pick(rebecs)
        assert step is not None
        try:
            execute(system, step)
        except DeadlineMissedError:
            return


@pytest.mark.parametrize("name", SCHEDULERS)
@settings(max_examples=dear(100))
@given(rebecs=players, spare=st.sampled_from([1, 1000]))
def test_runs_are_those_of_the_semantics(name: str, rebecs: list[Any], spare: int) -> None:
    """Also where everything is noted anew again and again."""
    expected: list[Any] = []
    by_the_semantics(model_of(rebecs, expected), SCHEDULERS[name]())
    served: list[Any] = []
    with patch.object(agenda_module, "_SPARE", spare):
        simulate(model_of(rebecs, served), SCHEDULERS[name](), max_steps=MOST)
    assert served == expected


@settings(max_examples=dear(100))
@given(rebecs=players)
def test_a_run_is_done_again_from_its_record(rebecs: list[Any]) -> None:
    first: list[Any] = []
    again: list[Any] = []
    recorder = Recorder(FifoScheduler())
    simulate(model_of(rebecs, first), recorder, max_steps=MOST)
    simulate(model_of(rebecs, again), ReplayScheduler(recorder.run), max_steps=MOST)
    assert again == first


class Places(FirstValues):
    """Takes the enabled steps at these places, over and over."""

    priorities = True

    def __init__(self, places: list[int]) -> None:
        self.places = cycle(places)

    def pick(self, rebecs: list[Rebec]) -> Step:
        possible = steps(rebecs)
        return possible[next(self.places) % len(possible)]


@pytest.mark.parametrize("name", ["fifo", "random", "rmc", "places"])
@settings(max_examples=dear(100))
@given(rebecs=players, places=st.lists(st.integers(0, 99), min_size=1, max_size=9))
def test_it_always_gives_who_is_ready(name: str, rebecs: list[Any], places: list[int]) -> None:
    """All that are ready in the order of main, or the one that FIFO takes."""
    scheduler = Places(places) if name == "places" else SCHEDULERS[name]()
    system = model_of(rebecs, []).start()
    agenda = agenda_for(system, scheduler)
    taken = agenda.steps()
    for _ in range(MOST):
        time, candidates = ready(system, scheduler.priorities)
        if name == "fifo" and candidates:
            candidates = [min(candidates, key=_first_sent)]
        step = next(taken, None)
        if step is None:
            assert not candidates
            assert agenda.ready() == (0, [])
            return
        rebec, message = step
        assert rebec in candidates
        assert agenda.time == time
        serve(system, rebec, message, deadlines=False)


def _first_sent(rebec: Rebec) -> int:
    return rebec._bag.messages[0][2]


class Waiter(Rebec, queue_size=10):
    """Is poked again and again, by itself or another one, while a message for much later waits."""

    def __init__(self, poked: str) -> None:
        self.late(after=10**6)
        if str(self) == "one":
            self.poke(poked, after=1)

    @message_server
    def late(self) -> None: ...

    @message_server
    def poke(self, poked: str) -> None:
        self._system.rebec(poked).poke(str(self), after=1)


@pytest.mark.parametrize("poked", ["one", "other"])
@pytest.mark.parametrize("name", ["fifo", "random", "lifo"])
def test_what_is_noted_does_not_grow_with_the_run(name: str, poked: str) -> None:
    instances = (Instance(each, Waiter, (), (poked,)) for each in ("one", "other"))
    system = Model("waiters", tuple(instances)).start()
    agenda = agenda_for(system, SCHEDULERS[name]())
    for step in islice(agenda.steps(), 10_000):
        serve(system, *step)
    noted = [each for each in vars(agenda).values() if isinstance(each, list | dict | set)]
    if isinstance(agenda, Calendar):
        noted.append([*agenda])
    else:
        noted += [each for each in agenda._entries.values() if not isinstance(each, int)]
    assert sum(map(len, noted)) < 3000


@pytest.mark.parametrize("name", ["fifo", "random", "lifo"])
def test_nothing_is_taken_behind_the_last_time(name: str) -> None:
    log: list[Any] = []
    model = model_of([(Player, (), first, 1) for first in (4, 5, 6)], log)
    scheduler = Recorder(SCHEDULERS[name]())
    result = simulate(model, scheduler, until=5)
    assert (result.outcome, result.steps, result.time) == ("time limit", 2, 5)
    assert len(scheduler.run.choices) == 2
    assert [len(rebec._bag) for rebec in result.system.rebecs] == [0, 0, 1]


def test_an_agenda_is_kept_of_messages_sent_from_outside() -> None:
    system: System = model_of([(Player, (), 5, 1), (Player, (), 3, 1)], []).start()
    agenda = agenda_for(system, FifoScheduler())
    assert agenda.ready() == (3, [system.rebecs[1]])
    system.actor = system.rebecs[1]
    system.rebecs[0].one(1)
    assert agenda.ready() == (0, [system.rebecs[0]])
