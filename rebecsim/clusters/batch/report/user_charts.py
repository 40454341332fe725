"""Pictures of user-aware metrics: box plots over users, and the heat map of overdue jobs.

After Toth and Klusacek (JSSPP 2014), figures 4, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.batch.report.schedule_charts import _HOUR
from rebecsim.metrics.overdue import OverdueMap
from rebecsim.metrics.users import UserMetrics
from rebecsim.report.figures import (
    BLUE,
    GREEN,
    ORANGE,
    new_figure,
    plain_axes,
    time_axis,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

_NAMED_USERS = 30
_KB_OF_GB = 1 << 20


def write_user_boxes(
    metrics: Sequence[tuple[str, UserMetrics]], path: Path, heading: str = ""
) -> None:
    """Write the box plots of some policies as PNG or SVG; see `figures.write_figure`."""
    write_figure(path, lambda: user_boxes_figure(metrics, heading))


def write_overdue_chart(maps: Sequence[OverdueMap], path: Path, heading: str = "") -> None:
    """Write the heat maps of some schedules as PNG or SVG; see `figures.write_figure`."""
    write_figure(path, lambda: overdue_figure(maps, heading))


def user_boxes_figure(metrics: Sequence[tuple[str, UserMetrics]], heading: str = "") -> Figure:
    """Draw VEET and weighted tardiness of users, a box for each policy.

    A box reaches from the lower to the upper quartile of the users, with the median in it; whiskers
    reach to the last user within one and a half times its height, the others are dots.
    """
    figure = new_figure(3.6 + 1.5 * max(len(metrics), 2), 4.8, heading, wrap=80)
    shares, tardiness = figure.subplots(1, 2)
    plain_axes(shares, "Jobs that ended later than expected", "", "VEET: jobs of a user (%)")
    _boxes(shares, [(name, each.veet) for name, each in metrics])
    shares.set_ylim(-2, 102)
    plain_axes(tardiness, "Weighted tardiness", "", "WT of a user (processor hours)")
    hours = [(name, each.weighted_tardiness / _HOUR) for name, each in metrics]
    _boxes(tardiness, hours)
    _logarithmic_from_zero(tardiness, [values for _, values in hours])
    return figure


def _boxes(axes: Axes, columns: Sequence[tuple[str, NDArray[np.float64]]]) -> None:
    parts = axes.boxplot(
        [values for _, values in columns],
        widths=0.55,
        patch_artist=True,
        medianprops={"color": ORANGE, "linewidth": 2},
        flierprops={"marker": "o", "markersize": 3.5, "markerfacecolor": "black", "alpha": 0.5},
    )
    for box in parts["boxes"]:
        box.set(facecolor="#cfe3f1", edgecolor=BLUE)
    names = [f"{name}\n({len(values)} users)" for name, values in columns]
    axes.set_xticks(range(1, len(columns) + 1), names, fontsize=8, parse_math=False)


def _logarithmic_from_zero(axes: Axes, columns: Sequence[NDArray[np.float64]]) -> None:
    """Make the y axis logarithmic, with a place for the users who have nothing."""
    values = np.concatenate(columns)
    positive = values[values > 0]
    if not len(positive):
        axes.set_ylim(-0.05, 1)
        return
    least = 10.0 ** np.floor(np.log10(positive.min()))
    most = 10.0 ** np.ceil(np.log10(positive.max()) + 0.02)
    axes.set_yscale("symlog", linthresh=least, linscale=0.6)
    axes.set_ylim(-least / 4, most)
    axes.minorticks_off()


def overdue_figure(maps: Sequence[OverdueMap], heading: str = "") -> Figure:
    """Draw heat maps one below the other, each with the usage of the machine under it.

    All have the same colours and the same axis of time, so that they can be compared by eye. Raises
    ValueError without a map, and for maps of different windows.
    """
    if not maps or any(not np.array_equal(each.edges, maps[0].edges) for each in maps):
        raise ValueError("heat maps need the same windows to be compared")
    rows = [min(max(len(each.user), 4), _NAMED_USERS) for each in maps]
    strips = [1 if each.memory is None else 2 for each in maps]
    heights = [h for r, s in zip(rows, strips, strict=True) for h in [0.17 * r + 0.6] + [0.62] * s]
    figure = new_figure(11, sum(heights) + 0.5 * len(maps) + 1.0, heading)
    grid = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)
    axes = iter(grid[:, 0])
    norm = _norm(maps)
    edges = maps[0].edges - maps[0].edges[0]
    unit, unit_name = time_axis(float(edges[-1]))
    for each in maps:
        _heat(next(axes), each, edges / unit, norm, figure)
        percent = 100 * each.processors / each.capacity
        _strip(next(axes), edges / unit, percent, "CPU\n(%)", BLUE, 100.0)
        if each.memory is not None:
            used = each.memory / _KB_OF_GB
            _strip(next(axes), edges / unit, used, "RAM\n(GB)", GREEN, float(used.max()))
    grid[-1, 0].set_xlabel(f"Time ({unit_name})")
    return figure


def _colours() -> Colormap:
    """From orange for few to black for many: the palest part would be lost on white."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    return ListedColormap(matplotlib.colormaps["inferno_r"](np.linspace(0.14, 1.0, 256)))


def _norm(maps: Sequence[OverdueMap]) -> Normalize:
    from matplotlib.colors import LogNorm

    most = max((float(each.overdue.max(initial=0)) for each in maps), default=0)
    return LogNorm(vmin=0.1 if most < 10 else 1, vmax=max(most, 1.0), clip=True)


def _heat(
    axes: Axes, each: OverdueMap, edges: NDArray[np.float64], norm: Normalize, figure: Figure
) -> None:
    mesh = axes.pcolormesh(
        edges,
        np.arange(len(each.user) + 1) - 0.5,
        np.ma.masked_less_equal(each.overdue, 0),
        cmap=_colours(),
        norm=norm,
        rasterized=True,  # one picture within the SVG: no pale seams between the cells
    )
    bar = figure.colorbar(mesh, ax=axes, pad=0.01, aspect=15)
    bar.set_label("Overdue jobs", fontsize=8)
    bar.outline.set_visible(False)
    axes.set_title(each.policy, fontsize=10, parse_math=False)
    axes.set_ylabel("User")
    step = -(-len(each.user) // _NAMED_USERS)
    places = np.arange(0, len(each.user), step)
    axes.set_yticks(places, each.labels[::step], fontsize=7, parse_math=False)
    axes.set_ylim(len(each.user) - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.set_facecolor("#f4f4f4")
    axes.spines[:].set_visible(False)


def _strip(
    axes: Axes,
    edges: NDArray[np.float64],
    values: NDArray[np.float64],
    label: str,
    colour: str,
    most: float,
) -> None:
    axes.stairs(values, edges, fill=True, color=colour)
    axes.set_ylabel(label, fontsize=8, rotation=0, ha="right", va="center")
    axes.set_ylim(0, most or 1.0)
    axes.set_yticks([0, most or 1.0], ["0", f"{most:.3g}"], fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(edges[0], edges[-1])
