"""Sentences on whether a comparison reached the precision that was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rebecsim.report.numbers import level_text
from rebecsim.studies.cell import POLICIES, Compared
from rebecsim.studies.statistics.precision import Precision, Reached


def precision_notes(
    reached: Sequence[tuple[Precision, Sequence[Reached]]], compared: Compared = POLICIES
) -> list[str]:
    """Say which policies reached each target, after how many runs, and what the others have."""
    return [note for target, each in reached for note in _notes_of(target, each, compared)]


def _notes_of(target: Precision, reached: Sequence[Reached], compared: Compared) -> list[str]:
    replications = min((each.replications for each in reached), default=0)
    after = f"{replications:,} runs of each cell"
    missing = [each for each in reached if not each.is_reached]
    if not missing:
        notes = [f"Precision: {target.text}, reached by every {compared.one} after {after}."]
    else:
        found = ", ".join(f"{each.policy} ({_amount(target, each)})" for each in missing)
        others = len(reached) - len(missing)
        notes = [
            f"Precision: {target.text} was NOT reached by {found}, as {after} were the limit"
            + (f"; {others} of {len(reached)} {compared.many} reached it." if others else ".")
            + " A higher --max-replications goes further."
        ]
    notes += [_without_case(target, each) for each in reached if each.without_case]
    return notes


def _without_case(target: Precision, each: Reached) -> str:
    return (
        f"{each.policy}: {target.metric.title} are 0 in all {each.runs:,} runs, so there is no "
        f"relative precision. With {level_text(target.level)} confidence fewer than "
        f"{_percent(each.half_width)} of runs have any; {100 * target.half_width:g} % is enough "
        "to stop."
    )


def _amount(target: Precision, each: Reached) -> str:
    if math.isinf(each.half_width):
        return "not known at all"
    if each.without_case:
        return "0 in all runs"
    unit = " %" if target.is_relative else " percentage points"
    return f"{_upwards(100 * each.half_width)}{unit}"


def _percent(share: float) -> str:
    return f"{_upwards(100 * share)} %"


def _upwards(value: float) -> str:
    """Two significant digits, rounded up: a precision is never said to be better than it is."""
    digits = 1 - math.floor(math.log10(value))
    return f"{math.ceil(round(value * 10**digits, 6)) / 10**digits:.{max(digits, 0)}f}"
