"""Utilisation over time as a heat map: AppMasters against time, one picture per policy.

The colours reach from 0 to 100 % in every picture, so policies can be compared by eye.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.energy import Hardware
from rebecsim.clusters.dispatch.hardware import cycled
from rebecsim.clusters.dispatch.traced import UtilisationOverTime
from rebecsim.clusters.dispatch.utilisation import windows
from rebecsim.counted import counted
from rebecsim.report.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_WINDOWS = 50
_WIDTH_INCHES = 6.4
_NAMED_APP_MASTERS = 24
_WRAP_TITLE = 62


@dataclass(frozen=True, slots=True, eq=False)
class UtilisationChart:
    """What one picture shows.

    Attributes:
        name: for file names.
        policy: its name.
        rows: names of the AppMasters, am1 first.
        edges: ends of the windows in time units, ascending, one more than windows.
        percent: mean utilisation in each window, shape (app_masters, windows).
        caption: how many runs, how long the windows.
    """

    name: str
    policy: str
    rows: tuple[str, ...]
    edges: NDArray[np.int64]
    percent: NDArray[np.float64]
    caption: str

    @property
    def description(self) -> str:
        """The picture in words."""
        means = self.percent @ np.diff(self.edges) / self.edges[-1]
        listed = "; ".join(
            f"{row} {mean:.1f} %" for row, mean in zip(self.rows, means, strict=True)
        )
        return (
            f"Utilisation of each AppMaster over time under {self.policy}, "
            f"time units 0 to {self.edges[-1]}. Means: {listed}. {self.caption}"
        )


def window_width(ticks: int) -> int:
    """The shortest of 1, 2, 5, 10, 20, ... time units that cuts a run into at most 50 windows."""
    scale = 1
    while True:
        for first_digit in (1, 2, 5):
            if ticks <= first_digit * scale * _MOST_WINDOWS:
                return first_digit * scale
        scale *= 10


def utilisation_charts(
    over_time: Sequence[UtilisationOverTime], hardware: Hardware | None
) -> list[UtilisationChart]:
    """One chart per policy. Speeds are shown where they are not all the same."""
    charts = []
    for each in over_time:
        app_masters, ticks = each.shares.shape
        width = window_width(ticks)
        runs = "1 run" if each.replications == 1 else f"Mean of {each.replications} runs"
        units = counted(width, "time unit")
        charts.append(
            UtilisationChart(
                name=f"utilisation_{each.policy.lower()}",
                policy=each.policy,
                rows=_rows(app_masters, hardware.speeds if hardware else ()),
                edges=np.append(np.arange(0, ticks, width), ticks),
                percent=100 * windows(each.shares, width),
                caption=f"{runs}, in windows of {units}.",
            )
        )
    return charts


def _rows(app_masters: int, speeds: tuple[float, ...]) -> tuple[str, ...]:
    names = [f"am{number}" for number in range(1, app_masters + 1)]
    if len(set(speeds)) > 1:
        cycle = cycled(speeds, app_masters)
        names = [f"{name} (speed {speed:g})" for name, speed in zip(names, cycle, strict=True)]
    return tuple(names)


def utilisation_figure(chart: UtilisationChart, heading: str) -> Figure:
    """Draw a chart; `heading` is shown above it as it is (no mathematics)."""
    height = 1.9 + 0.32 * min(max(len(chart.rows), 3), _NAMED_APP_MASTERS)
    figure = new_figure(_WIDTH_INCHES, height)
    axes = figure.add_subplot()
    mesh = axes.pcolormesh(
        chart.edges,
        np.arange(len(chart.rows) + 1) + 0.5,
        chart.percent,
        # Readable with every colour vision deficiency and in grey; busy is dark.
        cmap="cividis_r",
        vmin=0,
        vmax=100,
        rasterized=True,  # one picture within the SVG: no pale seams between the cells
    )
    bar = figure.colorbar(mesh, ax=axes, pad=0.02)
    bar.set_label("Utilisation (%)")
    bar.outline.set_visible(False)
    _dress_axes(axes, chart)
    title = textwrap.wrap(heading, _WRAP_TITLE)
    axes.set_title("\n".join([*title, f"{chart.policy}: utilisation over time"]), parse_math=False)
    figure.supxlabel(chart.caption, fontsize=8.5)
    return figure


def _dress_axes(axes: Axes, chart: UtilisationChart) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("Time (time units)")
    axes.set_xlim(0, chart.edges[-1])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.invert_yaxis()  # am1 on top
    if len(chart.rows) <= _NAMED_APP_MASTERS:
        axes.set_yticks(range(1, len(chart.rows) + 1), chart.rows)
    else:
        axes.set_ylabel("AppMaster")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
