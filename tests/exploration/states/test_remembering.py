from __future__ import annotations

import gc

import pytest

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    QueueOverflowError,
    Rebec,
    message_server,
    state_variable,
)
from rebecsim.exploration import Breach, Checks, Mode, TransitionSystem, explore
from rebecsim.exploration.search import collecting_rarely
from rebecsim.exploration.states.memoized_runner import MemoizedRunner
from rebecsim.exploration.states.runner import Rules
from rebecsim.generate import build_model
from rebecsim.lang import check_source

# Messages wait beside the one that is served, so that what it sends to itself may find no place.
CROWDED = """
reactiveclass Counter({size}) {{
  statevars {{ int n; }}
  Counter() {{ self.step(); }}
  msgsrv step() {{
    n = (n + 1) % 3; self.note(?(1, 2)); if (n == 0) self.note(3); self.step() after(2);
  }}
  msgsrv note(int k) {{ }}
}}
reactiveclass Other(3) {{
  knownrebecs {{ Counter counter; }}
  Other() {{ self.send(); }}
  msgsrv send() {{ counter.note(?(4, 5)); self.send() after(?(1, 2)); }}
}}
main {{ Counter counter():(); Other one(counter):(); Other two(counter):(); }}
"""


def _crowded(size: int) -> Model:
    return build_model(check_source(CROWDED.format(size=size)))


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize("size", range(2, 8))
def test_remembering_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, size: int, mode: Mode
) -> None:
    def findings() -> object:
        found = explore(_crowded(size), mode=mode, stop_at="all")
        violations = [(each.verdict, each.message, each.count) for each in found.violations]
        return found.states, found.transitions, violations, str(found.path)

    remembering = findings()
    make = MemoizedRunner.__init__

    def forgetful(self: MemoizedRunner, model: Model, rules: Rules, **options: object) -> None:
        make(self, model, rules, **{**options, "memoizes": False})  # type: ignore[arg-type]

    monkeypatch.setattr(MemoizedRunner, "__init__", forgetful)
    assert findings() == remembering


def test_a_message_server_runs_once_for_all_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[object, ...]] = []
    run = MemoizedRunner.run

    def counted(self: MemoizedRunner, *start: object) -> object:
        runs.append(start[:5])
        return run(self, *start)  # type: ignore[arg-type]

    monkeypatch.setattr(MemoizedRunner, "run", counted)
    system = TransitionSystem(_crowded(7))
    pending, seen = [system.initial], {system.initial}
    bags = set()
    while pending:
        state = pending.pop()
        bags.add(state[0].bag)
        for _, target, _ in system.expand(state):
            if not isinstance(target, Breach) and target not in seen:
                seen.add(target)
                pending.append(target)
    assert len(set(runs)) == len(runs)
    assert len(bags) > len({start for start in runs if start[0] == 0})


class Filling(Rebec, queue_size=4):
    """Sends until its queue is full, and takes that as an answer."""

    fitted: int = state_variable(Int)

    def __init__(self) -> None:
        self.fill()
        self.wait()

    @message_server
    def fill(self) -> None:
        self.fitted = 0
        try:
            while True:
                self.wait()
                self.fitted += 1
        except QueueOverflowError:
            pass

    @message_server
    def wait(self) -> None:
        pass


def test_places_taken_by_other_messages_count() -> None:
    """Of four places `fill` takes one, and the first `wait` another if it still waits."""
    model = Model("filling", (Instance("a", Filling),))
    excluded = [f"a.fitted != {fitted}" for fitted in range(5)]
    found = explore(model, stop_at="all", checks=Checks(deadlock=False, invariants=excluded))
    assert {each.message[-1] for each in found.violations} == {"0", "2", "3"}


class Nested(Rebec, queue_size=2):
    """Its lists hold more than numbers; each run changes them in place."""

    rows: list[list[int]] = state_variable(Int)
    likes: list[float] = state_variable(Int)

    def __init__(self) -> None:
        self.rows = [[0, 0], [0]]
        self.likes = [1.0, -0.0]
        self.turn()

    @message_server
    def turn(self) -> None:
        self.rows[self.choose(0, 1)][0] ^= 1
        self.likes.reverse()
        self.turn(after=1)


def test_lists_of_one_run_are_not_those_of_another() -> None:
    """Two bits; the other list is turned round as often as one of them is."""
    found = explore(Model("nested", (Instance("a", Nested),)))
    assert (found.verdict, found.states, found.transitions) == ("satisfied", 4, 9)


def test_garbage_is_collected_as_before_afterwards() -> None:
    found = gc.get_threshold()  # tests that run commands in this process may have changed it
    before = 700, *found[1:]
    try:
        gc.set_threshold(*before)
        with collecting_rarely():
            assert gc.get_threshold()[0] > before[0]
        assert gc.get_threshold() == before
    finally:
        gc.set_threshold(*found)
