"""Notices what a command changes outside of its folder, and what it starts, for `fuzz.py`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
}
"""Events of the interpreter, and how many of their first arguments are paths."""
_STARTING = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}
    | {"subprocess.Popen"}
)
_CONNECTING = frozenset({"socket.bind", "socket.connect"})


class Touching:
    """Refuses to change files outside of a folder, while it is watched, and notes the attempt.

    Files that libraries change without Python are found by what `looked` folders hold.
    """

    def __init__(self, folder: Path, looked: tuple[Path, ...], cache: Path) -> None:
        self._allowed = tuple(f"{os.path.realpath(each)}{os.sep}" for each in (folder, cache))
        self._looked = looked
        self._before = [state_of(each) for each in looked]
        self._watching = self._strict = self._closed = False
        self._found = ""
        sys.addaudithook(self._heard)

    @contextmanager
    def watched(self, strict: bool) -> Iterator[None]:
        """Watch while the block works; unless `strict`, what is refused is not noted."""
        self._watching, self._strict, self._found = True, strict, ""
        try:
            yield
        finally:
            self._watching = False

    def found(self) -> str:
        """Say what was touched; nothing if all is as it was."""
        for place, before in zip(self._looked, self._before, strict=True):
            if (now := state_of(place)) != before:
                changed = sorted(name for name, _, _ in now ^ before)
                return f"{place.name}/{changed[0]}"
        return self._found

    def close(self) -> None:
        """Watch no more; a hook cannot be taken back."""
        self._watching = False

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watching:
            return
        if event == "open":
            path, mode, flags = arguments
            by_flags = isinstance(flags, int) and flags & _WRITING
            if by_flags or (isinstance(mode, str) and set(mode) & set("wax+")):
                self._require(event, path)
        elif event in _CHANGING:
            for path in arguments[: _CHANGING[event]]:
                self._require(event, path)
        elif event in _CONNECTING and isinstance(arguments[1], (str, bytes)) and arguments[1]:
            self._require(event, arguments[1])  # a file: how worker processes are reached
        elif event in _STARTING or event in _CONNECTING:
            self._refuse(event, str(arguments[:2])[:200])

    def _require(self, event: str, path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):  # a descriptor, opened before
            return
        real = os.path.realpath(os.fsdecode(path))
        if real != os.devnull and not f"{real}{os.sep}".startswith(self._allowed):
            self._refuse(event, real)

    def _refuse(self, event: str, what: str) -> None:
        if self._strict and not self._found:
            self._found = f"{event} {what}"
        raise PermissionError(errno.EACCES, "the fuzzer refuses", what)


def state_of(folder: Path) -> frozenset[tuple[str, int, int]]:
    """Give the names in a folder, of its files also sizes and times."""
    found = set()
    for each in os.scandir(folder):
        status = each.stat(follow_symlinks=False)
        is_folder = each.is_dir(follow_symlinks=False)
        found.add(
            (each.name, 0, 0) if is_folder else (each.name, status.st_size, status.st_mtime_ns)
        )
    return frozenset(found)
