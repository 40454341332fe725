"""What the checker accepts and what it finds out."""

from __future__ import annotations

import pytest

from rebecsim.lang import CheckedModel, RebecaCheckError, check_source, syntax, walk
from rebecsim.lang.checked import ANY_REBEC, BOOLEAN, BYTE, FLOAT, INT, ArrayType, RebecType, Type

HEAD = (
    "env int N = 3; reactiveclass A(4) { knownrebecs { A next; } statevars "
    "{ int x; byte y; float r; boolean b; int[2][N] v; A peer; } int f(int a) { return a; } "
    "void g() { } msgsrv m(int a, A who) { }"
)
MAIN = "main { A a(a):(); }"


def in_server(text: str) -> CheckedModel:
    return check_source(f"{HEAD} msgsrv go(int p) {{ {text} }} }} {MAIN}")


def node_of(model: CheckedModel, kind: type[syntax.Node], position: int = -1) -> syntax.Node:
    return [node for node in walk(model.tree) if isinstance(node, kind)][position]


@pytest.mark.parametrize(
    "text",
    [
        "y = x; x = y; r = x; x = (int) r; y = 300;",
        "b = x < r && y == 1.5 || !b;",
        "b &= true; b = b ^ b | b & b; x |= 1; x <<= 2; r += 1; r++;",
        "peer = next; peer = self; peer = null; peer = (A) sender; b = peer != null;",
        "b = sender == next || sender != self || sender == null;",
        "v[1][x] = p; v[y][2]++; x = v[f(0)][0];",
        "next.m(1, self) after(x) deadline(?(3, 4)); self.m(x, null); ((A) sender).m(1, peer);",
        "peer = b ? next : null; x = b ? 1 : y; r = b ? 1 : 0.5;",
        "int x = x; boolean next = true; x = 1; next = false;",
        "{ int i; } { boolean i; } for (int i = 0; i < N; i++) { } for (;;) break;",
        "int[2] local; local[0] = 1; A[N] all; all[0] = next;",
        "switch (x) { case 1: int i; break; case -N: int i = 2; default: }",
        "while (true) { if (b) continue; break; } x = 1; return; x = 2;",
        "g(); f(1); x = f(f(y)) + f(1);",
        "delay(x); delay(?(0, 1)); delay(N);",
        "int t; x = t; x = y = 3; x = (y = 3) + 1;",
        "x = -2147483648; x = ?(-1, 1 + N, (int) 2.5);",
        "x = now + currentMessageArrival + currentMessageDeadline + currentMessageWaitingTime;",
    ],
)
def test_right_bodies(text: str) -> None:
    in_server(text)


@pytest.mark.parametrize(
    "text",
    [
        "int f() { while (true) { } }",
        "int f() { for (;;) { } }",
        "int f() { if (x > 0) { return 1; } else { return 2; } }",
        "int f() { switch (x) { case 1: return 1; default: return 2; } }",
        "int f() { switch (x) { default: case 1: return 1; } }",
        "int f() { { return 1; } }",
        "int f() { return f(); }",
        "void f() { if (x > 0) return; }",
        "boolean f(A a) { return a == self; }",
        "A f() { return null; }",
    ],
)
def test_right_methods(text: str) -> None:
    check_source(f"reactiveclass A(1) {{ statevars {{ int x; }} {text} }} main {{ A a():(); }}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y", INT),
        ("y + y", INT),
        ("y", BYTE),
        ("x * r", FLOAT),
        ("x < r", BOOLEAN),
        ("b ? y : y", BYTE),
        ("b ? x : r", FLOAT),
        ("v[0]", ArrayType(INT, 3)),
        ("v[0][1]", INT),
        ("(byte) x", BYTE),
        ("self", RebecType("A")),
        ("sender", ANY_REBEC),
        ("b ? next : null", RebecType("A")),
    ],
)
def test_types(text: str, expected: Type) -> None:
    use = (
        f"{text}[0] = 1;" if isinstance(expected, ArrayType) else f"if (({text}) == ({text})) {{ }}"
    )
    model = in_server(use)
    if isinstance(expected, ArrayType):
        outer = node_of(model, syntax.Assignment)
        assert isinstance(outer, syntax.Assignment)
        assert isinstance(outer.target, syntax.Index)
        assert model.type_of(outer.target.array) == expected
        assert str(expected) == "int[3]"
    else:
        condition = node_of(model, syntax.If)
        assert isinstance(condition, syntax.If)
        assert isinstance(condition.condition, syntax.Binary)
        assert model.type_of(condition.condition.left) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N * 2 + 1", 7),
        ("2147483647 + 1", -(2**31)),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("(byte) 200", -56),
        ("(int) 2.9", 2),
        ("(int) -2.9", -2),
        ("1 << 33", 2),
        ("-16 >> 2", -4),
        ("N > 2 ? 10 : 20", 10),
        ("~N", -4),
        ("0xff & 0x0f", 15),
    ],
)
def test_constants(text: str, value: int) -> None:
    model = in_server(f"x = {text};")
    assignment = node_of(model, syntax.Assignment)
    assert isinstance(assignment, syntax.Assignment)
    assert model.is_constant(assignment.value)
    assert model.constant_of(assignment.value) == value


def test_what_is_not_constant() -> None:
    model = in_server("x = x + 1; x = 1 / 0;")
    for assignment in (node for node in walk(model.tree) if isinstance(node, syntax.Assignment)):
        assert not model.is_constant(assignment.value)
        with pytest.raises(KeyError):
            model.constant_of(assignment.value)


def test_what_names_refer_to() -> None:
    model = in_server("x = p; peer = next; v[0][0] = N; int x; x = now;")
    kinds = {
        node.identifier: model.symbol_of(node).kind
        for node in walk(model.tree.classes[0].message_servers[1])
        if isinstance(node, syntax.Name)
    }
    assert kinds == {
        "x": "local",
        "p": "parameter",
        "peer": "state",
        "next": "known",
        "v": "state",
        "N": "env",
        "now": "builtin",
    }


def test_env_constants_are_converted_to_their_type() -> None:
    model = check_source(
        "env int A = 2; env byte B = 100 * A; env float R = 0.1; env boolean L = B < 0; "
        "reactiveclass X(A) { } main { X x():(); }"
    )
    values = {name: symbol.value for name, symbol in model.env.items()}
    assert values == {"A": 2, "B": -56, "R": pytest.approx(0.1), "L": True}
    assert values["R"] != 0.1  # the nearest single is another number
    assert model.classes["X"].queue_size == 2


FAMILY = """
abstract reactiveclass Top(2) {
    knownrebecs { Top one; } statevars { int a; }
    Top() { } Top(int x) { a = x; }
    abstract msgsrv first();
    msgsrv second() { a = ?(1, 2); }
    int f() { return 1; }
}
abstract reactiveclass Middle extends Top(3) {
    statevars { int b; }
    msgsrv third() { b = f(); }
    @priority(7) msgsrv second() { a = ?(3, 4); b = ?(5, 6); }
}
reactiveclass Bottom extends Middle(4) {
    knownrebecs { Middle two; }
    Bottom(byte x, boolean y) { b = x; }
    Bottom(int x, boolean y) { b = x; }
    Bottom(Top x) { }
    msgsrv first() { a = ?(7, 8) + f(); one.second(); two.third(); }
    int f() { return 2; }
}
reactiveclass Side extends Top(5) { Side() { super(1 + 2); } msgsrv first() { } }
main { Bottom p(q, p):(300, true); Side q(p):(); Bottom r(r, r):(q); }
"""


def test_inheritance_lays_everything_flat() -> None:
    model = check_source(FAMILY)
    bottom = model.classes["Bottom"]
    assert bottom.ancestors == ("Middle", "Top")
    assert [symbol.name for symbol in bottom.known_rebecs] == ["one", "two"]
    assert [symbol.name for symbol in bottom.state_variables] == ["a", "b"]
    assert [(item.number, item.name, item.owner) for item in bottom.servers] == [
        (0, "first", "Bottom"),
        (1, "second", "Middle"),
        (2, "third", "Middle"),
    ]
    assert [server.priority for server in bottom.servers] == [None, 7, None]
    returned = bottom.methods["f"].body
    assert returned == syntax.Block((syntax.Return(syntax.IntLiteral(2)),))
    assert bottom.queue_size == 4


def test_constructors_are_chosen_by_the_types_of_the_arguments() -> None:
    model = check_source(FAMILY)
    first, second, third = model.instances
    bottom = model.tree.classes[2]
    assert first.constructor is bottom.constructors[1]  # int fits 300 better than byte
    assert first.arguments == (300, True)
    assert first.bindings == ("q", "p")
    assert third.constructor is bottom.constructors[2]
    assert third.arguments == ("q",)
    assert second.arguments == ()
    call = next(node for node in walk(model.tree.classes[3]) if isinstance(node, syntax.Call))
    assert model.super_constructor(call) is model.tree.classes[0].constructors[1]


def test_choice_sites_count_on_from_the_base_class() -> None:
    model = check_source(FAMILY)
    sites = {
        reactive_class.name: [
            model.choice_site(node)
            for node in walk(reactive_class)
            if isinstance(node, syntax.Choice)
        ]
        for reactive_class in model.tree.classes
    }
    assert sites == {"Top": [1], "Middle": [2, 3], "Bottom": [4], "Side": []}


def test_declared_types_know_the_lengths_of_arrays() -> None:
    model = in_server("int[N][2] local; boolean z;")
    local, z = (node for node in walk(model.tree) if isinstance(node, syntax.LocalDeclaration))
    assert model.declared_type(local.type) == ArrayType(ArrayType(INT, 2), 3)
    assert model.declared_type(z.type) == BOOLEAN


def test_all_mistakes_are_reported_in_the_order_of_the_text() -> None:
    text = f"{HEAD}\nmsgsrv go() {{ x = true;\n b = 1; }} }}\nmain {{ A a():(); C c():(); }}"
    with pytest.raises(RebecaCheckError) as caught:
        check_source(text)
    codes = [item.code for item in caught.value.diagnostics]
    assert codes == ["mismatch", "mismatch", "binding-count", "unknown-class"]
    assert str(caught.value).count("error:") == 4


def test_core_models_need_no_constructor_and_know_no_time() -> None:
    text = "reactiveclass A(1) { msgsrv m() { self.m(); } } main { A a():(); }"
    model = check_source(text, dialect="core")
    assert model.instances[0].constructor is None


def test_a_char_is_a_byte_unless_a_class_is_called_so() -> None:
    text = "reactiveclass A(1) {{ statevars {{ char x = 'a'; }} msgsrv m() {{ char y = {}; }} }}"
    (symbol,) = (
        check_source(text.format("(char) 300") + " main { A a():(); }").classes["A"].state_variables
    )
    assert (symbol.type, symbol.value) == (BYTE, 97)
    called = "reactiveclass char(1) { knownrebecs { char other; } } main { char a(a):(); }"
    assert check_source(called).classes["char"].known_rebecs[0].type == RebecType("char")
