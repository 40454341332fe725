"""Maps: for two swept parameters, who is best where, and where no difference was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from typing import TYPE_CHECKING

from rebecsim.metrics import Metric
from rebecsim.report.figures import ON_COLOUR, fill_colours, legend_below, new_figure
from rebecsim.report.numbers import DASH
from rebecsim.studies.cells import Condition, Picture, Section, TextTable, Value
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results, paired_moments
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import Answer, Standing, answer_of
from rebecsim.studies.sweeps import shown_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_MAPS = 3
_MOST_PLACES = 40
"""Values of a parameter that a map shows; more could not be told apart."""

_LONGEST_LABEL = 8
_HATCH = "///"


@dataclass(frozen=True)
class WinnerMap:
    """Who is best where.

    Attributes:
        metric: the figure.
        across: the parameter of the columns, whose values go to the right.
        up: the parameter of the rows, whose values go upwards.
        columns: the values of the one.
        rows: the values of the other.
        standings: column and row -> who stands how there.
        policies: all that were run.
    """

    metric: Metric
    across: Axis
    up: Axis
    columns: tuple[Value, ...]
    rows: tuple[Value, ...]
    standings: dict[tuple[Value, Value], Standing]
    policies: tuple[str, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """Say in how many places each policy is best, and in how many of them that is sure."""
        found = [each for each in self.standings.values() if each.leaders]
        leads = Counter(each.leaders[0] for each in found)
        sure = Counter(each.leaders[0] for each in found if each.is_shown)
        for policy, count in leads.most_common():
            yield (
                f"{policy}: best in {count} of {len(self.standings)} places, significantly better "
                f"than all others in {sure[policy]}."
            )

    @property
    def table(self) -> TextTable:
        """The same in words: a row for each value of the one, a column for each of the other."""
        rows = tuple(
            (_shown(row), tuple(_words(self.standings.get((at, row))) for at in self.columns))
            for row in reversed(self.rows)
        )
        title = f"Best {self.metric.title[:1].lower()}{self.metric.title[1:]}"
        title += f" by {self.up.by} (rows) and {self.across.by} (columns)"
        return TextTable(title, (self.up.by, *map(_shown, self.columns)), rows)


def _shown(value: Value) -> str:
    return shown_value(value)


def _words(standing: Standing | None) -> str:
    if standing is None or not standing.leaders:
        return DASH
    return standing.leaders[0] if standing.is_shown else f"{standing.leaders[0]} (?)"


def map_sections(plan: Plan, results: Results, moments: Sequence[CellMoments]) -> Iterator[Section]:
    """Draw a map of the first figure for every two parameters, pooled over all others.

    There is none where one policy was run, or fewer than two parameters have several values.
    """
    swept = plan.swept.axes
    own = plan.study.axis(plan.scenario)
    has_own = own is not None and own not in swept and len(_values(moments, own)) > 1
    axes = (*swept, *((own,) if own is not None and has_own else ()))
    policies = tuple(dict.fromkeys(each.cell.policy for each in moments))
    metric = plan.metrics[0]
    if not swept or len(axes) < 2 or len(policies) < 2 or metric.better == "neither":
        return
    pairs = paired_moments(results, plan.cells, sorted(metric.counters))
    maps = []
    for across, up in islice(combinations(axes, 2), _MOST_MAPS):
        by = (across.coordinate, up.coordinate)
        answer = answer_of(
            metric, moments, pairs, by, plan.scenario.level, plan.comparison.baseline
        )
        maps.append(_map(answer, across, up, moments))
    small = [e for e in maps if max(len(e.columns), len(e.rows)) <= _MOST_PLACES]
    if not small:
        return
    yield Section(
        name="maps",
        title="Maps: who is best where",
        sentences=tuple(small[0].sentences),
        tables=(small[0].table,),
        pictures=tuple(
            Picture(
                f"map_{each.across.name}_{each.up.name}",
                f"{metric.title} by {each.across.by} and {each.up.by}: who is best where?",
                "Colours and names: the best. Hatched: no difference to all others was found.",
                partial(map_figure, each),
                is_wide=False,
            )
            for each in small
        ),
        notes=(
            "All pairs in all places of a map are tested together (Holm's procedure). (?) in a "
            "table: no difference to all others was found.",
            *(
                ("Each map is pooled over the other parameters.",)
                if len(axes) > len(small[:1]) + 1
                else ()
            ),
        ),
    )


def _values(moments: Sequence[CellMoments], axis: Axis) -> tuple[Value, ...]:
    found = dict.fromkeys(each.cell[axis.coordinate] for each in moments)
    return tuple(found) if axis.words else tuple(sorted(found))


def _map(answer: Answer, across: Axis, up: Axis, moments: Sequence[CellMoments]) -> WinnerMap:
    def place(condition: Condition) -> tuple[Value, Value]:
        return condition[across.coordinate], condition[up.coordinate]

    return WinnerMap(
        answer.metric,
        across,
        up,
        _values(moments, across),
        _values(moments, up),
        {place(each.condition): each for each in answer.standings},
        answer.policies,
    )


def map_figure(shown: WinnerMap) -> Figure:
    """Draw a rectangle for each place, with the name of the best policy in it."""
    from matplotlib.patches import Patch, Rectangle

    leaders = dict.fromkeys(e.leaders[0] for e in shown.standings.values() if e.leaders)
    named = [each for each in shown.policies if each in leaders]
    colours = dict(zip(shown.policies, fill_colours(len(shown.policies)), strict=True))
    columns, rows = len(shown.columns), len(shown.rows)
    are_short = max(map(len, named), default=0) <= _LONGEST_LABEL and columns <= 6
    labels = {
        each: each if are_short else chr(ord("A") + place % 26) for place, each in enumerate(named)
    }
    figure = new_figure(min(max(4.6, 1.4 + 0.62 * columns), 9), 1.7 + 0.42 * rows)
    axes = figure.subplots()
    for (at, row), standing in shown.standings.items():
        corner = shown.columns.index(at) - 0.5, shown.rows.index(row) - 0.5
        if not standing.leaders:
            continue
        best = standing.leaders[0]
        cell = Rectangle(
            corner,
            1,
            1,
            facecolor=colours[best],
            edgecolor="#ffffff",
            linewidth=1,
            hatch=None if standing.is_shown else _HATCH,
        )
        cell.set_gid(f"{ON_COLOUR}-cell-{corner}")
        axes.add_patch(cell)
        if columns <= 12:
            text = axes.text(
                corner[0] + 0.5,
                corner[1] + 0.5,
                labels[best],
                ha="center",
                va="center",
                fontsize=8,
                parse_math=False,
                bbox={"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.5},
            )
            text.set_gid(f"{ON_COLOUR}-{corner}")
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(-0.5, rows - 0.5)
    every = max(1, -(-columns // 12))
    axes.set_xticks(range(0, columns, every), [*map(_shown, shown.columns)][::every])
    axes.set_yticks(range(rows), [*map(_shown, shown.rows)])
    axes.set_xlabel(shown.across.title, parse_math=False)
    axes.set_ylabel(shown.up.title, parse_math=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    patches = [
        Patch(color=colours[each], label=each if are_short else f"{labels[each]}: {each}")
        for each in named
    ]
    if not all(each.is_shown for each in shown.standings.values()):
        unsure = Patch(facecolor="#7f7f7f", edgecolor="#ffffff", hatch=_HATCH)
        unsure.set_label("no difference found")
        patches.append(unsure)
    legend_below(figure, patches, columns=3)
    return figure
