"""Find what takes ever new values, which is why a search may not end.

A search that has been cut off may have been near its end, or there is none. The longest way that
was found tells: a variable that had ever new values up to its end makes the state space grow with
the length of ways, and if it never repeats, there is no end. Arguments of messages and bags can
grow in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebecsim.exploration.paths.path import written_name
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.local import Local

_LOOKS = 1_000
"""The most states of the way that are looked at."""

_FEWEST = 50
"""The different values from which on something counts as growing."""


def growing(search: Search) -> tuple[str, ...]:
    """Name what has had ever new values on the way to the state found last.

    Variables as `rebec.variable`, arguments as `argument 1 of rebec.server`, bags as `the bag of
    rebec`.
    """
    way = search.states_to(len(search.states) - 1)
    looked_at = way[:: max(1, -(-len(way) // _LOOKS))]
    values: dict[str, list[object]] = {}
    for number in looked_at:
        for name, value in _values(search, number):
            values.setdefault(name, []).append(value)
    return tuple(name for name, seen in values.items() if _grows(seen))


def _grows(seen: list[object]) -> bool:
    """Whether there are many values, and among the last tenth some that were not there before."""
    late = len(seen) - len(seen) // 10
    before = set(seen[:late])
    return len(before) >= _FEWEST and not before.issuperset(seen[late:])


def _values(search: Search, number: int) -> Iterator[tuple[str, object]]:
    runner = search.system.runner
    locals_: Iterable[Local] = search.states[number][: len(runner.rebecs)]
    for rebec, local in zip(runner.rebecs, locals_, strict=True):
        names = runner.names[local.owner]
        hidden = search.system.locals.left_out(local.owner)
        for place, (name, value) in enumerate(zip(names, local.variables, strict=True)):
            if place not in hidden:
                yield f"{rebec}.{written_name(rebec, name)}", value
        yield f"the bag of {rebec}", len(local.bag)
        for message in local.bag:
            server = runner.server_of(local.owner, message).name
            for place, value in enumerate(message.arguments, 1):
                yield f"argument {place} of {rebec}.{server}", value
