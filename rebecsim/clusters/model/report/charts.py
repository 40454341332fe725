"""Pictures of what was observed: distributions over runs, and values over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rebecsim.clusters.model.report.reading import Curve, Values
from rebecsim.report.figures import BLUE, line_styles, new_figure, plain_axes
from rebecsim.studies.estimates import student_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 2
_BARS = 30
_MOST_WHOLE = 40
"""Whole numbers that have a bar each."""
_LEVEL = 0.95


def histogram_figure(samples: Mapping[str, Values], title: str, x_label: str, of: str) -> Figure:
    """Draw the distribution of a number, one picture for each variant on the same axes.

    `of` says what the shares are of, as in "runs".
    """
    from matplotlib.ticker import MaxNLocator

    columns = min(_COLUMNS, len(samples))
    rows = math.ceil(len(samples) / columns)
    figure = new_figure(3.6 * columns + 1.2, 2.1 * rows + 1.0)
    figure.suptitle(title, fontsize=11, parse_math=False)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    everything = np.concatenate(list(samples.values()))
    edges, whole = _edges(everything), bool(np.all(everything == np.floor(everything)))
    for axes, (name, values) in zip(grid, samples.items(), strict=False):
        counts, _ = np.histogram(values, edges)
        shares = 100 * counts / max(len(values), 1)
        axes.bar(edges[:-1], shares, np.diff(edges), align="edge", color=BLUE, edgecolor="white")
        plain_axes(axes, name, "", "")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=whole))
        if len(values):
            axes.axvline(float(values.mean()), color="black", linewidth=1, linestyle="--")
    for axes in grid[len(samples) :]:
        axes.set_visible(False)
    figure.supxlabel(f"{x_label} (dashed: mean)", fontsize=9, parse_math=False)
    figure.supylabel(f"% of {of}", fontsize=9, parse_math=False)
    return figure


def _edges(values: Values) -> Values:
    """Give the edges of the bars: around whole numbers, where there are few different ones."""
    if not len(values):
        return np.array([-0.5, 0.5])
    low, high = float(values.min()), float(values.max())
    whole = bool(np.all(values == np.floor(values)))
    if whole and high - low < _MOST_WHOLE:
        return np.arange(low - 0.5, high + 1.0)
    if whole:
        width = math.ceil((high - low + 1) / _BARS)
        count = math.ceil((high - low + 1) / width)
        return low - 0.5 + width * np.arange(count + 1, dtype=np.float64)
    return np.linspace(low, high, _BARS + 1)


def curve_band(curve: Curve) -> tuple[Values, Values, Values]:
    """Give mean, lower and upper end of its interval at each time; NaN where there is no interval.

    Each interval is for its own time.
    """
    mean = curve.total / curve.runs
    low, high = np.full(len(mean), math.nan), np.full(len(mean), math.nan)
    several = curve.runs > 1
    runs = curve.runs[several].astype(np.float64)
    spread = np.maximum(curve.squares[several] - runs * mean[several] ** 2, 0) / (runs - 1)
    quantiles = {n: student_quantile(_LEVEL, n - 1) for n in np.unique(runs).tolist()}
    half = np.array([quantiles[n] for n in runs.tolist()]) * np.sqrt(spread / runs)
    low[several], high[several] = mean[several] - half, mean[several] + half
    return mean, low, high


def curves_figure(curves: Mapping[str, Curve], title: str) -> Figure:
    """Draw a value over time, the mean of all runs and its interval for each variant."""
    figure = new_figure(7.2, 4.6, f"{title} over time", wrap=70)
    axes = figure.add_subplot()
    styles = line_styles(tuple(curves))
    for name, curve in curves.items():
        _draw(axes, name, curve, styles[name].colour, styles[name].dashes)
    plain_axes(axes, "", "time (model time units)", f"mean of {title}")
    if len(curves) > 1:
        legend = figure.legend(loc="outside lower center", ncols=2, frameon=False, handlelength=3.5)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return figure


def _draw(axes: Axes, name: str, curve: Curve, colour: str, dashes: tuple[float, ...]) -> None:
    mean, low, high = curve_band(curve)
    step: Any = None if curve.is_sampled else "post"
    axes.fill_between(curve.time, low, high, color=colour, alpha=0.2, linewidth=0, step=step)
    axes.plot(
        curve.time,
        mean,
        drawstyle="default" if curve.is_sampled else "steps-post",
        marker="o" if curve.is_sampled else "",
        markersize=3,
        label=name,
        color=colour,
        linewidth=1.6,
        linestyle=(0, dashes) if dashes else "solid",
    )
