"""Start, find, pause, resume and cancel studies from the browser.

A study keeps its notes in a folder of its run directory, so a later server finds it. Its process
locks this folder while it runs; the lock names the process."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from rebecsim.clusters.kinds import load_plugins, loaded_plugin_files
from rebecsim.errors import ArgumentError, ExitCode, UserError, WorkerKilledError
from rebecsim.files import (
    LimitError,
    parsed_json,
    read_plain,
    reason_of,
    temporary_name,
    write_atomically,
)
from rebecsim.processes import start_module
from rebecsim.studies.executors import available_workers
from rebecsim.studies.run_directory import exclusive, is_being_written, last_writer, locked_at
from rebecsim.web.limits import MOST_STUDIES, alone_in
from rebecsim.wording import printable

if TYPE_CHECKING:
    from rebecsim.clusters.scenarios import LoadedScenario
    from rebecsim.studies.running import Bar, PlannedRun

FOLDER = ".study"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}", re.ASCII)
LONGEST_SCENARIO = 40_000

_ASKED = {"name": str, "builtin": bool, "workers": int, "orders": bool}
_SEARCHED = {"what": str, "budget": int, "over": str}

OVER, BUDGET = "Values to choose from", "Most runs of a search"
"""What the form calls them."""

_MODULE = "rebecsim.web.studies.study_process"
_LONGEST_LOG = 8_000
_LARGEST_NOTE = 256 * 1024  # bytes of a file about a study
_BEGINNING = 30.0
"""Seconds in which a process begins, before it is taken for one that was killed."""

StudyState = Literal[
    "starting", "running", "paused", "ending", "done", "cancelled", "failed", "killed"
]
ALIVE: frozenset[StudyState] = frozenset({"starting", "running", "paused", "ending"})


@dataclass(frozen=True)
class Request:
    """A request for a study: `text` is the scenario; `builtin` if it names built-in files.

    `what` is empty for a comparison, or what is searched; see `rebecsim.search`. `over` are the
    values to choose from, as on the command line.
    """

    name: str
    text: str
    builtin: bool
    workers: int
    orders: bool
    what: str = ""
    budget: int = 0
    over: str = ""

    def loaded(self, root: Path) -> LoadedScenario:
        """Read the scenario, whose paths start from `root`, and the question. Raises UserError."""
        from rebecsim.interface.searching import searched
        from rebecsim.search.space import What, read_over
        from rebecsim.web.studies.scenarios import checked, text_in_form

        text = text_in_form(self.text, self.builtin, root)
        if not self.what:
            return checked(text)
        if self.what not in get_args(What):
            raise UserError("A study compares, searches for the best cell, or finds what matters.")
        try:
            over = read_over([self.over] if self.over.strip() else [], OVER)
            what = cast("What", self.what)
            return searched(text, what, over=over, budget=self.budget, loading=checked)
        except ArgumentError as error:
            label = {"over": OVER, "budget": BUDGET}.get(error.argument, error.argument)
            raise UserError(f"{label}: {error.fault}") from error


@dataclass(frozen=True)
class Progress:
    """The progress of a study, in its unit."""

    done: int
    total: int
    counted: str


@dataclass(frozen=True)
class StartedStudy:
    """A study that was started here, by its run directory."""

    directory: Path

    @property
    def name(self) -> str:
        """Its name."""
        return self.directory.name

    @property
    def state(self) -> StudyState:
        """Whether it runs, or how it ended."""
        # Asked first: a process that begins after that only seems to be starting still, while one
        # asked about last could have begun since it was asked whether it runs.
        is_beginning = self._is_beginning()
        if is_being_written(self.directory / FOLDER):
            if self._is_marked("ending"):
                return "ending"
            return "paused" if self._is_marked("paused") else "running"
        ended = self._note("ended.json")
        if ended is not None:
            if ended.get("code") == ExitCode.FINE:
                return "done"
            return "cancelled" if ended.get("code") == ExitCode.INTERRUPTED else "failed"
        return "starting" if is_beginning else "killed"

    @property
    def can_pause(self) -> bool:
        """Whether processes can be stopped and go on later; not on every system."""
        return hasattr(signal, "SIGSTOP")

    @property
    def why(self) -> str:
        """Why it ended; its last words if the process is gone."""
        ended = self._note("ended.json")
        if ended is not None:
            return str(ended.get("text", ""))
        return (self.log.strip().splitlines() or [""])[-1]

    @property
    def progress(self) -> Progress | None:
        """Its progress, if known."""
        far = self._note("progress.json") or {}
        try:
            return Progress(int(far["done"]), int(far["total"]), str(far["counted"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    @property
    def log(self) -> str:
        """The end of its log."""
        try:
            with (self.directory / FOLDER / "log.txt").open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LONGEST_LOG))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return printable(text if size <= _LONGEST_LOG else text.partition("\n")[2])

    # --- what can be done with it --------------------------------------------------------------

    def pause(self) -> None:
        """Pause its process. Raises UserError when it is not running, or cannot be paused."""
        self._require("running")
        if not self.can_pause:
            raise UserError(
                "This system cannot pause processes. Cancel the study instead: its finished "
                "cells are kept, and it can be resumed."
            )
        self._mark("paused")
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume it: where it was paused, or with the cells that are missing.

        Raises UserError, as do the others.
        """
        if self.state == "paused":
            self._unmark("paused")
            self._signal(signal.SIGCONT)
            return
        root = self.directory.parent
        with alone_in(root):
            self._require("cancelled", "failed", "killed", "done")
            _require_place(root)
            self.begin()

    def cancel(self) -> None:
        """End it as Ctrl-C would, the second time at once. Finished cells are kept."""
        self._require("running", "paused", "ending")
        if self._is_marked("ending"):
            self._signal(signal.SIGKILL)
            return
        self._mark("ending")
        self._signal(signal.SIGINT)
        if self.can_pause:
            self._signal(signal.SIGCONT)  # it may be paused, and would not hear

    def begin(self) -> None:
        """Start its process, which goes on when this one ends. Raises UserError."""
        place = self.directory / FOLDER
        for name in ("ended.json", "progress.json", "paused", "ending"):
            self._unmark(name)
        with _naming(self.directory):
            write_atomically(place / "begun.json", json.dumps({"at": time.time()}).encode())
            with (place / "log.txt").open("ab") as log:
                process = start_module(
                    _MODULE,
                    str(self.directory.parent),
                    self.name,
                    *map(str, loaded_plugin_files()),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        _ours[self.directory] = process

    # --- its notes -----------------------------------------------------------------------------

    def _note(self, name: str) -> dict[str, Any] | None:
        file = self.directory / FOLDER / name
        try:
            found = parsed_json(read_plain(file, _LARGEST_NOTE), file)
        except (OSError, ValueError, LimitError):
            return None
        return found if isinstance(found, dict) else None

    def _is_beginning(self) -> bool:
        """Whether a process was started a moment ago that has not locked the folder yet."""
        begun = (self._note("begun.json") or {}).get("at", 0)
        if not isinstance(begun, int | float):
            return False
        locked = locked_at(self.directory / FOLDER)
        if locked is not None and locked >= begun:
            return False
        process = _ours.get(self.directory)
        ours = process is not None and process.poll() is None
        return ours or 0 <= time.time() - begun < _BEGINNING

    def _is_marked(self, name: str) -> bool:
        return (self.directory / FOLDER / name).exists()

    def _mark(self, name: str) -> None:
        with _naming(self.directory):
            (self.directory / FOLDER / name).touch()

    def _unmark(self, name: str) -> None:
        with _naming(self.directory):
            (self.directory / FOLDER / name).unlink(missing_ok=True)

    def _require(self, *states: StudyState) -> None:
        if (state := self.state) not in states:
            raise UserError(f"{self.name} is {state}. Reload its page to see what you can do now.")

    def _signal(self, number: int) -> None:
        """Send a signal to its process and those that work for it, once it is sure which it is."""
        place = self.directory / FOLDER
        process = last_writer(place) if is_being_written(place) else None
        if process is None or not _is_of(process, self.directory):
            return
        try:
            os.killpg(process, number)
        except (ProcessLookupError, PermissionError) as error:
            raise UserError(
                f"{self.name}: the system refused a signal to its process: {error}"
            ) from error


_ours: dict[Path, subprocess.Popen[bytes]] = {}
"""Run directory -> the process that was last started for it here."""


def started_studies(root: Path) -> Iterator[StartedStudy]:
    """Find the studies that were started over a directory, in the order of their names."""
    for process in _ours.copy().values():
        process.poll()  # the system keeps an ended process until somebody asks
    for place in sorted(root.glob(f"*/{FOLDER}/request.json")):
        folder = place.parent
        is_named = NAME.fullmatch(folder.parent.name)  # and not one that is being made
        is_linked = folder.is_symlink() or folder.parent.is_symlink()
        if is_named and not is_linked and _has_plain_files(folder):
            yield StartedStudy(folder.parent)


def _has_plain_files(folder: Path) -> bool:
    """Whether all that is in a folder are files, and no links, folders or FIFOs."""
    try:
        with os.scandir(folder) as entries:
            return all(each.is_file(follow_symlinks=False) for each in entries)
    except OSError:  # it was removed
        return False


def start_study(root: Path, request: Request) -> StartedStudy:
    """Make the directory of a study below `root` and start it. Raises UserError."""
    if not NAME.fullmatch(request.name):
        raise UserError("The name may have at most 60 letters from a to z, digits, _ and -.")
    directory = root / request.name
    with alone_in(root):
        _require_place(root)
        if directory.exists() or directory.is_symlink():
            raise UserError(f"{request.name} exists already. Choose another name.")
        with _naming(directory):
            make_study(directory, request)
        study = StartedStudy(directory)
        try:
            study.begin()
        except UserError:
            shutil.rmtree(directory, ignore_errors=True)
            raise
    return study


@contextmanager
def _naming(directory: Path) -> Iterator[None]:
    """Turn an OSError in the block into a UserError that names the file below the root."""
    try:
        yield
    except OSError as error:
        named = Path(str(error.filename or directory))
        root = directory.parent
        file = named.relative_to(root) if named.is_relative_to(root) else named
        raise UserError(f"Study {directory.name}: {file}: {reason_of(error)}.") from error


def _require_place(root: Path) -> None:
    """Raise UserError when as many studies run as may."""
    alive = [each.name for each in started_studies(root) if each.state in ALIVE]
    if len(alive) >= MOST_STUDIES:
        raise UserError(
            f"{len(alive)} studies are running ({', '.join(alive)}). Cancel one, or wait for it."
        )


def make_study(directory: Path, request: Request) -> None:
    """Make the directory of a request, whole or not at all. Raises OSError."""
    beside = temporary_name(directory)
    try:
        (beside / FOLDER).mkdir(parents=True)
        kept = asdict(request)
        write_atomically(beside / FOLDER / "scenario.toml", kept.pop("text").encode())
        write_atomically(beside / FOLDER / "request.json", json.dumps(kept).encode())
        beside.rename(directory)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def read_request(directory: Path) -> Request:
    """Read the request of a study. Raises UserError if it is damaged."""
    place = directory / FOLDER
    file = place / "request.json"
    try:
        usual = {name: kind() for name, kind in _SEARCHED.items()}
        found = {**usual, **parsed_json(read_plain(file, _LARGEST_NOTE), file)}
        is_right = {name: type(value) for name, value in found.items()} == _ASKED | _SEARCHED
        scenario = read_plain(place / "scenario.toml", 4 * LONGEST_SCENARIO).decode("utf-8")
    except (OSError, ValueError, LimitError, AttributeError, TypeError):
        is_right = False
    if not is_right:
        raise UserError(
            f"{directory.name}: its request in {FOLDER} is damaged. Start it anew by another name."
        )
    workers = min(max(1, found["workers"]), available_workers())
    return Request(**found | {"text": scenario, "workers": workers})


def _is_of(process: int, directory: Path) -> bool:
    """Whether a process is the one of a study; where that cannot be seen, if it leads a group."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return sys.platform != "linux" and os.getpgid(process) == process
    told = [_MODULE.encode(), os.fsencode(directory.parent), os.fsencode(directory.name)]
    return any(words[place : place + 3] == told for place in range(len(words)))


_PAUSE = 0.25  # seconds between two notes of how far it is


def main(root: Path, name: str, plugins: Sequence[str] = ()) -> int:
    """Do a study below a directory, with plug-ins from files, and note how it ended."""
    out = root / name
    with exclusive(out / FOLDER):
        try:
            load_plugins(map(Path, plugins))
            _run(out, read_request(out))
        except KeyboardInterrupt:
            code, text = ExitCode.INTERRUPTED, "finished cells are kept"
        except UserError as error:
            code, text = ExitCode.BAD_INPUT, str(error)
        except Exception as error:  # whatever goes wrong is to be seen in the browser
            traceback.print_exc()
            code, text = ExitCode.INTERNAL_ERROR, f"{type(error).__name__}: {error}"
        else:
            code, text = ExitCode.FINE, "done"
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _say(text)
        _note(out, "ended.json", {"code": int(code), "text": text})
        return int(code)


def _run(out: Path, request: Request) -> None:
    """Run what is missing, and write the report. Raises UserError, KeyboardInterrupt."""
    from rebecsim.extras import leave_pandas_alone

    leave_pandas_alone()
    from concurrent.futures import BrokenExecutor

    from rebecsim.clusters.kinds import executor_with_plugins
    from rebecsim.interface.searching import cells_text
    from rebecsim.report import write_report
    from rebecsim.report.comparison import compared
    from rebecsim.studies.results import Results
    from rebecsim.studies.running import PlannedRun, StudyRunner, comparison_size
    from rebecsim.studies.study import How, modules_of

    _say(f"{request.name}: {request.workers} worker{'s' if request.workers > 1 else ''}")
    plan = request.loaded(out.parent).plan()
    plan.prepare(How(), _say)
    _say(cells_text(plan))
    how_large = comparison_size(plan, request.orders, request.workers)
    if how_large is not None:
        how_large.require_bounded()
        if how_large.is_large:
            _say(how_large.text)
    with executor_with_plugins(request.workers, modules_of(plan.study, "auto")) as executor:
        run = PlannedRun(plan, Results.open(out, plan, resume=True))
        noted = _Noted(out, plan.study.counted)
        try:
            runner = StudyRunner(executor, "auto", noted.showing, _say)
            report = compared(run, runner, request.orders)
            _say("writing the report")
            write_report(report, out, executor)
        except BrokenExecutor as error:
            raise WorkerKilledError("the study; resume it", str(error)) from error


class _Noted:
    """Writes the progress of a study to a file, at most a few times a second."""

    def __init__(self, out: Path, counted: str) -> None:
        self._out, self._counted = out, counted
        self._done = self._total = 0
        self._noted = 0.0

    @contextmanager
    def showing(self, runs: Sequence[PlannedRun]) -> Iterator[Bar]:
        """Note how far some runs are."""
        yield self
        self._note()

    def start(self, total: int) -> None:
        """Begin anew with a total."""
        self._done, self._total = 0, total
        self._note()

    def advance(self, finished: int) -> None:
        """Count runs that have just been finished."""
        self._done += finished
        if time.monotonic() - self._noted > _PAUSE:
            self._note()

    def _note(self) -> None:
        self._noted = time.monotonic()
        far = {"done": self._done, "total": self._total, "counted": self._counted}
        _note(self._out, "progress.json", far)


def _note(out: Path, name: str, what: dict[str, object]) -> None:
    write_atomically(out / FOLDER / name, json.dumps(what).encode())


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


if __name__ == "__main__":
    # Also where whoever started it had Ctrl-C ignored, as shells do for what runs beside them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
