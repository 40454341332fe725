"""What is published of MapReduce jobs with deadlines beside ours: cells, and parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from reproductions.agreement import Checked, relative_distance


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
    cells: tuple[Checked, ...]


def trend_cell(what: str, direction: str, first: float, last: float) -> Checked:
    """Compare the first and the last level of a factor: `up`, `down`, or `flat`, within 10 %."""
    if direction == "flat":
        holds = abs(last - first) <= 0.1 * first
    else:
        holds = last > first if direction == "up" else last < first
    return Checked(what, direction, f"{first:.2f} to {last:.2f}", holds)


def distance_of(figure: str, ours: float, published: float) -> tuple[str, float] | None:
    """Give how far a figure is from the published one, with what it is."""
    found = relative_distance(ours, published)
    return None if found is None else (figure, found)


def average_cell(
    what: str, published: str, percent: float, pairs: Sequence[tuple[float, float]]
) -> Checked | None:
    """Compare by how much the first of two figures is lower on average, which is published.

    Half of that is enough. None where there is no pair whose second figure is not 0.
    """
    shares = [1 - mine / other for mine, other in pairs if other]
    if not shares:
        return None
    lower = 100 * fmean(shares)
    ours = f"{abs(lower):.0f} % {'lower' if lower > 0 else 'higher'}"
    return Checked(f"{what} on average", published, ours, lower >= percent / 2)


def half_as_much_less(mine: float, other: float, percent: float) -> bool:
    """Whether a figure is less than another one by half of a published percentage or more."""
    return mine < other and mine <= other * (1 - percent / 200)
