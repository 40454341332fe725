"""Run directories: make one, be its only writer, and open one of another user.

The lock is `flock` on `.lock`. The operating system releases it when its process ends, so a killed
process leaves nothing to clean up. The file stays, because removing it would let two processes lock
two different files of that name. It holds the process, host, command and time of the last lock;
readers treat them as text of a stranger.

A run directory may have been sent by another user, so nothing in it is followed: it is opened only
if it holds no symbolic link, device or FIFO. The directory itself may be named by a link.
"""

from __future__ import annotations

import errno
import logging
import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from rebecsim.files import open_plain, reason_of, writer_of
from rebecsim.studies.record import ResultsError, write_record
from rebecsim.wording import clipped, printable

if sys.platform != "win32":
    import fcntl

_LOCK = ".lock"
_TRIES = 5
_WITHOUT_LOCKS = frozenset(
    {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
)
"""What a file system says that has no locks, as some in networks do."""
_WRITER = re.compile(
    r"(?P<who>process (?P<process>\d{1,9}) on (?P<host>[^\n]*))\n"
    r"(?:command (?P<command>[^\n]*)\nsince (?P<since>[^\n]*)\n)?"
)
"""What a lock file holds; earlier versions wrote the first line only."""

_LONGEST = 4_096  # characters of a lock file that are looked at
_LONGEST_COMMAND = 200
_PAUSE = 0.01  # a look at whether a directory is being written holds its lock for a moment


_log = logging.getLogger(__name__)


@contextmanager
def exclusive(directory: Path, warn: Callable[[str], None] = _log.debug) -> Iterator[None]:
    """Be the only writer of an existing directory while the block runs.

    On Windows there is no `flock` and nothing is locked: it is then up to the user not to run two
    processes in one directory. Neither has every file system, which is told to `warn`.

    Raises ResultsError when another process (or another block of this one) is the writer, or when
    `.lock` is something else; OSError when the lock file cannot be made.
    """
    if sys.platform == "win32":
        yield
        return
    with _opened(directory, os.O_RDWR | os.O_CREAT) as file:
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
            raise ResultsError(
                f"{directory}: {_said_of(file)} is writing here; wait for it, or choose another "
                "directory"
            )
        _require_own(directory / _LOCK, file)
        _sign(file)
        yield


def _opened(directory: Path, flags: int = os.O_RDONLY) -> IO[str]:
    mode = "r+" if flags & os.O_RDWR else "r"
    opened = open_plain(directory / _LOCK, flags)
    return os.fdopen(opened, mode, encoding="utf-8", errors="replace")


def _require_own(path: Path, file: IO[str]) -> None:
    """Raise ResultsError unless a file is for locks, and has no other name."""
    text = file.read(_LONGEST).strip("\0")  # NULs may remain after a loss of power
    if os.fstat(file.fileno()).st_nlink > 1 or (text and not _WRITER.fullmatch(text)):
        raise ResultsError(f"{path}: this is not a lock file of rebecsim; move it elsewhere")


def _sign(file: IO[str]) -> None:
    """Say in a lock file who has it, whole or not at all. Raises OSError."""
    command = printable(shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]).replace("\n", " "))
    since = datetime.now(UTC).isoformat(timespec="seconds")
    signature = (
        f"process {os.getpid()} on {platform.node()}\n"
        f"command {clipped(command, _LONGEST_COMMAND)}\nsince {since}\n"
    ).encode(errors="replace")
    # Without the buffer of the file, which would write its rest again when it is closed.
    os.ftruncate(file.fileno(), 0)
    if os.pwrite(file.fileno(), signature, 0) < len(signature):
        os.ftruncate(file.fileno(), 0)  # a part would not be recognised as ours
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _said_of(file: IO[str]) -> str:
    """Say who has a lock, as far as its file tells."""
    file.seek(0)
    found = _WRITER.fullmatch(printable(file.read(_LONGEST)))
    if found is None:
        return "another process"
    if found["command"] is None:
        return found["who"]
    return f"{found['who']} (`{found['command']}`, since {found['since']})"


def _locked(file: IO[str], wait: float) -> bool:
    """Lock a file for this process alone, unless another process has it."""
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
        with _opened(directory) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # it was never locked
        return False
    return False


def last_writer(directory: Path) -> int | None:
    """Give the process of this machine that has locked a directory last, if that is known."""
    try:
        with _opened(directory) as file:
            found = _WRITER.fullmatch(file.read(_LONGEST))
    except OSError:
        return None
    return int(found["process"]) if found and found["host"] == platform.node() else None


def locked_at(directory: Path) -> float | None:
    """Give when a directory was locked last, in seconds since 1970; None if it never was.

    An empty lock file is one whose maker still waits for the lock, or is about to sign.
    """
    try:
        found = (directory / _LOCK).lstat()
    except OSError:
        return None
    return found.st_mtime if found.st_size else None


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
            "continue it with --resume, or choose another directory"
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
