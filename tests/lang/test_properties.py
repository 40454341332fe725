"""Reading and checking property files."""

from __future__ import annotations

import pytest

from rebecsim.lang import (
    Bound,
    Connective,
    Negation,
    Proposition,
    Temporal,
    check_property,
    check_source,
    parse_property,
    syntax,
    walk,
)
from rebecsim.lang.syntax import BinaryOperator, IntLiteral, Name

MODEL = """
env int TOP = 3;
reactiveclass Lamp(2) {
    knownrebecs { Lamp next; } statevars { int level; boolean[2] on; }
    Lamp() { self.go(); } msgsrv go() { }
}
main { Lamp a(b):(); Lamp b(a):(); }
"""
P, Q = Proposition(Name("p")), Proposition(Name("q"))


def in_define(text: str) -> str:
    return f"property {{ define {{ p = a.level == 0; q = b.on[1]; }} {text} }}"


def test_a_property_file_is_read() -> None:
    tree = parse_property(in_define("Assertion { Safe: p || !q; } TCTL { T: AG(p); }"))
    assert [definition.name for definition in tree.definitions] == ["p", "q"]
    assert [item.name for item in tree.assertions] == ["Safe"]
    assert [item.name for item in tree.tctl] == ["T"]
    assert [keyword for keyword, _ in tree.sections] == ["define", "Assertion", "TCTL"]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("p", P),
        ("G(p)", Temporal("G", None, (P,))),
        ("G(F(X(p)))", Temporal("G", None, (Temporal("F", None, (Temporal("X", None, (P,)),)),))),
        ("U(!q, p)", Temporal("U", None, (Proposition(syntax.Unary("!", Name("q"))), P))),
        ("!G(p)", Negation(Temporal("G", None, (P,)))),
        ("p && F(q)", Connective("&&", P, Temporal("F", None, (Q,)))),
        ("!p || q", Proposition(syntax.Binary("||", syntax.Unary("!", Name("p")), Name("q")))),
    ],
)
def test_ltl_formulas(text: str, formula: object) -> None:
    tree = parse_property(in_define(f"LTL {{ F: {text}; }}"))
    assert tree.ltl[0].formula == formula
    check_property(tree, check_source(MODEL, dialect="core"))


@pytest.mark.parametrize("operator", ["<=", "<", ">=", ">"])
def test_tctl_formulas_have_bounds(operator: BinaryOperator) -> None:
    tree = parse_property(in_define(f"TCTL {{ F: AU(time {operator} 10, p, EF(q)); }}"))
    bound = Bound(operator, IntLiteral(10))
    assert tree.tctl[0].formula == Temporal("AU", bound, (P, Temporal("EF", None, (Q,))))
    check_property(tree, check_source(MODEL))


def test_names_are_resolved() -> None:
    tree = parse_property(
        in_define("Assertion { Safe: p && a.level <= TOP && a.next == b && b.next != null; }")
    )
    checked = check_property(tree, check_source(MODEL))
    members = {
        (
            checked.member_of(node)[0],
            checked.member_of(node)[1].name,
            checked.member_of(node)[1].kind,
        )
        for node in walk(tree.assertions[0])
        if isinstance(node, syntax.Member)
    }
    assert members == {("a", "level", "state"), ("a", "next", "known"), ("b", "next", "known")}
    kinds = {
        node.identifier: checked.symbol_of(node).kind
        for node in walk(tree.assertions[0])
        if isinstance(node, syntax.Name) and id(node) in checked.symbols
    }
    assert kinds == {"p": "definition", "TOP": "env", "b": "known"}
    assert checked.definition("q").expression == tree.definitions[1].expression
    with pytest.raises(KeyError):
        checked.definition("r")


def test_a_definition_may_use_those_before_it() -> None:
    text = "property { define { p = a.level == 0; q = !p; } Assertion { A: q; } }"
    check_property(parse_property(text), check_source(MODEL))
