"""Small models around a bad input, which `¶` marks, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebecsim.lang import Diagnostic, RebecaError, check_property, check_source, parse_property

MARK = "¶"
MAIN = "main { A a():(); }"
A = f"reactiveclass A(1) {{ }} {MAIN}"
LAMP = "reactiveclass A(2) { statevars { int x; boolean[2] v; } } main { A a():(); }"


def model(text: str) -> None:
    check_source(text, "model.rebeca")


def core(text: str) -> None:
    check_source(text, "model.rebeca", "core")


def member(text: str) -> None:
    model(f"reactiveclass A(2) {{\n{text}\n}}\n{MAIN}")


def body(text: str) -> None:
    """A message server of a class with one variable of most kinds and one of most members."""
    member(
        "statevars { int x; float r; boolean b; int[3] v; } msgsrv m(int p) { } int f() { "
        f"return 1; }} A() {{ }} msgsrv go(A other) {{\n{text}\n}}"
    )


def main(text: str) -> None:
    model(
        "env int N = 1; abstract reactiveclass S(1) { } reactiveclass A(1) { knownrebecs { B b; } "
        "A(int x) { } A(boolean x) { } A(byte x, int y) { } A(int x, byte y) { } } "
        f"reactiveclass B(1) {{ }} main {{\n{text}\n}}"
    )


def inherited(text: str) -> None:
    model(
        "abstract reactiveclass S(1) { S(int x) { } abstract msgsrv go(int x); int f() { return 1;"
        f" }} }}\n{text}\n{MAIN}"
    )


def timed_property(text: str) -> None:
    check_property(parse_property(text), check_source(LAMP))


def core_property(text: str) -> None:
    check_property(parse_property(text), check_source(LAMP, dialect="core"))


def errors_of(read: Callable[[str], None], text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(RebecaError) as caught:
        read(text.replace(MARK, ""))
    return caught.value.diagnostics


def place_of(read: Callable[[str], None], text: str) -> tuple[int, int]:
    """Line and column of the mark in the text that is read."""
    lines = text[: text.index(MARK)].split("\n")
    before = {member: 1, body: 2, main: 1, inherited: 1}.get(read, 0)
    return len(lines) + before, len(lines[-1]) + 1
