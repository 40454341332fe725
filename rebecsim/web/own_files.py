"""Read and write the user's models for the editor, all below the path that was given.

A file is written only if it has not changed since it was read. The previous version stays beside
it, under its name and `~`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rebecsim.errors import UserError
from rebecsim.files import read_plain, write_atomically
from rebecsim.web.limits import alone_in

LARGEST_MODEL = 256 * 1024
"""Bytes of a model that is listed."""

LARGEST_TEXT = 128 * 1024
"""Bytes of a text that is typed in a browser."""

_LONGEST_NAME = 200
_FORBIDDEN = frozenset('\\:*?"<>|')


class ChangedMeanwhileError(UserError):
    """A file has changed since it was read."""


@dataclass(frozen=True)
class ReadFile:
    """The text of a file, and a digest that tells its contents apart."""

    text: str
    version: str


class OwnFiles:
    """The models below `given`, a directory, or only this one model; with None, there are none.

    Without `writes` they are read only.
    """

    def __init__(self, given: Path | None, *, writes: bool = True) -> None:
        is_python = given is not None and given.suffix == ".py" and not given.is_dir()
        self._given = None if is_python else given
        self._writes = writes

    @property
    def can_write(self) -> bool:
        """Whether there is a place for files."""
        return self._writes and self._given is not None

    def read(self, name: str) -> ReadFile:
        """Read a model. Raises UserError."""
        place, follow = self._place(name)
        data = read_small_file(place, follow=follow)
        if data is None:
            raise UserError(f"{name}: cannot be read, or is larger than {LARGEST_MODEL:,} bytes")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{name}: is not UTF-8 text. Convert it before you edit it here."
            ) from error
        return ReadFile(text.replace("\r\n", "\n"), _version(data))

    def write(self, name: str, text: str, version: str) -> str:
        """Write a model that has this version now, or without one is not there; give the new one.

        Raises UserError, ChangedMeanwhileError, OSError.
        """
        data = text.encode("utf-8", "replace")
        if len(data) > LARGEST_TEXT:
            raise UserError(f"A text may have at most {LARGEST_TEXT:,} bytes.")
        if not self._writes:
            raise UserError(
                "This server is for a class and saves no files. Download the model instead."
            )
        place, follow = self._place(name)
        with alone_in(place.parent):
            if not version:
                _write_new(place, name, data)
                return _version(data)
            found = read_small_file(place, follow=follow)
            if found is None or _version(found) != version:
                raise ChangedMeanwhileError(f"{name}: has changed on disk since you opened it")
            _keep_before(place, found)
            write_atomically(place, data)
        return _version(data)

    def _place(self, name: str) -> tuple[Path, bool]:
        """Give the path of a file, and whether it may be a link: only if the user named it."""
        if self._given is None:
            raise UserError("Start `rebecsim web DIRECTORY` to keep models on disk.")
        if not self._given.is_dir():
            if name != self._given.name:
                raise UserError(f"This server has only {self._given.name}. Save under that name.")
            return self._given, True
        parts = _parts(name)
        place = self._given
        for part in parts[:-1]:
            place /= part
            if place.is_symlink() or not place.is_dir():
                raise UserError(
                    f"{name[:_LONGEST_NAME]}: its directory does not exist. Make it first."
                )
        place /= parts[-1]
        if place.is_symlink():
            raise UserError(
                f"{name}: is a symbolic link, and rebecsim follows none here. Name a file."
            )
        root, real = self._given.resolve(), place.parent.resolve()
        if real != root and root not in real.parents:
            raise UserError(f"{name}: is outside the directory of this server")
        return place, False


def _parts(name: str) -> tuple[str, ...]:
    """Split a name into directories and a file. Raises UserError if it could lead elsewhere."""
    parts = PurePosixPath(name).parts
    wrong = (
        len(name) > _LONGEST_NAME
        or not name.endswith(".rebeca")
        or "/".join(parts) != name  # twice a slash, or `.` between
        or any(each.startswith((".", "/")) or each.endswith(" ") for each in parts)
        or not name.isprintable()
        or not _FORBIDDEN.isdisjoint(name)
    )
    if wrong or not parts:
        raise UserError(f"{name[:_LONGEST_NAME]!r} cannot name a model. Use NAME.rebeca.")
    return parts


def _keep_before(place: Path, data: bytes) -> None:
    """Save the present version as `NAME~`; a link of that name is replaced, not followed."""
    before = place.with_name(f"{place.name}~")
    if before.is_symlink():
        before.unlink()
    write_atomically(before, data)


def _write_new(place: Path, name: str, data: bytes) -> None:
    try:
        place.touch(exist_ok=False)
    except FileExistsError as error:
        raise ChangedMeanwhileError(f"{name}: exists already. Choose another name.") from error
    try:
        write_atomically(place, data)
    except OSError:
        place.unlink(missing_ok=True)
        raise


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def read_small_file(file: Path, *, follow: bool = False, most: int = LARGEST_MODEL) -> bytes | None:
    """Read a regular file; None for links (unless `follow`), devices, large files and errors."""
    try:
        return read_plain(file.resolve() if follow else file, most)
    except (OSError, ValueError, RuntimeError):  # of `resolve`: a loop of links
        return None
