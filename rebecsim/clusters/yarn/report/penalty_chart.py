"""Penalties as curves: how much longer a task runs in less memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebecsim.clusters.yarn.elasticity.penalties import Penalty
from rebecsim.report.figures import legend_below, line_styles, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_IDEAL, _DURATION = 10_000, 1_000_000
_PERCENTS = range(10, 101)


def penalty_figure(penalties: Sequence[Penalty]) -> Figure:
    """Draw the durations in a tenth of the ideal memory up to all of it, as factors."""
    figure = new_figure(8, 4.2)
    axes = figure.subplots()
    labels = [
        f"{each.name}, bump {each.bump:g}" if each.has_bump else each.name for each in penalties
    ]
    styles = line_styles(tuple(labels))
    for label, penalty in zip(labels, penalties, strict=True):
        style = styles[label]
        factors = [
            penalty.duration(_IDEAL, _IDEAL * percent // 100, _DURATION) / _DURATION
            for percent in _PERCENTS
        ]
        axes.plot(
            list(_PERCENTS),
            factors,
            label=label,
            color=style.colour,
            linestyle=style.line,
            linewidth=0.5 * style.line_width + 0.4,
        )
    plain_axes(axes, "", "Memory given (% of the ideal memory)", "Duration (times as long)")
    axes.set_xlim(10, 100)
    axes.set_ylim(0.9, 4)
    legend_below(figure, axes)
    return figure
