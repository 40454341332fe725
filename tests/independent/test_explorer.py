"""Both engines against an explorer that shares nothing with them, on random models."""

from __future__ import annotations

from typing import Any

import pytest

from rebecsim.exploration import Checks, Limits, explore
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from tests.independent.drawing import draw, number
from tests.independent.explorer import Explorer
from tests.independent.language import INT, Block, Class, Instance, Model, Server, text_of
from tests.independent.states import TooLarge

pytestmark = pytest.mark.large

MOST = 600
TOGETHER = 25


def modes_of(model: Model) -> tuple[str, ...]:
    """Give the semantics in which a model has a state space."""
    return ("core",) if model.core else ("FTTS", "TTS")


ENGINES = "python", "native"


def compare(model: Model, modes: tuple[str, ...] = (), engines: tuple[str, ...] = ENGINES) -> int:
    """Compare modes, or all, and engines on a model; give how many state spaces were compared."""
    text = text_of(model)
    checked = check_source(text, "drawn.rebeca", "core" if model.core else "timed")
    built = build_model(checked, "drawn.rebeca")
    compared = 0
    for mode in modes or modes_of(model):
        try:
            found = Explorer(model, mode, MOST).explore()
        except TooLarge:
            continue
        for engine in engines:
            options: Any = {
                "mode": mode,
                "engine": engine,
                "checks": Checks(deadlock=True),
                "limits": Limits(states=2 * MOST),
            }
            result = explore(built, checked=checked, stop_at="all", **options)
            breaches = {each.verdict for each in result.violations}
            shown = (result.states, result.transitions, breaches)
            assert shown == (found.states, found.transitions, found.breaches), (mode, engine, text)
            first = explore(built, checked=checked, **options)
            assert first.verdict in (found.breaches or {"satisfied"}), (mode, engine, text)
        compared += 1
    return compared


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(start, marks=[] if start < 2 * TOGETHER else pytest.mark.slow)
        for start in range(0, 1000, TOGETHER)
    ],
)
def test_random_models(start: int) -> None:
    compared = sum(compare(draw(seed)) for seed in range(start, start + TOGETHER))
    assert compared > TOGETHER  # hardly a model is too large, and most have two state spaces


# --- the explorer itself, on models counted by hand ---------------------------------------------


def tiny(*statements: tuple, size: int = 2, servers: tuple[Server, ...] = ()) -> Model:
    """Give a rebec whose message server does something and then sends itself the next message."""
    again = ("send", "self", None, "go", (), None, None)
    body = Block(1, (*statements, again))
    start = Server("A", (), Block(2, (again,)))
    kind = Class("A", size, (), (("x", INT),), (Server("go", (), body), *servers), start)
    return Model((kind,), (Instance("a", "A", (), ()),), core=False)


X = ("variable", "x", INT)
ALWAYS = ("binary", "==", X, X)


@pytest.mark.parametrize(
    ("model", "mode", "states", "transitions"),
    [
        # x alternates: two states; with time, each is left by a step of time
        (tiny(("set", "x", INT, ("binary", "-", number(1), X))), "FTTS", 2, 3),
        # the choice is drawn again in each round and leads to the same two states
        (tiny(("choose", "x", (0, 1))), "FTTS", 2, 5),
        (tiny(("delay", number(1))), "FTTS", 1, 2),
        # waiting and, one unit later, about to go on; then the state at the start
        (tiny(("delay", number(1))), "TTS", 3, 4),
    ],
)
def test_counted_by_hand(model: Model, mode: str, states: int, transitions: int) -> None:
    found = Explorer(model, mode, MOST).explore()
    assert (found.states, found.transitions, found.breaches) == (states, transitions, set())
    compare(model)


def test_a_message_server_that_waits_for_ever() -> None:
    # nothing tells one round from the next; in FTTS it does not end
    model = tiny(("while", ALWAYS, Block(3, (("delay", number(1)),))))
    found = Explorer(model, "TTS", MOST).explore()
    assert (found.states, found.transitions, found.breaches) == (3, 4, set())
    assert compare(model, ("TTS",)) == 1


def test_locals_that_are_not_read_again_tell_no_states_apart() -> None:
    # the drawn value is in no state: drawn, it waits; time passes; the message server ends
    local = ("local", "t", INT, number(0))
    drawn = tiny(local, ("choose", "t", (1, 2)), ("set", "x", INT, number(0)), ("delay", number(1)))
    found = Explorer(drawn, "TTS", MOST).explore()
    assert (found.states, found.transitions) == (3, 5)
    reading = ("set", "x", INT, ("variable", "t", INT))
    read = tiny(local, ("choose", "t", (1, 2)), ("delay", number(1)), reading)
    assert Explorer(read, "TTS", MOST).explore().states > 3


def test_a_queue_that_is_too_short() -> None:
    again = ("send", "self", None, "go", (), None, None)
    found = Explorer(tiny(again), "FTTS", MOST).explore()
    assert found.breaches == {"queue overflow"}
    compare(tiny(again))
