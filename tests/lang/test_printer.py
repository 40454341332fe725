"""The law of printer and parser, and the canonical form."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from rebecsim.lang import parse_expression, parse_model, print_expression, print_model, syntax
from rebecsim.lang.syntax import Binary, Block, Break, If, IntLiteral, Name, Unary
from tests.examples import dear
from tests.lang import strategies

slow = settings(max_examples=dear(80), suppress_health_check=list(HealthCheck))


@slow
@given(strategies.expressions)
def test_a_printed_expression_reads_as_the_same_tree(tree: syntax.Expression) -> None:
    assert parse_expression(print_expression(tree)) == tree


@slow
@given(strategies.models)
def test_a_printed_model_reads_as_the_same_tree(tree: syntax.Model) -> None:
    text = print_model(tree)
    assert parse_model(text) == tree
    assert print_model(parse_model(text)) == text


def test_conformance_models_survive_printing(conformance: Path) -> None:
    files = sorted(conformance.glob("*.rebeca"))
    assert files
    for file in files:
        tree = parse_model(file.read_text("utf-8"))
        text = print_model(tree)
        assert parse_model(text) == tree, file
        assert print_model(parse_model(text)) == text, file


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c",
        "(a + b) * c",
        "a - (b - c)",
        "a - b - c",
        "-(-a)",
        "+ +a".replace(" ", "(") + ")",
        "- --a".replace("- ", "-(") + ")",
        "!(a && b) || c",
        "a ? b : c ? d : e",
        "(a ? b : c) ? d : e",
        "a = b = c",
        "(a = b) + c",
        "((Customer) sender).ok(1, x) after(2) deadline(?(3, 4))",
        "(Customer) sender.ok()",
        "(Customer) (-x)",
        "(int) -x",
        "(int) ?(1, 2)",
        "v[1][i + 1]++",
        "++v[2]",
        "0xffffffff",
        "-2147483648",
        "(5).x",
        "a << 1 < b >> 2",
        "a & b == c",
        "(a & b) == c",
    ],
)
def test_canonical_text_stays_as_it_is(text: str) -> None:
    assert print_expression(parse_expression(text)) == text


def test_layout() -> None:
    text = """\
env int N = 3;

abstract reactiveclass Base(2 * N) {
    abstract msgsrv go(int a, boolean[2] b);
}

@priority(1)
reactiveclass A extends Base(10) {
    knownrebecs {
        Base next;
    }

    statevars {
        int[3] v;
    }

    A(int x) {
        super(x);
        for (int i = 0, j; i < N; i++, j--) {
            v[i] = ?(1, 2);
        }
    }

    @priority(2)
    msgsrv go() {
        if (x) {
            delay(3);
        } else if (y)
            return;
        else {
            assertion(false, "say \\"no\\"");
        }
        while (true)
            ;
        switch (x) {
            case 1:
                break;
            default:
                {
                }
        }
        for (;;)
            continue;
    }

    void tick() {
    }

    int f(int a) {
        return a;
    }
}

main {
    @priority(1) A a(b):(1, true);
    A b(a):();
}
"""
    assert print_model(parse_model(text)) == text


def test_an_else_without_text_of_its_own_gets_braces() -> None:
    dangling = If(Name("a"), If(Name("b"), Break()), Break())
    body = Block((dangling,))
    tree = syntax.Model(
        (),
        (
            syntax.ReactiveClass(
                "A", None, IntLiteral(1), (), (), (), (), (syntax.Method("f", None, (), body),)
            ),
        ),
        (),
    )
    braced = If(Name("a"), Block((If(Name("b"), Break()),)), Break())
    method = parse_model(print_model(tree)).classes[0].methods[0]
    assert method.body == Block((braced,))


def test_precedence_is_respected_for_deep_right_operands() -> None:
    tree = Binary("-", Name("a"), Unary("-", Binary("-", Name("b"), Name("c"))))
    assert print_expression(tree) == "a - -(b - c)"
