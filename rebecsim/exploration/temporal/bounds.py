"""Bounds of time in formulas of TCTL."""

from __future__ import annotations

from typing import Literal, NamedTuple

Comparison = Literal["<=", "<", ">=", ">", "=="]


class TimeBound(NamedTuple):
    """What the time until something has to be."""

    comparison: Comparison
    limit: int


def weak(bound: TimeBound) -> TimeBound:
    """Write a strict bound as one that is not; time is whole."""
    match bound.comparison:
        case "<":
            return TimeBound("<=", bound.limit - 1)
        case ">":
            return TimeBound(">=", bound.limit + 1)
    return bound
