"""Charts for the HTML report, as plotly figures in plain data."""

from __future__ import annotations

import html
import math
from typing import Any

from rebecsim.report.charts.dark import dark_colour
from rebecsim.report.charts.series import ChartData, Series
from rebecsim.report.charts.styles import LineStyle, line_styles

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
