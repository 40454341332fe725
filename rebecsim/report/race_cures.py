"""Fixes of races, as text and as JSON values."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator
from typing import Any

from rebecsim.exploration import RaceGroup, Races
from rebecsim.exploration.races.cures import Cures, RaceCures, Tried

_WIDTH = 80
_OUTCOME = 11  # characters of the column of outcomes
_INDENT = "   "


def cure_lines(cures: Cures, races: Races) -> Iterator[str]:
    """Give the lines of a report: a table for each race, and the change that removes it."""
    shown: dict[str, int] = {}
    for each in cures.of_races:
        number = _number(each.race, races)
        yield ""
        yield from _wrapped(f"cures of {number}. {' / '.join(map(str, each.race.contenders))}", "")
        for one in each.tried:
            yield from _row(one)
        yield from _change(each, cures, shown, number, races)
    if cures.is_interrupted:
        yield ""
        yield "interrupted; cures that were not tried are undecided"
    if not cures.of_races:
        yield ""
        yield "no race to cure: none matters"


def _number(race: RaceGroup, races: Races) -> int:
    """Give the number under which a race is listed."""
    place = races.groups.index(race)
    return next(number for number, places in enumerate(races.alike, 1) if place in places)


def _wrapped(text: str, first: str, indent: str = _INDENT) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _row(one: Tried) -> Iterator[str]:
    indent = _INDENT + " " * _OUTCOME
    yield from _wrapped(one.title, f"{_INDENT}{one.outcome:{_OUTCOME}}", indent)
    yield from _wrapped("; ".join(one.found), indent, indent)


def _change(
    each: RaceCures, cures: Cures, shown: dict[str, int], number: int, races: Races
) -> Iterator[str]:
    best = each.best
    if best is None:
        yield f"{_INDENT}none of them removes it"
    elif best.source in shown:
        yield f"{_INDENT}the first one is that of {shown[best.source]}."
    else:
        shown[best.source] = number
        yield f"{_INDENT}the first one changes:"
        for line in _diff(cures, best, races.model):
            yield f"{_INDENT}{line}".rstrip()


def _diff(cures: Cures, one: Tried, model: str) -> Iterator[str]:
    return difflib.unified_diff(
        cures.source.splitlines(),
        one.source.splitlines(),
        unchanged_file(model),
        cure_file(model, one),
        n=1,
        lineterm="",
    )


def unchanged_file(model: str) -> str:
    """Give the name of the file with the model itself, printed as the changed ones are."""
    return f"{model}-unchanged.rebeca"


def cure_file(model: str, one: Tried) -> str:
    """Give the name of the file with a changed model."""
    return f"{model}-{one.id}.rebeca"


# --- as plain values ---------------------------------------------------------------------------


def cures_to_json(cures: Cures, races: Races) -> list[dict[str, Any]]:
    """Give what was tried for each race as plain values."""
    return [
        {
            "race": each.race.id,
            "removed_by": None if each.best is None else each.best.id,
            "tried": [_tried(cures, one, races.model) for one in each.tried],
        }
        for each in cures.of_races
    ]


def _tried(cures: Cures, one: Tried, model: str) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "title": one.title,
        "outcome": one.outcome,
        "found": list(one.found),
        "states": one.states,
        "violations": [dict(key._asdict()) for key in one.violations],
        "diff": "\n".join(_diff(cures, one, model)) if one.source else None,
    }
