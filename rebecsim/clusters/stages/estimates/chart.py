"""Models of errors as curves: the share of tasks by estimate over duration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.stages.estimates.models import EstimateErrors
from rebecsim.report.figures import legend_below, line_styles, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SEED, _JOBS = 2015, 20_000


def errors_figure(models: Mapping[str, tuple[EstimateErrors, float]]) -> Figure:
    """Draw models by their names, each for tasks of some duration (s), as distributions."""
    figure = new_figure(8, 4.2)
    axes = figure.subplots()
    styles = line_styles(tuple(models))
    parts = 100 * (np.arange(_JOBS) + 1) / _JOBS
    for name, (model, duration) in models.items():
        draws = np.random.default_rng(_SEED)
        one = np.array([duration])
        factors = np.sort([model.factors(one, draws)[0] for _ in range(_JOBS)])
        style = styles[name]
        axes.step(
            [factors[0], *factors[::20], factors[-1]],
            [0, *parts[::20], 100],
            where="post",
            label=name,
            color=style.colour,
            linestyle=style.line,
            linewidth=0.5 * style.line_width + 0.4,
        )
    plain_axes(axes, "", "Estimate (times the duration)", "Tasks with at most this (%)")
    axes.set_xscale("log")
    ticks = [0.1, 0.5, 1, 2, 3, 10, 100]
    axes.set_xticks(ticks, [f"{each:g}" for each in ticks])
    axes.set_xlim(0.09, 110)
    axes.set_ylim(0, 102)
    legend_below(figure, axes)
    return figure
