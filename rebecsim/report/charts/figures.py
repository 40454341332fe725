"""What all pictures share: canvas, colours, axes of time, files.

matplotlib's object-oriented interface with the Agg canvas: no window, no global figure, usable
from any thread. The same data give the same bytes.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.errors import UserError
from rebecsim.files import write_atomically
from rebecsim.report.charts.dark import with_dark_colours
from rebecsim.report.charts.styles import COLOURS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN = COLOURS[:3]
GREY = "#7f7f7f"

DRAWING_MODULES = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
)
"""What processes that draw may load beforehand."""

_DOTS_PER_INCH = 150
_METADATA = {".svg": {"Date": None}, ".png": {"Software": None}}
FORMS = tuple(_METADATA)
"""How the names of pictures may end."""
_HOUR, _DAY = 3600, 86_400
DURATIONS = {
    1: "1 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    _HOUR: "1 h",
    10 * _HOUR: "10 h",
    4 * _DAY: "4 d",
    40 * _DAY: "40 d",
}


def require_picture_name(path: Path) -> None:
    """Raise UserError unless a picture can be written under this name."""
    if path.suffix not in FORMS:
        raise UserError(f"{path}: a picture should be named .png or .svg")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")


def write_figure(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw a figure and write it as PNG or SVG, by the name of the file.

    Raises UserError for another name, OSError when the file cannot be written.
    """
    require_picture_name(path)
    write_atomically(path, render_figure(draw, (path.suffix,))[path.suffix])


def render_figure(
    draw: Callable[[], Figure],
    forms: Sequence[str] = FORMS,
    dots_per_inch: int = _DOTS_PER_INCH,
) -> dict[str, bytes]:
    """Draw a figure and give the contents of files, by the ends of their names.

    Text in SVG is drawn as paths, so it looks the same on machines without the font; such a picture
    is dark where the reader is.
    """
    import matplotlib

    contents: dict[str, bytes] = {}
    # A fixed salt and no date: the same data give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "rebecsim"}):
        figure = draw()
        for form in forms:
            buffer = io.BytesIO()
            metadata = _METADATA[form]
            figure.savefig(buffer, format=form[1:], dpi=dots_per_inch, metadata=metadata)
            data = buffer.getvalue()
            contents[form] = with_dark_colours(data) if form == ".svg" else data
            figure.set_layout_engine(None)  # it is laid out; that takes as long as to draw it
    return contents


def new_figure(width: float, height: float, heading: str = "", wrap: int = 110) -> Figure:
    """Make an empty figure, sizes in inches.

    A heading stands over it as it is (no mathematics), in lines of so many characters.
    """
    # Imported here: reading a workload should not wait for matplotlib.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    FigureCanvasAgg(figure)
    if heading:
        figure.suptitle("\n".join(textwrap.wrap(heading, wrap)), fontsize=12, parse_math=False)
    return figure


def plain_axes(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    """Give axes a title and labels as they are (no mathematics), a pale grid and no frame."""
    axes.set_title(title, fontsize=10, parse_math=False)
    axes.set_xlabel(x_label, parse_math=False)
    axes.set_ylabel(y_label, parse_math=False)
    axes.grid(axis="y", color="#d0d0d0", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend_below(
    figure: Figure, entries: Axes | Sequence[Artist], columns: int = 6, size: float = 9
) -> None:
    """Name what is drawn, or what some axes have, below a figure, where nothing is covered."""
    from matplotlib.axes import Axes as AnyAxes

    handles = entries.get_legend_handles_labels()[0] if isinstance(entries, AnyAxes) else entries
    legend = figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=max(min(len(handles), columns), 1),
        fontsize=size,
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def duration_ticks(axes: Axes, longest: float) -> None:
    """Make the x axis one of durations from a second to the longest, logarithmic."""
    axes.set_xscale("log")
    axes.set_xlim(1, max(longest, 10))
    shown = {at: text for at, text in DURATIONS.items() if at <= max(longest, 10)}
    axes.set_xticks(list(shown), list(shown.values()), fontsize=8)
    axes.minorticks_off()


def time_axis(span: float) -> tuple[int, str]:
    """Give seconds per unit and the name of the unit for a time axis of some length."""
    for unit, name in ((_DAY, "days"), (_HOUR, "hours"), (60, "minutes")):
        if span >= 3 * unit:
            return unit, name
    return 1, "seconds"
