"""Write files whole or not at all, and read the files of others safely.

A path that the user gave may be a symbolic link: the link stays, and its file is replaced. In a
directory that somebody else may have made, no link is followed: see `inside` and `open_plain`.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import Any, BinaryIO, TextIO

_PERMISSIONS = 0o666
"""What a new file permits, less the umask."""

_LONGEST_STEM = 200
"""Bytes of a name in that of its temporary file, so that this is not too long for a directory."""


def temporary_name(path: Path) -> Path:
    """Give the name that this thread writes a file under until it is whole.

    It is `.NAME.THREAD.PID.tmp`: two threads of a process may write the same file.
    """
    stem = os.fsdecode(os.fsencode(path.name)[:_LONGEST_STEM])
    return path.with_name(f".{stem}.{get_ident()}.{os.getpid()}.tmp")


def writer_of(temporary: Path) -> int | None:
    """Give the process that writes, or wrote, a temporary file; None for any other file."""
    found = re.fullmatch(r"\..+\.(\d+)\.tmp", temporary.name, re.DOTALL)
    return int(found[1]) if found else None


def place_of(path: Path) -> Path | None:
    """Give the file that a write to this path replaces: what a symbolic link stands for.

    None for files that are written into and not replaced: a device, a FIFO, or a file in `/dev`
    or `/proc`, as `/dev/stdout` does. Raises OSError for a directory.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode) or path.absolute().parts[1:2] in (("dev",), ("proc",)):
        return None
    return path.resolve() if path.is_symlink() else path


@contextmanager
def replacing(path: Path, permissions: int | None = None) -> Iterator[BinaryIO]:
    """Open a file to be written; it has its name once all is written, when the block ends well.

    A symbolic link stays, and the file that it stands for is replaced; a device or FIFO is written
    into. A new file has these `permissions`, or those of the file that it replaces. Raises OSError,
    with the path, when it cannot be written; the old file, if any, is then unchanged.
    """
    try:
        target = place_of(path)
        if target is None:
            with path.open("wb") as file:
                yield file
            return
        with _in_place_of(target, permissions) as file:
            yield file
    except OSError as error:
        raise _about(path, error) from error


@contextmanager
def _in_place_of(target: Path, permissions: int | None) -> Iterator[BinaryIO]:
    temporary = temporary_name(target)
    try:
        with os.fdopen(created(temporary, permissions), "wb") as file:
            if permissions is None:
                _permit_the_same(file.fileno(), target)
            yield file
            if target.exists() and not file.closed:  # a loss of power must not take both
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def created(temporary: Path, permissions: int | None = None) -> int:
    """Create a new file, which is neither another user's nor a link.

    Gives its descriptor. Raises OSError.
    """
    temporary.unlink(missing_ok=True)  # of a process of this number that was killed
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(temporary, flags, _PERMISSIONS if permissions is None else permissions)


def _permit_the_same(file: int, target: Path) -> None:
    """Give a file the permissions of the one that it replaces, if there is one."""
    if hasattr(os, "fchmod") and target.exists():
        os.fchmod(file, stat.S_IMODE(target.stat().st_mode))


def _about(path: Path, error: OSError) -> OSError:
    """Name the file that could not be written, which an error of writing itself does not."""
    named = error.filename is not None and writer_of(Path(error.filename)) != os.getpid()
    if error.errno is None or named:
        return error
    return OSError(error.errno, error.strerror or os.strerror(error.errno), str(path))


def reason_of(error: OSError) -> str:
    """Say in the words of the operating system what an error is, also one of another library."""
    return os.strerror(error.errno) if error.errno else str(error)


@contextmanager
def replacing_text(path: Path) -> Iterator[TextIO]:
    """Open a text file to be written, UTF-8 with plain line ends; else as `replacing`."""
    with replacing(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.detach()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or all of the new one.

    Raises OSError as `replacing`.
    """
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file, UTF-8 with plain line ends; else as `write_atomically`."""
    with replacing_text(path) as file:
        file.write(text)


def write_json(path: Path, data: Mapping[str, Any], indent: int | None = None) -> None:
    """Write an object as JSON; else as `write_atomically`."""
    write_text(path, json.dumps(data, ensure_ascii=False, indent=indent) + "\n")


def inside(directory: Path, name: str) -> Path:
    """Give the path of a file below a directory, which it is not led out of.

    The directory itself may be a symbolic link. Raises OSError if the file, or a folder that it is
    in, is one, or if the name leads upwards.
    """
    path, real = directory / name, directory.resolve()
    found = path.resolve()
    if found != real / name or not found.is_relative_to(real):
        raise OSError(errno.ELOOP, "a symbolic link leads out of the directory", str(path))
    return path


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a file that is no symbolic link, device or FIFO; give its descriptor.

    Raises OSError, also if it is one of these.
    """
    safely = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        found = os.open(path, flags | safely | getattr(os, "O_BINARY", 0), _PERMISSIONS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return found


def read_plain(path: Path, most: int) -> bytes:
    """Read a file of at most so many bytes that may be a stranger's; else as `open_plain`.

    Raises OSError, and ValueError for a larger file.
    """
    with os.fdopen(open_plain(path), "rb") as file:
        content = read_more_than(file, most)
    if len(content) > most:
        raise ValueError(f"it is larger than {most:,} bytes")
    return content


def read_more_than(file: BinaryIO, most: int) -> bytes:
    """Read a file whole, or one byte more than so many, in memory of its own size.

    Python would set aside at once all that is allowed, whatever the file holds.
    """
    size = os.fstat(file.fileno()).st_size
    content = file.read(min(most, size) + 1)
    if size < len(content) <= most:  # it grows, or is a FIFO
        content += file.read(most + 1 - len(content))
    return content


def digest_of(path: Path) -> str:
    """Give the BLAKE2b digest of a file, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
