"""Files that are either whole or not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing", "temporary_name", "write_atomically", "writer_of"]


def temporary_name(path: Path) -> Path:
    """Give the name that this process writes a file under until it is whole: `.NAME.PID.tmp`."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def writer_of(temporary: Path) -> int | None:
    """Give the process that writes, or wrote, a temporary file; None for any other file."""
    found = re.fullmatch(r"\..+\.(\d+)\.tmp", temporary.name)
    return int(found[1]) if found else None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written; it has its name once all is written, when the block ends well.

    Raises OSError when the directory cannot be written; the old file, if any, is then unchanged.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or all of the new one.

    Raises OSError as `replacing`.
    """
    with replacing(path) as file:
        file.write(content)
