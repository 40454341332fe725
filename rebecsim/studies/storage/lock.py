"""One writer at a time in a results directory."""

from __future__ import annotations

import errno
import logging
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rebecsim.studies.storage.results_error import ResultsError

if sys.platform != "win32":
    import fcntl

_LOCK = ".lock"
_TRIES = 5
_WITHOUT_LOCKS = frozenset(
    {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
)
"""What a file system says that has no locks, as some in networks do."""
_PAUSE = 0.01  # whoever looks whether a directory is being written holds its lock for a moment


_log = logging.getLogger(__name__)


@contextmanager
def exclusive(directory: Path, warn: Callable[[str], None] = _log.debug) -> Iterator[None]:
    """Be the only writer of an existing directory while the block runs.

    The lock is `flock` on `.lock`: the operating system drops it when its process ends in
    whichever way, so there is nothing to clean up after a kill. The file stays, because removing
    it would let two processes lock two different files of that name; what it holds, who locked it
    last, is for the message only. On Windows there is no `flock` and nothing is locked: it is
    then up to the user not to run two processes in one directory. Neither has every file system,
    which is told to `warn`.

    Raises ResultsError when another process (or another block of this one) is the writer, OSError
    when the lock file cannot be made.
    """
    if sys.platform == "win32":
        yield
        return
    with (directory / _LOCK).open("a+", encoding="utf-8") as file:
        try:
            is_mine = any(_locked(file, wait) for wait in (0, *[_PAUSE] * _TRIES))
        except OSError as error:
            if error.errno not in _WITHOUT_LOCKS:
                raise
            warn(
                f"{directory}: this file system has no locks ({os.strerror(error.errno)}); do not "
                "let two processes write here at the same time"
            )
            is_mine = True
        if not is_mine:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise ResultsError(
                f"{directory}: {holder} is writing here; wait for it, or choose another directory"
            )
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}\n")
        file.flush()
        yield


def _locked(file: IO[str], wait: float) -> bool:
    """Lock a file for this process alone, if nobody else has it."""
    time.sleep(wait)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_being_written(directory: Path) -> bool:
    """Whether a process is the writer of a directory just now; on Windows that is not known."""
    if sys.platform == "win32":
        return False
    try:
        with (directory / _LOCK).open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # it was never locked
        return False
    return False


def last_writer(directory: Path) -> int | None:
    """Give the process of this machine that has locked a directory last, if that is known."""
    try:
        text = (directory / _LOCK).read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.fullmatch(r"process (\d{1,9}) on (.*)\n", text)
    return int(found[1]) if found and found[2] == platform.node() else None


def locked_at(directory: Path) -> float | None:
    """Give when a directory was locked last, in seconds since 1970; None if it never was."""
    try:
        return (directory / _LOCK).stat().st_mtime
    except OSError:
        return None
