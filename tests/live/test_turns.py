"""Who has a turn in a live run, against the semantics, without threads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import RandomValues, Step, Streams, Violation, alternatives, execute, ready
from rebecsim.actors.randomness import ORDER_STREAM
from rebecsim.live.conductor import SequentialTurns, Turns
from tests.examples import dear
from tests.live.test_laws import SCRIPTS, model_of


@pytest.mark.parametrize("kind", [Turns, SequentialTurns])
@settings(max_examples=dear(100))
@given(
    script=SCRIPTS,
    priorities=st.sampled_from([(1, 1, 1), (1, 2, 2), (3, 2, 1)]),
    urgent=st.sampled_from([None, 1]),
    seed=st.integers(0, 2**32),
)
def test_turns_are_those_of_the_semantics(kind, script, priorities, urgent, seed) -> None:
    """All rebecs that are due, without priorities; one of the most urgent, with them."""
    streams = Streams((seed, 1), 0)
    system = model_of(script, 50, urgent, priorities).start(RandomValues(streams).choose)
    turns = kind(system, streams[ORDER_STREAM])
    system.put = lambda receiver, message, at_work: receiver._bag.put(message, at_work)
    time, running = -1, []
    for _ in range(60):
        if not running:
            time, due = ready(system, priorities=kind is SequentialTurns)
            assert turns.upcoming() == (time if due else None)
            if not due:
                return
            running = turns.move_to(time)
            if kind is Turns:
                assert sorted(running, key=str) == sorted(due, key=str)
            else:
                assert len(running) == 1
                assert running[0] in due
        rebec = running.pop()
        try:
            execute(system, Step(rebec, alternatives(rebec)[-1]))
        except Violation:
            return
        now, able = ready(system, priorities=False)
        for each in system.rebecs:
            if each not in running and each._bag.messages and turns.is_due(each):
                assert kind is Turns
                assert now <= time
                running.append(each)
        if kind is Turns and now <= time:
            assert {*able} <= {*running}
