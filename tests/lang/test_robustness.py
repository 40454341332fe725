"""Whatever the text is, reading it gives a tree or a RebecaError."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from rebecsim.generate import NotNativeError, build_model, step_source
from rebecsim.lang import (
    Dialect,
    RebecaError,
    check_property,
    check_source,
    parse_expression,
    parse_model,
    parse_property,
    print_model,
    syntax,
)
from rebecsim.lang.reading.parser import MAX_LOOPS, MAX_STATEMENTS
from tests.examples import dear
from tests.lang import strategies

DIALECTS: tuple[Dialect, ...] = ("timed", "core")

MODEL = """\
env int N = 3; env float R = 0.5;
abstract reactiveclass Base(4) {
  statevars { int n; }
  abstract msgsrv go(boolean late);
}
reactiveclass A extends Base(N + 2) {
  knownrebecs { A next, last; }
  statevars { int[3] v; boolean b; float r; A friend; }
  A(int x) { n = x; friend = next; self.go(true) after(1); }
  @priority(1) msgsrv go(boolean late) {
    int k = ?(1, 2), j;
    for (int i = 0; i < N; i++) { v[i] += f(i) << 2; if (b) continue; else break; }
    while (!b && k > 0) { k--; }
    switch (k) { case 1: delay(2); break; default: ; }
    if (sender != self) { ((A) sender).go(b ? true : late) after(k) deadline(7); }
    assertion(k >= 0, "k is \\"positive\\""); /* c */ // d
    r = (float) k * R; n = (int) (r + .5e1) % 0x1f;
  }
  int f(int x) { if (x == 0) { return 1; } return x * f(x - 1); }
}
main { @priority(2) A a(b, a):(-1); A b(a, a):(N); }
"""
PROPERTY = """\
property {
  define { low = a.n < N; free = !a.b || a.friend == b; }
  Assertion { Safe: low && a.v[0] >= 0; }
  TCTL { Soon: AG(time <= 10, low || AF(free)); }
}
"""
FRAGMENTS = st.sampled_from(
    [
        *"(){}[];,.:?=+-*/%&|^!~<>@\"'\\#$\n\t\r\0",
        *("é", "/*", "*/", "//", "++", "&&", "==", "0x", "99999999999", "1e99", "int", "boolean"),
        *("msgsrv", "main", "super()", "sender", "now", "A", "null", "true", "a.b", "?(1)"),
        *("return", "break;", "else", "case 1:", "after(", "self."),
    ]
)
relaxed = settings(max_examples=dear(120), suppress_health_check=list(HealthCheck))


@st.composite
def mutations(draw: st.DrawFn, text: str) -> str:
    """The text with a few stretches deleted, doubled or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 6)))
        middle = draw(st.one_of(st.just(""), st.just(text[start:end] * 2), FRAGMENTS))
        text = text[:start] + middle + text[end:]
    return text


def test_the_unchanged_texts_are_right() -> None:
    check_property(parse_property(PROPERTY), check_source(MODEL))


T = TypeVar("T")


def outcome(read: Callable[[], T]) -> T | RebecaError:
    try:
        return read()
    except RebecaError as error:
        return error


def assert_explained(error: RebecaError) -> None:
    assert all(item.code and item.source_line is not None for item in error.diagnostics)
    assert str(error)


@relaxed
@given(mutations(MODEL), st.sampled_from(DIALECTS))
def test_a_changed_model_gives_a_model_or_an_error(text: str, dialect: Dialect) -> None:
    result = outcome(lambda: check_source(text, "m", dialect))
    if isinstance(result, RebecaError):
        assert_explained(result)
    else:
        assert parse_model(print_model(result.tree)) == result.tree


@relaxed
@given(mutations(PROPERTY))
def test_a_changed_property_file_gives_properties_or_an_error(text: str) -> None:
    model = check_source(MODEL)
    result = outcome(lambda: check_property(parse_property(text), model))
    if isinstance(result, RebecaError):
        assert_explained(result)


@relaxed
@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    for read in (parse_model, parse_expression, parse_property):
        result = outcome(partial(read, text))
        if isinstance(result, RebecaError):
            assert_explained(result)


@relaxed
@given(strategies.models, st.sampled_from(DIALECTS))
def test_any_tree_can_be_checked(tree: syntax.Model, dialect: Dialect) -> None:
    result = outcome(lambda: check_source(print_model(tree), "m", dialect))
    if isinstance(result, RebecaError):
        assert_explained(result)


def in_body(text: str) -> str:
    head = "reactiveclass A(1) { statevars { int x; } msgsrv m() { "
    return f"{head}{text} }} }} main {{ A a():(); }}"


DEEP = 500


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + "1" + ")" * 5000 + ";",
        ";" * 5000,
        "x = 1;" * 2000,
    ],
)
def test_what_is_long_but_flat_is_accepted(text: str) -> None:
    assert check_source(in_body(text))


@pytest.mark.parametrize(
    "text",
    [
        "{" * DEEP + "}" * DEEP,
        "if (true) " * DEEP + ";",
        "x = " + "- " * DEEP + "1;",
        "x = 1" + " + 1" * DEEP + ";",
        "x = " + "true ? 1 : " * DEEP + "1;",
        "x = " + "x = " * DEEP + "1;",
        "x = " + "(int) " * DEEP + "1;",
        "x = x" + "[0]" * DEEP + ";",
        "f(" * DEEP + ")" * DEEP + ";",
    ],
)
def test_what_is_nested_too_deeply_gives_an_error(text: str) -> None:
    with pytest.raises(RebecaError) as caught:
        check_source(in_body(text))
    assert caught.value.diagnostics[0].code in ("too-deep", "blocks-too-deep", "loops-too-deep")


@pytest.mark.parametrize("text", ["{" * DEEP + "}" * (DEEP + 3), "x = " + "(" * DEEP + "{"])
def test_a_mistake_after_what_is_nested_too_deeply_is_named(text: str) -> None:
    with pytest.raises(RebecaError) as caught:
        check_source(in_body(text))
    assert [each.code for each in caught.value.diagnostics] == ["unexpected"]


@pytest.mark.parametrize(
    "text",
    [
        "{" * MAX_STATEMENTS + "}" * MAX_STATEMENTS,
        "if (b) " * MAX_STATEMENTS + ";",
        "if (b) { " * MAX_STATEMENTS + "}" * MAX_STATEMENTS,
        "if (b) x = v[x]; else " * 170 + ";",
        "while (v[x] > 1) { " * MAX_LOOPS + "x = v[v[x]];" + "}" * MAX_LOOPS,
        "switch (v[x]) { case 1: if (b) break; default: " * MAX_LOOPS + "}" * MAX_LOOPS,
        "if (v[x] > 1) { " * 25 + "for (;v[x] > 0;) { " * MAX_LOOPS + "}" * (25 + MAX_LOOPS),
        "x = 1" + " + x" * 170 + ";",
        "r = 1" + " * r" * 170 + ";",
        "x = " + "(x - " * 55 + "1" + ")" * 55 + ";",
        "x = " + "- " * 34 + "1;",
        "b = " + "!" * 34 + "b;",
        "x = " + "v[" * 35 + "x" + "]" * 35 + ";",
        "f[(int) " + "f[(int) " * 15 + "r" + "]" * 16 + "= 1;",
        "x = " + "b ? v[x] : " * 33 + "1;",
        "x = " + "g(" * 34 + "1" + ")" * 34 + ";",
        "x = " + "(int) " * 34 + "1;",
    ],
)
def test_what_is_nested_just_not_too_deeply_goes_through_everything(text: str) -> None:
    model = check_source(
        "reactiveclass A(2) { statevars { int x; boolean b; float r; int[3] v; float[3] f; } "
        f"int g(int i) {{ return i; }} msgsrv go() {{ {text} }} }} main {{ A a():(); }}"
    )
    assert parse_model(print_model(model.tree)) == model.tree
    build_model(model)
    with suppress(NotNativeError):
        compile(step_source(model).text, "step", "exec")
