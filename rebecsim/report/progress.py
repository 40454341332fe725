"""How far runs are, as a bar, or as a line a minute where nobody looks at a terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column

from rebecsim.studies.running.comparing import Bar
from rebecsim.studies.running.runner import PlannedRun

_MINUTE = 60.0
_BAR = 20  # characters: a window of 80 has room for a name beside it


@dataclass(frozen=True)
class _Shown:
    """A bar on a screen."""

    progress: Progress
    task: TaskID

    def start(self, total: int) -> None:
        self.progress.reset(self.task, total=total)

    def advance(self, finished: int) -> None:
        self.progress.advance(self.task, finished)


class _Lines:
    """Writes at intervals how far runs are, as for files and pipes."""

    def __init__(self, runs: Sequence[PlannedRun], console: Console, every: float) -> None:
        self._what, self._counted = _described(runs), runs[0].plan.study.counted
        self._console, self._every = console, every
        self._done = self._total = 0
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self, total: int) -> None:
        self._done, self._total = 0, total

    def advance(self, finished: int) -> None:
        self._done += finished

    @contextmanager
    def shown(self) -> Iterator[Bar]:
        """Write while the block works."""
        self._thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            self._thread.join()

    def _write(self) -> None:
        while not self._ended.wait(self._every):
            minutes = (time.monotonic() - self._began) / 60
            words = f"{self._done:,} of {self._total:,} {self._counted}, {minutes:.0f} min"
            self._console.print(f"{self._what}: {words}", markup=False, highlight=False)


@contextmanager
def progress_bar(
    runs: Sequence[PlannedRun], console: Console, is_wanted: bool = True, every: float = _MINUTE
) -> Iterator[Bar]:
    """Show a bar while the block works, and take it away; where errors are written to a
    file or a pipe, write a line `every` so many seconds instead.

    Neither is shown where it is not wanted.
    """
    is_seen = is_wanted and (console.is_terminal or console.is_jupyter)
    if is_wanted and not is_seen and console.stderr:
        with _Lines(runs, console, every).shown() as lines:
            yield lines
        return
    columns = (
        TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True)),
        BarColumn(_BAR),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn(runs[0].plan.study.counted),
        TimeElapsedColumn(),
    )
    # Rich 13 ends a line where a bar that is not shown was.
    shown_on = console if is_seen else Console(quiet=True)
    with Progress(
        *columns, console=shown_on, transient=True, disable=not is_seen, expand=True
    ) as progress:
        yield _Shown(progress, progress.add_task(_described(runs)))


def _described(runs: Sequence[PlannedRun]) -> str:
    """Say what is running: the scenario, and the laws and orders of its runs if it has such."""
    scenarios = [run.plan.scenario for run in runs]
    laws = "/".join(dict.fromkeys(filter(None, (getattr(s, "choice_law", "") for s in scenarios))))
    orders = ", ".join(dict.fromkeys(filter(None, (getattr(s, "order", "") for s in scenarios))))
    details = f" ({laws} law, {orders} order)" if laws and orders else ""
    return f"{scenarios[0].name}{details}"
