"""What plain search follows in a state, against the semantics alone, along random ways."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings, strategies as st

from rebecsim.actors import Violation, enabled, execute, ready
from rebecsim.exploration.states.effects import Breach
from rebecsim.exploration.states.transitions import TransitionSystem
from tests.examples import dear
from tests.live.test_laws import SCRIPTS, model_of


def without_choices(script: dict[Any, Any]) -> dict[Any, Any]:
    return {key: [each for each in of if each[0] != "choose"] for key, of in script.items()}


@settings(max_examples=dear(150))
@given(
    script=SCRIPTS.map(without_choices),
    queue=st.integers(2, 6),
    urgent=st.sampled_from([None, 1]),
    priorities=st.sampled_from([(1, 1, 1), (1, 2, 2), (3, 2, 1)]),
    places=st.lists(st.integers(0, 99), min_size=1, max_size=40),
)
def test_a_state_is_left_by_the_enabled_messages(script, queue, urgent, priorities, places) -> None:
    """At the same times, too; and a breach is met where the semantics raises one."""
    model = model_of(script, queue, urgent, priorities)
    found = TransitionSystem(model, absolute=True)
    system, state = model.start(), found.initial
    for place in places:
        steps = enabled(system)
        if steps:
            assert ready(system)[0] == state[-1]
        ways = [
            (cause.effect.owner, found.runner.decode(cause.effect.owner, message, state[-1]), after)
            for cause, after, _ in found.expand(state)
            for message in [cause.effect.message]
        ]
        expected = [(step.rebec._index, *_seen(step.message)) for step in steps]
        assert {(owner, *_seen(each)) for owner, each, _ in ways} == {*expected}
        if not steps:
            return
        step = steps[place % len(steps)]
        owner, *seen = expected[place % len(steps)]
        after = next(to for of, each, to in ways if (of, *_seen(each)) == (owner, *seen))
        try:
            execute(system, step)
        except Violation as violation:
            wrong = violation.verdict
        else:
            wrong = ""
        assert wrong == (after.verdict if isinstance(after, Breach) else "")
        if wrong:
            return
        state = after


def _seen(message: Any) -> tuple[Any, ...]:
    return message.server.name, str(message.sender), message.arrival, message.deadline
