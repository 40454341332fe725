"""Models as cards, with a title and a question, and the addresses where they are edited."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from rebecsim.web.lessons.content import lessons
from rebecsim.web.library import ListedModel

_LONGEST_TITLE, _LONGEST_QUESTION = 40, 150  # characters
_COMMENT = re.compile(r"\s*(?:(?://[^\n]*\n)+|/\*.*?\*/|\"\"\".*?\"\"\")", re.DOTALL)
_MARKS = re.compile(r"^\s*(//\s*rebeca:.*|//|/?\*+/?|\"\"\")|\*/|\"\"\"", re.MULTILINE)


@dataclass(frozen=True)
class Tile:
    """A card; `lesson` is the name of the lesson about the model, or empty, as is `editor`."""

    listed: ListedModel
    title: str
    question: str
    lesson: str
    editor: str


def tiles_of(models: Iterable[ListedModel]) -> list[Tile]:
    """Give a card for each model."""
    about = {each.model.rpartition("/")[2]: each for each in lessons()}
    found = []
    for each in models:
        lesson = about.get(each.file.name) if each.origin == "teaching" else None
        title, question = (lesson.title, lesson.question) if lesson else _said_of(each)
        found.append(
            Tile(
                each,
                title,
                question,
                lesson.name if lesson else "",
                editor_address(each),
            )
        )
    return found


def _said_of(model: ListedModel) -> tuple[str, str]:
    """Give a model's title and first sentence, from the comment at its top.

    A short first sentence is the title; without one it is the name of the file.
    """
    first, *others = _sentences(model.text) or [""]
    if first and len(first) <= _LONGEST_TITLE and "_" not in first:
        return first.removesuffix("."), others[0] if others else ""
    words = model.file.stem.replace("_", " ")
    return words[:1].upper() + words[1:], first


def _sentences(text: str) -> list[str]:
    """Give the sentences of the first paragraph of the comment at the top of a text."""
    found = _COMMENT.match(text)
    if found is None:
        return []
    paragraph = re.split(r"\n\s*\n", _MARKS.sub("", found[0]).strip())[0]
    sentences = re.split(r"(?<=[.?!])\s|:\s", " ".join(paragraph.split()))
    sentences = [each[:1].upper() + each[1:] for each in sentences]
    return [
        each
        if len(each) <= _LONGEST_QUESTION
        else each[:_LONGEST_QUESTION].rpartition(" ")[0] + "…"
        for each in sentences
    ]


def editor_address(listed: ListedModel) -> str:
    """Give the address where a model, or a copy, is edited; empty for Python and scenarios."""
    if listed.is_python or listed.cut is not None:
        return ""
    if listed.origin == "yours":
        return edit_address(file=listed.name)
    if listed.origin == "typed":
        return listed.editor or edit_address(new=listed.file.stem, copy=listed.id)
    return edit_address(new=listed.file.stem, start=listed.name)


def edit_address(**query: str) -> str:
    """Give the address of the editor that is asked for so."""
    return f"/edit?{urlencode(query)}"
