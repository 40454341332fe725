"""Charts along an axis, a line for each policy, for matplotlib and for plotly."""

from __future__ import annotations

import html
import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebecsim.report.figures import (
    HEADING,
    LineStyle,
    dark_colour,
    line_styles,
    new_figure,
    plain_axes,
)
from rebecsim.report.numbers import (
    column_heading,
    decimals_for,
    display_scale,
    format_estimate,
    level_text,
)
from rebecsim.studies.cells import Condition
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rebecsim.report.comparison import ReportInput

_INDISTINGUISHABLE = 0.01
"""Lines closer than this share of the axis everywhere cannot be told apart by eye."""


@dataclass(frozen=True, slots=True)
class Series:
    """One policy's line; all sequences have one entry per place.

    Attributes:
        policy: its name.
        values: percent for shares, NaN where undefined.
        low: lower ends of the intervals, no lower than a value can be; NaN where there is none.
        high: upper ends.
        labels: values with half-widths as text.
    """

    policy: str
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def has_band(self) -> bool:
        """Whether any interval is known."""
        return any(not math.isnan(low) for low in self.low)


@dataclass(frozen=True, slots=True)
class ChartData:
    """Everything that a chart shows, whatever draws it.

    Attributes:
        name: of the metric, for file names.
        title: of the metric, for people.
        y_label: title with unit.
        y_range: ends of the vertical axis.
        axis: what the places are.
        places: on the axis, ascending, such as cluster sizes.
        series: one per policy.
        caption: sentences on what the bands are and which lines lie on top of each other.
        better: whether the lower or the higher value is the better one, or neither.
    """

    name: str
    title: str
    y_label: str
    y_range: tuple[float, float]
    axis: Axis
    places: tuple[float, ...]
    series: tuple[Series, ...]
    caption: tuple[str, ...]
    better: str = "neither"

    @property
    def question(self) -> str:
        """What the chart answers, as its heading."""
        asked = {"lower": "which is lowest?", "higher": "which is highest?"}.get(self.better)
        if len(self.series) == 1:
            asked = "how does it change?"
        return f"{self.title} by {self.axis.by}: {asked or 'how do they differ?'}"

    @property
    def words(self) -> str:
        """What it shows, in words."""
        return f"{self.title} by {self.axis.by}: {self.ends}"

    @property
    def ends(self) -> str:
        """Where each line begins and ends, in words."""
        return "; ".join(
            f"{line.policy} from {line.labels[0]} to {line.labels[-1]}" for line in self.series
        )


def charts_along(report: ReportInput) -> list[ChartData]:
    """The charts of all metrics along the axis, those of one condition together."""
    axis = report.axis
    if axis is None:
        return []
    return [
        chart_data(summary, column, axis, condition, place)
        for place, (condition, summary) in enumerate(report.by_axis.items(), start=1)
        for column in range(len(summary.metrics))
    ]


def chart_data(
    summary: Summary,
    column: int,
    axis: Axis,
    condition: Condition = Condition(),  # noqa: B008 - immutable
    place: int = 1,
) -> ChartData:
    """The chart of one metric of a summary along its axis.

    The `condition` stands in its title, and its `place` in its name, unless it is the first.
    """
    metric = summary.metrics[column]
    scale = display_scale(metric)
    estimates = {p: [q.estimates[column] for q in summary.points_of(p)] for p in summary.policies}
    decimals = decimals_for(metric, list(itertools.chain.from_iterable(estimates.values())))
    series = tuple(
        Series(
            policy=policy,
            values=tuple(scale * e.value for e in line),
            low=tuple(math.nan if e.low is None else scale * e.low for e in line),
            high=tuple(math.nan if e.high is None else scale * e.high for e in line),
            labels=tuple(format_estimate(metric, e, decimals) for e in line),
        )
        for policy, line in estimates.items()
    )
    y_range = (-2.0, 102.0) if metric.is_share else _range_with_zero(series)
    return ChartData(
        name=f"{metric.name}_{place}" if place > 1 else metric.name,
        title=", ".join(filter(None, (metric.title, str(condition)))),
        y_label=column_heading(metric),
        y_range=y_range,
        axis=axis,
        places=summary.places,
        series=series,
        caption=_caption(series, y_range, summary.level, grouped=bool(axis.words)),
        better=metric.better,
    )


def coinciding(series: Sequence[Series], y_range: tuple[float, float]) -> list[tuple[str, ...]]:
    """Groups of policies whose lines cannot be told apart by eye, in the order of the series."""
    tolerance = _INDISTINGUISHABLE * (y_range[1] - y_range[0])
    groups: list[list[Series]] = []
    for line in series:
        for group in groups:
            if all(
                abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b))
                for a, b in zip(group[0].values, line.values, strict=True)
            ):
                group.append(line)
                break
        else:
            groups.append([line])
    return [tuple(line.policy for line in group) for group in groups if len(group) > 1]


def _range_with_zero(series: Sequence[Series]) -> tuple[float, float]:
    """From a little below zero to a little above the highest band, so that no line is cut."""
    shown = [v for s in series for v in (0.0, *s.values, *s.low, *s.high) if not math.isnan(v)]
    low, high = min(shown), max(shown)
    if low == high:
        high = 1.0  # all are zero
    margin = 0.03 * (high - low)
    return low - margin, high + margin


def _caption(
    series: Sequence[Series], y_range: tuple[float, float], level: float, grouped: bool
) -> tuple[str, ...]:
    parts = []
    if grouped:
        return (f"Bars: {level_text(level)} intervals.",)
    if any(line.has_band for line in series):
        parts.append(
            f"Bands: {level_text(level)} intervals; where none shows, it is narrower than the line."
        )
    parts.extend(
        f"{', '.join(group[:-1])} and {group[-1]} are too close to tell apart."
        for group in coinciding(series, y_range)
    )
    return tuple(parts)


_SIZE_INCHES = (6.4, 4.8)
_NARROW_INCHES = (4.2, 4.4)
_WRAP_CAPTION, _WRAP_NARROW, _WRAP_TITLE = 92, 58, 40
_MOST_COLUMNS = 4
_GROUP = 0.6
"""The width of the policies at one word, of the distance between words."""


def chart_figure(chart: ChartData, narrow: bool = False) -> Figure:
    """Draw a chart below its question; a narrow one is for a phone."""
    figure = new_figure(*(_NARROW_INCHES if narrow else _SIZE_INCHES))
    axes = figure.add_subplot()
    styles = line_styles(tuple(line.policy for line in chart.series))
    (_draw_groups if chart.axis.words else _draw_lines)(axes, chart, styles)
    _dress_axes(axes, chart, _WRAP_TITLE if narrow else len(chart.question))
    _legend(figure, chart, _WRAP_NARROW if narrow else _WRAP_CAPTION)
    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)
    figure.set_layout_engine(None)  # saving would lay it out again each time
    return figure


def _legend(figure: Figure, chart: ChartData, wrap: int) -> None:
    """Name the lines, in as many columns as their names leave room for."""
    for columns in range(min(len(chart.series), _MOST_COLUMNS), 0, -1):
        legend = figure.legend(
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            handlelength=4.5,
            title="\n".join(line for s in chart.caption for line in textwrap.wrap(s, wrap)),
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


def _dress_axes(axes: Axes, chart: ChartData, wrap: int) -> None:
    from matplotlib.ticker import FixedLocator, MaxNLocator

    plain_axes(axes, textwrap.fill(chart.question, wrap), chart.axis.title, chart.y_label)
    axes.title.set_fontsize("large")
    axes.title.set_gid(HEADING)
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


CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    # A list of the buttons that there are, not of those to leave out: some version of plotly.js
    # adds one that uploads the chart to a server.
    "modeBarButtons": [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
    "plotlyServerURL": "",
}
"""How plotly behaves: nothing in the page leads to another site."""

_WHITE, _TEXT, _LINE, _GREY = "#ffffff", "#1a1a1a", "#333333", "#d0d0d0"
_PIXELS_PER_POINT = 96 / 72


DARK_COLOURS = {
    colour: dark_colour(colour) for colour in (_WHITE, _TEXT, _LINE, _GREY, "#000000")
} | {"rgba(0,0,0,0.22)": "rgba(228,231,235,0.22)"}
"""What the colours of a figure become where the page is dark; others stay as they are."""


def plotly_figure(chart: ChartData) -> dict[str, Any]:
    """A chart as plotly's `{"data": [...], "layout": {...}}`, ready for JSON.

    Each policy has a line and a band that come and go together when its name in the legend is
    clicked. Hovering over a place shows all policies with their intervals. Undefined values
    are null.
    """
    styles = line_styles(tuple(line.policy for line in chart.series))
    bands = [_band(chart, s, styles[s.policy]) for s in chart.series if s.has_band]
    lines = [_line(chart, s, styles[s.policy]) for s in chart.series]
    return {"data": bands + lines, "layout": _layout(chart)}


def _line(chart: ChartData, series: Series, style: LineStyle) -> dict[str, Any]:
    # plotly reads a little HTML in names and labels, hence the escapes.
    name = html.escape(series.policy)
    width = round(style.line_width * _PIXELS_PER_POINT, 2)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "x": list(chart.places),
        "y": [None if math.isnan(v) else v for v in series.values],
        "text": [html.escape(label) for label in series.labels],
        "hovertemplate": "%{text}",
        "line": {"color": style.colour, "width": width, "dash": _dash(style, width)},
        "marker": {
            "symbol": style.plotly_marker,
            "size": style.marker_size * _PIXELS_PER_POINT,
            "color": _WHITE,
            "line": {"color": style.colour, "width": 1.8},
        },
        "cliponaxis": False,
    }


def _dash(style: LineStyle, width: float) -> str:
    return ",".join(f"{width * dash:g}px" for dash in style.dashes) or "solid"


def _band(chart: ChartData, series: Series, style: LineStyle) -> dict[str, Any]:
    """The interval as a closed outline: along the upper ends and back along the lower ones."""
    known = [i for i, low in enumerate(series.low) if not math.isnan(low)]
    back = known[::-1]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{html.escape(series.policy)}, interval",
        "legendgroup": html.escape(series.policy),
        "showlegend": False,
        "hoverinfo": "skip",
        "x": [chart.places[i] for i in known + back],
        "y": [series.high[i] for i in known] + [series.low[i] for i in back],
        "fill": "toself",
        "fillcolor": style.band_colour(0.22),
        "line": {"width": 0},
    }


def _layout(chart: ChartData) -> dict[str, Any]:
    name, unit = chart.axis.title.partition(" (")[0], chart.axis.unit
    shown = f"{name} ({unit})" if unit else name
    whole = all(float(place).is_integer() for place in chart.places)
    margin = 0.04 * (chart.places[-1] - chart.places[0]) or 0.5
    x_axis: dict[str, Any] = {
        "title": {
            "text": html.escape(shown),
            "font": {"size": 14},
            "standoff": 8,
        },
        "range": [chart.places[0] - margin, chart.places[-1] + margin],
        "hoverformat": "d" if whole else "g",
        "unifiedhovertitle": {"text": f"<b>{html.escape(name)} %{{x}}</b>"},
        "showgrid": False,
        "zeroline": False,
        "linecolor": _LINE,
        "ticks": "outside",
    }
    if len(chart.places) <= 12:
        marks = [f"{place:g}" for place in chart.places]
        x_axis |= {"tickmode": "array", "tickvals": list(chart.places), "ticktext": marks}
    else:
        x_axis |= {"tickformat": "d" if whole else "g"}
    return {
        "xaxis": x_axis,
        "yaxis": {
            "title": {"text": html.escape(chart.y_label), "font": {"size": 14}},
            "range": list(chart.y_range),
            "gridcolor": _GREY,
            "zeroline": False,
            "linecolor": _LINE,
            "ticks": "outside",
        },
        "legend": {"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.22, "yanchor": "top"},
        "hovermode": "x unified",
        "margin": {"l": 60, "r": 16, "t": 36, "b": 40},
        "height": 430,
        "paper_bgcolor": _WHITE,
        "plot_bgcolor": _WHITE,
        "font": {"family": "system-ui, sans-serif", "size": 14, "color": _TEXT},
    }
