"""The manual is short, easy to read, and links its terms to the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, read_document
from tests.docs.reading import (
    README,
    guides_and_tutorials,
    manual,
    reading_ease,
    running_text,
    syllables,
    words_of,
    words_outside_blocks,
)
from tests.docs.test_documents import name_of

MANUAL = 75_000
"""Most words of the manual without the pages of published tables."""

GLOSSARY = ROOT / "docs/reference/glossary.md"
TERMS = [line[3:] for line in GLOSSARY.read_text("utf-8").splitlines() if line.startswith("## ")]

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)]*)\)")


def test_the_front_page_is_short():
    assert words_outside_blocks(README) <= 700


def test_the_front_page_shows_first_what_readers_look_for():
    page = read_document(README)
    assert any("pip install" in line for line in README.read_text("utf-8").splitlines()[:40])
    assert [line <= 40 for line, _ in page.images] == [True]
    first_python = next(block.line for block in page.blocks if block.language == "python")
    assert first_python <= len(README.read_text("utf-8").splitlines()) / 2


def test_the_manual_is_short():
    assert sum(map(words_of, manual())) <= MANUAL


@pytest.mark.parametrize("path", [README, *guides_and_tutorials()], ids=name_of)
def test_pages_for_readers_are_plain_english(path: Path) -> None:
    assert reading_ease(running_text(read_document(path))) >= 60


@pytest.mark.parametrize("path", guides_and_tutorials(), ids=name_of)
def test_a_term_links_to_the_glossary_where_it_first_stands(path: Path) -> None:
    text = running_text(read_document(path), links=True)
    unlinked = [term for term in TERMS if not is_linked_first(term, text)]
    assert not unlinked, f"link these at their first use to {GLOSSARY.name}"


def is_linked_first(term: str, text: str) -> bool:
    """Whether the first use of a term that is in no other link leads to its entry, if any."""
    anchor = term.lower().replace(" ", "-")
    links = list(_LINK.finditer(text))
    spaces = r"\s+"
    for use in re.finditer(rf"\b{term.replace(' ', spaces)}s?\b", text, re.IGNORECASE):
        link = next((each for each in links if each.start() < use.start() < each.end()), None)
        if link is None:
            return False
        if link["target"].endswith(f"glossary.md#{anchor}"):
            return True
    return True


def test_an_unlinked_term_is_noticed():
    linked = "Look for a [race](../reference/glossary.md#race). A race matters."
    assert is_linked_first("race", linked)
    assert is_linked_first("race", "See [Races](races.md).")
    assert not is_linked_first("race", f"A race. {linked}")
    assert not is_linked_first("message server", "Two message\nservers.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat on the mat.", 116.145),
        ("The cat sat.\n\n- The mat\n- A hat", 206.835 - 1.015 * 7 / 3 - 84.6),
        ("Tell the AppMaster of EDF what Hadoop gave you.", 206.835 - 1.015 * 6 - 84.6),
    ],
    ids=["one-sentence", "items-are-sentences", "names-are-left-out"],
)
def test_the_reading_ease_is_that_of_flesch(text, expected, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{text}\n\n| a | table |\n\n```sh\ncode\n```\n")
    assert reading_ease(running_text(read_document(page))) == pytest.approx(expected)


def test_text_without_words_has_no_reading_ease():
    with pytest.raises(ValueError, match="no text"):
        reading_ease("\n\n")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "a job runs times which shared queue asked"),
        (2, "message server model order table little wanted choices"),
        (3, "scheduler simulate policies example"),
        (4, "exploration variable machinery tutorial"),
        (5, "probability university"),
    ],
)
def test_syllables_are_counted(count, words):
    assert {word: syllables(word) for word in words.split()} == dict.fromkeys(words.split(), count)
