"""State variables of a run over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rebecsim.report.charts.figures import new_figure, plain_axes
from rebecsim.report.charts.styles import line_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
