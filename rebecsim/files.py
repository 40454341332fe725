"""Read and write files, and limits on what is read and run.

Files are written whole or not at all. A path that the user gave may be a symbolic link: the link
stays, and its file is replaced. In a directory that somebody else may have made, no link is
followed: see `inside` and `open_plain`.

A small file can stand for a lot: a packed one for gigabytes, a count for a million jobs. Each limit
stands once, in `LIMITS`, with its default; a variable of the environment raises it. The table of
`docs/reference/limits.md` is that of this module."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from threading import get_ident
from typing import Any, BinaryIO, TextIO

from rebecsim.errors import UserError
from rebecsim.wording import counted

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


class LimitError(UserError):
    """Input beyond a limit. The text names the limit, what was found, and how to raise it."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit.

    Attributes:
        name: a word.
        default: what holds unless the environment says otherwise.
        unit: of the default, in the plural.
        bounds: what may not be larger.
        is_fixed: no variable raises it.
    """

    name: str
    default: int
    unit: str
    bounds: str
    is_fixed: bool = False

    @property
    def variable(self) -> str:
        """The variable of the environment that raises the limit."""
        return f"REBECSIM_MAX_{self.name.upper()}"

    @property
    def most(self) -> int:
        """The limit in force. Raises UserError if the variable is not a whole number above 0."""
        text = "" if self.is_fixed else os.environ.get(self.variable, "")
        if not text:
            return self.default
        if not re.fullmatch(r"0*[1-9]\d{0,17}", text, re.ASCII):
            raise UserError(f"{self.variable} should be a whole number above 0, not {text!r:.40}")
        return int(text)

    def require(self, found: int, where: object = "") -> None:
        """Raise LimitError if there is more than the limit; `where` is the file and place."""
        if found > self.most:
            raise self.exceeded(where, f"{found:,}", found)

    def exceeded(self, where: object, found: str, enough: int | None = None) -> LimitError:
        """Make the error for what is beyond the limit; `enough` would do, if that is known."""
        place = f"{where}: " if where else ""
        text = f"{place}{found} {self.unit}; the limit is {self.most:,} for {self.bounds}"
        if self.is_fixed:
            return LimitError(text)
        enough = 2 * self.most if enough is None else enough
        return LimitError(f"{text}. To raise it, set {self.variable}={enough}")


FILE = Limit("file", 256 << 20, "bytes", "a file that is read at once, unpacked")
LOG = Limit("log", 1 << 30, "bytes", "a log that is read line by line, unpacked")
HEADER = Limit("header", 1 << 20, "bytes", "the comments of a log")
XML = Limit("xml", 16 << 20, "bytes", "an XML file")
SOURCE = Limit("source", 1 << 20, "bytes", "a model, a property file or a scenario")
QUERY = Limit("query", 1_000, "megabytes", "the memory of a question in SQL")
RECORD = Limit("record", 64 << 20, "bytes", "the record of a run, and its exact orders")
REPORT = Limit("report", 1 << 20, "bytes", "the list of the files of a report")
VALUES = Limit("values", 10_000_000, "values", "a JSON file")
NESTING = Limit(
    "nesting",
    200,
    "levels",
    "nested brackets, elements, tables, or keys with dots",
    True,
)
ROWS = Limit("rows", 10_000_000, "jobs", "a log of a batch machine")
JOBS = Limit("jobs", 1_000_000, "jobs", "a trace of containers")
TASKS = Limit("tasks", 10_000_000, "tasks", "a run")
NODES = Limit("nodes", 1_000_000, "nodes", "a cluster")
ELEMENTS = Limit("elements", 100_000, "elements", "an array of a model")
CHOICES = Limit("choices", 100_000, "ways", "the choices of a message server together")
FORMULA = Limit("formula", 10_000, "parts", "a formula with its definitions put in")
AUTOMATON = Limit("automaton", 100_000, "transitions", "the automaton of a formula")

LIMITS = (
    *(FILE, LOG, HEADER, XML, SOURCE, RECORD, REPORT, QUERY, VALUES, NESTING),
    *(ROWS, JOBS, TASKS, NODES, ELEMENTS, CHOICES, FORMULA, AUTOMATON),
)
"""All of them, in the order of the reference page."""


def read_file(path: Path, limit: Limit = FILE, name: str = "", plain: bool = False) -> bytes:
    """Read a file at once; errors call it by `name`.

    With `plain` it may be a stranger's: no symbolic link, device or FIFO is opened. Raises
    LimitError, having read no more than the limit; OSError when the file cannot be read.
    """
    with os.fdopen(open_plain(path), "rb") if plain else path.open("rb") as file:
        content = read_more_than(file, limit.most)
        size = max(os.fstat(file.fileno()).st_size, len(content))
    if len(content) > limit.most:
        raise limit.exceeded(name or path, f"{size:,}", size)
    return content


_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS = bytes(set(range(256)) - set(_STEPS))


def require_small_json(content: bytes, where: object) -> None:
    """Raise LimitError for JSON of too many values, or nested too deep, before it is parsed.

    Commas and brackets are counted, also in texts: there are no more values than that.
    """
    opened = content.count(b"[") + content.count(b"{")
    VALUES.require(opened + content.count(b","), where)
    if opened > NESTING.most and _depth(content) > NESTING.most:
        NESTING.require(_depth(_TEXT.sub(b"", content)), where)


def _depth(content: bytes) -> int:
    """Give how deep brackets are in each other, those in texts among them."""
    brackets = content.translate(None, _OTHERS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def read_json(
    path: Path,
    hook: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    limit: Limit = FILE,
    plain: bool = False,
) -> Any:
    """Read a file of JSON in UTF-8, as `read_file` does; `hook` may change each object of it.

    Raises LimitError; ValueError for text that is not JSON; OSError when it cannot be read.
    """
    return parsed_json(read_file(path, limit, plain=plain), path, hook)


def parsed_json(
    content: bytes,
    where: object,
    hook: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
) -> Any:
    """Read JSON in UTF-8 that may be a stranger's; raises as `read_json` does."""
    require_small_json(content, where)
    return json.loads(content.decode("utf-8"), object_hook=hook)


LARGE = 60.0
"""Estimated seconds from which on runs are announced."""

_PROCESS = 100_000_000
"""Bytes of a process with what it has imported."""

_UNITS = ((1, "second", 60), (60, "minute", 60), (3_600, "hour", 24))
"""Seconds of a unit, its name, and how many make up the next one."""
_DAY = 86_400


@dataclass(frozen=True)
class RunSize:
    """One run, as far as it can be told beforehand.

    `seconds` are of one processor, and right within a factor of about three; `memory` is in bytes,
    beside that of the process. `tasks` is 0 where jobs have none; `of` is what is counted where it
    is no jobs. It may take many times as long where it takes so long `at_least`.
    """

    jobs: int
    tasks: int
    seconds: float
    memory: int
    of: str = "job"
    at_least: bool = False


@dataclass(frozen=True)
class Size:
    """All runs of a command.

    `largest` is the one with the most tasks, and of those the most jobs. `seconds` are of wall time
    with so many `workers`, `memory` is that of all processes in bytes.
    """

    runs: int
    largest: RunSize
    seconds: float
    memory: int
    workers: int
    at_least: bool = False

    @classmethod
    def of(cls, runs: Sequence[tuple[int, RunSize]], workers: int = 1) -> Size:
        """Put runs together: how many there are of each size. Raises ValueError for none."""
        largest = max((each for _, each in runs), key=lambda each: (each.tasks, each.jobs))
        number = sum(count for count, _ in runs)
        busy = max(1, min(workers, number))
        processes = busy + (workers > 1)
        return cls(
            number,
            largest,
            sum(count * each.seconds for count, each in runs) / busy,
            processes * _PROCESS + busy * max(each.memory for _, each in runs),
            busy,
            any(each.at_least for _, each in runs),
        )

    def require_bounded(self) -> None:
        """Raise LimitError for a run of too many tasks."""
        TASKS.require(self.largest.tasks)

    @property
    def is_large(self) -> bool:
        """Whether a user should know of it before the runs begin."""
        return self.seconds > LARGE

    @property
    def text(self) -> str:
        """Say it in a line."""
        of = counted(self.largest.jobs, self.largest.of)
        if self.largest.tasks:
            of += f" and {counted(self.largest.tasks, 'task')}"
        each = "" if self.runs == 1 else "each "
        time = ("at least " if self.at_least else "") + duration(self.seconds)
        by = f" with {counted(self.workers, 'worker')}" if self.workers > 1 else ""
        return (
            f"{counted(self.runs, 'run')}, {each}of up to {of}: estimated {time}"
            f"{by} and {max(self.memory // 1_000_000, 1):,} MB of memory"
        )


def duration(seconds: float) -> str:
    """Say how long something takes, roughly."""
    for unit, name, most in _UNITS:
        if (number := round(seconds / unit)) < most:
            return counted(max(1, number), name)
    return counted(round(seconds / _DAY), "day")
