"""Render the pages of runs as HTML."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

from rebecsim.clusters.kinds import find_kind
from rebecsim.clusters.kit.plugins import UnknownNameError
from rebecsim.errors import UserError
from rebecsim.files import open_plain
from rebecsim.report.page import scenario_rows
from rebecsim.report.stored import difference_figures, error_notes, setting_values, size_text
from rebecsim.studies.query import views
from rebecsim.studies.stored_runs import RunDifference, compare_runs
from rebecsim.web.rendering import rendered, shown_error
from rebecsim.web.studies.figures import FigureCache
from rebecsim.web.studies.run_finder import ListedRun, RunFinder
from rebecsim.web.studies.sql import LONGEST_QUESTION, Questions
from rebecsim.web.studies.study_process import FOLDER
from rebecsim.wording import clipped

_LARGEST_FILE = 64 * 1024 * 1024
_LONGEST_SEARCH = 100
_MOST_CHANGES = 20_000  # characters
_WIDTH = 110
_KEPT = re.compile(r"(report\.html|[\w-]+\.csv|charts/[\w.-]+\.(svg|png))", re.ASCII)
_ORDERS = {
    "name": lambda run: run.name,
    "scenario": lambda run: run.title.casefold(),
    "kind": lambda run: run.stored.kind,
    "state": lambda run: run.state,
    "cells": lambda run: len(run.stored.cells),
    "started": lambda run: run.started,
    "size": lambda run: run.stored.size,
}


class RunViews:
    """The pages over the runs below a directory."""

    def __init__(self, root: Path | None) -> None:
        self.finder = RunFinder(root)
        self._cache = FigureCache()
        self._questions = Questions()

    def runs(self, sort: str, down: bool, find: str) -> str:
        """Give the list, in an order, of the runs that have these words."""
        sort = sort if sort in _ORDERS else "name"
        find = find.strip()[:_LONGEST_SEARCH]
        found = self.finder.look()
        shown = sorted(found.runs, key=_ORDERS[sort], reverse=down)
        return rendered(
            "studies/runs.html.j2",
            root=self._root,
            runs=[each for each in shown if _is_found(each, find)],
            found=found,
            find=find,
            headings=[(each, *_heading(each, sort, down, find)) for each in _ORDERS],
            size_text=size_text,
        )

    def run(self, run: str) -> str:
        """Give the page of a run. Raises UserError."""
        with self.finder.naming():
            found = self.finder.find(run)
        is_study = (found.directory / FOLDER).is_dir() and "/" not in found.name
        return rendered(
            "studies/run.html.j2",
            is_study=is_study,
            in_study=is_study,
            has_progress=False,
            **_run_values(found),
            **self._figures(found),
        )

    def figures(self, run: str) -> str:
        """Give the figures of a run as they are on its page. Raises UserError."""
        found = self.finder.find(run)
        return rendered(
            "studies/run_live.html.j2",
            run=found,
            in_study=True,
            has_progress=True,
            files=[],
            **self._figures(found),
        )

    def chart(self, run: str, name: str) -> bytes | None:
        """Draw a chart of a run as SVG, if there is one of this name. Raises UserError."""
        with self.finder.naming():
            return self._cache.picture(self.finder.find(run).stored, name)

    def file(self, run: str, file: str) -> BinaryIO | None:
        """Open a file of the report of a run, if it is one. Raises UserError."""
        with self.finder.naming():
            found = self.finder.find(run)
        if not _KEPT.fullmatch(file):
            return None
        try:
            opened = os.fdopen(open_plain(found.directory / file), "rb")
        except OSError:
            return None
        if os.fstat(opened.fileno()).st_size <= _LARGEST_FILE:
            return opened
        opened.close()
        return None

    def box(self, sql: str) -> str:
        """Give the page with the box for a question."""
        return self._sql_page(sql[:LONGEST_QUESTION])

    def answer(self, sql: str) -> tuple[str, int]:
        """Give the page with the answer to a question, or with its mistake, and the status."""
        try:
            answer = self._questions.ask(sql, self.finder.root)
        except UserError as error:
            return self._sql_page(sql[:LONGEST_QUESTION], error=shown_error(error)), 400
        return self._sql_page(sql, answer=answer), 200

    def write_answer(self, sql: str, out: Path) -> tuple[str, int] | None:
        """Write all rows of an answer to a file; give a page and its status where that fails."""
        try:
            self._questions.write(sql, self.finder.root, out)
        except UserError as error:
            return self._sql_page(sql[:LONGEST_QUESTION], error=shown_error(error)), 400
        return None

    def difference(self, runs: list[str]) -> str:
        """Give the page of two runs. Raises UserError unless they are two that can be compared."""
        if len(set(runs)) != 2 or len(runs) != 2:
            raise UserError("Choose two runs to compare.")
        with self.finder.naming():
            one, other = map(self.finder.find, runs)
            found = compare_runs(one.stored, other.stored)
        return rendered(
            "studies/diff.html.j2",
            one=one,
            other=other,
            diff=found,
            settings=[
                (each.name, *setting_values(each.first, each.second)) for each in found.settings
            ],
            cells=_different(found),
            notes=list(error_notes([each for each in found.cells if not each.identical])),
            more=list(_changes(one, other)),
        )

    def _figures(self, run: ListedRun) -> dict[str, Any]:
        error, figures = "", None
        try:
            with self.finder.naming():
                figures = self._cache.figures(run.stored)
        except UserError as wrong:
            error = shown_error(wrong)
        return {"figures": figures, "error": error, "stamp": len(run.stored.finished)}

    @property
    def _root(self) -> str:
        return "" if self.finder.root is None else self.finder.root.name or "/"

    def _sql_page(self, sql: str, **found: Any) -> str:
        known = views([each.stored for each in self.finder.look().runs])
        values = {"answer": None, "error": "", **found}
        return rendered("studies/sql.html.j2", sql=sql, views=known, root=self._root, **values)


def _run_values(run: ListedRun) -> dict[str, Any]:
    """Give the values of a run's page other than its figures."""
    question = f"SELECT * FROM cells WHERE run = '{run.name.replace(chr(39), chr(39) * 2)}'"
    return {
        "run": run,
        "files": list(_kept_files(run.directory)),
        "settings": list(scenario_rows(run.stored.scenario)),
        "question": f"/runs/sql?{urlencode({'sql': question})}",
    }


def _kept_files(directory: Path) -> Iterator[str]:
    """Name the files of a report that are there, the page first."""
    there = [*directory.glob("*"), *directory.glob("charts/*")]
    names = (each.relative_to(directory).as_posix() for each in there if each.is_file())
    kept = sorted(name for name in names if _KEPT.fullmatch(name))
    yield from sorted(kept, key=lambda name: not name.endswith(".html"))


def _is_found(run: ListedRun, find: str) -> bool:
    words = f"{run.name} {run.title} {run.stored.kind} {run.state}".casefold()
    return all(each in words for each in find.casefold().split())


def _heading(name: str, sort: str, down: bool, find: str) -> tuple[str, str]:
    """Give where the heading of a column leads, and how the list goes by it now."""
    is_it = name == sort
    query = {"sort": name, **({"down": "1"} if is_it and not down else {})}
    query |= {"find": find} if find else {}
    order = ("descending" if down else "ascending") if is_it else ""
    return f"/runs?{urlencode(query, quote_via=quote)}", order


def _different(found: RunDifference) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Give each cell that differs, with a row for each figure."""
    return [
        (str(each.cell), [difference_figures(figure) for figure in each.differences])
        for each in found.cells
        if not each.identical
    ]


def _changes(one: ListedRun, other: ListedRun) -> Iterator[str]:
    """Give the further differences that a kind finds, as the terminal shows them."""
    from rich.console import Console

    if one.stored.kind != other.stored.kind:
        return
    with suppress(UnknownNameError):  # the kind of a plug-in that is not there
        changes = find_kind(one.stored.kind).changes
        for more in chain.from_iterable(each(one.stored, other.stored) for each in changes):
            text = io.StringIO()
            Console(file=text, width=_WIDTH, color_system=None).print(more)
            yield clipped(text.getvalue().rstrip(), _MOST_CHANGES)
