"""What jobs of each queue or user wait and take under each variant, in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.report.charts.figures import GREY, new_figure, time_axis
from rebecsim.report.charts.styles import line_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bars = Mapping[str, NDArray[np.float64]]
"""Of each variant: mean and 95th percentile of each group (s), shape (groups, 2)."""

_BAR, _GAP = 0.17, 0.16  # inches


def groups_figure(groups: Sequence[str], panels: Mapping[str, Bars]) -> Figure:
    """Draw a bar to the mean and a line to the 95th percentile, by group and variant."""
    variants = tuple(next(iter(panels.values())))
    tall = len(variants) * _BAR + _GAP
    figure = new_figure(8, 1.1 + tall * len(groups))
    styles = line_styles(variants)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    places = np.arange(len(groups)) * tall
    for panel, (title, bars) in zip(axes, panels.items(), strict=True):
        unit, name = time_axis(max(float(each.max()) for each in bars.values()))
        for number, variant in enumerate(variants):
            at = places + number * _BAR
            means, tails = bars[variant].T / unit
            colour = styles[variant].colour
            panel.barh(at, means, 0.9 * _BAR, color=colour, label=variant, zorder=2)
            panel.hlines(at, means, tails, color=GREY, linewidth=1.1, zorder=3)
            panel.plot(tails, at, "|", color=colour, markersize=8, markeredgewidth=2.2, zorder=4)
        panel.set_title(title, fontsize=10, loc="left", parse_math=False)
        panel.set_xlabel(name)
        panel.set_xlim(0, None)
        panel.grid(axis="x", color="#d0d0d0", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.tick_params(axis="y", length=0)
    axes[0].set_yticks(places + (len(variants) - 1) * _BAR / 2, groups, parse_math=False)
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=9, frameon=False)
    return figure
