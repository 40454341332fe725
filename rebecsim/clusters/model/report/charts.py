"""Pictures and percentiles of what was observed, from the stored tables of a variant.

The interval of a percentile is that of the share of waits up to it, read off the distribution at
its two ends: R. S. Woodruff, "Confidence intervals for medians and other position measures",
Journal of the American Statistical Association 47 (1952). The share is a ratio of two sums over
independent runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.model.measures import CURVES, END, ENDINGS, WAITS
from rebecsim.metrics import Metric
from rebecsim.report.figures import BLUE, line_styles, new_figure, plain_axes
from rebecsim.studies.cells import REPLICATION, Cell
from rebecsim.studies.estimates import estimate, student_quantile
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.parts import columns_from, row_groups
from rebecsim.studies.results import Results
from rebecsim.studies.simulated import OUTCOME
from rebecsim.studies.study import PlannedCell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 400
"""Times at which curves of all changes are drawn, at most."""

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Waits:
    """The waits of messages in all runs of a variant, with the run that each is of."""

    run: Numbers
    wait: Numbers


@dataclass(frozen=True, eq=False)
class Curve:
    """A value over time in all runs of a variant.

    Attributes:
        time: when it was looked at, ascending.
        runs: how many runs had not been ended by a violation by then.
        total: the sum of the values in these runs.
        squares: the sum of their squares.
        is_sampled: whether it is not known between these times.
    """

    time: Numbers
    runs: Numbers
    total: Values
    squares: Values
    is_sampled: bool


def column_of(results: Results, cell: PlannedCell, column: str) -> Values:
    """Read a column of a part."""
    table = columns_from(results.part(cell), [column])
    found: Values = table.column(column).to_numpy().astype(np.float64)
    return found


def waits_of(results: Results, cell: PlannedCell, name: str) -> Waits:
    """Read the waits that an observation has noted."""
    runs, waits = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for table in row_groups(results.table(WAITS, cell)):
        mine = np.array(table.column("name").to_pylist(), dtype=object) == name
        runs.append(table.column(REPLICATION).to_numpy()[mine])
        waits.append(table.column("wait").to_numpy()[mine])
    return Waits(np.concatenate(runs), np.concatenate(waits))


def first_details(results: Results, cell: PlannedCell) -> Iterator[tuple[str, int, int, str]]:
    """Give, for each way in which runs ended early, the first such run, its time and its reason."""
    told: set[str] = set()
    for table in row_groups(results.table(ENDINGS, cell)):
        for row in table.to_pylist():
            if row["ending"] not in told and row["detail"]:
                told.add(row["ending"])
                yield row["ending"], row[REPLICATION], row["time"], row["detail"]


def curve_of(
    results: Results, cell: PlannedCell, name: str, every: int | None, stays: frozenset[str]
) -> Curve:
    """Sum up a value over time; `stays` are the ends of runs after which it stays as it is."""
    points: list[tuple[Numbers, Numbers, Values]] = []
    for table in row_groups(results.table(CURVES, cell)):
        mine = np.array(table.column("name").to_pylist(), dtype=object) == name
        points.append(
            (
                table.column(REPLICATION).to_numpy()[mine],
                table.column("time").to_numpy()[mine],
                table.column("value").to_numpy()[mine],
            )
        )
    run, time, value = (np.concatenate([each[part] for each in points]) for part in range(3))
    if every is None:
        run, time, value = _sampled(results, cell, (run, time, value), stays)
    times, places = np.unique(time, return_inverse=True)
    return Curve(
        times,
        np.bincount(places, minlength=len(times)),
        np.bincount(places, value, len(times)).astype(np.float64),
        np.bincount(places, value * value, len(times)).astype(np.float64),
        every is not None,
    )


def _sampled(
    results: Results,
    cell: PlannedCell,
    changes: tuple[Numbers, Numbers, Values],
    stays: frozenset[str],
) -> tuple[Numbers, Numbers, Values]:
    """Give the values at times that are the same in all runs, of changes that are not."""
    run, time, value = changes
    part = columns_from(results.part(cell), [END, OUTCOME])
    ends = part.column(END).to_numpy()
    known = [outcome in stays for outcome in part.column(OUTCOME).to_pylist()]
    last = int(ends.max())
    grid = np.unique(np.linspace(0, last, min(last + 1, _POINTS)).astype(np.int64))
    edges = np.searchsorted(run, np.arange(len(ends) + 1))
    found: list[tuple[Numbers, Numbers, Values]] = []
    for number, end in enumerate(ends.tolist()):
        mine = slice(edges[number], edges[number + 1])
        seen = grid if known[number] else grid[grid < end]
        places = np.searchsorted(time[mine], seen, side="right") - 1
        found.append((np.full(len(seen), number), seen, value[mine][places]))
    first, second, third = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second), np.concatenate(third)


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


PERCENTS = (50, 90, 95, 99)
"""The percentiles of reports."""

_UP_TO = Metric(
    name="up_to",
    title="Up to",
    unit="waits",
    better="neither",
    numerator={"below": 1},
    denominator={"below": 1, "above": 1},
)


@dataclass(frozen=True)
class Percentile:
    """The smallest wait that is not exceeded in so many percent, between two bounds.

    The bounds are None for a single run.
    """

    value: int
    low: int | None
    high: int | None


def percentile(waits: Waits, runs: int, percent: float) -> Percentile:
    """Estimate a percentile of the waits of so many runs; there is at least one wait."""
    ordered = np.sort(waits.wait)
    value = _at(ordered, percent / 100)
    below = np.bincount(waits.run[waits.wait <= value], minlength=runs)
    above = np.bincount(waits.run[waits.wait > value], minlength=runs)
    columns = {"below": below, "above": above}
    half = estimate(_UP_TO, [CellMoments.from_columns(Cell.of(""), columns, {})]).half_width
    if half is None:
        return Percentile(value, None, None)
    return Percentile(value, _at(ordered, percent / 100 - half), _at(ordered, percent / 100 + half))


def _at(ordered: Numbers, share: float) -> int:
    """Give the smallest wait up to which there is at least this share of them."""
    place = math.ceil(round(share * len(ordered), 9)) - 1
    return int(ordered[min(max(place, 0), len(ordered) - 1)])
