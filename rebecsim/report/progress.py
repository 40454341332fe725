"""A progress bar for runs, in a terminal or a notebook."""

from __future__ import annotations

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


@contextmanager
def progress_bar(
    runs: Sequence[PlannedRun], console: Console, is_wanted: bool = True
) -> Iterator[Bar]:
    """Show a bar while the block works, and remove it afterwards.

    Nothing is shown if it is not wanted, or the console is a file or a pipe.
    """
    is_seen = is_wanted and (console.is_terminal or console.is_jupyter)
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
