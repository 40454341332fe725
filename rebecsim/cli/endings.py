"""How the program ends when something goes wrong: a line on standard error, and an exit code."""

from __future__ import annotations

import errno
import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from rebecsim.actors.violations import raised
from rebecsim.cli.app import complain
from rebecsim.errors import ExitCode, UserError, WorkerKilledError
from rebecsim.extras import EXTRAS, missing_package
from rebecsim.trust import cache_directory
from rebecsim.wording import clipped, closest_name

DEBUG = "REBECSIM_DEBUG"
"""The environment variable that, if not empty, has tracebacks shown."""

_LONGEST, _MOST_LINES = 2000, 100
"""Characters of a line of an error, and its lines."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class ProgramEnd(NamedTuple):
    """How the program ends: a message, if any, and the exit code."""

    text: str
    code: ExitCode


def end_with(error: Exception) -> ExitCode:
    """Print what ended the program, and give the exit code."""
    text, code = ending_of(error)
    if code in (ExitCode.CLOSED_PIPE, ExitCode.NOT_WRITTEN):
        _give_up_unwritable_output()
    with suppress(OSError):  # standard error is closed, too
        if os.environ.get(DEBUG):
            complain("".join(traceback.format_exception(error)).rstrip())
        if text:
            complain(text)
    return code


def ending_of(error: Exception) -> ProgramEnd:
    """Give the message and the exit code for an exception.

    That is one line, but for a mistake of this program, whose traceback is kept in a file.
    """
    if isinstance(error, BrokenPipeError):  # the reader of the output has ended
        return ProgramEnd("", ExitCode.CLOSED_PIPE)
    if isinstance(error, UserError):
        return _of_user_error(error)
    if isinstance(error, WorkerKilledError):
        return ProgramEnd(str(error), ExitCode.WORKER_KILLED)
    if isinstance(error, OSError):
        found = _of_os_error(error)
        if found is not None:
            return found
    if isinstance(error, MemoryError):
        text = "the memory is used up; try fewer workers or a smaller run"
        return ProgramEnd(text, ExitCode.UNDECIDED)
    return _of_other(error)


def _of_user_error(error: UserError) -> ProgramEnd:
    from rebecsim.actors import ModelCodeError
    from rebecsim.actors.watchdog import EndlessError

    if isinstance(error, EndlessError):
        return ProgramEnd(str(error), ExitCode.MODEL_FAILED)
    if not isinstance(error, ModelCodeError):
        cause = error.__cause__
        full = isinstance(cause, OSError) and cause.errno in _NO_ROOM
        text = _legible(str(error))
        return ProgramEnd(text, ExitCode.NOT_WRITTEN if full else ExitCode.BAD_INPUT)
    if error.file.startswith("<python of"):  # rebecsim made this code from Rebeca
        return _internal(error.__cause__ or error)
    return ProgramEnd(f"the model's own code failed: {error}", ExitCode.MODEL_FAILED)


def _legible(text: str) -> str:
    """Shorten a message that long input or many faults made too long to read."""
    lines = [clipped(each, _LONGEST) for each in text.splitlines()]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"... and {len(lines) - _MOST_LINES:,} more lines"]
    return "\n".join(lines)


def _of_os_error(error: OSError) -> ProgramEnd | None:
    """Give the ending of an error of the operating system, if it is about a file."""
    if error.errno in _NO_ROOM:
        if error.filename is None:
            text = f"standard output: {error.strerror}"
        else:
            place = Path(error.filename)
            text = f"{place}: {error.strerror}; it was not written. Make room in {place.parent}"
        return ProgramEnd(text, ExitCode.NOT_WRITTEN)
    if error.filename is None:
        return None
    text = f"{error.filename}: {error.strerror}"
    if error.errno == errno.ENOENT:
        text += _to_try(Path(error.filename))
    return ProgramEnd(text, ExitCode.BAD_INPUT)


def _to_try(missing: Path) -> str:
    """Say which folder of a missing file is missing, or which file has nearly its name."""
    absent = next((each for each in reversed(missing.parents) if not each.exists()), None)
    if absent is not None:
        return f"; there is no folder {absent}"
    with suppress(OSError):
        close = closest_name(missing.name, [each.name for each in missing.parent.iterdir()])
        return f"; did you mean {missing.parent / close}?" if close else ""
    return ""


def _of_other(error: Exception) -> ProgramEnd:
    from concurrent.futures.process import BrokenProcessPool

    from rebecsim.actors import Violation

    if isinstance(error, BrokenProcessPool):
        return ProgramEnd(str(WorkerKilledError()), ExitCode.WORKER_KILLED)
    if isinstance(error, ModuleNotFoundError) and (missing := missing_package("this", error)):
        return ProgramEnd(str(missing), ExitCode.BAD_INPUT)
    if isinstance(error, Violation):  # only constructors: a run catches its own
        return ProgramEnd(f"{error.verdict}: {error}, in a constructor", ExitCode.VIOLATED)
    return _internal(error)


def _internal(error: BaseException) -> ProgramEnd:

    return ProgramEnd(mistake_report(error), ExitCode.INTERNAL_ERROR)


def _give_up_unwritable_output() -> None:
    """Drop what standard output still holds, or Python would complain about it once more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
            os.close(nowhere)


_CORE = ("numpy", "pydantic", "lark", "jinja2", "pykka", "typer", "rich")
_LONGEST_FACT = 400


def mistake_report(error: BaseException) -> str:
    """Say what went wrong and what to report, and keep the traceback in a file."""
    what = clipped(" ".join(raised(error).split()), _LONGEST_FACT)
    command = clipped(shlex.join(["rebecsim", *sys.argv[1:]]), _LONGEST_FACT)
    packages = ", ".join(_versions())
    facts = {
        "command": command,
        "versions": f"rebecsim {_own_version()}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }
    lines = [f"  {name:<10}{text}" for name, text in facts.items()]
    trace = "".join(traceback.format_exception(error))
    log = _kept("\n".join([f"internal error: {what}", *lines, "", trace]))
    if log is not None:
        lines.append(f"  {'traceback':<10}{log}")
    return "\n".join(
        [
            f"internal error: {what}",
            "This is a mistake of rebecsim, not yours. Please report it with these lines and the "
            "traceback:",
            *lines,
        ]
    )


def _own_version() -> str:
    from rebecsim import __version__

    return __version__


def _versions() -> list[str]:
    found = []
    for package in (*_CORE, *(each for extra in EXTRAS.values() for each in extra.modules)):
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return found


def _kept(text: str) -> Path | None:
    """Write a file in the cache directory, or among temporary files; None where neither can be."""
    for place in (_folder, lambda: Path(tempfile.gettempdir())):
        try:
            directory = place()
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(
                "w",
                encoding="utf-8",
                errors="backslashreplace",
                dir=directory,
                prefix=time.strftime("rebecsim-%Y%m%d-%H%M%S-"),
                suffix=".log",
                delete=False,
            ) as file:
                file.write(text)
            return Path(file.name)
        except Exception:
            continue
    return None


def _folder() -> Path:
    """Give the folder for these files. Raises OSError without a home directory."""
    cache = cache_directory()
    if cache is None:
        raise FileNotFoundError
    return cache / "errors"
