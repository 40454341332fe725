"""What is published of MapReduce jobs with deadlines beside ours: cells, and parts of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeadlineCell:
    """Something that is published, and ours beside it.

    Attributes:
        what: of which experiment, and which figure.
        published: as the thesis has it, in words or figures.
        ours: likewise.
        holds: whether ours is within the bounds of its part.
    """

    what: str
    published: str
    ours: str
    holds: bool


@dataclass(frozen=True, slots=True)
class DeadlinePart:
    """Cells of one part of the thesis.

    Attributes:
        title: of the part, with its sections.
        bounds: what ours have to be, in words.
        cells: that were run.
    """

    title: str
    bounds: str
    cells: tuple[DeadlineCell, ...]


def trend_cell(what: str, direction: str, first: float, last: float) -> DeadlineCell:
    """Compare the first and the last level of a factor: `up`, `down`, or `flat`, within 10 %."""
    if direction == "flat":
        holds = abs(last - first) <= 0.1 * first
    else:
        holds = last >= first if direction == "up" else last <= first
    return DeadlineCell(what, direction, f"{first:.2f} to {last:.2f}", holds)
