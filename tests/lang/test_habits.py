"""What people write who come from Java, C or Python, and what they are told.

Each row is the smallest bad input with its mistake marked by `¶`, the message and the hint.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from rebecsim.lang import RebecaError, check_property, check_source, parse_property
from rebecsim.lang.errors import FOREIGN_WORDS, METHOD_HINTS, NAME_HINTS, TYPE_HINTS
from rebecsim.wording import closest_name
from tests.lang.bad_inputs import body, errors_of, main, member, model, place_of, timed_property

PRINT = NAME_HINTS["System"]
CHANCE = NAME_HINTS["Math"]
VISIBLE = FOREIGN_WORDS["private"]
CONSTANT = FOREIGN_WORDS["const"]
Row = tuple[Callable[[str], None], str, str, str]

JAVA: list[Row] = [
    (body, "¶this.x = 1;", "a rebec's own variables have no `this.` before them", "write `x`"),
    (body, "¶this.m(1);", "there is no variable `this` here", "write `self`"),
    (member, "¶private int x;", "`private` has no meaning here", VISIBLE),
    (member, "¶private A x;", "`private` has no meaning here", VISIBLE),
    (member, "¶public void m() { }", "`public` has no meaning here", VISIBLE),
    (member, "¶public A() { }", "there is no type `public`", VISIBLE),
    (member, "statevars { ¶protected int x; }", "`protected` has no meaning here", VISIBLE),
    (member, "statevars { ¶final int x; }", "`final` has no meaning here", CONSTANT),
    (body, "¶static int y;", "`static` has no meaning here", FOREIGN_WORDS["static"]),
    (model, "¶const int N = 1;", "`const` has no meaning here", CONSTANT),
    (model, "¶#define N 1", "unknown character `#`", CONSTANT),
    (model, "¶import java.util.*;", "`import` has no meaning here", FOREIGN_WORDS["import"]),
    (model, "¶class A(1) { }", "`class` has no meaning here", FOREIGN_WORDS["class"]),
    (body, '¶System.out.println("x");', "`System` has no meaning here", PRINT),
    (body, "¶System.out.println(x);", "there is no variable `System` here", PRINT),
    (body, "¶println(x);", "`A` has no method or message server `println`", PRINT),
    (body, '¶print("x");', "`print` has no meaning here", PRINT),
    (body, "¶String y;", "there is no type `String`", TYPE_HINTS["String"]),
    (body, '¶String y = "x";', "`String` has no meaning here", TYPE_HINTS["String"]),
    (member, "statevars { ¶bool x; }", "there is no type `bool`", "write `boolean`"),
    (member, "statevars { ¶Integer x; }", "there is no type `Integer`", "write `int`"),
    (body, "x = ¶random(3);", "`A` has no method or message server `random`", CHANCE),
    (body, "x = ¶Math.random();", "there is no variable `Math` here", CHANCE),
    (body, "¶Thread.sleep(3);", "there is no variable `Thread` here", METHOD_HINTS["sleep"]),
    (body, "other = ¶new A();", "`new` has no meaning here", FOREIGN_WORDS["new"]),
    (
        model,
        "reactiveclass A(1) { } main¶() { A a():(); }",
        "main has neither a type nor parentheses",
        "after the classes, write `main { Class name(known rebecs):(arguments); }`",
    ),
    (
        body,
        "b = ¶1;",
        "expected boolean, found int",
        "a boolean is `true` or `false`; a comparison such as `... != 0` is boolean",
    ),
    (
        body,
        "x = ¶true;",
        "expected int, found boolean",
        "declare it as boolean, or write `(... ? 1 : 0)`",
    ),
    (
        body,
        "x = ¶null;",
        "expected int, found null",
        "only variables of a reactive class can be null",
    ),
    (body, "b = ¶True;", "there is no variable `True` here", "write `true`"),
    (body, "other = ¶NULL;", "there is no variable `NULL` here", "write `null`"),
    (
        body,
        "if (¶x = 1) { }",
        "this condition is an assignment",
        "write `==` to compare, or assign before the condition",
    ),
    (body, "¶x == 1;", "this statement has no effect", "`=` assigns, `==` compares"),
    (body, "x = 1¶\nx = 2;", "missing `;`", "put `;` here"),
    (body, "if (b) { } ¶elif (b) { }", "`elif` has no meaning here", "write `else if`"),
    (body, "b = b ¶and b;", "`and` has no meaning here", "write `&&`"),
    (body, "b = b ¶or b;", "`or` has no meaning here", "write `||`"),
    (body, "if (¶not b) { }", "`not` has no meaning here", "write `!`"),
    (
        body,
        "for (int i ¶: v) { }",
        "`for` cannot iterate over an array",
        "use an index, as in `for (int i = 0; i < 3; i++) { ... v[i] ... }`",
    ),
    (
        body,
        "x = ¶v.length;",
        "an array has no `length`",
        "its length is constant: write 3, or an env constant",
    ),
    (body, "¶try { }", "`try` has no meaning here", FOREIGN_WORDS["try"]),
    (body, "¶assert b;", "there is no type `assert`", "write `assertion(condition);`"),
    (
        member,
        "msgsrv ¶void m() { }",
        "a message server has no result type",
        "write `msgsrv name(...)`, and send the result in a message",
    ),
    (
        member,
        "statevars { A a; } msgsrv n() { ¶a.m(); } void m() { }",
        "`m` is a method; it cannot be the name of a message",
        "declare it by `msgsrv m(...)` in `A`, or call it as a method: `m(...)`",
    ),
    (
        member,
        "¶int x;",
        "the variables of a rebec are declared in statevars",
        "as in `statevars { int x; }`",
    ),
    (
        model,
        "reactiveclass A extends ¶(1) { }",
        "the name of a class is missing after `extends`",
        "as in `reactiveclass A extends B(10) {`",
    ),
    (body, "¶self.m();", "`m` takes 1 argument, not 0", "it is declared as `m(int p)`"),
    (body, "self.m(¶b);", "expected int, found boolean", "it goes to `m(int p)`"),
    (
        main,
        "¶B b():(1);",
        "no constructor of `B` takes (int)",
        "it is declared as `B()`",
    ),
    (body, "x = ¶f;", "there is no variable `f` here", "`f` is a method: write `f(...)`"),
    (
        body,
        "x = ¶m;",
        "there is no variable `m` here",
        "`m` is a message server: write `self.m(...)`",
    ),
]

OFFICE = (
    "env int SEATS = 2; reactiveclass Office(2) {{ statevars {{ int left; boolean[2] sold; }} "
    "msgsrv buy(int seats) {{ {body} }} int price() {{ return 1; }} }} {main}"
)
OPEN = "main { Office north():(); Office south():(); }"


def office(text: str) -> None:
    model(OFFICE.format(body=text, main=OPEN))


def opened(text: str) -> None:
    model(OFFICE.format(body="", main=f"main {{ {text} }}"))


def office_property(text: str) -> None:
    checked = check_source(OFFICE.format(body="", main=OPEN))
    check_property(parse_property(f"property {{ Assertion {{ P: {text}; }} }}"), checked)


MEANT: list[tuple[Callable[[str], None], str, str]] = [
    (office, "¶lfet = 1;", "did you mean `left`?"),
    (office, "left = ¶seat;", "did you mean `seats`?"),
    (office, "left = ¶Seats;", "did you mean `seats`?"),
    (office, "left = ¶nwo;", "did you mean `now`?"),
    (office, "¶slef.buy(1);", "did you mean `self`?"),
    (office, "left = ¶pirce();", "did you mean `price`?"),
    (office, "¶self.bye(1);", "did you mean `buy`?"),
    (office, "¶self.reserve(1);", "there is `buy`"),
    (office, "¶ofice other;", "did you mean `Office`?"),
    (office, "¶Int x;", "did you mean `int`?"),
    (opened, "¶Ofice north():();", "did you mean `Office`?"),
    (office_property, "¶nroth.left > 0", "did you mean `north`?"),
    (office_property, "¶north.lft > 0", "did you mean `left`?"),
    (office_property, "¶left > 0", "write the rebec before it: `north.left`"),
    (office_property, "north.left > ¶SEAT", "did you mean `SEATS`?"),
]


@pytest.mark.parametrize(("read", "text", "message", "hint"), JAVA)
def test_what_java_people_write_is_explained(
    read: Callable[[str], None], text: str, message: str, hint: str
) -> None:
    diagnostics = errors_of(read, text)
    assert [(item.message, item.hint) for item in diagnostics] == [(message, hint)]
    assert (diagnostics[0].span.line, diagnostics[0].span.column) == place_of(read, text)


@pytest.mark.parametrize(("read", "text", "hint"), MEANT)
def test_the_name_that_was_meant_is_named(
    read: Callable[[str], None], text: str, hint: str
) -> None:
    assert [item.hint for item in errors_of(read, text)] == [hint]


def test_the_known_rebecs_of_main_are_searched() -> None:
    classes = "reactiveclass A(1) { knownrebecs { A next; } } "
    (mistake,) = errors_of(model, classes + "main { A first(secnd):(); A second(first):(); }")
    assert mistake.hint == "did you mean `second`?"


@pytest.mark.parametrize(
    "text",
    [
        "x = 1; x = x++ + 1; v[x++] = 2;",
        "if (b) { } else if (x == 1) { } else { }",
        "int System = 1; int this_ = System; int and = 2; x = and;",
    ],
)
def test_what_is_right_stays_right(text: str) -> None:
    body(text)


# --- one mistake, one error ----------------------------------------------------------------------

ONCE: list[tuple[Callable[[str], None], str, str]] = [
    (member, "knownrebecs { Foo f; } msgsrv m() { f.go(1); Foo g = f; g.go(f); }", "unknown-type"),
    (member, "statevars { Foo f; } msgsrv m(Foo g) { f = g; self.m(f); }", "unknown-type"),
    (member, "msgsrv m(String s) { } A() { self.m(1); }", "unknown-type"),
    (member, "msgsrv m() { Foo f; f.go(); f = null; }", "unknown-type"),
    (member, "statevars { int[0] v; } msgsrv m() { v[0] = 1; }", "array-length"),
    (member, "statevars { int now; } msgsrv m() { now = 1; }", "builtin-name"),
    (member, "statevars { int x; boolean x; } msgsrv m() { x = true; }", "duplicate"),
    (member, "msgsrv m() { } msgsrv m(int x) { } A() { self.m(1); self.m(); }", "duplicate"),
    (body, "y = 1; y = y + 2; if (y > 3) { y--; }", "unknown-name"),
    (body, "g(); g(); x = g();", "unknown-method"),
    (body, "self.n(); self.n(1);", "unknown-server"),
    (body, "x = Math.random() + 1;", "unknown-name"),
    (body, "b = Math.random() > 1;", "unknown-name"),
    (main, "C c():(); C d():(c); A a(c):(1);", "unknown-class"),
    (
        model,
        "reactiveclass A extends B(1) { A() { super(1); x = 1; f(); self.m(); } msgsrv n() { } } "
        "reactiveclass C extends A(1) { C() { y = 1; } } main { A a():(); C c():(); }",
        "unknown-class",
    ),
    (
        model,
        "reactiveclass A(1) { knownrebecs { Foo f; } msgsrv m() { f.m(); } } "
        "main { A a(b):(); Foo b():(); }",
        "unknown-type",
    ),
    (
        model,
        "env int N = M; reactiveclass A(N) { statevars { int[N] v; } } main { A a():(); }",
        "unknown-name",
    ),
    (
        timed_property,
        "property { define { d = a.y; } Assertion { P: d > 1; Q: d; R: a.y; } }",
        "property-variable",
    ),
]


@pytest.mark.parametrize(("read", "text", "code"), ONCE)
def test_one_mistake_gives_one_error(read: Callable[[str], None], text: str, code: str) -> None:
    assert [item.code for item in errors_of(read, text)] == [code]


def test_two_mistakes_give_two_errors() -> None:
    """What is not known because of one mistake hides no other."""
    codes = [item.code for item in errors_of(body, "Foo y; y.go(); x = z; x = true;")]
    assert codes == ["unknown-type", "unknown-name", "mismatch"]


DECLARED = {"Office": "Officee", "left": "lefft", "sold": "soldd", "price": "pricee"}


@given(st.sampled_from(sorted(DECLARED)), st.integers(1, 5))
def test_a_name_that_is_misspelt_where_it_is_declared_is_one_mistake(name: str, uses: int) -> None:
    uses_of = {
        "Office": "Office other = null; ",
        "left": "left = left + 1; ",
        "sold": "sold[0] = true; ",
        "price": "price(); ",
    }
    text = OFFICE.format(body=uses_of[name] * uses, main="main { Office2 north():(); }")
    text = text.replace("Office2", "Office" if name != "Office" else "Officee")
    declared = {"Office": "reactiveclass Office(", "left": "int left;", "sold": "[2] sold;"}
    start = declared.get(name, "int price(")
    with pytest.raises(RebecaError) as caught:
        check_source(text.replace(start, start.replace(name, DECLARED[name])))
    (mistake,) = caught.value.diagnostics
    assert mistake.hint == f"did you mean `{DECLARED[name]}`?"


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=20))
def test_the_closest_name_is_a_known_one_and_an_equal_one_wins(name: str, known: list[str]) -> None:
    found = closest_name(name, known)
    assert found is None or found in known
    if name in known and 0 < len(name) <= 80:
        assert found is not None
        assert found.casefold() == name.casefold()


def test_very_long_names_are_not_compared() -> None:
    assert closest_name("a" * 100_000, ["a" * 100_001, "a" * 100_002]) is None
