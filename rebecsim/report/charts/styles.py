"""Which line belongs to which policy: the same in the printed and in the interactive charts."""

from __future__ import annotations

from dataclasses import dataclass

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
