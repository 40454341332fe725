"""When a figure of ours agrees with a published one, and how far many are from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH
from rebecsim.studies.estimates import linear_form
from rebecsim.studies.moments import CellMoments

MOST_ERRORS = 3.0
"""Standard errors of a difference that chance does not explain."""

ENOUGH_RUNS = 5
"""Of a cell, to tell from how these differ how sure a figure is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Something that is published, held against our figures.

    Attributes:
        says: what is published, or of which experiment and which figure.
        published: as printed, in words or figures; empty: `says` has it.
        ours: as simulated here, in words or figures.
        holds: whether ours is within the bounds; None: it was not run.
        distance: of a figure, which one it is and how far ours is from the published one, in parts
            of that; None where that is 0, or it is no figure.
        name: what the page calls it, as in R1.
        tables: numbers of the tables that say it.
    """

    says: str
    published: str
    ours: str
    holds: bool | None
    distance: tuple[str, float] | None = None
    name: str = ""
    tables: str = ""

    @property
    def verdict(self) -> Literal["holds", "missed", "open"]:
        """Whether it holds, in a word."""
        return "open" if self.holds is None else "holds" if self.holds else "missed"


def shares_within(within: int, of: int, bounds: str) -> str:
    """Say how many cells of how many are within some bounds."""
    share = 100 * within / of if of else 0.0
    return f"{within} of {of} cells ({share:.0f} %) are within {bounds}"


def within_count(cells: Collection[Checked]) -> tuple[int, int]:
    """Give how many cells of how many hold."""
    return sum(bool(cell.holds) for cell in cells), len(cells)


def is_conspicuous(errors: float | None) -> bool:
    """Whether a difference in standard errors is too large to be put down to chance."""
    return errors is not None and abs(errors) > MOST_ERRORS


def errors_apart(apart: float, *errors: float) -> float:
    """Give a difference in standard errors of it, from those of both figures; infinite if exact."""
    error = math.hypot(*errors)
    return apart / error if error else math.copysign(math.inf, apart) if apart else 0.0


def standard_error_for(metric: Metric, moments: Sequence[CellMoments], runs: int) -> float | None:
    """Standard error that the metric would have with `runs` runs in each cell.

    The spread of single runs is estimated from the runs at hand. It says how far a figure that
    someone else published after so many runs may be from the truth.

    Returns:
        The standard error; None when a cell has fewer than two runs or the ratio is undefined.

    Raises:
        ValueError: when `runs` is not positive, or there is no cell or a cell without runs.
    """
    if runs < 1:
        raise ValueError(f"the number of runs must be positive, not {runs}")
    form = linear_form(moments, metric.numerator, metric.denominator)
    if form is None or any(cell.replications < 2 for cell in moments):
        return None
    return form.standard_error([cell.variance_of(form.weights) / runs for cell in moments])


def relative_distance(ours: float, published: float) -> float | None:
    """Give how far a figure is from the published one, in parts of that; None: that is 0."""
    return abs(ours - published) / abs(published) if published else None


def distance_words(distances: Sequence[float]) -> tuple[str, str]:
    """Give the median and the 90th percentile of relative distances, in percent."""
    if not distances:
        return DASH, DASH
    median, most = np.percentile(np.array(distances), [50, 90]).tolist()
    return f"{100 * median:.1f} %", f"{100 * most:.1f} %"


def few_runs_notes(runs: int) -> tuple[str, ...]:
    """Say so where cells have so few runs that hardly any of them could fail."""
    if runs >= ENOUGH_RUNS:
        return ()
    return (
        f"Cells have fewer than {ENOUGH_RUNS} runs here, and could not really fail: how runs "
        "differ is not known well enough to tell ours from what is published. A cell may hold, or "
        "be missed, by chance. Go by the distances, or run with --replications 5.",
    )
