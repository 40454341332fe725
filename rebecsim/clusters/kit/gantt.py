"""Gantt charts of timelines, one below the other, in one window of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.timeline import Lane, Timeline
from rebecsim.report.charts.dark import ON_COLOUR
from rebecsim.report.charts.figures import legend_below, new_figure, time_axis
from rebecsim.report.charts.styles import fill_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 20
"""That are drawn; the first ones."""

_COLOURED = 7
_OTHERS = "#c4c4c4"
_FREE = "#f4f4f4"
_PALER = 0.45
_ROW = 0.9  # of the place between two rows
_MANY_BARS = 2000
_SLOTS_SEEN = 12
"""Lanes of at most so much room are drawn high enough to see each part of it."""
_ON_DARK = ("#0072B2", "#D55E00", "#009E73")
_TEXT_HEIGHT, _LETTER_WIDTH = 0.14, 0.075  # inches
_LINE = (0, (4, 2))
_SPINE_WIDTH = 9.5  # inches, about; what the axes of time have of the figure


@dataclass(frozen=True)
class Colours:
    """What the colours of a chart stand for.

    Attributes:
        of: the colour of each owner; those who are not named are alike grey.
        noun: what owners are, as in `3 other users`.
        pale: what the legend calls paler work; empty: there is none.
        lines: what it calls lines of each colour, such as deadlines.
        prefix: what it puts before the name of each owner.
    """

    of: Mapping[str, str]
    noun: str = ""
    pale: str = ""
    lines: Mapping[str, str] | None = None
    prefix: str = ""


def colours_by_work(
    timelines: Sequence[Timeline], window: tuple[int, int], *, by_name: bool = False
) -> dict[str, str]:
    """Give the owners with the most work in a window a colour, the most first, or by their names.

    The window is in parts of a second.
    """
    work: dict[str, float] = {}
    for each in timelines:
        for owner, amount in each.work(*window).items():
            if amount:
                work[owner] = work.get(owner, 0.0) + amount
    most = sorted(work, key=lambda owner: (-work[owner], owner))[:_COLOURED]
    chosen = sorted(most) if by_name else most
    return dict(zip(chosen, fill_colours(_COLOURED), strict=False))


def gantt_figure(
    timelines: Mapping[str, Timeline],
    colours: Colours,
    window: tuple[int, int],
    heading: str = "",
    *,
    noun: str,
    due: Mapping[str, Sequence[tuple[float, str]]] | None = None,
) -> Figure:
    """Draw a panel for each timeline: a bar for a stretch, as high as the room that it takes.

    Bars that are large enough say who they are. Where there is one row, its axis counts its room.

    Args:
        timelines: by the titles of their panels, all of one `per_second`.
        colours: of owners.
        window: what is shown, in parts of a second; its begin is 0 on the axis.
        heading: of the picture.
        noun: what a row is, such as `node`; of a single row: what its room is counted in.
        due: by title: lines at seconds, with their colours.
    """
    per_second = next(iter(timelines.values())).per_second
    shown = {title: _Rows(each.within(*window)) for title, each in timelines.items()}
    heights = [each.inches for each in shown.values()]
    figure = new_figure(11, 1.3 + sum(heights) + 0.5 * len(heights), heading)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    begin, end = (each / per_second for each in window)
    unit, name = time_axis(end - begin)
    for axes, (title, rows) in zip(panels, shown.items(), strict=True):
        axes.set_xlim(0, (end - begin) / unit)
        _panel(axes, rows, colours, (begin, end), unit)
        left_out = rows.left_out and f", the first {len(rows.names)} of {rows.total} {noun}s"
        axes.set_title(f"{title}{left_out or ''}", fontsize=10, parse_math=False)
        if rows.is_single:
            axes.set_ylabel(noun.capitalize())
        for at, colour in (due or {}).get(title, ()):
            axes.axvline((at - begin) / unit, color=colour, linewidth=1.1, linestyle=_LINE)
    since = f" from second {begin:,.0f} on" if begin else ""
    panels[-1].set_xlabel(f"Time ({name}{since})")
    _legend(figure, colours, [owner for each in shown.values() for owner in each.owners])
    return figure


class _Rows:
    """A timeline in rows, the first ones if there are many.

    Attributes:
        line: what is drawn.
        names: of the rows.
        total: how many rows there are.
        top, tall: where each lane begins in the panel, from above, and how high it is there.
    """

    def __init__(self, line: Timeline) -> None:
        sizes = [
            (name, len(list(lanes)))
            for name, lanes in groupby(line.lanes, key=lambda each: each.name)
        ]
        self.total = len(sizes)
        self.names = [name for name, _ in sizes[:MOST_ROWS]]
        rooms = line.rooms.astype(float)
        row_of = np.repeat(np.arange(len(sizes)), [count for _, count in sizes])
        rooms_of = np.bincount(row_of, weights=rooms)
        self.most = float(rooms_of.max())
        self.is_single = self.total == 1
        share = rooms / rooms_of[row_of]
        before = np.cumsum(rooms) - rooms
        above = (before - (np.cumsum(rooms_of) - rooms_of)[row_of]) / rooms_of[row_of]
        if self.is_single:
            self.top, self.tall = before, rooms
        else:
            self.top, self.tall = row_of - _ROW / 2 + _ROW * above, _ROW * share
        self.room = rooms
        kept = line.only(row_of[line.lane] < MOST_ROWS)
        lanes = zip(line.lanes, line.rooms.tolist(), strict=True)
        self.line = replace(kept, lanes=[Lane(each.name, room) for each, room in lanes])

    @property
    def left_out(self) -> bool:
        return len(self.names) < self.total

    @property
    def height(self) -> float:
        """The height of the panel in the units of its axis."""
        return self.most if self.is_single else float(len(self.names))

    @property
    def inches(self) -> float:
        if self.is_single:
            return 1.8
        row = max(0.2, 0.05 * self.most) if self.most <= _SLOTS_SEEN else 0.2
        return row * max(len(self.names), 4)

    @property
    def owners(self) -> list[str]:
        return list(dict.fromkeys(self.line.owner.tolist()))


def _panel(
    axes: Axes, rows: _Rows, colours: Colours, window: tuple[float, float], unit: int
) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba
    from matplotlib.ticker import MaxNLocator

    line, places = rows.line, rows.line.placed()
    at = places.stretch
    sides = np.stack([line.begin[at], line.end[at]]) / line.per_second
    left, right = (np.clip(sides, *window) - window[0]) / unit
    lane = line.lane[at]
    low = rows.top[lane] + rows.tall[lane] * places.low / rows.room[lane]
    high = low + rows.tall[lane] * places.size / rows.room[lane]
    corners = np.stack([left, low, left, high, right, high, right, low], axis=1).reshape(-1, 4, 2)
    faces = {
        (owner, pale): to_rgba(colours.of.get(owner, _OTHERS), _PALER if pale else 1.0)
        for owner in rows.owners
        for pale in (False, True)
    }
    owners = zip(line.owner[at].tolist(), line.pale[at].tolist(), strict=True)
    many = len(at) > _MANY_BARS
    count, width = len(rows.names), axes.get_xlim()[1]
    if rows.is_single:
        axes.set_facecolor(_FREE)
        axes.set_ylim(0, rows.height)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    else:
        axes.barh(range(count), width, _ROW, color=_FREE, zorder=0)
        axes.set_yticks(range(count), rows.names, fontsize=7, parse_math=False)
        axes.set_ylim(count - 0.5, -0.5)
    axes.add_collection(
        PolyCollection(
            list(corners),
            facecolors=[faces[each] for each in owners],
            edgecolors="white",
            linewidths=0.15 if many else 0.4,
            rasterized=many,
        )
    )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    _name_large_bars(axes, rows, colours, at, corners)


def _name_large_bars(
    axes: Axes,
    rows: _Rows,
    colours: Colours,
    stretch: NDArray[np.int64],
    corners: NDArray[np.float64],
) -> None:
    """Write who it is on bars where there is room for it."""
    wide = (corners[:, 2, 0] - corners[:, 0, 0]) * _SPINE_WIDTH / axes.get_xlim()[1]
    high = (corners[:, 1, 1] - corners[:, 0, 1]) * rows.inches / rows.height
    for place in np.flatnonzero(high >= _TEXT_HEIGHT).tolist():
        at = stretch[place]
        text = str(rows.line.who[at])
        if wide[place] < _LETTER_WIDTH * (len(text) + 1):
            continue
        colour = colours.of.get(str(rows.line.owner[at]), _OTHERS)
        is_white = colour in _ON_DARK and not rows.line.pale[at]
        x, y = corners[place].mean(axis=0).tolist()
        axes.text(
            x,
            y,
            text,
            fontsize=7,
            color="white" if is_white else "black",
            ha="center",
            va="center",
            gid=f"{ON_COLOUR}-{place}",
            parse_math=False,
        )


def _legend(figure: Figure, colours: Colours, owners: Sequence[str]) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(color=colour, label=f"{colours.prefix}{owner}")
        for owner, colour in colours.of.items()
    ]
    if others := len(set(owners) - colours.of.keys()):
        handles.append(Patch(color=_OTHERS, label=f"{others} other {colours.noun}"))
    if colours.pale:
        handles.append(Patch(color=to_rgba(_OTHERS, _PALER), label=f"paler: {colours.pale}"))
    handles.append(Patch(color=_FREE, label="free"))
    handles += [
        Line2D([], [], color=colour, linestyle=_LINE, label=label)
        for colour, label in (colours.lines or {}).items()
    ]
    legend_below(figure, handles, columns=10, size=8)
