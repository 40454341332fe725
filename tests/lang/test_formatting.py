"""A formatted text means the same, and has all that its author wrote."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from pygments.token import Comment

from rebecsim.lang import RebecaLexer, RebecaSyntaxError, format_source, parse_model

MODELS = Path(__file__).resolve().parents[2] / "models"
LAYOUT = """\
// rebeca: core

reactiveclass A (3) // a class
{ knownrebecs { /* none */ } statevars { byte a; // first
  byte b; } A(){ a = (byte) ((1)); // x
  b = 0x1F; if (a == 1) { b = 2; }
  // otherwise
  else { b = 3; }
  // the end
  } }
main { A a():(); }
"""
LAID_OUT = """\
// rebeca: core

reactiveclass A(3) {  // a class
    /* none */
    statevars {
        byte a;  // first
        byte b;
    }

    A() {
        a = (byte) 1;  // x
        b = 0x1F;
        if (a == 1) {
            b = 2;
            // otherwise
        } else {
            b = 3;
        }
        // the end
    }
}

main {
    A a():();
}
"""


def test_layout_is_the_printers_and_the_rest_the_authors() -> None:
    assert format_source(LAYOUT) == LAID_OUT


@pytest.mark.parametrize("file", sorted(MODELS.rglob("*.rebeca")), ids=lambda file: file.stem)
def test_models_mean_the_same_and_stay_as_they_are_the_second_time(file: Path) -> None:
    text = file.read_text("utf-8")
    formatted = format_source(text)
    assert parse_model(formatted) == parse_model(text)
    assert comments(formatted) == comments(text)
    assert format_source(formatted) == formatted


def comments(text: str) -> list[str]:
    found = RebecaLexer().get_tokens_unprocessed(text)
    return [" ".join(value.split()) for _, kind, value in found if kind in Comment]


PIECES = re.sub(r"//.*|/\*.*\*/", "", LAYOUT).split()
REMARKS = ["// x\n", "/* y */", "\n// z\n", "/* a\n   b */\n", "\n\n", ""]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(REMARKS), min_size=len(PIECES), max_size=len(PIECES)))
def test_comments_anywhere_are_kept(remarks: list[str]) -> None:
    text = "".join(f"{remark} {piece}" for remark, piece in zip(remarks, PIECES, strict=True))
    formatted = format_source(text)
    assert parse_model(formatted) == parse_model(text)
    assert sorted(comments(formatted)) == sorted(comments(text))


def test_a_text_that_is_wrong_is_not_changed() -> None:
    with pytest.raises(RebecaSyntaxError):
        format_source("reactiveclass A(3) {")


@pytest.mark.parametrize("mark", ["\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_what_only_other_programs_take_for_the_end_of_a_line_stays(mark: str) -> None:
    text = LAID_OUT.replace("a = (byte) 1;", f'assertion(true, "x{mark}y");')
    assert mark in text
    assert format_source(text) == text
    assert format_source(text.replace("\n    ", "\n")) == text
