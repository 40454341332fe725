"""Shared by commands that run clusters: reading logs, progress, the limit of memory, the answer.

And what runs the plan of a scenario: `compare` itself has the options of all kinds of clusters.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain, count
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import complain, console, error_console, say
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode, UserError, WorkerKilledError
from rebecsim.extras import REPORTS, leave_pandas_alone, require
from rebecsim.wording import UnknownName, clipped, counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.clusters.scenarios import LoadedScenario
    from rebecsim.files import Size
    from rebecsim.interface.comparing import Running
    from rebecsim.native.engines import Engine
    from rebecsim.report import WrittenReport
    from rebecsim.report.groups import GroupAnswer
    from rebecsim.studies import PlannedRun
    from rebecsim.studies.plan import Plan
    from rebecsim.studies.running import Bar
    from rebecsim.workloads import Workload

Log = Annotated[
    Path, typer.Argument(help="A log: SWF, CSV, PBS or sacct; also .gz.", show_default=False)
]
Processors = Annotated[
    int | None, typer.Option(min=1, help="Processors of the machine, instead of the header's.")
]
JobSize = Annotated[
    Literal["requested", "allocated"],
    typer.Option(help="Processors of a job: as requested, or as allocated."),
]
Sort = Annotated[
    bool,
    typer.Option("--sort", help="Sort jobs by submission, instead of skipping those out of order."),
]


def read_log(log: Path, processors: int | None, size: JobSize, sort: bool = False) -> Workload:
    """Read a log, and print which lines were skipped. Raises as `rs.workload`."""
    from rebecsim.interface import workload

    return told(log, workload(log, processors=processors, size=size, sort=sort).jobs)


def told(path: Path, workload: Workload) -> Workload:
    """Print which lines of a log were skipped, and give the log."""
    from rebecsim.workloads.cleaning import skipped_lines

    for line in skipped_lines(workload.skipped):
        complain(f"{path}: {line}")
    return workload


@dataclass(frozen=True, kw_only=True)
class Showing:
    """Options for how much is printed."""

    more: Annotated[
        bool, typer.Option("--more", help="Show all queues or users, and all other figures.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class ShowingFiles(Showing):
    """Options for how much is printed, also of queue files."""

    verbose: Annotated[
        bool, typer.Option("--verbose", help="List the settings that have no effect here.")
    ] = False

    def tell_idle(self, lines: Iterable[str]) -> None:
        """Say how many settings have no effect; list them if asked to.

        Those of unknown names are always listed: they may be typing mistakes.
        """
        idle = list(dict.fromkeys(lines))
        all_of_them = self.verbose or len(idle) == 1
        listed = [each for each in idle if all_of_them or isinstance(each, UnknownName)]
        for line in listed:
            complain(line)
        if left := len(idle) - len(listed):
            settings = counted(left, "setting has", "settings have")
            others = counted(left, "other setting has", "other settings have")
            complain(f"{others if listed else settings} no effect here; --verbose lists them")


SHORTLY_OF_FILES = ShowingFiles()
"""No more than the answer."""


def show_answer(
    answer: GroupAnswer, more: Callable[[], Sequence[RenderableType]], showing: Showing
) -> None:
    """Print the answer by queue or user; all other figures too, where one run or all are asked for.

    `more` makes the other tables.
    """
    from rebecsim.report.groups import group_view

    console().print(group_view(answer, showing.more))
    if showing.more or len(answer.runs) == 1:
        for table in more():
            console().print(table)
    else:
        say("All queues or users, and all other figures: --more.")


_NUMBER = re.compile(r"[0-9]{1,18}")


def node_group(text: str, example: str) -> tuple[int, dict[str, int]]:
    """Read how many nodes, and what each has. Raises UserError, with an example."""
    count, _, parts = text.partition(":")
    pairs = [part.partition("=")[::2] for part in parts.split(",")] if parts else []
    resources = {name.strip(): value.strip() for name, value in pairs}
    numbers = (count.strip(), *resources.values())
    if len(resources) < len(pairs) or not all(_NUMBER.fullmatch(each) for each in numbers):
        raise UserError(f"--nodes {clipped(text, 100)}: write it as {example}")
    return int(count), {name: int(value) for name, value in resources.items()}


_FIRST, _UNANNOUNCED = 1.5, 10.0
"""Seconds until the first line of progress, of runs that were announced and of others."""
_NEXT = (10.0, 30.0)
_MINUTE = 60.0
_LOOK, _AGAIN = 0.1, 3.0
"""Seconds between two looks at the memory, and two interrupts."""

_MEGABYTE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SizeOptions:
    """Options about large runs: dry run, memory limit."""

    dry_run: bool = option("Print the estimated size of the runs, and stop.", False, "--dry-run")
    max_memory: int | None = option("Stop at so many megabytes of memory, workers included.", min=1)


class Watch:
    """Prints the progress of runs on standard error, and interrupts them at the memory limit."""

    def __init__(self, first: float, most: int | None = None) -> None:
        self._first = first
        self._most = None if most is None else most * _MEGABYTE
        self._begun = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._total = self._finished = 0
        self._is_quiet = False
        self._is_over = False
        self._heeded = threading.Event()

    def heeds(self) -> bool:
        """Whether the memory limit caused an interrupt; the watch then sends no more."""
        self._heeded.set()
        return self._is_over

    def start(self, total: int) -> None:
        """Restart the count with a total."""
        self._total, self._finished = total, 0

    def advance(self, finished: int) -> None:
        """Count runs that have just been finished."""
        self._finished += finished

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block works."""
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._thread.join()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Print nothing while the block shows the progress itself."""
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False

    def _watch(self) -> None:
        later = (each for each in _NEXT if each > self._first)
        for due in chain((self._first,), later, (_MINUTE * minute for minute in count(1))):
            if not self._wait(due):
                return
            if not self._is_quiet:
                complain(self._progress())

    def _wait(self, due: float) -> bool:
        """Wait until so many seconds have passed; give whether to go on watching."""
        while (left := self._begun + due - time.monotonic()) > 0:
            if self._ended.wait(left if self._most is None else min(left, _LOOK)):
                return False
            if self._most is not None and _memory() > self._most:
                self._interrupt()
                return False
        return True

    def _interrupt(self) -> None:
        """Interrupt until it works: Python drops exceptions raised while it frees objects."""
        self._is_over = True
        while not self._heeded.is_set():
            _interrupt()
            if self._ended.wait(_AGAIN):
                return

    def _progress(self) -> str:
        from rebecsim.files import duration

        done = f"{self._finished:,} of {self._total:,} runs" if self._total else "at work"
        return f"{done} after {duration(time.monotonic() - self._begun)}"


def _memory() -> int:
    """Give the memory of this process and its workers, in bytes."""
    from multiprocessing import active_children

    from rebecsim.exploration.checks import resident_bytes

    others = (resident_bytes(each.pid) for each in active_children() if each.pid is not None)
    return sum(each or 0 for each in (resident_bytes(), *others))


def _interrupt() -> None:
    """Interrupt the main thread as Ctrl-C does, in whatever it waits for."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def sized(
    size: Size | None, options: SizeOptions = SizeOptions(), runs: int = 1
) -> Iterator[Watch]:
    """Announce large runs, and show their progress while the block works.

    `size` is None where it is not known. With `--dry-run`, the program ends before the block. At
    the limit of memory it ends with exit code 3; a block that has something to show then catches
    KeyboardInterrupt and asks `heeds`.

    Raises LimitError for runs that are too large, and UserError for a limit of memory where the
    system does not tell how much is used.
    """
    if options.dry_run:
        say(f"{runs:,} runs; their size is not known" if size is None else size.text)
        raise typer.Exit
    if size is not None:
        size.require_bounded()
    is_large = size is not None and size.is_large
    if is_large and size is not None:
        complain(size.text)
    if options.max_memory is not None:
        _require_measurable()
    watch = Watch(_FIRST if is_large else _UNANNOUNCED, options.max_memory)
    with _heeding_interrupts(options), watch.watching():
        try:
            yield watch
        except KeyboardInterrupt:
            if not watch.heeds():
                raise
            complain(f"the memory limit was reached (--max-memory {options.max_memory})")
            raise typer.Exit(ExitCode.UNDECIDED) from None


def _require_measurable() -> None:
    """Raise UserError where memory cannot be measured; say so if only that of workers cannot."""
    from rebecsim.exploration.checks import resident_bytes

    unknown = "--max-memory: this system does not tell how much memory"
    if resident_bytes() is None:
        raise UserError(f"{unknown} is used; leave the option out")
    if resident_bytes(os.getpid()) is None:
        complain(f"{unknown} other processes use, so that of workers is not counted")


@contextmanager
def _heeding_interrupts(options: SizeOptions) -> Iterator[None]:
    """Let the memory limit interrupt the run, also where Ctrl-C is ignored."""
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if options.max_memory is None or not is_ignored:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


# --- plans -------------------------------------------------------------------------------------

_PATIENCE = 20.0
"""Seconds for an import that goes on when all else has ended; most take less than one."""


def run_many(
    loaded: LoadedScenario,
    out: Path | None,
    workers: int | None,
    engine: Engine,
    explain: bool = False,
) -> None:
    """Run a scenario, print what was observed, and with `out` keep results and report."""
    require("rebecsim simulate --runs", *REPORTS)
    leave_pandas_alone()
    from rebecsim.interface.comparing import Running
    from rebecsim.studies.executors import available_workers
    from rebecsim.studies.plan import plan_size
    from rebecsim.studies.study import per_task

    plan = loaded.plan()
    count = min(workers or available_workers(), -(-plan.total // per_task(plan.study, trace=False)))
    with kept_or_temporary(out) as directory:
        how = Running(directory, orders=False, workers=count, engine=engine)
        size = plan_size([plan], count)
        run_plan(plan, how, size, SizeOptions(), str(directory), explain, reported=out is not None)


def run_plan(
    plan: Plan,
    how: Running,
    size: Size | None,
    options: SizeOptions,
    advice: str,
    explain: bool,
    reported: bool = True,
) -> None:
    """Run a plan, print what was found, and write the report unless it is not to be `reported`.

    `advice` says where finished cells are when it is interrupted.
    """
    from rebecsim.interface.comparing import Telling, performed
    from rebecsim.report import report_view, write_report
    from rebecsim.report.figures import DRAWING_MODULES

    # Imported beside the simulation, because the report needs it afterwards.
    is_drawn_here = how.workers == 1 and reported
    seen: list[PlannedRun] = []  # the first one is that of the comparison
    with sized(size, options, plan.total) as watch:
        telling = Telling(partial(showing_runs, advice, watch=watch, seen=seen), complain, complain)
        with (
            _importing(DRAWING_MODULES[-1]) if is_drawn_here else nullcontext(),
            _showing_what_was_found(seen, watch),
            performed(plan, how, telling) as done,
        ):
            written = write_report(done.report, done.directory, done.executor) if reported else None
    console().print(report_view(done.report, explain))
    if written is not None:
        show_written(written, done.directory / "parts")


@contextmanager
def _showing_what_was_found(seen: Sequence[PlannedRun], watch: Watch) -> Iterator[None]:
    """Show the finished cells if the memory limit interrupts the block."""
    try:
        yield
    except KeyboardInterrupt:
        if seen and watch.heeds():
            from rebecsim.report import report_view
            from rebecsim.report.comparison import report_of_finished

            run = seen[0]
            finished, report = report_of_finished(run)
            if report is not None:
                console().print(report_view(report))
            complain(
                f"{finished} of {len(run.plan.cells)} cells are finished, in "
                f"{run.results.directory}: continue with --resume"
            )
        raise


@contextmanager
def _importing(module: str) -> Iterator[None]:
    """Import a module in a thread while the block runs, and wait for it at the end.

    Python must not end in the midst of an import, as it may after Ctrl-C: the thread would be
    stopped while it holds the lock of all imports, and what frees modules then waits for ever.
    """
    thread = threading.Thread(target=import_module, args=(module,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(_PATIENCE)


@contextmanager
def kept_or_temporary(kept: Path | None) -> Iterator[Path]:
    """Give the directory for results, or a temporary one."""
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="rebecsim-") as directory:
        yield Path(directory)


def show_written(written: WrittenReport, *more: Path) -> None:
    """Say where the files of a report are."""
    say(f"report  {written.html}")
    if written.charts:
        say(f"charts  {written.charts[0].parent}")
    folder = written.html.parent
    files = (*written.data, *more)
    names = [each.name if each.parent == folder else str(each) for each in files]
    text = f"data    {folder}: {', '.join(names)}"
    for line in wrap(text, 80, subsequent_indent=" " * 8, break_on_hyphens=False):
        say(line)


@contextmanager
def showing_runs(
    advice: str,
    runs: Sequence[PlannedRun],
    watch: Watch,
    seen: list[PlannedRun] | None = None,
) -> Iterator[Bar]:
    """Show a progress bar in a terminal while the block works; elsewhere the `watch` writes lines.

    When the block is interrupted, say how to go on. The runs are added to those `seen`.
    """
    if seen is not None:
        seen += runs
    from concurrent.futures import BrokenExecutor
    from concurrent.futures.process import BrokenProcessPool

    from rebecsim.report.comparison import progress_bar

    try:
        if error_console().is_terminal:
            with progress_bar(runs, error_console()) as bar, watch.quiet():
                yield bar
        else:
            yield watch
    except KeyboardInterrupt:
        if watch.heeds():
            raise
        complain(f"interrupted; finished cells are in {advice}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenProcessPool as error:
        raise WorkerKilledError(advice) from error
    except BrokenExecutor as error:
        raise WorkerKilledError(advice, str(error)) from error
