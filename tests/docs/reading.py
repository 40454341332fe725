"""Measuring how long the manual is and how easy it is to read.

    python -m tests.docs.reading

prints for each page its words, as `wc -w` counts them, and its reading ease after Flesch (1948):
206.835 - 1.015 * words / sentences - 84.6 * syllables / words. 60 and more is plain English.
Code, tables, headings, pictures and names are left out of the reading ease.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.markdown import DOCUMENTS, ROOT, Document, read_document

README = ROOT / "README.md"

_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_NAME = re.compile(r"\w*(?:[A-Z]\w*[A-Z0-9]|\d)\w*")
_INLINE = re.compile(r"``[^`]+``|`[^`]+`")
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\([^)]*\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")
_END = re.compile(r"(?<=[.!?])[)*\"]*\s+|\n\n+")


def words_of(path: Path) -> int:
    """Count the words of a file, in blocks too: what stands between blanks and has a letter."""
    return sum(bool(re.search(r"\w", word)) for word in path.read_text("utf-8").split())


def words_outside_blocks(path: Path) -> int:
    """Give the words of a file that stand in no fenced block."""
    return sum(len(line.split()) for line in read_document(path).prose.values())


def manual() -> list[Path]:
    """Give the pages of the manual: all in docs/ but those of published figures."""
    return [
        path
        for path in DOCUMENTS
        if path.is_relative_to(ROOT / "docs") and not path.name.startswith("reproduction")
    ]


def guides_and_tutorials() -> list[Path]:
    """Give the pages that are read from top to bottom."""
    folders = (ROOT / "docs/tutorial", ROOT / "docs/guides")
    return [path for path in DOCUMENTS if path.parent in folders]


def reading_ease(text: str) -> float:
    """Give the reading ease after Flesch of running text. Raises ValueError if there is none."""
    sentences = [words for sentence in _END.split(text) if (words := _words(sentence))]
    words = [word for sentence in sentences for word in sentence]
    if not words:
        raise ValueError("there is no text to judge")
    spoken = sum(map(syllables, words))
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * spoken / len(words)


def _words(sentence: str) -> list[str]:
    """Give the words of a sentence without names: capitals within it, and what has digits."""
    found = _WORD.findall(_NAME.sub(" ", sentence))
    return found[:1] + [word for word in found[1:] if word[0].islower()]


def running_text(document: Document, *, links: bool = False) -> str:
    """Give what is read aloud of a page, paragraphs and items set apart; with `links` as such."""
    lines = []
    for line in document.prose.values():
        if line.startswith(("|", "#")):
            lines.append("\n")
            continue
        if _ITEM.match(line):
            lines.append("\n")
        text = _ITEM.sub("", _INLINE.sub("", _IMAGE.sub("", line)))
        lines.append(text.strip() or "\n")
    text = "\n".join(lines)
    return text if links else _LINK.sub(lambda link: link["text"], text)


_SILENT = re.compile(r"(?:[^laeiouy]es|[^aeiou]e|[^aeioudt]ed)$")
_SPOKEN = re.compile(r"(?:[cgsxz]|sh|ch)es$")
_APART = re.compile(r"i[aou]|[aeiou]ing|eo|ua|uou|ism$|[^aeiouyl]le[sd]?$")
_TOGETHER = re.compile(r"[tsc]io|[tc]ia|gio|geo|ieu|iou(?=s)|eous|qua|gua|peop")


def syllables(word: str) -> int:
    """Estimate the spoken syllables of an English word: groups of vowels, and common endings."""
    plain = word.lower().partition("'")[0]
    if len(plain) <= 3:
        return 2 if plain in ("any", "via") else 1
    count = len(re.findall(r"[aeiouy]+", plain))
    if _SILENT.search(plain) and not _SPOKEN.search(plain):
        count -= 1
    count += len(_APART.findall(plain)) - len(_TOGETHER.findall(plain))
    return max(count, 1)


def main() -> None:
    """Print the words and the reading ease of every page, and the words in all."""
    for path in (README, *manual()):
        text = running_text(read_document(path))
        print(f"{words_of(path):7,}  {reading_ease(text):5.1f}  {path.relative_to(ROOT)}")
    print(f"{words_outside_blocks(README):7,}  words of README.md outside of blocks")
    print(f"{sum(map(words_of, manual())):7,}  words of the manual without published tables")


if __name__ == "__main__":
    main()
