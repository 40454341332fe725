"""Charts for print: one metric against cluster size, a line and a band per policy.

matplotlib's object-oriented interface with the Agg canvas: no window, no global figure, usable
from any thread. The same data give the same bytes.
"""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Literal, get_args

from rebecsim.report.series import ChartData
from rebecsim.report.styles import LineStyle, line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FORMS", "Form", "chart_figure", "render_chart"]

Form = Literal["svg", "png"]
FORMS: tuple[Form, ...] = get_args(Form)

_SIZE_INCHES = (6.4, 4.8)
_DOTS_PER_INCH = 200
_WRAP_TITLE = 62
_WRAP_CAPTION = 92


def chart_figure(chart: ChartData, heading: str = "") -> Figure:
    """Draw a chart.

    Args:
        chart: what to draw.
        heading: name of the experiment, shown above the chart as it is (no mathematics).
    """
    # Imported here: reading a report's tables should not wait for matplotlib.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=_SIZE_INCHES, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    styles = line_styles(tuple(line.policy for line in chart.series))
    _draw_lines(axes, chart, styles)
    _dress_axes(axes, chart)
    title = "\n".join(textwrap.wrap(heading, _WRAP_TITLE))
    axes.set_title(f"{title}\n{chart.title}" if title else chart.title, parse_math=False)
    legend = figure.legend(
        loc="outside lower center",
        ncols=min(len(chart.series), 4),
        frameon=False,
        handlelength=4.5,
        title="\n".join(line for s in chart.caption for line in textwrap.wrap(s, _WRAP_CAPTION)),
        title_fontsize=8.5,
    )
    legend.get_title().set_multialignment("center")
    legend.get_title().set_parse_math(False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def render_chart(chart: ChartData, heading: str) -> dict[Form, bytes]:
    """A chart as the contents of an SVG and a PNG (200 dots per inch) file.

    Text in SVG is drawn as paths, so it looks the same on machines without the font.
    """
    import matplotlib

    contents: dict[Form, bytes] = {}
    # A fixed salt and no date: the same data give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "rebecsim"}):
        figure = chart_figure(chart, heading)
        layout = figure.get_layout_engine()
        assert layout is not None
        layout.execute(figure)
        figure.set_layout_engine(None)  # saving would lay it out again each time
        for form in FORMS:
            buffer = io.BytesIO()
            metadata = {"Date": None} if form == "svg" else {"Software": None}
            figure.savefig(buffer, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
            contents[form] = buffer.getvalue()
    return contents


def _draw_lines(axes: Axes, chart: ChartData, styles: dict[str, LineStyle]) -> None:
    for order, line in enumerate(chart.series):
        style = styles[line.policy]
        if line.has_band:
            axes.fill_between(
                chart.sizes,
                line.low,
                line.high,
                color=style.colour,
                alpha=0.22,
                linewidth=0,
                zorder=2,
            )
        axes.plot(
            chart.sizes,
            line.values,
            label=line.policy,
            color=style.colour,
            linewidth=style.line_width,
            linestyle=(0, style.dashes) if style.dashes else "solid",
            marker=style.marker,
            markersize=style.marker_size,
            # White inside, so that a marker below a smaller one still shows its shape.
            markerfacecolor="white",
            markeredgewidth=1.4,
            zorder=3 + order,
            clip_on=False,
        )


def _dress_axes(axes: Axes, chart: ChartData) -> None:
    from matplotlib.ticker import FixedLocator, MaxNLocator

    axes.set_xlabel("Cluster size (number of AppMasters)")
    axes.set_ylabel(chart.y_label, parse_math=False)
    few = len(chart.sizes) <= 12
    axes.xaxis.set_major_locator(FixedLocator(chart.sizes) if few else MaxNLocator(integer=True))
    margin = 0.04 * (chart.sizes[-1] - chart.sizes[0]) or 0.5
    axes.set_xlim(chart.sizes[0] - margin, chart.sizes[-1] + margin)
    axes.set_ylim(*chart.y_range)
    axes.grid(axis="y", color="#d0d0d0", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
