from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from models import ticket_service
from rebecsim.actors import (
    FifoScheduler,
    Instance,
    Int,
    Model,
    RandomScheduler,
    Rebec,
    ReplayScheduler,
    Streams,
    System,
    agenda_for,
    execute,
    message_server,
    next_time,
    ready,
    serve,
    state_variable,
)
from rebecsim.exploration import (
    BreadthFirst,
    Checks,
    DepthFirst,
    Problem,
    Search,
    TransitionSystem,
    explore,
    path_along,
)
from rebecsim.exploration.states.rebec_states import NEVER
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import simulate
from tests.examples import dear
from tests.exploration.conformance import SUITE, load, model

pytestmark = pytest.mark.large

TIMED = [
    "busy_wait_time.rebeca",
    "ctor_delay.rebeca",
    "merge_infinite_deadline.rebeca",
    "periods_fold.rebeca",
    "priority_rebec.rebeca",
    "producer_consumer_timed.rebeca",
    "race_two_writers.rebeca",
    "rebec_statevar_array.rebeca",
    "ticket1.rebeca",
    "timers_relative_delay.rebeca",
]


@dataclass(frozen=True)
class Shuffled:
    """Expands the open states in a random order."""

    seed: int
    name: str = "shuffled"

    def run(self, search: Search) -> None:
        random_order = random.Random(self.seed)
        pending = [0]
        while pending:
            place = random_order.randrange(len(pending))
            pending[place], pending[-1] = pending[-1], pending[place]
            pending += search.expand(pending.pop())


@cache
def _reached(file: str, language: str) -> tuple[TransitionSystem, frozenset[Any]]:
    checked, built = load(file, language)
    system = TransitionSystem(built, checked=checked)
    search = Search(Problem(system))
    BreadthFirst().run(search)
    return system, frozenset(search.states)


def _observed(system: TransitionSystem, rebecs: System) -> Any:
    """Give the state of a simulation as exploration writes it."""
    runner = system.runner
    busy = [next_time(rebec) for rebec in rebecs.rebecs if len(rebec._bag)]
    now = min(busy, default=NEVER)
    if now == NEVER:
        now = min(rebec._now for rebec in rebecs.rebecs)
    return tuple(
        runner.store.intern(
            rebec._index,
            tuple(
                runner.values.encode(getattr(rebec, name)) for name in runner.names[rebec._index]
            ),
            max(rebec._now - now, 0),
            None,
            runner.store.arrange(tuple([runner.encode(message, now) for message in rebec._bag])),
        )
        for rebec in rebecs.rebecs
    )


@pytest.mark.parametrize(
    ("file", "language"),
    [*((file, "timed") for file in TIMED), ("philosophers2.rebeca", "core")],
)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_simulation_visits_only_states_that_exploration_reaches(
    file: str, language: str, seed: int
) -> None:
    system, reached = _reached(file, language)
    scheduler = RandomScheduler(Streams((seed, 1), 0))
    rebecs = system.model.start(scheduler.choose)
    for _ in range(60):
        _, waiting = ready(rebecs)
        execute(rebecs, scheduler.pick(waiting))
        assert _observed(system, rebecs) in reached


_URGENT = """
reactiveclass Source(6) {{
    knownrebecs {{ Desk desk; Judge judge; }}
    Source() {{ self.go(); }}
    @globalPriority({0}) msgsrv go() {{
        {5} {6} judge.look();
        self.go() after(1);
    }}
}}
reactiveclass Desk(7) {{
    knownrebecs {{ Judge judge; }}
    @globalPriority({1}) msgsrv fast() {{ judge.done(); }}
    @globalPriority({2}) msgsrv slow() {{ judge.done(); }}
}}
reactiveclass Judge(9) {{
    statevars {{ byte served; }}
    @globalPriority({3}) msgsrv done() {{ served = (byte) ((served + 1) % 3); }}
    @globalPriority({4}) msgsrv look() {{ served = 0; }}
}}
main {{
    Source source(desk, judge):();
    Desk desk(judge):();
    Judge judge():();
}}
"""


@settings(max_examples=dear(40))
@given(
    priorities=st.lists(st.integers(1, 4), min_size=5, max_size=5),
    sent=st.permutations(["desk.slow();", "desk.fast();"]),
    seed=st.integers(0, 2**32),
)
def test_global_priorities_mean_the_same_in_simulation_and_exploration(
    priorities: list[int], sent: list[str], seed: int
) -> None:
    built = build_model(check_source(_URGENT.format(*priorities, *sent), "urgent.rebeca"))
    system = TransitionSystem(built)
    search = Search(Problem(system))
    BreadthFirst().run(search)
    reached = frozenset(search.states)
    for scheduler in (RandomScheduler(Streams((seed, 1), 0)), FifoScheduler()):
        rebecs = built.start(scheduler.choose)
        agenda = agenda_for(rebecs, scheduler)
        for step in islice(agenda.steps(), 40):
            serve(rebecs, *step)
            assert _observed(system, rebecs) in reached


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize("file", TIMED)
def test_counts_do_not_depend_on_the_order_of_the_search(file: str, mode: Any) -> None:
    checked, built = load(file)
    first = explore(built, checked=checked, mode=mode)
    for strategy in (DepthFirst(), Shuffled(1), Shuffled(2)):
        other = explore(built, checked=checked, mode=mode, strategy=strategy)
        assert (other.verdict, other.states, other.transitions) == (
            first.verdict,
            first.states,
            first.transitions,
        )


def test_nothing_depends_on_hash_seeds() -> None:
    program = """
from rebecsim.exploration import explore
from rebecsim.generate.module import load_model
from pathlib import Path
import sys
for name, mode in (("ticket1", "TTS"), ("producer_consumer_timed", "FTTS"),
                   ("bag_same_sender", "FTTS"), ("deadline_bag_order", "TTS")):
    found = explore(load_model(Path(sys.argv[1]) / f"{name}.rebeca"), mode=mode)
    print(found.verdict, found.states, found.transitions, found.path)
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(SUITE)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
    assert "satisfied" in next(iter(outputs))


class Beater(Rebec, queue_size=3):
    count: int = state_variable(Int)

    def __init__(self, start: int) -> None:
        self.beat(after=start)

    @message_server
    def beat(self) -> None:
        self.delay(self.choose(0, 2))
        self.count = (self.count + 1) % 3
        self.beat(after=2, deadline=9)


@given(starts=st.lists(st.integers(0, 6), min_size=1, max_size=3), shift=st.integers(1, 10**6))
@settings(max_examples=25)
def test_starting_later_changes_nothing(starts: list[int], shift: int) -> None:
    def beaters(later: int) -> Model:
        return Model(
            "beaters",
            tuple(
                Instance(f"b{number}", Beater, arguments=[start + later])
                for number, start in enumerate(starts)
            ),
        )

    before, after = explore(beaters(0)), explore(beaters(shift))
    assert (before.verdict, before.states, before.transitions) == (
        after.verdict,
        after.states,
        after.transitions,
    )


@pytest.mark.parametrize(
    "file",
    [
        "array_out_of_bounds.rebeca",
        "bag_same_sender.rebeca",
        "deadline_bag_order.rebeca",
        "deadline_missed_busy.rebeca",
        "merge_busy_empty_queue.rebeca",
        "overflow_executing_counts.rebeca",
        "deadlock_after_last.rebeca",
    ],
)
def test_replaying_a_counterexample_reaches_the_violation(file: str) -> None:
    found = explore(model(file), checks=Checks(deadlock=True))
    assert found.path is not None
    assert found.path.run is not None
    replayed = simulate(model(file), ReplayScheduler(found.path.run))
    if found.verdict == "deadlock":
        assert replayed.outcome == "ended"
    else:
        assert (replayed.outcome, replayed.detail) == (found.verdict, found.message)
    assert replayed.steps == len(found.path)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_a_path_leads_where_it_says(mode: Any) -> None:
    found = explore(ticket_service.model, mode=mode, checks=Checks(invariants=["ann.tickets < 2"]))
    assert found.verdict == "property violated"
    assert found.message == "ann.tickets < 2"
    assert found.path is not None
    assert ("tickets", 2) in found.path.steps[-1].changed
    system = TransitionSystem(ticket_service.model, mode)
    assert path_along(system, found.path.ordinals, found.path.breach) == found.path


def test_breadth_first_gives_a_shortest_counterexample() -> None:
    wanted = Checks(invariants=["ann.tickets < 2"])
    short = explore(ticket_service.model, checks=wanted)
    long = explore(ticket_service.model, checks=wanted, strategy=DepthFirst())
    assert short.path is not None
    assert long.path is not None
    assert len(short.path) <= len(long.path)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_hand_written_and_rebeca_models_have_the_same_space(
    shipped: Callable[[str], Model], mode: Any
) -> None:
    by_hand = explore(ticket_service.model, mode=mode)
    written = explore(shipped("ticket_service.rebeca"), mode=mode)
    assert by_hand.states > 1000
    assert (by_hand.verdict, by_hand.states, by_hand.transitions) == (
        written.verdict,
        written.states,
        written.transitions,
    )
