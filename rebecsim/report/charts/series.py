"""The lines of a chart: one metric along an axis, in the numbers that are shown."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebecsim.report.numbers import (
    column_heading,
    decimals_for,
    display_scale,
    format_estimate,
    level_text,
)
from rebecsim.studies.cell import Condition
from rebecsim.studies.statistics.summary import Summary
from rebecsim.studies.study import Axis

_INDISTINGUISHABLE = 0.01
"""Lines closer than this share of the axis everywhere cannot be told apart by eye."""


@dataclass(frozen=True, slots=True)
class Series:
    """One policy's line; all sequences have one entry per place.

    Attributes:
        policy: its name.
        values: percent for shares, NaN where undefined.
        low: lower ends of the intervals, no lower than a value can be; NaN where there is none.
        high: upper ends.
        labels: values with half-widths as text.
    """

    policy: str
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def has_band(self) -> bool:
        """Whether any interval is known."""
        return any(not math.isnan(low) for low in self.low)


@dataclass(frozen=True, slots=True)
class ChartData:
    """Everything that a chart shows, whatever draws it.

    Attributes:
        name: of the metric, for file names.
        title: of the metric, for people.
        y_label: title with unit.
        y_range: ends of the vertical axis.
        axis: what the places are.
        places: on the axis, ascending, such as cluster sizes.
        series: one per policy.
        caption: sentences on what the bands are and which lines lie on top of each other.
        better: whether the lower or the higher value is the better one, or neither.
    """

    name: str
    title: str
    y_label: str
    y_range: tuple[float, float]
    axis: Axis
    places: tuple[float, ...]
    series: tuple[Series, ...]
    caption: tuple[str, ...]
    better: str = "neither"

    @property
    def question(self) -> str:
        """What the chart answers, as its heading."""
        asked = {"lower": "which is lowest?", "higher": "which is highest?"}.get(self.better)
        if len(self.series) == 1:
            asked = "how does it change?"
        return f"{self.title} by {self.axis.by}: {asked or 'how do they differ?'}"


def charts_along(by_axis: Mapping[Condition, Summary], axis: Axis | None) -> list[ChartData]:
    """The charts of all metrics along the axis, those of one condition together."""
    if axis is None:
        return []
    return [
        chart_data(summary, column, axis, condition, place)
        for place, (condition, summary) in enumerate(by_axis.items(), start=1)
        for column in range(len(summary.metrics))
    ]


def chart_data(
    summary: Summary,
    column: int,
    axis: Axis,
    condition: Condition = Condition(),  # noqa: B008 - immutable
    place: int = 1,
) -> ChartData:
    """The chart of one metric of a summary along its axis.

    The `condition` stands in its title, and its `place` in its name, unless it is the first.
    """
    metric = summary.metrics[column]
    scale = display_scale(metric)
    estimates = {p: [q.estimates[column] for q in summary.points_of(p)] for p in summary.policies}
    decimals = decimals_for(metric, list(itertools.chain.from_iterable(estimates.values())))
    series = tuple(
        Series(
            policy=policy,
            values=tuple(scale * e.value for e in line),
            low=tuple(math.nan if e.low is None else scale * e.low for e in line),
            high=tuple(math.nan if e.high is None else scale * e.high for e in line),
            labels=tuple(format_estimate(metric, e, decimals) for e in line),
        )
        for policy, line in estimates.items()
    )
    y_range = (-2.0, 102.0) if metric.is_share else _range_with_zero(series)
    return ChartData(
        name=f"{metric.name}_{place}" if place > 1 else metric.name,
        title=", ".join(filter(None, (metric.title, str(condition)))),
        y_label=column_heading(metric),
        y_range=y_range,
        axis=axis,
        places=summary.places,
        series=series,
        caption=_caption(series, y_range, summary.level, grouped=bool(axis.words)),
        better=metric.better,
    )


def coinciding(series: Sequence[Series], y_range: tuple[float, float]) -> list[tuple[str, ...]]:
    """Groups of policies whose lines cannot be told apart by eye, in the order of the series."""
    tolerance = _INDISTINGUISHABLE * (y_range[1] - y_range[0])
    groups: list[list[Series]] = []
    for line in series:
        for group in groups:
            if all(
                abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b))
                for a, b in zip(group[0].values, line.values, strict=True)
            ):
                group.append(line)
                break
        else:
            groups.append([line])
    return [tuple(line.policy for line in group) for group in groups if len(group) > 1]


def _range_with_zero(series: Sequence[Series]) -> tuple[float, float]:
    """From a little below zero to a little above the highest band, so that no line is cut."""
    shown = [v for s in series for v in (0.0, *s.values, *s.low, *s.high) if not math.isnan(v)]
    low, high = min(shown), max(shown)
    if low == high:
        high = 1.0  # all are zero
    margin = 0.03 * (high - low)
    return low - margin, high + margin


def _caption(
    series: Sequence[Series], y_range: tuple[float, float], level: float, grouped: bool
) -> tuple[str, ...]:
    parts = []
    if grouped:
        return (f"Bars: {level_text(level)} intervals.",)
    if any(line.has_band for line in series):
        parts.append(
            f"Bands: {level_text(level)} intervals; where none shows, it is narrower than the line."
        )
    parts.extend(
        f"{', '.join(group[:-1])} and {group[-1]} are too close to tell apart."
        for group in coinciding(series, y_range)
    )
    return tuple(parts)
