"""Compute the figures of a run from its finished cells: a sentence, tables, charts.

They come from the record and the parts of the run. Of the files that the scenario names, only
unchanged ones are read, for names. Sums are cached until their part changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rebecsim.clusters.kinds import find_kind
from rebecsim.clusters.kit.plugins import UnknownNameError
from rebecsim.clusters.scenarios import plan_of_run
from rebecsim.errors import UserError
from rebecsim.report.answer import answer_text
from rebecsim.report.comparison import ReportInput, moments_apart, sections_of
from rebecsim.report.figures import render_figure
from rebecsim.report.line_charts import ChartData, chart_figure, charts_along
from rebecsim.report.numbers import FigureTable, column_heading, figure_table, format_estimates
from rebecsim.studies.cells import Compared, Section, grouped, leading_section
from rebecsim.studies.estimates import estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import SweptStudy
from rebecsim.studies.record import ResultsError, recorded_scenario
from rebecsim.studies.results import paired_moments
from rebecsim.studies.run_directory import RECORD
from rebecsim.studies.stored_runs import StoredRun
from rebecsim.studies.study import Axis, PlannedCell, Study

_MOST_SUMS = 20_000  # of cells, a kilobyte each
_MOST_PICTURES = 100
_MOST_ANSWERS = 20
_LARGEST_RUN = 512 * 1024 * 1024
"""Bytes of a run whose tables of jobs and tasks are read for its page."""
_MOST_LISTED = 200


@dataclass(frozen=True)
class ListedCell:
    """A cell, and its most important figure if it is finished."""

    policy: str
    condition: str
    finished: bool
    replications: int
    figure: str


@dataclass(frozen=True)
class Figures:
    """The figures that the page of a run shows.

    Attributes:
        sentence: who leads; nothing as long as cells are missing.
        sections: what the kind adds to the report of a complete run.
        scope: which cells the tables and charts are about, where those are not all.
        tables: of policies, for each condition compared separately, which is named before it.
        charts: along the axis.
        measure: what the list of cells shows.
        cells: the first ones.
        compared: what policies are called.
    """

    sentence: str
    sections: tuple[Section, ...]
    scope: str
    tables: tuple[tuple[str, FigureTable], ...]
    charts: tuple[ChartData, ...]
    measure: str
    cells: tuple[ListedCell, ...]
    compared: Compared

    @property
    def leading(self) -> Section | None:
        """The section that answers what the user asks, if there is one."""
        return leading_section(self.sections)


@dataclass(frozen=True)
class _Answer:
    """The figures of a complete run that take long to compute."""

    sentence: str
    sections: tuple[Section, ...]


class FigureCache:
    """Computes figures for several readers at a time, and remembers them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._sums: OrderedDict[tuple[Path, int, int], CellMoments] = OrderedDict()
        self._pictures: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._answers: OrderedDict[tuple[object, ...], _Answer] = OrderedDict()

    def figures(self, run: StoredRun) -> Figures:
        """Give what is known of a run. Raises ResultsError for a finished one that is damaged."""
        sums = self._sums_of(run)
        report, scope = _report(run, sums)
        is_whole = report is not None and not scope
        answer = self._answer(run, report, sums) if report and is_whole else _Answer("", ())
        return Figures(
            sentence=answer.sentence,
            sections=answer.sections,
            scope=scope,
            tables=() if report is None else tuple(_tables(report)),
            charts=() if report is None else tuple(charts_along(report)),
            measure=column_heading(run.contents.measures[0]) if run.contents.measures else "",
            cells=tuple(_listed(run, sums)),
            compared=_compared(run),
        )

    def picture(self, run: StoredRun, name: str) -> bytes | None:
        """Draw a chart as SVG, `NAME.narrow` for a phone; None where there is none of this name."""
        asked, _, form = name.partition(".")
        sums = self._sums_of(run)
        report, _ = _report(run, sums)
        charts = charts_along(report) if report else []
        chart = next((each for each in charts if each.name == asked), None)
        if chart is None or form not in ("", "narrow"):
            return None
        key = run.results.directory, name, *(self._key(run, cell) for cell in sums)
        with self._drawing:  # the settings of matplotlib are the same for all threads
            if key not in self._pictures:
                draw = partial(chart_figure, chart, bool(form))
                self._pictures[key] = render_figure(draw, (".svg",))[".svg"]
                while len(self._pictures) > _MOST_PICTURES:
                    self._pictures.popitem(last=False)
            return self._pictures[key]

    def _sums_of(self, run: StoredRun) -> dict[PlannedCell, CellMoments]:
        """Sum up finished cells; one that is being replaced just now is left out."""
        found: dict[PlannedCell, CellMoments] = {}
        complete = len(run.finished) == len(run.cells)
        for cell in run.finished:
            try:
                key = self._key(run, cell)
                with self._lock:
                    known = self._sums.get(key)
                found[cell] = known or run.results.moments([cell])[0]
            except (ResultsError, FileNotFoundError):
                if complete:
                    raise
                continue
            with self._lock:
                self._sums[key] = found[cell]
                self._sums.move_to_end(key)
                while len(self._sums) > _MOST_SUMS:
                    self._sums.popitem(last=False)
        return found

    def _answer(
        self, run: StoredRun, report: ReportInput, sums: dict[PlannedCell, CellMoments]
    ) -> _Answer:
        key = tuple(self._key(run, cell) for cell in run.cells)
        with self._lock:
            known = self._answers.get(key)
        if known is not None:
            return known
        counters = sorted({name for each in report.metrics for name in each.counters})
        paired = paired_moments(run.results, run.cells, counters)
        found = _Answer(
            answer_text(replace(report, pairs=paired)),
            _sections(run, [sums[cell] for cell in run.cells]),
        )
        with self._lock:
            self._answers[key] = found
            while len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        return found

    @staticmethod
    def _key(run: StoredRun, cell: PlannedCell) -> tuple[Path, int, int]:
        path = run.results.part(cell)
        status = path.stat()
        return path, status.st_mtime_ns, status.st_size


def _report(run: StoredRun, sums: dict[PlannedCell, CellMoments]) -> tuple[ReportInput | None, str]:
    """Report the cells that can be compared, and say which if not all can."""
    search = run.record.get("search") or {}
    apart = bool(search.get("cells"))
    cells = list(sums) if apart else _comparable(list(sums))
    if not cells or not run.contents.measures:
        return None, "No cell is finished yet." if not sums else "Nothing can be compared yet."
    kind = _kind_of(run)
    measures = run.contents.measures
    study, scenario = kind or (None, None)
    swept = None if study is None else SweptStudy(study, scenario)
    report = ReportInput(
        title=str(run.scenario.get("title") or run.scenario.get("name") or run.name),
        description="",
        scenario={},
        seed=0,
        versions={},
        moments=moments_apart(search, [sums[cell] for cell in cells]),
        metrics=measures if study is None else study.measures(scenario),
        charted=() if swept is None else swept.comparison.charted,
        axis=None if apart else _plain_axis(run) if swept is None else swept.axis,
        separate=() if apart else run.contents.separate,
        swept=() if swept is None else tuple(each.coordinate for each in swept.axes),
        baseline=run.contents.baseline,
        level=run.contents.level,
        normal_outcomes=frozenset() if study is None else study.normal_outcomes,
        compared=_compared(run),
        caution=run.contents.caution,
    )
    if len(cells) == len(run.cells):
        return report, ""
    policies = list(dict.fromkeys(each.cell.policy for each in cells))
    conditions = len({each.cell.condition for each in cells})
    every = len({each.cell.condition for each in run.cells})
    named = ", ".join(policies) if len(policies) < 6 else f"{len(policies)} {report.compared.many}"
    return report, f"So far: {conditions} of {every} conditions, with {named}."


def _comparable(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    """Give the cells under conditions that all policies which have begun were run on."""
    policies = {each.cell.policy for each in cells}
    groups = grouped(cells, lambda each: each.cell.condition).values()
    return [each for group in groups if len(group) == len(policies) for each in group]


def _kind_of(run: StoredRun) -> tuple[Study, Any] | None:
    """Give the kind of a run and its scenario; None where it is that of a plug-in."""
    try:
        study = find_kind(run.kind)
        path = run.results.directory / RECORD
        return study, recorded_scenario(path, run.record, study.scenario)
    except (UnknownNameError, ResultsError):
        return None


def _sections(run: StoredRun, moments: Sequence[CellMoments]) -> tuple[Section, ...]:
    """Give the sections of the run's kind; none if its plug-in is missing."""
    if run.size > _LARGEST_RUN:
        return ()
    try:
        return tuple(sections_of(plan_of_run(run), run.results, moments))
    except UserError:
        return ()


def _compared(run: StoredRun) -> Compared:
    try:
        return find_kind(run.kind).compared
    except UnknownNameError:
        return Study.compared


def _plain_axis(run: StoredRun) -> Axis | None:
    name = run.record.get("axis")
    if not isinstance(name, str):
        return None
    words = name.replace("_", " ")
    return Axis(name, name, words, words)


def _tables(report: ReportInput) -> Iterator[tuple[str, FigureTable]]:
    for condition, each in report.comparisons.items():
        yield str(condition), figure_table(each.summary, report.compared)


def _listed(run: StoredRun, sums: dict[PlannedCell, CellMoments]) -> list[ListedCell]:
    first = next(iter(run.contents.measures), None)
    shown = [cell for cell in run.cells[:_MOST_LISTED] if cell in sums]
    texts: dict[PlannedCell, str] = {}
    if first is not None and shown:
        estimates = [estimate(first, [sums[cell]]) for cell in shown]
        texts = dict(zip(shown, format_estimates(first, estimates), strict=True))
    return [
        ListedCell(
            cell.cell.policy,
            str(cell.cell.condition),
            cell in sums,
            sums[cell].replications if cell in sums else 0,
            texts.get(cell, ""),
        )
        for cell in run.cells[:_MOST_LISTED]
    ]
