"""The models that the server shows: teaching models, those of a directory, visitors' texts."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, urlsplit

from rebecsim.errors import UserError
from rebecsim.files import read_plain, write_atomically
from rebecsim.web.lessons.content import Lesson, lesson_about, lesson_hiding
from rebecsim.web.limits import TEXTS, alone_in, visitor

if TYPE_CHECKING:
    from rebecsim.web.cut_scenarios import CutScenario

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
    """Read a small regular file; None for links (unless `follow`), devices and errors."""
    try:
        return read_plain(file.resolve() if follow else file, most)
    except (OSError, ValueError, RuntimeError):  # of `resolve`: a loop of links
        return None


_MOST_FILES = 500
_MOST_VISITED = 20_000  # entries of directories
_MOST_KEPT = 500  # texts that were listed once
_MEANING = "rebecsim explorer 1"
"""Is changed when the numbers of transitions are, so that older addresses are not misread."""

Origin = Literal["yours", "teaching", "typed"]


@dataclass(frozen=True)
class ListedModel:
    """A model that was read. `id` identifies its text, `name` is its title for people.

    `questions` is the property file beside it, if there is one, and `editor` the address of the
    page on which it was typed. Only its `owner` may see it, if there is one. Of a cluster that is
    `cut` small the text is that of the scenario.
    """

    id: str
    name: str
    origin: Origin
    file: Path
    text: str
    questions: Path | None = None
    editor: str = ""
    owner: str = ""
    cut: CutScenario | None = None

    @property
    def is_python(self) -> bool:
        """Whether opening it runs a program: only a file that was named by the user."""
        return self.file.suffix == ".py"

    @property
    def is_shown(self) -> bool:
        """Whether the visitor may see it: typed texts of others and solutions are hidden."""
        who = visitor.get()
        hiding = lesson_hiding(self.name) if self.origin == "teaching" else None
        return who.may_see(self.owner) and (hiding is None or who.may_see_answers(hiding.name))

    @property
    def shows_answers(self) -> bool:
        """Whether the visitor may see what goes wrong in it, if it is of a lesson, or a copy."""
        lesson = self._lesson
        return lesson is None or visitor.get().may_see_answers(lesson.name)

    @property
    def shown_text(self) -> str:
        """The text, without comments that give away an answer that the visitor may not see."""
        lesson = self._lesson if self.origin == "teaching" else None
        return (
            self.text
            if lesson is None or self.shows_answers
            else lesson.without_spoilers(self.text)
        )

    @property
    def _lesson(self) -> Lesson | None:
        """The lesson about this model; of a copy, the one about the model it began with."""
        if self.origin == "yours":
            return None
        start = parse_qs(urlsplit(self.editor).query).get("start", [""])[0]
        return lesson_about(self.name if self.origin == "teaching" else start)


class Library:
    """The models; `given` is a model, a directory of models, or None. Raises UserError, OSError."""

    def __init__(self, given: Path | None = None, *, writes: bool = True) -> None:
        if given is not None:
            given.stat()
            if not given.is_dir() and given.suffix not in (".rebeca", ".py"):
                raise UserError(f"{given}: is neither a model (.rebeca, .py) nor a directory")
        self._given = given
        self.opens_scenarios = True
        self.directory = given if given is not None and given.is_dir() else None
        self.own = OwnFiles(given, writes=writes)
        self.named: ListedModel | None = None
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, ListedModel] = OrderedDict()
        self._typed: OrderedDict[str, ListedModel] = OrderedDict()
        if given is not None and given.is_file():
            self.named = self._listed(given, given.name, "yours", by_name=True)
            if self.named is None:
                raise UserError(
                    f"{given}: cannot be read, or is larger than {LARGEST_MODEL:,} bytes"
                )

    def models(self) -> list[ListedModel]:
        """Give all models, as their files are now: one's own first."""
        found = list(self._of_the_user())
        found += self._below(Path(str(files("rebecsim.models"))), "teaching", ("", "teaching"))
        with self._lock:
            for each in found:
                self._kept[each.id] = each
                self._kept.move_to_end(each.id)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return [each for each in found if each.is_shown]

    def find(self, model: str) -> ListedModel | None:
        """Give the model with this id, also if its file has been changed since it was listed.

        None where there is none, or the visitor may not see it.
        """
        with self._lock:
            kept = self._typed.get(model) or self._kept.get(model)
        found = kept or self._of_scenario(model)
        found = found or next((each for each in self.models() if each.id == model), None)
        return found if found is not None and found.is_shown else None

    def _of_scenario(self, model: str) -> ListedModel | None:
        """Give the cell of a scenario that an identifier names, if it is one."""
        from rebecsim.web.cut_scenarios import listed_so, read_id

        cut = read_id(model) if self.opens_scenarios else None
        if cut is None:
            return None
        text, ending = listed_so(cut)
        file = Path(f"{cut.scenario if cut.is_cut else cut.cell}{ending}")
        name = f"{cut.scenario}, {cut.cell}"
        listed = ListedModel(model, name, "typed", file, text, cut=cut if cut.is_cut else None)
        with self._lock:
            self._kept[model] = listed
        return listed

    def named_so(self, origin: Origin, name: str) -> ListedModel | None:
        """Give the listed model with this name, as its file is now."""
        found = (each for each in self.models() if (each.origin, each.name) == (origin, name))
        return next(found, None)

    def packaged(self, name: str) -> ListedModel:
        """Give a model that comes with the program. Raises UserError."""
        found = self.named_so("teaching", name)
        if found is None:
            raise UserError(f"{name}: rebecsim has no model of this name")
        return found

    def add_typed(
        self, text: str, name: str, editor: str, questions: Path | None = None, owner: str = ""
    ) -> ListedModel:
        """Add a text that was typed in a browser; the oldest ones are dropped."""
        file = Path(name).with_suffix(".rebeca")  # whatever was typed, it is no Python
        known = _id_of(file, text, owner)
        listed = ListedModel(known, name, "typed", file, text, questions, editor, owner)
        with self._lock:
            self._typed.pop(known, None)
            own = [each for each, other in self._typed.items() if other.owner == owner]
            if owner and len(own) >= TEXTS.each:
                del self._typed[own[0]]
            elif len(self._typed) >= TEXTS.most:
                self._typed.popitem(last=False)
            self._typed[known] = listed
        return listed

    def _of_the_user(self) -> Iterator[ListedModel]:
        if self._given is None:
            return
        if self._given.is_dir():
            yield from self._below(self._given, "yours")
            return
        again = self._listed(self._given, self._given.name, "yours", by_name=True)
        if again is not None:
            yield again

    def _below(
        self, root: Path, origin: Origin, only: tuple[str, ...] | None = None
    ) -> list[ListedModel]:
        """Find models below a directory, in order, without following links."""
        found: list[ListedModel] = []
        visited = 0
        for place, folders, names in os.walk(root):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            visited += len(folders) + len(names)
            inside = Path(place).relative_to(root).as_posix()
            if only is None or ("" if inside == "." else inside) in only:
                for name in sorted(names):
                    if name.endswith(".rebeca") and not name.startswith("."):
                        file = Path(place) / name
                        each = self._listed(file, file.relative_to(root).as_posix(), origin)
                        found += [] if each is None else [each]
            if visited > _MOST_VISITED or len(found) > _MOST_FILES:
                break
        return found[:_MOST_FILES]

    def _listed(
        self, file: Path, name: str, origin: Origin, *, by_name: bool = False
    ) -> ListedModel | None:
        data = read_small_file(file, follow=by_name)
        if data is None:
            return None
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        beside = file.with_suffix(".property")
        questions = beside if beside.is_file() and not beside.is_symlink() else None
        return ListedModel(_id_of(file, text), name, origin, file, text, questions)


def _id_of(file: Path, text: str, owner: str = "") -> str:
    content = f"{_MEANING}{owner}\n{file.suffix}\n{text}"
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]
