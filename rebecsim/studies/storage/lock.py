"""One writer at a time in a results directory."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rebecsim.studies.storage.results_error import ResultsError

if sys.platform != "win32":
    import fcntl


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Be the only writer of an existing directory while the block runs.

    The lock is `flock` on `.lock`: the operating system drops it when its process ends in
    whichever way, so there is nothing to clean up after a kill. The file stays, because removing
    it would let two processes lock two different files of that name; what it holds, who locked it
    last, is for the message only. On Windows there is no `flock` and nothing is locked: it is
    then up to the user not to run two processes in one directory.

    Raises ResultsError when another process (or another block of this one) is the writer, OSError
    when the lock file cannot be made.
    """
    if sys.platform == "win32":
        yield
        return
    with (directory / ".lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise ResultsError(
                f"{directory}: {holder} is writing here; wait for it, or choose another directory"
            ) from error
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}\n")
        file.flush()
        yield
