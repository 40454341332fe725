"""The answer by queue or user: whose jobs wait longer, and whose wait less.

All figures are of the jobs that have run under every variant, so that a queue whose jobs are
refused does not look fast. A change counts from a second and 1 % on: less than a second is less
than a heartbeat of most clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rebecsim.report.figures import GREY, legend_below, line_styles, new_figure, time_axis
from rebecsim.report.numbers import text_of
from rebecsim.studies.cells import Answered, Picture, Section, TextTable
from rebecsim.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Seconds = NDArray[np.float64]
Names = NDArray[np.str_]

LEAST_SECONDS, LEAST_SHARE = 1.0, 0.01
"""From where on a time has changed; both."""

_FACTOR = 1.5
"""From where on a change is told as a factor, not in percent."""
_TAIL_SHARE = 0.05
"""From where on the slowest jobs are worth a word of their own."""
_HOURS_FROM = 7200
_HOUR = 3600

MOST_TOLD = 6
"""Groups of which a short answer has a sentence, over all variants."""

MOST_ROWS = 16
"""Rows of a short table."""

_MOST_BARS = 20


@dataclass(frozen=True, eq=False)
class JobTimes:
    """What the jobs of a run took, by the group that they belong to.

    Attributes:
        job: names, unique in the run; shape (jobs,).
        group: what each belongs to: its queue, or its user; shape (jobs,).
        wait: from submission until it begins to run (s), shape (jobs,).
        duration: from submission to end (s), shape (jobs,).
        refused: how many further jobs of a group were not let in.
    """

    job: Names
    group: Names
    wait: Seconds
    duration: Seconds
    refused: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.job)

    def only(self, chosen: NDArray[Any]) -> JobTimes:
        """Give the jobs of a mask or of an array of indices, in that order."""
        return replace(
            self,
            job=self.job[chosen],
            group=self.group[chosen],
            wait=self.wait[chosen],
            duration=self.duration[chosen],
        )


def grouping(queues: Sequence[str], users: Sequence[str]) -> tuple[str, Names]:
    """Choose how to group jobs: by queue if there are several, or else by user.

    Gives `queue`, `user` or, where all jobs are alike in both, an empty word; and the group of each
    job.
    """
    for noun, names in (("queue", queues), ("user", users)):
        if len(set(names)) > 1:
            return noun, np.array(names, dtype=str)
    return "", np.full(len(queues), "", dtype=str)


def short_names(names: Sequence[str], separator: str = ".") -> dict[str, str]:
    """Give each name its last part, or all behind the first one where several end alike."""
    ends = [name.rpartition(separator)[2] for name in dict.fromkeys(names)]
    return {
        name: end if ends.count(end) == 1 else name.partition(separator)[2] or name
        for name, end in zip(dict.fromkeys(names), ends, strict=True)
    }


@dataclass(frozen=True, eq=False)
class GroupAnswer:
    """Runs of the same jobs under some variants, compared by group.

    Attributes:
        runs: the jobs by variant; the first one is what the others are compared with.
        noun: what groups are, `queue` or `user`; empty: there is one group only.
        exact: whether nothing is drawn in the runs.
        condition: what all ran under, where other answers are of other conditions.
    """

    runs: Mapping[str, JobTimes]
    noun: str
    exact: bool
    condition: str = ""

    @cached_property
    def common(self) -> dict[str, JobTimes]:
        """The jobs that have run under all variants, in the same order and in the first groups."""
        shared = reduce(np.intersect1d, [each.job for each in self.runs.values()])
        found: dict[str, JobTimes] = {}
        for name, each in self.runs.items():
            order = np.argsort(each.job)
            found[name] = each.only(order[np.searchsorted(each.job, shared, sorter=order)])
        group = found[self.base].group
        return {name: replace(each, group=group) for name, each in found.items()}

    @property
    def base(self) -> str:
        """The variant that the others are compared with."""
        return next(iter(self.runs))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups, those for which most changes first; of one variant, those of most jobs."""
        of_base = self.common[self.base]
        weights: dict[str, float] = {}
        for group in sorted(set(of_base.group.tolist())):
            mine = of_base.group == group
            moved = [
                abs(float((each.duration[mine] - of_base.duration[mine]).sum()))
                for each in self._others.values()
            ]
            weights[group] = max(moved) if moved else float(mine.sum())
        return tuple(sorted(weights, key=lambda group: (-weights[group], group)))

    @property
    def _others(self) -> dict[str, JobTimes]:
        return {name: each for name, each in self.common.items() if name != self.base}

    def told(self, most: int | None = MOST_TOLD) -> tuple[Answered, ...]:
        """Say for each variant but the first what changes for whom; of `most` groups in all."""
        others = self._others
        if not others or not len(self.common[self.base]):
            return ()
        told = None if most is None else max(most // len(others), 2)
        where = f"With {self.condition}: " if self.condition else ""
        return tuple(
            Answered(
                f"{where}{name} instead of {self.base}, on average:",
                tuple(self._lines(name, told)),
            )
            for name in others
        )

    @property
    def certainty(self) -> str:
        """How sure the differences are."""
        if self.exact:
            return "Same input, same result: these differences are exact."
        return "One run each: `rebecsim compare` tells how sure these differences are."

    def _lines(self, name: str, most: int | None) -> Iterator[str]:
        before, after = self.common[self.base], self.common[name]
        changes = (_change(self.called(group), *_of(group, before, after)) for group in self.groups)
        changed = [text for text in changes if text]
        told = changed[:most]
        yield from told
        if more := len(changed) - len(told):
            yield f"{counted(more, f'more {self.noun} changes', f'more {self.noun}s change')}."
        if same := len(self.groups) - len(changed):
            others = "other " if changed else ""
            what = f"{others}{self.noun}" if self.noun else "the average job"
            yield (f"{counted(same, what)}: as before." if self.noun else f"{what}: as before.")
        yield self._of_jobs(before, after)
        yield from self._refusals(name)

    def called(self, group: str) -> str:
        """Give what sentences call a group: a number says what it is of."""
        return f"{self.noun} {group}" if group.isdecimal() else group

    def _of_jobs(self, before: JobTimes, after: JobTimes) -> str:
        more = after.duration - before.duration
        slower = int(_moved(before.duration, after.duration).sum())
        faster = int(_moved(after.duration, before.duration).sum())
        are = "is" if faster == 1 else "are"
        text = f"Of {counted(len(more), 'job')}, {faster:,} {are} faster, {slower:,} slower"
        if not slower:
            return f"{text}."
        worst = int(np.argmax(more))
        took, takes = float(before.duration[worst]), float(after.duration[worst])
        of = f" of {self.called(before.group[worst])}" if self.noun else ""
        return f"{text}. Worst: {before.job[worst]}{of}, {_span(takes - took)} longer " + (
            f"({_from_to(took, takes)})."
        )

    def _refusals(self, name: str) -> list[str]:
        before, after = (self.runs[each].refused for each in (self.base, name))
        return [
            f"{self.called(group) or 'The cluster'} refuses {counted(after.get(group, 0), 'job')} "
            f"({before.get(group, 0):,} under {self.base})."
            for group in sorted({*before, *after})
            if before.get(group, 0) != after.get(group, 0)
        ]

    def table(self, most: int | None = MOST_ROWS) -> TextTable:
        """A row for each group and variant: what its jobs wait and take.

        Of groups that take more than `most` rows, with those of all jobs, the first ones are shown.
        """
        shown = self.groups
        if most is not None:
            shown = shown[: max(most // len(self.runs) - (len(shown) > 1), 1)]
        named = len(self.runs) > 1
        rows = [
            (
                group or "jobs",
                (*((variant,) if named else ()), *_row(*_of(group, each))),
            )
            for group in shown
            for variant, each in self.common.items()
        ]
        if len(self.groups) > 1:
            rows += [
                ("all jobs", (*((variant,) if named else ()), *_row(each)))
                for variant, each in self.common.items()
            ]
        title = "Seconds that jobs wait, and take from submission to end"
        title = ", ".join(filter(None, (title, self.noun and f"by {self.noun}", self.condition)))
        if len(shown) < len(self.groups):
            title += f" ({len(shown)} of {len(self.groups):,})"
        variant_heading = ("Variant",) if named else ()
        headings = (self.noun.capitalize(), *variant_heading, "Jobs", *_HEADINGS)
        return TextTable(title, headings, tuple(rows))

    def csv(self) -> str:
        """A line for each variant and group, times in seconds."""
        rows = [
            [variant, group, *_figures(*_of(group, each))]
            for variant, each in self.common.items()
            for group in sorted(self.groups)
        ]
        return text_of(["variant", self.noun or "group", "jobs", *_NAMES], rows)


def group_section(answer: GroupAnswer, *, leads: bool, notes: tuple[str, ...] = ()) -> Section:
    """Show the answer in a report, which it leads where it is all that was run."""
    told = answer.told()
    by = f"By {answer.noun}" if answer.noun else "Jobs"
    lines = [line for each in told for line in (each.about, *each.lines)]
    return Section(
        name="by_group",
        title=by,
        answer=told if leads else (),
        sentences=(answer.certainty,) if leads and told else tuple(lines),
        tables=(answer.table(),),
        pictures=(
            Picture(
                "by_group",
                f"What jobs wait and take, {by.lower()}" if answer.noun else by,
                "Bars end at the mean, thin lines at the 95th percentile.",
                partial(_figure, answer),
            ),
        ),
        notes=notes,
        files={"by_group.csv": answer.csv()},
        terminal=group_view(answer),
    )


def _figure(answer: GroupAnswer) -> Figure:
    shown = answer.groups[: max(_MOST_BARS // len(answer.runs), 2)]
    panels = {
        title: {
            variant: np.array(
                [
                    (float(times.mean()), _tail(times))
                    for group in shown
                    for times in (getattr(_of(group, each)[0], column),)
                ]
            )
            for variant, each in answer.common.items()
        }
        for title, column in (("Wait", "wait"), ("Duration, from submission to end", "duration"))
    }
    return groups_figure([answer.called(each) or "jobs" for each in shown], panels)


def group_view(answer: GroupAnswer, whole: bool = False) -> RenderableType:
    """Show the answer and the table for the terminal: the most important groups, or all."""
    parts: list[RenderableType] = []
    if told := answer.told(None if whole else MOST_TOLD):
        parts += [answer_view(told), Text(answer.certainty, style="dim"), ""]
    return Group(*parts, _Narrow(answer.table(None if whole else MOST_ROWS)))


def answer_view(told: Sequence[Answered]) -> RenderableType:
    """Show the answer: each heading with its lines."""
    parts: list[RenderableType] = []
    for each in told:
        parts.append(Text(each.about, style="bold"))
        parts += map(_Hanging, each.lines)
    return Group(*parts)


@dataclass(frozen=True)
class _Hanging:
    """A sentence, indented, whose numbers stay in a line with their units."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give its lines."""
        kept = re.sub(r"(?<=\d) (?=s\b|h\b|%)", "\N{NO-BREAK SPACE}", self.text)
        for number, line in enumerate(wrap(kept, max(options.max_width - 4, 20))):
            indent = "    " if number else "  "
            yield Text(indent + line.replace("\N{NO-BREAK SPACE}", " "))


@dataclass(frozen=True)
class _Narrow:
    """A table of texts with many columns: no lines but that under the headings.

    Columns stand closer where they would not fit otherwise.
    """

    shown: TextTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the title and the table."""
        yield Text(self.shown.title, style="table.title")
        table = self._with_padding(1)
        wide = Measurement.get(console, options.update(max_width=_WIDEST), table).maximum
        yield table if wide <= options.max_width else self._with_padding(0)

    def _with_padding(self, left: int) -> Table:
        table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, left), pad_edge=False)
        figures = len(_HEADINGS) + 1
        for number, heading in enumerate(self.shown.headings):
            right = number >= len(self.shown.headings) - figures
            two_lines = Text(heading.replace(" mean", "\nmean"))
            table.add_column(two_lines, justify="right" if right else "left", overflow="fold")
        above = ""
        for heading, values in self.shown.rows:
            table.add_row(*map(Text, ("" if heading == above else heading, *values)))
            above = heading
        return table


_WIDEST = 1000
_HEADINGS = ("Wait mean", "median", "95 %", "Duration mean", "median", "95 %")
_NAMES = tuple(
    f"{time}_{each}" for time in ("wait", "duration") for each in ("mean", "median", "p95")
)


def _figures(jobs: JobTimes) -> list[float]:
    return [
        len(jobs),
        *(
            float(figure(times))
            for times in (jobs.wait, jobs.duration)
            for figure in (np.mean, np.median, _tail)
        ),
    ]


def _of(group: str, *runs: JobTimes) -> tuple[JobTimes, ...]:
    return tuple(each.only(each.group == group) for each in runs)


def _row(jobs: JobTimes) -> tuple[str, ...]:
    count, *figures = _figures(jobs)
    return (f"{count:,}", *(f"{each:,.0f}" for each in figures))


def _tail(times: Seconds) -> float:
    return float(np.percentile(times, 95))


def _change(name: str, before: JobTimes, after: JobTimes) -> str:
    """Say what changes for a group, or for all jobs without a name; empty without a change."""
    wait, waits = float(before.wait.mean()), float(after.wait.mean())
    took, takes = float(before.duration.mean()), float(after.duration.mean())
    tail, tails = _tail(before.duration), _tail(after.duration)
    parts = []
    if _has_changed(wait, waits):
        more = "more" if waits > wait else "less"
        parts.append(
            f"{name or 'A job'} waits {_span(abs(waits - wait))} {more} ({_from_to(wait, waits)})"
        )
    if _has_changed(took, takes):
        whose = f"Jobs of {name}" if name else "Jobs"
        whose = ("its jobs" if name else "jobs") if parts else whose
        parts.append(f"{whose} take {_how_long(took, takes)} ({_from_to(took, takes)})")
    turns = (tails - tail) * (takes - took) <= 0 or not _has_changed(took, takes)
    if turns and _has_changed(tail, tails, _TAIL_SHARE):
        whose = "the slowest" if parts else f"The slowest of {name}" if name else "The slowest jobs"
        way = "longer" if tails > tail else "less time"
        but = "but " if parts else ""
        parts.append(f"{but}{whose} take {way}: 95th percentile {_from_to(tail, tails)}")
    return "; ".join(parts) + "." if parts else ""


def _has_changed(before: float, after: float, share: float = LEAST_SHARE) -> bool:
    return abs(after - before) >= max(LEAST_SECONDS, share * before)


def _moved(less: Seconds, more: Seconds) -> NDArray[np.bool_]:
    """Tell which times are longer by enough to count."""
    return np.asarray(more - less >= np.maximum(LEAST_SECONDS, LEAST_SHARE * less))


def _how_long(before: float, after: float) -> str:
    factor = after / before if before else np.inf
    if _FACTOR <= factor < np.inf:
        return f"{factor:,.1f} times as long"
    if factor > 1:
        return f"{100 * (factor - 1):.0f} % longer" if factor < np.inf else "longer"
    return f"{100 * (1 - factor):.0f} % less time"


def _span(seconds: float) -> str:
    return f"{seconds / _HOUR:,.1f} h" if seconds >= _HOURS_FROM else f"{seconds:,.0f} s"


def _from_to(before: float, after: float) -> str:
    if max(before, after) >= _HOURS_FROM:
        hours = [f"{each / _HOUR:,.1f}" for each in (before, after)]
        if hours[0] == hours[1]:
            hours = [f"{each / _HOUR:,.2f}" for each in (before, after)]
        return f"{hours[0]} to {hours[1]} h"
    return f"{before:,.0f} to {after:,.0f} s"


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
    legend_below(figure, axes[0])
    return figure
