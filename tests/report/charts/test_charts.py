import math
import struct
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.report import (
    FORMS,
    chart_data,
    chart_figure,
    charts_along,
    fill_colours,
    line_colours,
    line_styles,
    plotly_figure,
    render_figure,
)
from rebecsim.report.line_charts import CONFIG
from rebecsim.studies.cells import Cell
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.summary import summarise
from tests.report.conftest import AXIS


def drawn_from(moments, column):
    summary = summarise(moments, DISPATCH_METRICS, axis="app_masters")
    return chart_data(summary, column, AXIS)


def rendered(chart, *forms):
    return render_figure(lambda: chart_figure(chart), forms)


def pooled(report):
    (summary,) = report.by_axis.values()
    return summary


@pytest.fixture
def chart(make_report):
    return chart_data(pooled(make_report()), 1, AXIS)


def test_conditions_that_are_told_apart_have_charts_of_their_own(make_report) -> None:
    cells = [
        CellMoments.from_columns(
            Cell.of(policy, arrivals=arrivals, lengths="uniform 3", app_masters=size),
            {name: np.array([1, 2]) for name in ("queue_misses", "update_misses", "completions")},
            {"time limit": 2},
        )
        for policy in ("EDF", "FIFO")
        for arrivals in ("uniform 1", "bursty 5 every 10")
        for size in (1, 2)
    ]
    report = make_report(cells, separate=("arrivals",))
    charts = charts_along(report)
    assert [chart.name for chart in charts[:1] + charts[3:4]] == [
        "deadline_misses",
        "deadline_misses_2",
    ]
    assert charts[3].title == "Deadline misses, arrivals bursty 5 every 10"


def test_a_chart_shows_percent_with_its_interval(make_report, chart) -> None:
    summary = pooled(make_report())
    line = chart.series[2]
    point = summary.points_of("MDF")[1].estimates[1]
    assert line.policy == "MDF"
    assert line.values[1] == pytest.approx(100 * point.value)
    assert line.low[1] == pytest.approx(100 * point.low)
    assert line.high[1] == pytest.approx(100 * point.high)
    assert chart.y_label == "Job request success (%)"


def test_the_caption_names_lines_that_lie_on_top_of_each_other(chart) -> None:
    assert "EDF and FIFO are too close to tell apart." in chart.caption
    assert "95 % intervals" in chart.caption[0]


@pytest.mark.parametrize("length", [3, 12, 15, 24])
def test_names_of_lines_stay_within_the_picture(chart, length) -> None:
    named = replace(
        chart,
        series=tuple(
            replace(line, policy=f"{number}{'W' * (length - 1)}")
            for number, line in enumerate([*chart.series, *chart.series])
        ),
    )
    figure = chart_figure(named)
    (legend,) = figure.legends
    extent = legend.get_window_extent()
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.width
    assert len(legend.get_texts()) == len(named.series)


def test_no_band_and_no_word_of_it_without_intervals(make_cell) -> None:
    chart = chart_data(
        summarise(
            [make_cell(runs=1, size=n) for n in (1, 2)], DISPATCH_METRICS, axis="app_masters"
        ),
        0,
        AXIS,
    )
    assert chart.caption == ()
    assert not chart_figure(chart).axes[0].collections
    assert len(plotly_figure(chart)["data"]) == 1


def test_lines_bands_and_ticks_are_where_the_data_are(chart) -> None:
    axes = chart_figure(chart).axes[0]
    assert [line.get_label() for line in axes.lines] == ["EDF", "FIFO", "MDF"]
    for line, series in zip(axes.lines, chart.series, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), series.values)
    for band, series in zip(axes.collections, chart.series, strict=True):
        heights = band.get_paths()[0].vertices[:, 1]
        assert (heights.min(), heights.max()) == (min(series.low), max(series.high))
    assert list(axes.get_xticks()) == [1, 2, 3]
    low, high = axes.get_ylim()
    assert low <= 0
    assert high >= 100


def test_means_leave_room_for_the_highest_band(make_report) -> None:
    chart = chart_data(pooled(make_report()), 0, AXIS)
    assert chart.y_range[0] < 0 < max(max(line.high) for line in chart.series) < chart.y_range[1]


def test_many_sizes_have_few_whole_ticks(make_cell) -> None:
    chart = chart_data(
        summarise(
            [make_cell(size=n, runs=2) for n in range(1, 41)], DISPATCH_METRICS, axis="app_masters"
        ),
        0,
        AXIS,
    )
    ticks = chart_figure(chart).axes[0].get_xticks()
    assert 3 <= len(ticks) <= 15
    assert all(float(tick).is_integer() for tick in ticks)


@pytest.mark.parametrize("form", [".png", ".svg"])
def test_the_same_data_give_the_same_bytes(chart, form) -> None:
    first, second = (rendered(chart, form) for _ in range(2))
    assert first[form] == second[form]


def test_files_are_of_their_format_and_fine_enough_for_print(chart) -> None:
    drawn = rendered(chart, *FORMS)
    png = drawn[".png"]
    assert png.startswith(b"\x89PNG")
    (dots_per_metre,) = struct.unpack(">I", png[png.index(b"pHYs") + 4 :][:4])
    assert dots_per_metre * 0.0254 >= 150
    svg = drawn[".svg"]
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert b"<dc:date>" not in svg


def test_a_title_with_dollar_signs_is_not_mathematics(chart) -> None:
    named = replace(chart, title=r"cost $\frac{ and $")
    assert rendered(named, ".svg")[".svg"]


def test_policies_differ_in_colour_dashes_and_marker() -> None:
    names = tuple(f"P{i}" for i in range(40))
    styles = list(line_styles(names).values())
    assert len({s.colour for s in styles}) == 40
    for part in ("colour", "dashes", "marker"):
        assert len({getattr(s, part) for s in styles[:4]}) == 4
    assert styles[0].line_width > styles[-1].line_width > 1


@pytest.mark.parametrize("colours", [line_colours, fill_colours])
@pytest.mark.parametrize("count", [0, 7, 9, 24, 60])
def test_no_colour_is_there_twice(colours, count: int) -> None:
    found = colours(count)
    assert len({each.lower() for each in found}) == count
    assert colours(count + 1)[:count] == found


def test_bands_end_where_values_do(make_cell) -> None:
    cells = [make_cell(size=n, runs=4, misses=0.3) for n in (1, 2)]
    lows = {}
    for least in (0.0, None):
        metric = replace(DISPATCH_METRICS[0], least=least)
        summary = summarise(cells, (metric,), axis="app_masters")
        lows[least] = chart_data(summary, 0, AXIS).series[0].low
    assert min(lows[None]) < 0
    assert lows[0.0] == tuple(max(low, 0) for low in lows[None])


def test_plotly_accepts_the_interactive_chart(chart) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    figure = graph_objects.Figure(plotly_figure(chart))  # refuses unknown attributes
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.name for trace in lines] == ["EDF", "FIFO", "MDF"]
    assert list(lines[2].y) == list(chart.series[2].values)
    assert list(lines[2].text) == list(chart.series[2].labels)
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    assert [band.legendgroup for band in bands] == ["EDF", "FIFO", "MDF"]
    assert list(bands[2].y) == [*chart.series[2].high, *chart.series[2].low[::-1]]


def test_the_interactive_chart_has_no_way_out_to_a_server() -> None:
    (buttons,) = CONFIG["modeBarButtons"]
    assert not any("cloud" in button.lower() for button in buttons)
    assert CONFIG["displaylogo"] is False
    assert CONFIG["plotlyServerURL"] == ""


def test_names_are_escaped_for_plotly(make_cell) -> None:
    chart = chart_data(
        summarise([make_cell("<b>EDF</b>")], DISPATCH_METRICS, axis="app_masters"), 0, AXIS
    )
    assert "<b>EDF" not in str(plotly_figure(chart)["data"])


def test_undefined_points_leave_a_gap(make_cell) -> None:
    moments = [make_cell(size=1, misses=0, completions=0), make_cell(size=2)]
    chart = drawn_from(moments, 1)
    assert math.isnan(chart.series[0].values[0])
    band, line = plotly_figure(chart)["data"]
    assert line["y"][0] is None
    assert band["x"] == [2, 2]
    assert rendered(chart, ".png")[".png"]
