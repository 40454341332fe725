"""Errors stay readable, and few, whatever the text is like."""

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.lang import Diagnostic, RebecaError, check_source
from rebecsim.lang.errors import MOST_SHOWN
from rebecsim.lang.syntax import Span
from rebecsim.wording import clipped, printable
from tests.examples import dear

MODEL = "reactiveclass A(2) {{ A() {{ {} }} msgsrv go() {{ }} }}\nmain {{ A a():(); }}\n"


def error_of(body):
    with pytest.raises(RebecaError) as found:
        check_source(MODEL.format(body), "a.rebeca")
    return found.value


def test_many_errors_in_one_long_line_are_counted_and_few_are_shown():
    error = error_of("".join(f"y{place}=1;" for place in range(3000)))
    assert len(error.diagnostics) == 3000
    text = str(error)
    assert text.count("error:") == MOST_SHOWN
    assert text.endswith("and 2,980 more errors")
    assert len(text) < 10_000


def test_a_long_name_is_shortened_in_line_and_message():
    text = str(error_of("z" * 50_000 + " = 1;"))
    assert len(text) < 2_000
    assert max(map(len, text.splitlines())) < 1_000


@settings(max_examples=dear(300))
@given(
    line=st.text(st.characters(codec="ascii", exclude_characters="\t\n"), min_size=1, max_size=999),
    data=st.data(),
)
def test_the_caret_stands_below_what_it_is_about(line, data):
    start = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(start + 1, len(line)))
    span = Span("a.rebeca", 1, start + 1, 1, end + 1)
    _, shown, carets = str(Diagnostic("wrong", span, source_line=line)).split("\n")
    first = carets.index("^")
    count = carets.count("^")
    assert shown[first : first + count] == line[start : start + count]
    assert count == end - start or (len(line) > 100 and 1 <= count < end - start)
    assert len(shown) <= 166


@given(st.text())
def test_nothing_printable_is_changed_and_nothing_else_is_left(text):
    shown = printable(text)
    assert printable(shown) == shown
    assert all(each in "\t\n" or ord(each) >= 32 for each in shown)
    assert "\x7f" not in shown
    if text.isprintable():
        assert shown == text


def test_a_short_text_is_not_clipped():
    assert clipped("short", 5) == "short"
    assert clipped("0123456789" * 2, 8) == "012345 … 89"
