"""Run a study that was started in the browser, in a separate process.

It makes the same run directory as `rebecsim compare`, resumes one that exists, and writes its log,
progress and end into a folder of that directory. It locks this folder while it runs, which is how
a server finds it again.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.errors import UserError, WorkerKilledError
from rebecsim.exit_codes import ExitCode
from rebecsim.files import write_atomically
from rebecsim.studies.storage.lock import exclusive
from rebecsim.web.studies.started import FOLDER, read_request

if TYPE_CHECKING:
    from rebecsim.studies.running.comparing import Bar
    from rebecsim.studies.running.runner import PlannedRun
    from rebecsim.web.studies.started import Request

_PAUSE = 0.25  # seconds between two notes of how far it is


def main(root: Path, name: str) -> int:
    """Do a study below a directory, and note how it ended."""
    out = root / name
    with exclusive(out / FOLDER):
        try:
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
    from rebecsim.studies.storage.arrow import leave_pandas_alone

    leave_pandas_alone()
    from concurrent.futures import BrokenExecutor

    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.report import write_report
    from rebecsim.report.comparison import compared
    from rebecsim.studies.running.comparing import StudyRunner, comparison_size
    from rebecsim.studies.running.runner import PlannedRun
    from rebecsim.studies.storage.results import Results
    from rebecsim.studies.study import How
    from rebecsim.web.studies.scenario_texts import checked

    _say(f"{request.name}: {request.workers} worker{'s' if request.workers > 1 else ''}")
    plan = checked(request.text, request.builtin, out.parent).plan()
    plan.prepare(How(), _say)
    _say(f"{len(plan.cells)} cells, {plan.total} {plan.study.counted}")
    how_large = comparison_size(plan, request.orders, request.workers)
    if how_large is not None:
        how_large.require_bounded()
        if how_large.is_large:
            _say(how_large.text)
    with executor_with_plugins(request.workers, plan.study.modules("auto")) as executor:
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
    """How far a study is, in a file, a few times a second at most."""

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
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
