"""What is accepted, and what it is read as."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.lang import (
    parse_expression,
    parse_model,
    print_expression,
    print_model,
    read_source,
    syntax,
    walk,
)
from rebecsim.lang.syntax import (
    Assignment,
    Binary,
    BoolLiteral,
    Cast,
    Choice,
    Conditional,
    FloatLiteral,
    Increment,
    Index,
    IntLiteral,
    Member,
    Name,
    NullLiteral,
    Send,
    Span,
    TypeName,
    Unary,
)

A, B, C = Name("a"), Name("b"), Name("c")
ONE = IntLiteral(1)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("0x1F", IntLiteral(31)),
        ("0xffffffff", IntLiteral(-1)),
        ("0b1011", IntLiteral(11)),
        ("0b11111111111111111111111111111111", IntLiteral(-1)),
        ("017", IntLiteral(15)),
        ("037777777777", IntLiteral(-1)),
        ("00", IntLiteral(0)),
        ("1_000__000", IntLiteral(1000000)),
        ("0x7fff_ffff", IntLiteral(2147483647)),
        ("10L", IntLiteral(10)),
        ("'c'", IntLiteral(99)),
        (r"'\n'", IntLiteral(10)),
        (r"'\''", IntLiteral(39)),
        ("1.5", FloatLiteral(1.5)),
        (".5f", FloatLiteral(0.5, single=True)),
        ("3f", FloatLiteral(3.0, single=True)),
        ("3d", FloatLiteral(3.0)),
        ("1_0.2_5D", FloatLiteral(10.25)),
        ("1e3f", FloatLiteral(1000.0, single=True)),
        ("2.", FloatLiteral(2.0)),
        ("1e3", FloatLiteral(1000.0)),
        ("true", BoolLiteral(True)),
        ("null", NullLiteral()),
        ("-a", Unary("-", A)),
        ("a - -b", Binary("-", A, Unary("-", B))),
        ("a + b + c", Binary("+", Binary("+", A, B), C)),
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a * b + c", Binary("+", Binary("*", A, B), C)),
        ("a || b && c", Binary("||", A, Binary("&&", B, C))),
        ("a == b < c", Binary("==", A, Binary("<", B, C))),
        ("a | b ^ c & a", Binary("|", A, Binary("^", B, Binary("&", C, A)))),
        ("a << b + c", Binary("<<", A, Binary("+", B, C))),
        ("!a == b", Binary("==", Unary("!", A), B)),
        ("a ? b : c", Conditional(A, B, C)),
        ("a ? b : c ? a : b", Conditional(A, B, Conditional(C, A, B))),
        ("(a) ? b : c", Conditional(A, B, C)),
        ("a = b = c", Assignment(A, "=", Assignment(B, "=", C))),
        ("a <<= b", Assignment(A, "<<=", B)),
        ("a++", Increment(A, "++", False)),
        ("--a", Increment(A, "--", True)),
        ("(a) - b", Binary("-", A, B)),
        ("(a) b", Cast(TypeName("a"), B)),
        ("(int) -b", Cast(TypeName("int"), Unary("-", B))),
        ("a[1][b]", Index(Index(A, ONE), B)),
        ("a.b", Member(A, "b")),
        ("?(1, -1)", Choice((ONE, Unary("-", ONE)))),
        ("a.b(1) deadline(c) after(1)", Send(A, "b", (ONE,), ONE, C)),
        ("((b) a).c()", Send(Cast(TypeName("b"), A), "c", ())),
        ("a[1].c()", Send(Index(A, ONE), "c", ())),
        ("a /* b */ // c\n", A),
    ],
)
def test_expressions(text: str, tree: syntax.Expression) -> None:
    assert parse_expression(text) == tree


def test_spans_count_from_one_and_end_behind_the_last_character() -> None:
    tree = parse_expression("a +\n  bc", "here")
    assert tree.span == Span("here", 1, 1, 2, 5)
    assert isinstance(tree, Binary)
    assert tree.right.span == Span("here", 2, 3, 2, 5)


def test_every_node_of_a_model_has_a_span_inside_its_parent(conformance: Path) -> None:
    tree = parse_model(read_source(conformance / "ticket3.rebeca"), "ticket3.rebeca")
    for node in walk(tree):
        assert node.span.file.endswith("ticket3.rebeca")
        assert (node.span.line, node.span.column) >= (1, 1)
        assert (node.span.line, node.span.column) < (node.span.end_line, node.span.end_column)
        assert (tree.span.line, tree.span.column) <= (node.span.line, node.span.column)


def test_the_order_of_sections_and_stray_semicolons_do_not_matter() -> None:
    usual = """
        reactiveclass A(1) {
            knownrebecs { A a; A b; } statevars { int[2][3] v; int[2][3] w; }
            A() { } msgsrv m() { ; } int f() { return 1; }
        }
        main { A a(a, a):(); }
    """
    other = """
        reactiveclass A(1) {
            int f() { return 1; };
            msgsrv m() { ; };
            A() { };
            statevars { int[2][3] v, w; };
            knownrebecs { A a, b;; };
        };
        main { A a(a, a):();; };
    """
    assert parse_model(usual) == parse_model(other)


def test_initial_is_a_message_server_like_others() -> None:
    tree = parse_model("reactiveclass A(1) { msgsrv initial(int x) { } } main { A a():(1); }")
    (checked,) = tree.classes
    assert checked.constructors == ()
    assert [server.name for server in checked.message_servers] == ["initial"]


NEW_WORDS_AS_NAMES = """
env int interface = 3;
reactiveclass implements(interface) {
    knownrebecs { Interface interface, implements; }
    statevars { int instanceof; implements[2] others; }
    implements(int interface) { instanceof = interface; }
    msgsrv instanceof(implements implements) {
        int interface = instanceof, x;
        implements instanceof;
        interface.instanceof(self);
        if (instanceof == null) instanceof = (implements) sender;
        for (instanceof = 0; instanceof < 3; instanceof++) ;
        x = (instanceof);
    }
    msgsrv double(double double2) { self.double((double) 1) after(2); double(2.5); }
    void interface() { instanceof(null); implements.instanceof(self) after(instanceof); }
}
reactiveclass Interface extends implements implements instanceof, interface(3) { }
main { implements interface(implements, implements):(3); Interface implements(interface):(); }
"""


def test_new_words_are_names_where_older_models_have_them_as_names() -> None:
    tree = parse_model(NEW_WORDS_AS_NAMES)
    assert parse_model(print_model(tree)) == tree
    assert [each.name for each in tree.classes] == ["implements", "Interface"]
    assert tree.classes[1].base == "implements"
    assert tree.classes[1].interfaces == ("instanceof", "interface")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a instanceof B", "a instanceof B"),
        ("(a) instanceof B", "a instanceof B"),
        ("v[1] instanceof B == b", "v[1] instanceof B == b"),
        ("(v[1] instanceof B) == b", "v[1] instanceof B == b"),
        ("b == v instanceof B", "b == v instanceof B"),
        ("(b == v) instanceof B", "(b == v) instanceof B"),
        ("!(a instanceof B)", "!(a instanceof B)"),
        ("a + b instanceof C < d", "a + b instanceof C < d"),
        ("a < b instanceof C", "a < b instanceof C"),
        ("a < (b instanceof C)", "a < (b instanceof C)"),
        ("null instanceof B ? 1 : 2", "null instanceof B ? 1 : 2"),
        ("f(1) instanceof B && !b", "f(1) instanceof B && !b"),
        ("(A) sender instanceof B", "(A) sender instanceof B"),
        ("instanceof instanceof B", "instanceof instanceof B"),
    ],
)
def test_instanceof_binds_like_a_relational_operator(text: str, canonical: str) -> None:
    assert print_expression(parse_expression(text)) == canonical


def test_a_local_declaration_begins_like_an_expression() -> None:
    text = "reactiveclass A(1) { A() { A x; A[3] y; x[3] = 1; x = 1; int z = 1, w; } } main { }"
    body = parse_model(text).classes[0].constructors[0].body.statements
    kinds = [type(statement).__name__ for statement in body]
    local, plain = "LocalDeclaration", "ExpressionStatement"
    assert kinds == [local, local, plain, plain, local]
    declaration = body[1]
    assert isinstance(declaration, syntax.LocalDeclaration)
    assert declaration.type == TypeName("A", (IntLiteral(3),))


def test_an_else_belongs_to_the_nearest_if() -> None:
    text = "reactiveclass A(1) { A() { if (a) if (b) ; else ; } } main { }"
    (outer,) = parse_model(text).classes[0].constructors[0].body.statements
    assert isinstance(outer, syntax.If)
    assert outer.otherwise is None
    assert isinstance(outer.then, syntax.If)
    assert outer.then.otherwise == syntax.EmptyStatement()


def test_a_file_with_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.rebeca"
    text = 'reactiveclass A(1) {\n A() { assertion(true, "ü"); }\n}\nmain { A a():(); }\n'
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert parse_model(read_source(file)) == parse_model(text)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_source(tmp_path / "none.rebeca")
