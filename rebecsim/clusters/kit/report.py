"""What reports of several kinds share: stored tables, waits by group, and charts over time.

Charts are Gantt charts of timelines in one window, and values in panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.timeline import Lane, Timeline
from rebecsim.report.figures import (
    GREY,
    ON_COLOUR,
    LineStyle,
    fill_colours,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
    time_axis,
)
from rebecsim.report.groups import GroupAnswer, answer_view, group_section
from rebecsim.studies.cells import REPLICATION, Condition
from rebecsim.studies.plan import Plan
from rebecsim.studies.record import ResultsError
from rebecsim.studies.sections import Section
from rebecsim.studies.study import PlannedCell

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rebecsim.studies.results import Results


_MOST_ABOUT = 6
"""Answers, each of two variants under a condition, that lead a page; one condition at least."""

_MOST_VARIANTS = 3
"""Of which sentences on each queue fit a screen."""


def by_group_section(
    answers: Mapping[Condition, GroupAnswer],
    *,
    leads: bool,
    notes: tuple[str, ...] = (),
    terminal: bool = False,
) -> Section:
    """Answer by queue or user under each condition, and draw the first one.

    Where it `leads`, it is the answer of the page. The `terminal`, if it shows anything of it, and
    the file have the first condition; there, what changes under others follows as far as it fits.
    """
    several = len(answers) > 1
    shown = {
        str(condition): replace(each, condition=str(condition) if several else "")
        for condition, each in answers.items()
    }
    parts = [group_section(each, leads=leads) for each in shown.values()]
    (condition, whole), *others = shown.items()
    first = parts[0]
    told = [each for part in parts for each in part.answer]
    most = max(_MOST_ABOUT // max(len(first.answer), 1), 1) * len(first.answer)
    more = ("The tables have the other conditions.",) if len(told) > most else ()
    of = f", with {condition}" if several else ""
    return replace(
        first,
        answer=tuple(told[:most]),
        sentences=(*first.sentences, *more),
        tables=tuple(table for part in parts for table in part.tables),
        pictures=tuple(replace(each, title=f"{each.title}{of}") for each in first.pictures)
        if whole.groups
        else (),
        notes=notes,
        files=first.files if terminal else {},
        terminal=first.terminal if terminal else None,
        leads_terminal=terminal,
        further={other: answer_view(each.told()) for other, each in others},
    )


def asks_for_groups(plan: Plan, answers: Mapping[Condition, GroupAnswer]) -> bool:
    """Whether the terminal begins with the queues or users, as commands on a log do.

    Not where means over replications, many policies, conditions, or figures that the scenario
    names are compared: a table of figures says more then.
    """
    few = len(answers) == 1 and all(
        each.noun and len(each.runs) <= _MOST_VARIANTS for each in answers.values()
    )
    return few and not plan.has_chance and not plan.scenario.metrics


def first_cells(plan: Plan) -> dict[Condition, dict[str, PlannedCell]]:
    """Give the cell of each policy under each condition, that which others are compared with first.

    Where something is drawn it is only the first condition: what one run says of others is chance.
    """
    found: dict[Condition, dict[str, PlannedCell]] = {}
    base = plan.scenario.compared_with
    for cell in sorted(plan.cells, key=lambda each: each.cell.policy != base):
        found.setdefault(cell.cell.condition, {}).setdefault(cell.cell.policy, cell)
    first = plan.cells[0].cell.condition
    ordered = {first: found[first], **found}
    return {first: ordered[first]} if plan.has_chance else ordered


def read_table(results: Results, cell: PlannedCell, name: str, *, first: bool = False) -> pa.Table:
    """Read a table of all runs of a cell, or of the first one, without its replication then.

    Raises ResultsError for a file that cannot be read.
    """
    import pyarrow as pa  # not where runs are only printed, as by commands of the light core
    import pyarrow.parquet as pq

    path = results.table(name, cell)
    try:
        table = pq.read_table(path, filters=[(REPLICATION, "=", 0)] if first else None)
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
    return table.drop_columns([REPLICATION]) if first else table


def values_of(table: pa.Table, name: str) -> NDArray[Any]:
    """Give a column as an array, of shape (rows,)."""
    return np.asarray(table.column(name).to_numpy())


MOST_ROWS = 20
"""That are drawn; the first ones."""

_COLOURED = 7
RED = "#c81e1e"
"""Of deadlines, and of what decides how long a workflow takes."""

FREE = "#f4f4f4"
"""Where nothing runs, or nothing is overdue."""

_OTHERS = "#c4c4c4"
_GRID = "#d0d0d0"
_PALER = 0.45
_ROW = 0.9  # of the place between two rows
_MANY_BARS = 2000
_SLOTS_SEEN = 12
"""Lanes of at most so much room are drawn high enough to see each part of it."""
_DARK = 0.48
"""Colours darker than this, from white at 0 to black at 1, have white text."""
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

    Bars that are large enough say who they are. The axis of a
    single lane without a name counts its room.

    Args:
        timelines: by the titles of their panels, all of one `per_second`.
        colours: of owners.
        window: what is shown, in parts of a second; its begin is 0 on the axis.
        heading: of the picture.
        noun: what a row is, such as `node`; of a lane without a name: what its room is counted in.
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
        for at, colour in (due or {}).get(title, ()):
            axes.axvline((at - begin) / unit, color=colour, linewidth=1.1, linestyle=_LINE)
        if len(rows.names) < rows.total:
            title = f"{title}, the first {len(rows.names)} of {rows.total} {noun}s"
        axes.set_title(title, fontsize=10, parse_math=False)
        if rows.is_counted:
            axes.set_ylabel(noun.capitalize())
    since = f" from second {begin:,.0f} on" if begin else ""
    panels[-1].set_xlabel(f"Time ({name}{since})")
    _legend(figure, colours, [name for each in shown.values() for name in each.line.owner.tolist()])
    return figure


class _Rows:
    """A timeline in rows, the first ones if there are many.

    Attributes:
        line: what is drawn.
        names: of the rows that are drawn.
        total: how many rows there are.
        is_counted: whether there is one row without a name, whose axis counts its room.
        top, per_room: where each lane begins in the panel, and how high a part of its room is.
        height, inches: of the panel, in the units of its axis, and on paper.
    """

    def __init__(self, line: Timeline) -> None:
        rows = [(name, len(list(same))) for name, same in groupby(each.name for each in line.lanes)]
        rooms = line.rooms
        row_of = np.repeat(np.arange(len(rows)), [count for _, count in rows])
        rooms_of = np.bincount(row_of, weights=rooms)
        above = np.cumsum(rooms) - rooms - (np.cumsum(rooms_of) - rooms_of)[row_of]
        self.total = len(rows)
        self.names = [name for name, _ in rows[:MOST_ROWS]]
        self.is_counted = self.names == [""]
        self.per_room = np.ones(1) if self.is_counted else _ROW / rooms_of[row_of]
        self.top = self.per_room * above - (0 if self.is_counted else _ROW / 2 - row_of)
        self.height = float(rooms[0]) if self.is_counted else float(len(self.names))
        most = float(rooms_of.max())
        row_inches = max(0.2, 0.05 * most) if most <= _SLOTS_SEEN else 0.2
        self.inches = 1.8 if self.is_counted else row_inches * max(len(self.names), 4)
        lanes = [Lane(each.name, room) for each, room in zip(line.lanes, rooms, strict=True)]
        self.line = replace(line.only(row_of[line.lane] < MOST_ROWS), lanes=lanes)


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
    low = rows.top[lane] + rows.per_room[lane] * places.low
    high = low + rows.per_room[lane] * places.size
    corners = np.stack([left, low, left, high, right, high, right, low], axis=1).reshape(-1, 4, 2)
    owners, pale = line.owner[at].tolist(), line.pale[at].tolist()
    faces = [
        to_rgba(colours.of.get(owner, _OTHERS), _PALER if is_pale else 1.0)
        for owner, is_pale in zip(owners, pale, strict=True)
    ]
    many = len(at) > _MANY_BARS
    count, width = len(rows.names), axes.get_xlim()[1]
    if rows.is_counted:
        axes.set_facecolor(FREE)
        axes.set_ylim(0, rows.height)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    else:
        axes.barh(range(count), width, _ROW, color=FREE, zorder=0)
        axes.set_yticks(range(count), rows.names, fontsize=7, parse_math=False)
        axes.set_ylim(count - 0.5, -0.5)
    axes.add_collection(
        PolyCollection(
            list(corners),
            facecolors=faces,
            edgecolors="white",
            linewidths=0.15 if many else 0.4,
            rasterized=many,
        )
    )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    _name_large_bars(axes, rows, faces, at, corners)


def _name_large_bars(
    axes: Axes,
    rows: _Rows,
    faces: Sequence[tuple[float, float, float, float]],
    stretch: NDArray[np.int64],
    corners: NDArray[np.float64],
) -> None:
    """Write who it is on bars where there is room for it."""
    wide = (corners[:, 2, 0] - corners[:, 0, 0]) * _SPINE_WIDTH / axes.get_xlim()[1]
    high = (corners[:, 1, 1] - corners[:, 0, 1]) * rows.inches / rows.height
    for place in np.flatnonzero(high >= _TEXT_HEIGHT).tolist():
        text = str(rows.line.who[stretch[place]])
        if wide[place] < _LETTER_WIDTH * (len(text) + 1):
            continue
        red, green, blue, strength = faces[place]
        is_dark = strength * (1 - 0.3 * red - 0.59 * green - 0.11 * blue) > _DARK
        x, y = corners[place].mean(axis=0).tolist()
        axes.text(
            x,
            y,
            text,
            fontsize=7,
            color="white" if is_dark else "black",
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
    handles.append(Patch(color=FREE, label="free"))
    handles += [
        Line2D([], [], color=colour, linestyle=_LINE, label=label)
        for colour, label in (colours.lines or {}).items()
    ]
    legend_below(figure, handles, columns=10, size=8)


def grid_across(axes: Axes) -> None:
    """Give axes with horizontal bars lines at values, and none between the bars."""
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=_GRID, linewidth=0.6)


def line_look(style: LineStyle, factor: float = 0.6, more: float = 0.3) -> dict[str, Any]:
    """Give a style as matplotlib takes it; so wide times `factor`, and so many points `more`."""
    return {
        "color": style.colour,
        "linestyle": style.line,
        "linewidth": factor * style.line_width + more,
    }


_LEVELS: Mapping[str, Literal["--", ":"]] = {
    "capacity": "--",
    "guaranteed": "--",
    "maximum": ":",
}
"""The lines at which values should be, or may be at most."""


@dataclass(frozen=True, eq=False)
class Course:
    """A value over time: means over windows of one width.

    Attributes:
        begin: when each window begins (s); shape (windows,).
        values: the means; shape (windows,).
        levels: where it should be, or may be at most, by the names of `_LEVELS`.
    """

    begin: NDArray[np.float64]
    values: NDArray[np.float64]
    levels: Mapping[str, float] = field(default_factory=dict)

    @property
    def edges(self) -> NDArray[np.float64]:
        """The ends of the windows (s); shape (windows + 1,)."""
        width = self.begin[1] - self.begin[0] if len(self.begin) > 1 else 1.0
        return np.append(self.begin, self.begin[-1] + width)


@dataclass(frozen=True, eq=False)
class Panel:
    """What is drawn on the same axes.

    Attributes:
        title: its heading.
        label: of the axis of values.
        courses: by the names of the legend.
        is_percent: whether the axis reaches to 100, and not to the largest value.
    """

    title: str
    label: str
    courses: Mapping[str, Course]
    is_percent: bool = False


def over_time_figure(
    panels: Sequence[Panel],
    last: float,
    heading: str = "",
    *,
    colours: Mapping[str, str] | None = None,
    columns: int = 1,
) -> Figure:
    """Draw panels row by row, until some second; without `colours`, with the styles of lines."""
    from matplotlib.lines import Line2D

    rows = -(-len(panels) // columns)
    figure = new_figure(11, 1.2 + 2.2 * rows, heading)
    grid = figure.subplots(rows, columns, sharex=True, sharey=columns > 1, squeeze=False)
    unit, name = time_axis(last)
    names = tuple(dict.fromkeys(each for panel in panels for each in panel.courses))
    looks = {each: (style.colour, style.line_width) for each, style in line_styles(names).items()}
    looks |= {each: (colour, 2.0) for each, colour in (colours or {}).items()}
    levels: dict[str, None] = {}
    for axes, panel in zip(grid.flat, panels, strict=True):
        for each, course in panel.courses.items():
            colour, width = looks[each]
            axes.stairs(
                course.values,
                course.edges / unit,
                baseline=None,
                label=each,
                color=colour,
                linewidth=0.5 * width + 0.3,
            )
            for level, value in course.levels.items():
                axes.axhline(value, color=colour, linewidth=0.8, linestyle=_LEVELS[level])
                levels[level] = None
        plain_axes(axes, panel.title, "", panel.label)
        axes.set_ylim(0, 102 if panel.is_percent else None)
    for axes in grid[-1]:
        axes.set_xlim(0, last / unit)
        axes.set_xlabel(f"Time ({name})")
    handles = [
        Line2D([], [], color=looks[each][0], linewidth=0.5 * looks[each][1] + 0.3, label=each)
        for each in names
    ]
    handles += [
        Line2D([], [], color=GREY, linewidth=0.8, linestyle=_LEVELS[level], label=level)
        for level in levels
    ]
    legend_below(figure, handles, columns=8)
    return figure
