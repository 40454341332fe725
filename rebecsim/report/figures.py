"""Figures of matplotlib: their style, which line belongs to which policy, and their files.

The printed and the interactive charts have the same colours and marks.
"""

from __future__ import annotations

import colorsys
import io
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.errors import UserError
from rebecsim.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, distinguishable with every common colour vision deficiency; without
# its yellow, which is too pale for a line on white; then those that are furthest in OKLab from all
# before them, of those that can be seen on white and on a dark page. The lists differ in length, so
# that lines of like colours differ in dashes or markers, too.
_MORE = (
    *("#AC26D9", "#5FC322", "#7D7DE8", "#C32287", "#437326", "#98981B", "#E052E0", "#D1A394"),
    *("#98591B", "#6352E0", "#22C39B", "#B79FDF", "#2E95B8", "#A35EBA", "#267373", "#BA5E6A"),
    "#BA815E",
)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9", *_MORE)
_FILLS = (
    *("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#7F7F7F"),
    *_MORE,
)
_PALER = 0.6
"""What is left of the difference to white when all colours have been used once more."""
_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (6, 2, 1.5, 2), (9, 3))
_MARKERS = (
    ("o", "circle"),
    ("s", "square"),
    ("^", "triangle-up"),
    ("D", "diamond"),
    ("v", "triangle-down"),
    ("P", "cross"),
)


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How the line of one policy looks.

    Attributes:
        colour: "#RRGGBB".
        dashes: lengths of dashes and gaps in units of the line width; empty for a solid line.
        marker: matplotlib's code of the marker.
        plotly_marker: plotly's name of the same marker.
        line_width: in points.
        marker_size: in points.
    """

    colour: str
    dashes: tuple[float, ...]
    marker: str
    plotly_marker: str
    line_width: float
    marker_size: float

    @property
    def line(self) -> str | tuple[int, tuple[float, ...]]:
        """The pattern of the line as matplotlib has it."""
        return (0, self.dashes) if self.dashes else "solid"

    def band_colour(self, opacity: float) -> str:
        """The colour as CSS `rgba(...)` for the interval band."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity:g})"


def line_colours(count: int) -> tuple[str, ...]:
    """Give colours of lines, none twice."""
    return _first(COLOURS, count)


def fill_colours(count: int) -> tuple[str, ...]:
    """Give colours of areas, none twice: without black, but with a yellow."""
    return _first(_FILLS, count)


def _first(colours: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Give so many colours; where there are too few, the same ones again, paler each time."""
    turns = range(-(-count // len(colours)))
    return tuple(_paler(each, _PALER**turn) for turn in turns for each in colours)[:count]


def _paler(colour: str, strength: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * strength):02X}" for part in parts)


def line_styles(policies: tuple[str, ...]) -> dict[str, LineStyle]:
    """A style per policy, by its place in the list.

    Lines get thinner and markers smaller from one policy to the next: where two policies coincide,
    the first remains visible behind the second.
    """
    last = max(len(policies) - 1, 1)
    styles = {}
    colours = line_colours(len(policies))
    for i, policy in enumerate(policies):
        # Paler colours that come round again have other markers, too.
        marker, plotly_marker = _MARKERS[(i + i // len(COLOURS)) % len(_MARKERS)]
        styles[policy] = LineStyle(
            colour=colours[i],
            dashes=_DASHES[i % len(_DASHES)],
            marker=marker,
            plotly_marker=plotly_marker,
            line_width=3.4 - 2.0 * i / last,
            marker_size=10.0 - 4.5 * i / last,
        )
    return styles


GROUND, INK = "#14191f", "#e4e7eb"
"""What white and black become: the colours of a dark page."""

HEADING = "heading"
"""The id of the heading of a picture; a page that has it as text leaves it out."""

ON_COLOUR = "on-colour"
"""How the ids of texts begin that stand on a colour: they stay as they are."""

_KEPT = f':not([id^="QuadMesh"] *):not([id^="{ON_COLOUR}"] *)'
_STYLED = re.compile(rb"(fill|stroke): #([0-9a-f]{6})")
_STYLE = b'<style type="text/css">'
_PALE = 0.8
_DEEP = 0.13
"""Luminance below which a colour has less than a contrast of 3 with a dark page."""
_LIGHTENED = 0.7
_GREY = 0.12


def with_dark_colours(picture: bytes) -> bytes:
    """Give a picture of matplotlib (SVG) rules for where colours are dark."""
    used = sorted({(kind.decode(), f"#{code.decode()}") for kind, code in _STYLED.findall(picture)})
    rules = "".join(
        f'[style*="{kind}: {colour}"]{_KEPT}{{{kind}:{dark}!important}}'
        for kind, colour in used
        if (dark := dark_colour(colour)) != colour
    )
    # Black text has no style of its own.
    text = f'svg{{fill:{INK}}}[id^="{ON_COLOUR}"]{{fill:#000000}}'
    added = f"@media screen and (prefers-color-scheme:dark){{{text}{rules}}}"
    return picture.replace(_STYLE, _STYLE + added.encode(), 1)


def dark_colour(colour: str) -> str:
    """Give what a colour, `#rrggbb`, becomes on a dark page."""
    parts = _parts(colour)
    hue, lightness, saturation = colorsys.rgb_to_hls(*parts)
    if saturation * (1 - abs(2 * lightness - 1)) <= _GREY:
        pairs = zip(_parts(INK), _parts(GROUND), strict=True)
        return _code(*(ink + (ground - ink) * lightness for ink, ground in pairs))
    if lightness > _PALE:
        return _code(*colorsys.hls_to_rgb(hue, 1 - lightness, saturation))
    if _luminance(*parts) < _DEEP:
        return _code(*colorsys.hls_to_rgb(hue, max(1 - lightness, _LIGHTENED), saturation))
    return colour


def _luminance(*parts: float) -> float:
    """Give how bright a colour is, from 0 to 1, as WCAG 2.2 has it."""
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _code(*parts: float) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


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
    """Put the legend below a figure, where it covers nothing."""
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


_WIDTH_INCHES = 7.0
_ROW_INCHES = 1.5


def variables_figure(
    title: str, curves: Mapping[str, tuple[Sequence[int], Sequence[Any]]], end: int
) -> Figure:
    """Draw variables below each other: name -> when there were new values, and these.

    A value holds until the next one, the last one until `end`; times in model time units.
    """
    figure = new_figure(_WIDTH_INCHES, 0.9 + _ROW_INCHES * max(len(curves), 1))
    rows = figure.subplots(max(len(curves), 1), sharex=True, squeeze=False)
    styles = line_styles(tuple(curves))
    for (axes,), (name, (times, values)) in zip(rows, curves.items(), strict=False):
        plain_axes(axes, "", "", name)
        until = max(end, *times)
        axes.step([*times, until], [*values, values[-1]], where="post", color=styles[name].colour)
        axes.margins(y=0.15)
        if all(isinstance(value, bool) for value in values):
            axes.set_yticks([0, 1], ["false", "true"])
    rows[-1][0].xaxis.get_major_locator().set_params(integer=True)
    rows[0][0].set_title(title, parse_math=False)
    rows[-1][0].set_xlabel("time (model time units)")
    return figure
