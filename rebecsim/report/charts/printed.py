"""Charts for print: one metric along an axis, a line and a band per policy, or groups of them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebecsim.report.charts.figures import new_figure
from rebecsim.report.charts.series import ChartData
from rebecsim.report.charts.styles import LineStyle, line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_INCHES = (6.4, 4.8)
_WRAP_TITLE = 62
_WRAP_CAPTION = 92
_MOST_COLUMNS = 4
_GROUP = 0.6
"""The width of the policies at one word, of the distance between words."""


def chart_figure(chart: ChartData, heading: str = "") -> Figure:
    """Draw a chart.

    Args:
        chart: what to draw.
        heading: name of the experiment, shown above the chart as it is (no mathematics).
    """
    figure = new_figure(*_SIZE_INCHES)
    axes = figure.add_subplot()
    styles = line_styles(tuple(line.policy for line in chart.series))
    (_draw_groups if chart.axis.words else _draw_lines)(axes, chart, styles)
    _dress_axes(axes, chart)
    title = "\n".join(textwrap.wrap(heading, _WRAP_TITLE))
    axes.set_title(f"{title}\n{chart.question}" if title else chart.question, parse_math=False)
    _legend(figure, chart)
    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)
    figure.set_layout_engine(None)  # saving would lay it out again each time
    return figure


def _legend(figure: Figure, chart: ChartData) -> None:
    """Name the lines, in as many columns as their names leave room for."""
    for columns in range(min(len(chart.series), _MOST_COLUMNS), 0, -1):
        legend = figure.legend(
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            handlelength=4.5,
            title="\n".join(
                line for s in chart.caption for line in textwrap.wrap(s, _WRAP_CAPTION)
            ),
            title_fontsize=8.5,
        )
        legend.get_title().set_multialignment("center")
        legend.get_title().set_parse_math(False)
        for text in legend.get_texts():
            text.set_parse_math(False)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def _draw_lines(axes: Axes, chart: ChartData, styles: dict[str, LineStyle]) -> None:
    for order, line in enumerate(chart.series):
        style = styles[line.policy]
        if line.has_band:
            axes.fill_between(
                chart.places,
                line.low,
                line.high,
                color=style.colour,
                alpha=0.22,
                linewidth=0,
                zorder=2,
            )
        axes.plot(
            chart.places,
            line.values,
            label=line.policy,
            color=style.colour,
            linewidth=style.line_width,
            linestyle=style.line,
            marker=style.marker,
            markersize=style.marker_size,
            # White inside, so that a marker below a smaller one still shows its shape.
            markerfacecolor="white",
            markeredgewidth=1.4,
            zorder=3 + order,
            clip_on=False,
        )


def _draw_groups(axes: Axes, chart: ChartData, styles: dict[str, LineStyle]) -> None:
    """Draw a marker with its interval for each policy, side by side at each of the words."""
    width = _GROUP / max(len(chart.series), 1)
    for order, line in enumerate(chart.series):
        style = styles[line.policy]
        shift = (order + 0.5) * width - _GROUP / 2
        ends = [
            [
                0.0 if math.isnan(end) else abs(value - end)
                for value, end in zip(line.values, side, strict=True)
            ]
            for side in (line.low, line.high)
        ]
        axes.errorbar(
            [place + shift for place in chart.places],
            line.values,
            yerr=ends,
            label=line.policy,
            color=style.colour,
            linestyle="none",
            marker=style.marker,
            markersize=7,
            markerfacecolor="white",
            markeredgewidth=1.4,
            capsize=3,
            zorder=3 + order,
        )


def _are_whole(places: Sequence[float]) -> bool:
    return all(float(place).is_integer() for place in places)


def _dress_axes(axes: Axes, chart: ChartData) -> None:
    from matplotlib.ticker import FixedLocator, MaxNLocator

    axes.set_xlabel(chart.axis.title, parse_math=False)
    axes.set_ylabel(chart.y_label, parse_math=False)
    few = len(chart.places) <= 12
    axes.xaxis.set_major_locator(
        FixedLocator(chart.places) if few else MaxNLocator(integer=_are_whole(chart.places))
    )
    margin = 0.04 * (chart.places[-1] - chart.places[0]) or 0.5
    if chart.axis.words:
        axes.set_xticks(chart.places, chart.axis.words)
        margin = 0.5
    axes.set_xlim(chart.places[0] - margin, chart.places[-1] + margin)
    axes.set_ylim(*chart.y_range)
    axes.grid(axis="y", color="#d0d0d0", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
