"""Run directories: make one, be its only writer, and open one of somebody else.

A run directory may have been sent by somebody else, so nothing in it is followed: it is opened only
if it holds no symbolic link, device or FIFO. The directory itself may be named by a link.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rebecsim.files import reason_of, writer_of
from rebecsim.studies.storage.lock import exclusive
from rebecsim.studies.storage.record import write_record
from rebecsim.studies.storage.results_error import ResultsError

RECORD = "run.json"
_PARTS = "parts"
LISTED = ".report.json"
"""The names of the files of a report, so that the next one can remove those that it has not."""

_MOST_NAMED = 5


def make_run(directory: Path, record: dict[str, Any]) -> None:
    """Make a run directory. Raises ResultsError if it cannot be made, or has anything in it."""
    try:
        _require_empty(directory)
        (directory / _PARTS).mkdir(parents=True, exist_ok=True)
        with exclusive(directory):
            _require_empty(directory)  # again: another process may have been quicker
            write_record(directory / RECORD, record)
    except OSError as error:
        raise ResultsError(f"{directory}: cannot be written: {reason_of(error)}") from error


def require_plain(directory: Path) -> None:
    """Raise ResultsError if a run directory holds anything but files and folders.

    Hidden folders are not searched: nothing in them is of the run. What has no record is no run.
    """
    folders = [directory] if os.path.lexists(directory / RECORD) else []
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith("."):
                        folders.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    what = "a symbolic link" if entry.is_symlink() else "neither file nor folder"
                    raise ResultsError(
                        f"{entry.path}: is {what}, so the run is not opened: a run directory "
                        "holds only its own files; remove it, or put a copy of the file there"
                    )


@contextmanager
def writing(directory: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Be the only process that writes into a run directory, and remove what killed ones left.

    What a user should know of locks is told to `warn`. Raises ResultsError when another process is
    writing, or the directory cannot be written.
    """
    with ExitStack() as stack:
        try:
            require_plain(directory)
            stack.enter_context(exclusive(directory, warn))
            _remove_temporary_files(directory)
        except OSError as error:
            raise ResultsError(f"{directory}: cannot be written: {reason_of(error)}") from error
        yield


def require_reportable(directory: Path) -> None:
    """Raise ResultsError unless a directory is new, empty, or has a run or a report in it."""
    _require_known(directory, RECORD, LISTED)


def _require_empty(directory: Path) -> None:
    if os.path.lexists(directory / RECORD):
        raise ResultsError(
            f"{directory}: holds the results of a run already; "
            "go on with it by --resume, or choose another directory"
        )
    _require_known(directory)


def _require_known(directory: Path, *known: str) -> None:
    """Raise ResultsError for a directory with files, none of which is one of the `known`."""
    found = sorted(_contents(directory))
    if found and not set(known) & set(found):
        more = len(found) - _MOST_NAMED
        names = ", ".join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        raise ResultsError(
            f"{directory}: this directory holds other files ({names}); choose a new or an empty one"
        )


def _contents(directory: Path) -> Iterator[str]:
    """Name what is in a directory but for what a process leaves that is killed as it makes a run.

    Other hidden files are nothing that a run would write over.
    """
    with suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == _PARTS and is_folder and not any(Path(entry.path).iterdir()):
                continue
            if entry.name == LISTED or not entry.name.startswith("."):
                yield f"{entry.name}/" if is_folder else entry.name


def _remove_temporary_files(directory: Path) -> None:
    """Remove temporary files of processes that are gone.

    Only the holder of the lock writes into the folders of parts and tables, so no file of another
    writer is in use there. Reports, and what a study of the browser notes in a hidden folder, are
    written without it, so their files are in use while their process is alive.
    """
    for path in directory.rglob(".*.tmp"):
        writer = writer_of(path)
        if writer is not None and (_is_of_parts(path) or not _is_alive(writer)):
            path.unlink(missing_ok=True)


def _is_of_parts(path: Path) -> bool:
    folder = path.parent
    is_shared = folder.name == "charts" or folder.name.startswith(".")
    return not is_shared and (folder.parent / RECORD).exists()


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
