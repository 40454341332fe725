"""List the models that can be opened: built-in ones, and files below a directory.

An address names a model by a hash of its text, never by a path, so a request can reach only models
on this list.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from rebecsim.errors import UserError
from rebecsim.web.lessons.content import Lesson, lesson_about, lesson_hiding
from rebecsim.web.limits import TEXTS, visitor
from rebecsim.web.own_files import LARGEST_MODEL, OwnFiles, read_small_file

_MOST_FILES = 500
_MOST_VISITED = 20_000  # entries of directories
_MOST_KEPT = 500  # texts that were listed once
_MEANING = "rebecsim explorer 1"
"""Is changed when the numbers of transitions are, so that older addresses are not misread."""

Origin = Literal["yours", "teaching", "typed"]


@dataclass(frozen=True)
class ListedModel:
    """A model as it was read. `id` tells texts apart, `name` is what people see.

    `questions` is the property file beside it, if there is one, and `editor` the address of the
    page on which it was typed. If there is an `owner`, nobody else may see it.
    """

    id: str
    name: str
    origin: Origin
    file: Path
    text: str
    questions: Path | None = None
    editor: str = ""
    owner: str = ""

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
        found = kept or next((each for each in self.models() if each.id == model), None)
        return found if found is not None and found.is_shown else None

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
