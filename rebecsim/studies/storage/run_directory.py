"""Run directories: making one, and being the only writer of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rebecsim.files import reason_of, writer_of
from rebecsim.studies.storage.lock import exclusive
from rebecsim.studies.storage.record import write_record
from rebecsim.studies.storage.results_error import ResultsError

RECORD = "run.json"


def make_run(directory: Path, record: dict[str, Any]) -> None:
    """Make a run directory. Raises ResultsError if one is there or cannot be made."""
    _require_empty(directory)
    try:
        (directory / "parts").mkdir(parents=True, exist_ok=True)
        with exclusive(directory):
            _require_empty(directory)  # again: another process may have been quicker
            for left in (directory / "parts").glob("*.parquet"):  # of a run without a record
                left.unlink()
            write_record(directory / RECORD, record)
    except OSError as error:
        raise ResultsError(f"{directory}: cannot be written: {reason_of(error)}") from error


@contextmanager
def writing(directory: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Be the only process that writes into a run directory, and remove what killed ones left.

    What a user should know of locks is told to `warn`. Raises ResultsError when another process is
    writing, or the directory cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive(directory, warn))
            _remove_temporary_files(directory)
        except OSError as error:
            raise ResultsError(f"{directory}: cannot be written: {reason_of(error)}") from error
        yield


def _require_empty(directory: Path) -> None:
    if (directory / RECORD).exists():
        raise ResultsError(
            f"{directory}: holds the results of a run already; "
            "go on with it by --resume, or choose another directory"
        )


def _remove_temporary_files(directory: Path) -> None:
    """Remove temporary files of processes that are gone.

    Only the holder of the lock writes into the folders of parts and tables, so nobody else's file
    there is in use; reports are written without it, so theirs are when their process is alive.
    """
    for path in directory.rglob(".*.tmp"):
        writer = writer_of(path)
        if writer is not None and (_is_of_parts(path) or not _is_alive(writer)):
            path.unlink(missing_ok=True)


def _is_of_parts(path: Path) -> bool:
    folder = path.parent
    return folder.name != "charts" and (folder.parent / RECORD).exists()


def _is_alive(process: int) -> bool:
    """Whether a process of this machine is running; when in doubt it is."""
    if sys.platform == "win32":  # where signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
