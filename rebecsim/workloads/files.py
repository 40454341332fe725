"""Workload files: plain or compressed, read in bounded pieces, written whole."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rebecsim import files
from rebecsim.limits import FILE, LOG, Limit
from rebecsim.workloads.errors import WorkloadError

LONGEST_LINE = 1 << 16
"""Bytes that a line of a log may have. A line of SWF has some hundred."""

_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


def whole_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """Read a file, gzip or plain, in pieces of whole lines, each with the number of its first.

    Pieces are about a megabyte, whatever the file is like. Which of the two it is, is seen from
    its first bytes; a byte order mark is left out. Raises WorkloadError for a line that is longer
    than `longest` and for compressed data that are damaged or cut off; LimitError for more than a
    log may have, unpacked; OSError when the file cannot be read.
    """
    line, rest, mark = 1, b"", codecs.BOM_UTF8
    with _opened(path, LOG) as file:
        while piece := _piece(path, line, file).removeprefix(mark):
            mark = b""
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                _require_short_lines(path, line, whole, longest)
                yield line, whole
                line += whole.count(b"\n") + 1
            _require_short_lines(path, line, rest, longest)
    if rest:
        yield line, rest


def whole_text(path: Path) -> bytes:
    """Read a file, gzip or plain, at once.

    Raises WorkloadError for compressed data that are damaged or cut off; LimitError for more than a
    file may have, unpacked; OSError when the file cannot be read.
    """
    pieces: list[bytes] = []
    line = 1
    with _opened(path, FILE) as file:
        while piece := _piece(path, line, file):
            pieces.append(piece)
            line += piece.count(b"\n")
    return b"".join(pieces)


@contextmanager
def replacing(path: Path) -> Iterator[_Writable]:
    """Open a file to be written, with gzip if it is named `.gz`; it is there once all is written.

    The same content gives the same bytes. Raises OSError when the directory cannot be written;
    a file that was there before is then unchanged.
    """
    with files.replacing(path) as raw:
        if path.suffix == ".gz":
            # No name and no time within: the same content, the same bytes.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
                yield packed
        else:
            yield raw


def first_bytes(path: Path) -> bytes:
    """Return the first piece of a file, unpacked; the whole file if it is small.

    Raises WorkloadError for a damaged file, OSError for one that cannot be read.
    """
    with _opened(path, LOG) as file:
        return _piece(path, 1, file).removeprefix(codecs.BOM_UTF8)


class _Bounded:
    """A file, unpacked, of which no more is read than a limit says."""

    def __init__(self, path: Path, file: _Readable, limit: Limit) -> None:
        self._path, self._file, self._limit = path, file, limit
        self._left = limit.most

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise self._limit.exceeded(self._path, f"unpacks to more than {self._limit.most:,}")
        return data


@contextmanager
def _opened(path: Path, limit: Limit) -> Iterator[_Readable]:
    with path.open("rb") as raw:
        compressed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        if compressed:
            with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                yield _Bounded(path, unpacked, limit)
        else:
            limit.require(path.stat().st_size, path)
            yield _Bounded(path, raw, limit)


def _piece(path: Path, line: int, file: _Readable) -> bytes:
    """Read the next bytes, those of about a line; nothing at the end."""
    try:
        return file.read(_BLOCK)
    except EOFError:
        raise WorkloadError.at(
            path, line, "the compressed data are cut off about here; fetch the file again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise WorkloadError.at(
            path, line, f"the compressed data are damaged about here ({error})"
        ) from None


def _require_short_lines(path: Path, first: int, text: bytes, longest: int) -> None:
    """Raise WorkloadError, with its number, if a line is too long to be one of a log."""
    if len(text) <= longest:
        return
    for number, each in enumerate(text.split(b"\n"), start=first):
        if len(each) > longest:
            raise WorkloadError.at(
                path, number, f"a line of more than {longest:,} bytes; this is not a workload log"
            )
