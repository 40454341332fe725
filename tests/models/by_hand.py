"""Models written by hand, as they are or with some lines changed, and what can go on for ever."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rebecsim.actors import Model
from rebecsim.exploration import StateSpace, pose, state_space

Changes = tuple[tuple[str, str], ...]
Rebecs = dict[str, dict[str, Any]]


@cache
def changed_model(file: Path, changes: Changes = ()) -> Model:
    """The model of a file, or what it becomes when some lines are others."""
    text = file.read_text("utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is not there once"
        text = text.replace(old, new)
    names: dict[str, Any] = {"__name__": "changed"}
    exec(compile(text, str(file), "exec", dont_inherit=True), names)
    model = names["model"]
    assert isinstance(model, Model)
    return model


@cache
def space_of(file: Path, changes: Changes) -> tuple[StateSpace, list[Rebecs]]:
    """The graph of all states, and the variables of each rebec in each of them."""
    space = state_space(pose(changed_model(file, changes)))
    assert space.complete
    numbers = range(len(space.states))
    return space, [{each.rebec: each.variables for each in space.rebecs(n)} for n in numbers]


def for_ever(
    file: Path, changes: Changes, holding: Callable[[Rebecs], Iterable[Hashable]]
) -> set[tuple[int, Hashable]]:
    """States, and what can go on from there: on a way that never ends, or at an end.

    `holding` gives what holds in a state; it must be the same thing all the way.
    """
    space, variables = space_of(file, changes)
    later: dict[int, set[int]] = {}
    for edge in space.edges:
        later.setdefault(edge.source, set()).add(edge.target)
    stay = {(number, it) for number, each in enumerate(variables) for it in holding(each)}
    while True:
        left = {
            (number, it)
            for number, it in stay
            if number not in later or any((other, it) in stay for other in later[number])
        }
        if left == stay:
            return left
        stay = left
