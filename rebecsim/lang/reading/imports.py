"""Read a model with everything that it imports.

Where a model was read from a file, the texts of the files that it imports stand behind it as
comments. A text is so complete: it means the same wherever it is kept, and its lines keep their
numbers. A file of the same name is looked for there first. Otherwise only the files of the package,
`lib/...`, are known, so a text from elsewhere reads no file of this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, NoReturn

from rebecsim.lang import syntax
from rebecsim.lang.errors import Diagnostic, RebecaCheckError, diagnose, read_source, with_source
from rebecsim.wording import suggestion

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PACKAGED = "lib/"
_GAP = r"(?:\s|/\*.*?\*/|//[^\n]*)*+"
_IMPORT = re.compile(rf'{_GAP}import{_GAP}"([^"\n]*)"{_GAP};', re.S)
_BEHIND = re.compile(r"^// imported from (.+):\r?\n((?://\|.*(?:\n|\Z))+)", re.M)


def read_model(path: str | Path) -> str:
    """The text of a model; of one in Rebeca with the files that it imports behind it.

    Raises as `read_source`, for those files, too; one that is not there is left out.
    """
    text = read_source(path)
    return bundled(text, path) if Path(path).suffix == ".rebeca" else text


def bundled(text: str, path: str | Path | None = None) -> str:
    """The text of a model of this path with the files that it imports behind it, as comments.

    Without a path, only those of the package. Raises as `read_model`.
    """
    known = _texts_behind(text)
    added = _imported(text, known, path)
    new = {key: one for key, one in added.items() if key not in known}
    if not new:
        return text
    return (text if text.endswith("\n") else f"{text}\n") + "".join(
        f"// imported from {key}:\n" + "".join(f"//| {line}\n" for line in one.split("\n"))
        for key, one in new.items()
    )


def imported_files(path: str | Path) -> list[Path]:
    """The files beside the package's that a model imports, and those that they import.

    Raises as `read_model`.
    """
    found = _imported(read_source(path), {}, path)
    return [Path(path).parent / key for key in found if not key.startswith(_PACKAGED)]


def _imported(text: str, known: dict[str, str], path: str | Path | None) -> dict[str, str]:
    """The texts of all files that a model of this path imports, as far as they are there."""
    pending = [(text, "")]
    added: dict[str, str] = {}
    while pending:
        one, folder = pending.pop()
        for found in _import_paths(one):
            key = _key(found, folder)
            if key is None or key in added:
                continue
            behind = known.get(key)
            behind = _stored(key, path) if behind is None else behind
            if behind is not None:
                added[key] = behind
                pending.append((behind, dirname(key)))
    return added


def _import_paths(text: str) -> Iterator[str]:
    """What a text imports, as far as it can be read: imports stand before all else."""
    place = 0
    while found := _IMPORT.match(text, place):
        yield found[1]
        place = found.end()


def _texts_behind(text: str) -> dict[str, str]:
    """The texts of imported files that stand behind a model."""
    return {
        found[1]: "\n".join(
            line.removeprefix("//|").removeprefix(" ")
            for line in found[2].removesuffix("\n").split("\n")
        )
        for found in _BEHIND.finditer(text)
    }


def _key(path: str, folder: str) -> str | None:
    """What a file is called in the whole model, as its path from the model's folder.

    None for a path that cannot be imported.
    """
    if path.startswith(_PACKAGED):
        return path
    if path.startswith("/") or "\\" in path or ":" in path or not path.endswith(".rebeca"):
        return None
    key = normpath(f"{folder}/{path}" if folder else path)
    return key if key.startswith("../") else f"./{key}"


def _package() -> Traversable:
    from importlib.resources import files  # only models that import something need it

    return files("rebecsim")


def _packaged() -> list[str]:
    """Name the files of the package, as they are imported."""
    folder = _package().joinpath("lib")
    names = (each.name for each in folder.iterdir() if each.name.endswith(".rebeca"))
    return sorted(_PACKAGED + name for name in names)


def stored_file(name: str) -> Path:
    """Where a file is that spans call so."""
    packaged = name.startswith(_PACKAGED)
    return Path(str(_package().joinpath(name))) if packaged else Path(name).absolute()


def _stored(key: str, path: str | Path | None) -> str | None:
    """The text of a file that is imported by a model of this path; None if it is not there."""
    if key.startswith(_PACKAGED):
        known = key in _packaged()
        return _package().joinpath(key).read_text("utf-8") if known else None
    file = None if path is None else Path(path).parent / key
    if file is None or not os.path.isfile(file):  # noqa: PTH113 - a name may be too long
        return None
    return read_source(file)


def whole_model(
    text: str, file: str = "<string>", *, parts: bool = False
) -> tuple[syntax.Model, dict[str, str]]:
    """The tree of a model with all that it imports, and the texts that it was read from.

    The texts have the names that spans carry. With `parts` the text may be
    one that others import, without main. Raises RebecaSyntaxError, and RebecaCheckError for a file
    that cannot be imported.
    """
    from rebecsim.lang.reading.parser import parse_any, parse_model  # models in Python need no Lark

    parse = parse_any if parts else parse_model
    tree = parse(text, file)
    texts = {file: text}
    if not tree.imports:
        return tree, texts
    reader = _Reader(file, _texts_behind(text), texts)
    reader.read(tree, (f"./{PurePath(file).name}",))
    trees = [*reader.trees, tree]
    return replace(
        tree,
        env_variables=tuple(each for part in trees for each in part.env_variables),
        classes=tuple(each for part in trees for each in part.classes),
        interfaces=tuple(each for part in trees for each in part.interfaces),
        imports=(),
    ), texts


@dataclass
class _Reader:
    """Reads what a model imports, each file once, behind those that it imports itself."""

    file: str
    behind: dict[str, str]
    texts: dict[str, str]
    trees: list[syntax.Model] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def read(self, tree: syntax.Model, path: tuple[str, ...]) -> None:
        """Read what a file imports; `path` are the files that import it, and itself."""
        from rebecsim.lang.reading.parser import MAX_NESTING, parse_library

        for node in tree.imports:
            key = _key(node.path, dirname(path[-1]))
            if key is None:
                self._refuse(diagnose("import-path", node.span, path=node.path))
            elif key in path:
                names = [self._name(each) for each in (*path[path.index(key) :], key)]
                shown = " imports ".join(names)
                self._refuse(diagnose("import-cycle", node.span, path=shown))
            elif len(path) > MAX_NESTING:
                self._refuse(diagnose("too-deep", node.span))
            elif key not in self.seen:
                self.seen.add(key)
                name, text = self._name(key), self._text(node, key)
                self.texts[name] = text
                part = parse_library(text, name)
                self.read(part, (*path, key))
                self.trees.append(part)

    def _name(self, key: str) -> str:
        """The name that spans carry."""
        if key.startswith(_PACKAGED):
            return key
        return str(PurePath(self.file).parent / key)

    def _text(self, node: syntax.Import, key: str) -> str:
        text = self.behind.get(key)
        text = _stored(key, None) if text is None else text
        if text is None:
            known = _packaged()
            meant = _PACKAGED + PurePath(key).name
            near = key if key.startswith(_PACKAGED) else meant if meant in known else ""
            hint = suggestion(near, known) if near else None
            self._refuse(diagnose("import-unknown", node.span, hint, path=node.path))
        return text

    def _refuse(self, found: Diagnostic) -> NoReturn:
        raise RebecaCheckError(with_source([found], self.texts))
