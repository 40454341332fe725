"""Values over time, under several variants or of several queues, in panels of one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.report.figures import (
    GREY,
    legend_below,
    line_styles,
    new_figure,
    plain_axes,
    time_axis,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
