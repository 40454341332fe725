"""What a run of a graph can do for ever, if no rebec that can always act never does.

That is the fixpoint of Emerson and Lei ("Efficient model checking in fragments of the propositional
mu-calculus", LICS 1986).
"""

from __future__ import annotations

from typing import Any

__all__ = ["backward", "fair_cycles"]


def backward(before: dict[Any, set[Any]], through: set[Any], goal: set[Any]) -> set[Any]:
    """Where a way through some places leads to a goal."""
    found = set(goal)
    pending = list(goal)
    while pending:
        for place in before[pending.pop()]:
            if place in through and place not in found:
                found.add(place)
                pending.append(place)
    return found


def fair_cycles(
    free: set[Any], arcs: list[tuple[Any, Any, str]], able: dict[Any, set[str]]
) -> set[Any]:
    """Where a run can go on for ever within `free` and be fair to every rebec.

    The greatest set from every place of which, for each rebec, a way within the set leads to
    a place where it cannot act, or over a step of its own.
    """
    rebecs = sorted({who for whos in able.values() for who in whos} | {""})
    kept = set(free)
    while True:
        inside = [(one, two, who) for one, two, who in arcs if one in kept and two in kept]
        before: dict[Any, set[Any]] = {place: set() for place in kept}
        for one, two, _ in inside:
            before[two].add(one)
        smaller = set(kept)
        for rebec in rebecs:
            calm = {place for place in kept if rebec not in able[place]}
            good = {one for one, two, who in inside if two in calm or who == rebec}
            smaller &= backward(before, kept, good)
        if smaller == kept:
            return kept
        kept = smaller
