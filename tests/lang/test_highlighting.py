"""Colours: every model can be cut into tokens, and Pygments finds out how by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Error, Keyword

from rebecsim.lang import RebecaLexer

MODELS = sorted((Path(__file__).resolve().parents[2] / "models").rglob("*.rebeca"))


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_no_part_of_a_model_is_without_a_kind(file: Path) -> None:
    text = file.read_text("utf-8")
    tokens = list(RebecaLexer().get_tokens(text))
    assert "".join(part for _, part in tokens) == text
    assert not [part for kind, part in tokens if kind is Error]
    assert (Keyword.Declaration, "reactiveclass") in tokens


def test_pygments_knows_the_language() -> None:
    assert type(get_lexer_by_name("rebeca")) is RebecaLexer
    assert type(get_lexer_for_filename("a.property")) is RebecaLexer
