"""What may be executed: programs that the user consents to, and what this user kept between runs.

A model in Python is executed. Users who name one in a command or a call agree to that. A scenario
or a suite of models may come from somebody else and name a program: then users must agree first,
and see which files would be run.

The cache between runs: compiled code and models, read only if this user wrote them.

They hold compiled code, prepared models and the tables of the parser. Reading some of them runs
their code, so the directory of the cache, the folder in it and the file must belong to this user,
and no other user may write to them. Each file begins with a mark of its type and a checksum; a
damaged one is ignored. Files are written under a temporary name and renamed, so processes that
write the same one do not disturb each other.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rebecsim.errors import UserError
from rebecsim.files import replacing

Consent = Callable[[str, tuple[Path, ...]], None]
"""Called before Python files are executed, with the name of the file that names them.

Raises UserError unless they may be executed.
"""


class UntrustedCodeError(UserError):
    """A file names Python files, and the user has not said that they may be executed."""

    def __init__(self, origin: str, programs: Iterable[Path]) -> None:
        listed = ", ".join(map(str, programs))
        super().__init__(
            f"{origin}: names Python code, which rebecsim would run: {listed}; read it first, then "
            "add --trust (in Python, trust=True)"
        )


def refuse_programs(origin: str, programs: tuple[Path, ...]) -> None:
    """Withhold consent. Raises UntrustedCodeError."""
    raise UntrustedCodeError(origin, programs)


def run_programs(origin: str, programs: tuple[Path, ...]) -> None:
    """Give consent: the user has said that whatever is named may be executed."""


def is_program(model: str | Path) -> bool:
    """Whether a model of this name is a Python program, which is executed."""
    return Path(model).suffix == ".py"


def require_consent(consent: Consent, origin: str, files: Iterable[Path]) -> None:
    """Ask for consent if there are programs among the files that `origin` names.

    Raises what `consent` raises.
    """
    if programs := tuple(dict.fromkeys(filter(is_program, files))):
        consent(origin, programs)


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """A plug-in that is loaded, and which version of it."""

    name: str
    """The name of its file, or of its entry point as `package: entry point`."""

    sha256: str
    """The SHA-256 digest of its file, in hexadecimal."""


GRAMMAR_TABLES = "grammar-*.tables"
"""The files there that hold the tables of the parser."""

KEPT_MODELS = "models/*.model"
"""The files there that hold models laid out for the native engine."""

COMPILED = ".native"
"""How the names of files end there that hold compiled functions."""

_FOLDER = re.compile(r"numba-(?P<numba>[^-]+)-(?P<python>[^-]+)-[0-9a-f]{8}")


def cache_directory() -> Path | None:
    """Give the directory of compiled code, which need not exist; None without a home directory.

    It is `REBECSIM_CACHE` if that is set, and otherwise `rebecsim` in the user's cache directory.
    """
    if chosen := os.environ.get("REBECSIM_CACHE"):
        return Path(chosen)
    try:
        return _user_cache() / "rebecsim"
    except RuntimeError:  # no home directory
        return None


def _user_cache() -> Path:
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ".cache"


_CHECKSUM = hashlib.sha256
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OWN_FOLDER = 0o700
_OWN_FILE = 0o600


def kept_folder(name: str = "", *, make: bool = False) -> Path | None:
    """Give the directory of the cache, or the folder of this name in it, if it can be trusted.

    None if there is none, others can write to it, or it cannot be made.
    """
    directory = cache_directory()
    if directory is None:
        return None
    folder = directory / name
    try:
        if make:
            directory.parent.mkdir(parents=True, exist_ok=True)
        for each in dict.fromkeys((directory, folder)):
            if make:
                each.mkdir(mode=_OWN_FOLDER, exist_ok=True)
            if distrust(each):
                return None
    except OSError:
        return None
    return folder


def kept_file(pattern: str, *made_of: str) -> Path | None:
    """Give the file, in a folder that can be trusted, for what is worked out from these texts.

    `pattern` is the folder, if there is one, and the name, in which `*` stands for their hash.
    """
    name, _, file = pattern.rpartition("/")
    folder = kept_folder(name, make=True)
    if folder is None:
        return None
    return folder / file.replace("*", _CHECKSUM("\0".join(made_of).encode()).hexdigest()[:40])


def distrust(path: Path) -> str:
    """Say why what is kept in a directory could be somebody else's; nothing if it cannot.

    Raises OSError when there is no such directory.
    """
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a directory"
    return _distrust(found)


def _distrust(found: os.stat_result) -> str:
    if not hasattr(os, "geteuid"):  # Windows, where the user's directories are private
        return ""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & _OTHERS_WRITE:
        return "others may write to it"
    return ""


def read_kept(file: Path | None, mark: bytes) -> bytes | None:
    """Give what was kept in a file of a `kept_folder`; None if it is not there, or not to be used.

    `mark` says what is kept and in which form; it is the one that it was written with.
    """
    if file is None:
        return None
    try:
        with file.open("rb") as stream:
            found = os.fstat(stream.fileno())
            if not stat.S_ISREG(found.st_mode) or _distrust(found):
                return None
            content = stream.read()
    except OSError:
        return None
    start = len(mark) + _CHECKSUM().digest_size
    payload = content[start:]
    if content[:start] != mark + _CHECKSUM(payload).digest():
        return None
    return payload


def write_kept(file: Path | None, mark: bytes, payload: bytes) -> None:
    """Keep something in a file of a `kept_folder`; where that is not possible, do nothing."""
    if file is None:
        return
    with suppress(OSError), replacing(file, _OWN_FILE) as stream:
        stream.write(mark + _CHECKSUM(payload).digest() + payload)


# --- what is kept -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CacheFolder:
    """The compiled functions of one version of Numba and Python: how many, and their bytes."""

    path: Path
    numba: str
    python: str
    entries: int
    size: int


def cache_folders() -> list[CacheFolder]:
    """Describe what is in the cache, in the order of names. Raises OSError."""
    found = []
    for path, match in _folders():
        sizes = [entry.stat().st_size for entry in path.glob(f"*{COMPILED}")]
        found.append(CacheFolder(path, match["numba"], match["python"], len(sizes), sum(sizes)))
    return found


def is_anything_compiled() -> bool:
    """Tell whether there is a compiled function in the cache, of any version. Raises OSError."""
    return any(any(path.glob(f"*{COMPILED}")) for path, _ in _folders())


def clear_cache() -> None:
    """Delete all compiled code, kept models and grammar tables, of every version; nothing else.

    Raises OSError.
    """
    directory = cache_directory()
    if directory is not None:
        for entry in chain(directory.glob(GRAMMAR_TABLES), directory.glob(KEPT_MODELS)):
            entry.unlink(missing_ok=True)
    for path, _ in _folders():
        for entry in chain.from_iterable(map(path.glob, (f"*{COMPILED}", "*.tmp", "*.lock"))):
            entry.unlink(missing_ok=True)
        with suppress(OSError):  # another process has put something there just now
            path.rmdir()


def _folders() -> Iterator[tuple[Path, re.Match[str]]]:
    directory = cache_directory()
    if directory is None or not directory.is_dir():
        return
    for path in sorted(directory.iterdir()):
        match = _FOLDER.fullmatch(path.name)
        if match and path.is_dir():
            yield path, match
