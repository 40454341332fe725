"""How errors look."""

from __future__ import annotations

import pickle

import pytest
from lark.lexer import PatternStr

from rebecsim.lang import Diagnostic, RebecaError, check_source
from rebecsim.lang.reading.parser import _machine
from rebecsim.lang.reading.syntax_errors import _WORDS
from rebecsim.lang.syntax import Span


def test_an_error_shows_place_line_caret_and_hint() -> None:
    text = "reactiveclass A(1) {\n\tA() { x = 1; }\r\n}\nmain { A a():(); }"
    with pytest.raises(RebecaError) as caught:
        check_source(text, "a.rebeca")
    assert str(caught.value) == (
        "a.rebeca:2:8: error: there is no variable `x` here\n    \tA() { x = 1; }\n    \t      ^"
    )
    with pytest.raises(RebecaError) as caught:
        check_source(text.replace("A(1)", "A(true)"), "a.rebeca")
    assert str(caught.value).startswith(
        "a.rebeca:1:17: error: the queue size must be a constant int of at least 1\n"
        "    reactiveclass A(true) {\n"
        "                    ^^^^\n"
        "hint: the queue holds the message being executed too\n"
        "a.rebeca:2:8: error:"
    )


def test_an_error_over_several_lines_marks_the_first_to_its_end() -> None:
    error = RebecaError([Diagnostic("no", Span("f", 1, 3, 2, 2), "try", "abcdef")])
    assert str(error) == "f:1:3: error: no\n    abcdef\n      ^^^^\nhint: try"
    assert error.message == "no"


def test_errors_travel_between_processes() -> None:
    with pytest.raises(RebecaError) as caught:
        check_source("reactiveclass A(1) { A() { x = y; } } main { A a():(); }")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value)
    assert copy.diagnostics == caught.value.diagnostics
    assert len(copy.diagnostics) == 2


def test_every_terminal_has_words_for_the_list_of_what_was_expected() -> None:
    terminals = _machine().lark.terminals
    without_text = {item.name for item in terminals if not isinstance(item.pattern, PatternStr)}
    assert without_text - {"COMMENT", "WHITESPACE"} <= set(_WORDS)
