"""The cards of the first page: what each model is called, and which question it asks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rebecsim.web.editor_pages import editor_address
from rebecsim.web.lessons.content import lessons
from rebecsim.web.library import ListedModel

_LONGEST_QUESTION = 150
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
        words = each.file.stem.replace("_", " ")
        found.append(
            Tile(
                each,
                lesson.title if lesson else words[:1].upper() + words[1:],
                lesson.question if lesson else _first_sentence(each.text),
                lesson.name if lesson else "",
                editor_address(each),
            )
        )
    return found


def _first_sentence(text: str) -> str:
    """Give the first sentence of the comment at the top of a text; empty if there is none."""
    found = _COMMENT.match(text)
    if found is None:
        return ""
    paragraph = re.split(r"\n\s*\n", _MARKS.sub("", found[0]).strip())[0]
    sentence = re.split(r"(?<=[.?!])\s|:\s", " ".join(paragraph.split()))[0]
    if len(sentence) <= _LONGEST_QUESTION:
        return sentence
    return sentence[:_LONGEST_QUESTION].rpartition(" ")[0] + "…"
