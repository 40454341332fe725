"""Search state spaces in background processes, and remember their verdicts."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from rebecsim.processes import last_words, start_module
from rebecsim.web.library import ListedModel
from rebecsim.web.limits import SEARCHES, SEARCHES_AT_ONCE, Quota, visitor

_MOST_KEPT = 200
_LIMITS = {"seconds": 60, "memory": 1000}
_GRACE = 20.0
"""Seconds that a process has beyond its limit, to begin and to compile, before it is stopped."""


@dataclass
class Inquiry:
    """A question about a model, and what is known of the answer.

    `never` is a condition of which it is asked whether a run reaches it, or empty. `run` are the
    transitions of a run that shows the answer, `recorded` that run for a file, and `ends` says how
    runs end where nothing is violated. `races`: it is asked which orders matter, and `found` is
    what `rebecsim.web.race_pages` makes of the answer.
    """

    never: str = ""
    races: bool = False
    state: Literal["waiting", "searching", "done"] = "waiting"
    states: int = 0
    verdict: str = ""
    text: str = ""
    run: tuple[int, ...] | None = None
    recorded: dict[str, Any] | None = None
    ends: str = ""
    found: dict[str, Any] | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> int:
        """Whole seconds since the question was asked."""
        return int(time.monotonic() - self.began)


class Verdicts:
    """Finds verdicts, a few at once; each question about a text is answered once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str, bool], Inquiry] = OrderedDict()
        self._processes: set[subprocess.Popen[str]] = set()
        self._closed = False
        self._places = Quota(SEARCHES)
        self._workers = ThreadPoolExecutor(SEARCHES_AT_ONCE, thread_name_prefix="verdict")

    def ask(self, listed: ListedModel, never: str = "", *, races: bool = False) -> Inquiry:
        """Give the inquiry of a question, and start a search if it is new."""
        key = listed.id, never, races
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
            inquiry = Inquiry(never, races)
            client = visitor.get().name
            if self._closed or not self._places.take(client):
                inquiry.state, inquiry.verdict = "done", "not asked"
                inquiry.text = "you have too many searches open; try again in a minute"
                return inquiry
            self._known[key] = inquiry
            while len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
            self._workers.submit(self._find, listed, inquiry, client)
        return inquiry

    def close(self) -> None:
        """Stop all searches."""
        with self._lock:
            self._closed = True
            processes = list(self._processes)
        for each in processes:
            each.kill()
        self._workers.shutdown(wait=True, cancel_futures=True)

    def _find(self, listed: ListedModel, inquiry: Inquiry, client: str) -> None:
        why = ""
        try:
            with tempfile.TemporaryFile() as errors:
                with self._lock:
                    if self._closed:
                        return
                    process = start_module(
                        "rebecsim.web.verdict_worker",
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=errors,
                        encoding="utf-8",
                    )
                    self._processes.add(process)
                why = self._follow(process, listed, inquiry) or last_words(errors)
        except OSError as error:  # no process can be started
            why = error.strerror or str(error)
        finally:
            if not inquiry.verdict:
                inquiry.verdict = "undecided"
                inquiry.text = f"the search stopped: {why or 'its process was ended'}"
            inquiry.state = "done"
            self._places.free(client)

    def _follow(self, process: subprocess.Popen[str], listed: ListedModel, inquiry: Inquiry) -> str:
        """Send a process its question, and note what it prints until it ends.

        Gives why it was ended here, if it was.
        """
        seconds = _LIMITS["seconds"] + _GRACE
        late: list[str] = []

        def end() -> None:
            late.append(f"it had not ended after {seconds:.0f} seconds")
            process.kill()

        alarm = threading.Timer(seconds, end)
        alarm.daemon = True
        alarm.start()
        inquiry.state = "searching"
        try:
            with process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(json.dumps(request_of(listed, inquiry, **_LIMITS)) + "\n")
                process.stdin.close()
                for line in process.stdout:
                    note(inquiry, json.loads(line))
        except (OSError, ValueError):  # it was killed while it was being told, or spoke
            process.kill()
        finally:
            alarm.cancel()
            with self._lock:
                self._processes.discard(process)
        return "".join(late)


def request_of(listed: ListedModel, inquiry: Inquiry, **limits: int) -> dict[str, Any]:
    """Give what `verdict_worker` reads: the question, and limits as `Limits` has them."""
    never = inquiry.never
    return {
        "model": listed.id,
        "races": inquiry.races,
        "text": listed.text,
        "name": listed.file.stem,
        "cut": None if listed.cut is None else vars(listed.cut),
        "python": str(listed.file) if listed.is_python else None,
        "questions": None if listed.questions is None or never else str(listed.questions),
        "invariants": [f"!({never})"] if never else [],
        "limits": limits,
    }


def note(inquiry: Inquiry, said: dict[str, Any]) -> None:
    """Note what `verdict_worker` says: how far it is, or its answer."""
    inquiry.states = said.get("states", inquiry.states)
    if "verdict" in said:
        inquiry.text = said["text"]
        run = said.get("run")
        inquiry.run = None if run is None else tuple(run)
        inquiry.recorded = said.get("recorded")
        inquiry.found = said.get("found")
        inquiry.ends = said.get("ends", "")
        inquiry.verdict = said["verdict"]
