"""How far figures are from published ones, in parts of these: of many cells together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rebecsim.report.numbers import DASH

ENOUGH_RUNS = 5
"""Of a cell, to tell from how these differ how sure a figure is."""


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
