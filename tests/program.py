"""The program in tests: in this process, which is quick, or as a process of its own.

A test that is not about processes (signals, pipes, kills, full disks, what is imported) asks for
the fixture `run` of `tests/conftest.py`, which is `in_this_process`. That the program does the
same as a process is what `tests/endtoend/test_processes.py` is for.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rebecsim.cli import main
from rebecsim.cli.app import console, error_console
from rebecsim.clusters.kinds import (
    load_plugins,
    loaded_plugin_files,
    loaded_plugins,
    unload_plugin,
)

__all__ = [
    "Ended",
    "files_of_at_most",
    "fresh_consoles",
    "in_a_process",
    "in_this_process",
    "started",
    "undrawn",
    "without_progress",
]

COLUMNS = 100
"""How wide a terminal is, unless the test says otherwise."""


class Ended(NamedTuple):
    """What is left when the program has ended."""

    returncode: int
    stdout: str
    stderr: str


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Have writing fail behind this many bytes, as on a full disk (EFBIG instead of ENOSPC)."""
    import resource  # which Windows has none of

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def without_progress(text: str) -> list[str]:
    """Give the lines of an output but those that say, where it takes long, how far a run is."""
    return [line for line in text.splitlines() if " runs after " not in line]


def in_this_process(
    *arguments: object, cwd: Path | None = None, typed: str = "", columns: int = COLUMNS
) -> Ended:
    """Run the program here, as `main` is run: with these arguments, in this directory, typing this.

    It begins without plug-ins, and those that it loads are gone afterwards, as in a process. It
    compares without worker processes unless `--workers` asks for some: the results are the same,
    and two of them take as long to begin as most comparisons of the tests.
    """
    printed, complaint = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patched, fresh_consoles(), no_plugins():
        patched.setattr(sys, "argv", ["rebecsim", *map(str, arguments)])
        patched.setattr("rebecsim.studies.executors.available_workers", lambda: 1)
        patched.setattr(sys, "stdin", io.StringIO(typed))
        patched.setenv("COLUMNS", str(columns))
        if cwd is not None:
            patched.chdir(cwd)
        patched.setattr(sys, "stdout", printed)
        patched.setattr(sys, "stderr", complaint)
        with pytest.raises(SystemExit) as ended:
            main()
    return Ended(int(ended.value.code or 0), _written_to(printed), _written_to(complaint))


def _written_to(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def in_a_process(
    *arguments: object, cwd: Path | None = None, typed: str = "", columns: int = COLUMNS
) -> Ended:
    """Run the program as a user does."""
    with started(*arguments, cwd=cwd, columns=columns, stdin=subprocess.PIPE) as process:
        printed, complaint = process.communicate(typed, timeout=120)
    return Ended(process.returncode, printed, complaint)


def started(
    *arguments: object,
    columns: int = COLUMNS,
    environment: dict[str, str] | None = None,
    **options: Any,
) -> subprocess.Popen[str]:
    """Begin the program as a process whose output can be read; options are those of Popen."""
    return subprocess.Popen(
        [sys.executable, "-m", "rebecsim", *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": str(columns), "PYTHONUTF8": "1"} | (environment or {}),
    )


@contextmanager
def fresh_consoles() -> Iterator[None]:
    """Make the consoles anew: they remember how wide a terminal was, and whether there was one."""
    for each in (console, error_console):
        each.cache_clear()
    yield
    for each in (console, error_console):
        each.cache_clear()


@contextmanager
def undrawn() -> Iterator[None]:
    """Have reports of this process with the same small picture for every chart.

    For tests that look at no chart: drawing them takes longer than most runs of the tests.
    """
    empty = {".svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>', ".png": b"no picture"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rebecsim.report.page._rendered", lambda title, picture: dict(empty))
        yield


@contextmanager
def no_plugins() -> Iterator[None]:
    """Unload the plug-ins that are loaded, for a while, and those that are loaded meanwhile."""
    files = loaded_plugin_files()
    _unload_plugins()
    try:
        yield
    finally:
        _unload_plugins()
        load_plugins(map(Path, files))


def _unload_plugins() -> None:
    for record in reversed(loaded_plugins()):
        unload_plugin(record)
