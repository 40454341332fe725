"""Hypothesis strategies for syntax trees that some text has: every kind of node, any shape.

The trees are valid as syntax only; names mean nothing and types do not fit.
"""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

from rebecsim.lang import syntax
from rebecsim.lang.traversal import BINARY_PRECEDENCE

RESERVED = frozenset(
    [
        *("reactiveclass", "extends", "abstract", "knownrebecs", "statevars", "msgsrv", "main"),
        *(
            "env",
            "int",
            "short",
            "byte",
            "boolean",
            "float",
            "double",
            "void",
            "if",
            "else",
            "while",
        ),
        *("for", "switch", "case", "default", "break", "continue", "return", "delay"),
        *("assertion", "after", "deadline", "true", "false", "null"),
    ]
)
PRIMITIVE_NAMES = ("int", "short", "byte", "boolean", "float", "double")

names = st.one_of(
    st.sampled_from(["a", "b", "x1", "_tmp", "self", "sender", "now", "Customer", "e5", "f"]),
    st.sampled_from(["initial", "interface", "implements", "pAlt", "prob"]),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True),
).filter(lambda name: name not in RESERVED)

int_literals = st.builds(syntax.IntLiteral, st.integers(-(2**31), 2**31 - 1))
literals = st.one_of(
    int_literals,
    st.builds(syntax.FloatLiteral, st.floats(0, allow_nan=False, allow_infinity=False)),
    st.builds(
        syntax.FloatLiteral, st.floats(0, 3.4e38, allow_subnormal=False), single=st.just(True)
    ),
    st.builds(syntax.BoolLiteral, st.booleans()),
    st.builds(syntax.NullLiteral),
)
leaves = st.one_of(literals, st.builds(syntax.Name, names))


def tuples_of(
    elements: st.SearchStrategy[object], least: int = 0, most: int = 3
) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(elements, min_size=least, max_size=most).map(tuple)


def _member(target: syntax.Expression, name: str) -> syntax.Expression:
    itself = syntax.Name("self")
    return syntax.OwnVariable(name) if target == itself else syntax.Member(target, name)


def _weighted(pairs: tuple[tuple[syntax.Expression, syntax.Expression], ...]) -> syntax.Choice:
    weights, alternatives = zip(*pairs, strict=True)
    return syntax.Choice(alternatives, weights)


def _larger(inner: st.SearchStrategy[syntax.Expression]) -> st.SearchStrategy[syntax.Expression]:
    arguments = tuples_of(inner)
    kinds = st.builds(syntax.TypeName, st.one_of(st.sampled_from(PRIMITIVE_NAMES), names))
    smallest = syntax.Unary("-", syntax.IntLiteral(2**31))
    assignments = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]
    return st.one_of(
        st.just(smallest),
        st.builds(syntax.Index, inner, inner),
        st.builds(_member, inner, names),
        st.builds(syntax.Unary, st.sampled_from("-+!~"), inner),
        st.builds(syntax.Binary, st.sampled_from(sorted(BINARY_PRECEDENCE)), inner, inner),
        st.builds(syntax.InstanceOf, inner, st.builds(syntax.TypeName, names)),
        st.builds(syntax.Conditional, inner, inner, inner),
        st.builds(syntax.Assignment, inner, st.sampled_from(assignments), inner),
        st.builds(syntax.Increment, inner, st.sampled_from(["++", "--"]), st.booleans()),
        st.builds(syntax.Cast, kinds, inner),
        st.builds(syntax.Choice, tuples_of(inner, least=1)),
        tuples_of(st.tuples(inner, inner), least=1).map(_weighted),
        st.builds(syntax.Call, names, arguments, st.none() | inner, st.none() | inner),
        st.builds(syntax.Send, inner, names, arguments, st.none() | inner, st.none() | inner),
    )


expressions = st.recursive(leaves, _larger, max_leaves=8)
small_expressions = st.recursive(leaves, _larger, max_leaves=3)
initials = st.recursive(
    small_expressions,
    lambda inner: st.builds(syntax.ArrayInitializer, tuples_of(inner)),
    max_leaves=3,
)
type_names = st.builds(
    syntax.TypeName,
    st.one_of(st.sampled_from(PRIMITIVE_NAMES), names),
    tuples_of(small_expressions, most=2),
)
declarations = st.builds(
    syntax.LocalDeclaration,
    type_names,
    tuples_of(st.tuples(names, st.none() | initials), least=1),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
simple_statements = st.one_of(
    declarations,
    st.builds(syntax.ExpressionStatement, expressions),
    st.builds(syntax.EmptyStatement),
    st.builds(syntax.Break),
    st.builds(syntax.Continue),
    st.builds(syntax.Return, st.none() | small_expressions),
    st.builds(syntax.Delay, small_expressions),
    st.builds(syntax.Assertion, small_expressions, st.none() | texts),
)


def takes_else(node: syntax.Statement) -> bool:
    """Whether an `else` behind the statement would be read as part of it."""
    if isinstance(node, syntax.If):
        return node.otherwise is None or takes_else(node.otherwise)
    if isinstance(node, (syntax.While, syntax.For)):
        return takes_else(node.body)
    return False


def _compound(inner: st.SearchStrategy[syntax.Statement]) -> st.SearchStrategy[syntax.Statement]:
    init = st.one_of(declarations, tuples_of(small_expressions, most=2))
    cases = st.builds(syntax.Case, st.none() | small_expressions, tuples_of(inner, most=2))
    blocks = st.builds(syntax.Block, tuples_of(inner))
    closed = inner.filter(lambda node: not takes_else(node))
    return st.one_of(
        st.builds(syntax.Block, tuples_of(inner)),
        st.builds(syntax.If, small_expressions, inner),
        st.builds(syntax.If, small_expressions, closed, inner),
        st.builds(syntax.While, small_expressions, inner),
        st.builds(
            syntax.For,
            init,
            st.none() | small_expressions,
            tuples_of(small_expressions, most=2),
            inner,
        ),
        st.builds(syntax.Switch, small_expressions, tuples_of(cases)),
        st.builds(
            syntax.p_alt,
            tuples_of(st.tuples(small_expressions, blocks), least=1),
            st.just(syntax.NOWHERE),
        ),
    )


statements = st.recursive(simple_statements, _compound, max_leaves=5)
blocks = st.builds(syntax.Block, tuples_of(statements))
parameters = tuples_of(st.builds(syntax.Parameter, type_names, names), most=2)
annotations = tuples_of(st.builds(syntax.Annotation, names, st.none() | small_expressions), most=2)
fields = tuples_of(st.builds(syntax.Field, type_names, names, st.none() | initials))
servers = st.one_of(
    st.builds(syntax.MessageServer, names, parameters, blocks, annotations),
    st.builds(
        syntax.MessageServer, names, parameters, st.none(), annotations, abstract=st.just(True)
    ),
)
methods = st.one_of(
    st.builds(syntax.Method, names, st.none() | type_names, parameters, blocks),
    st.builds(
        syntax.Method,
        names,
        st.none() | type_names,
        parameters,
        st.none(),
        abstract=st.just(True),
    ),
)
classes = st.builds(
    syntax.ReactiveClass,
    names,
    st.none() | names,
    small_expressions,
    fields,
    fields,
    tuples_of(st.builds(syntax.Constructor, names, parameters, blocks), most=2),
    tuples_of(servers, most=2),
    tuples_of(methods, most=2),
    annotations,
    st.booleans(),
    tuples_of(names),
    tuples_of(st.builds(syntax.EnvVariable, type_names, names, initials), most=2),
)
interfaces = st.builds(
    syntax.Interface,
    names,
    tuples_of(names),
    tuples_of(st.builds(syntax.MessageServer, names, parameters, st.none()), most=2),
)
instances = st.builds(
    syntax.Instance,
    names,
    names,
    tuples_of(small_expressions),
    tuples_of(small_expressions),
    annotations,
)
env_types = st.builds(
    syntax.TypeName,
    st.one_of(st.sampled_from(PRIMITIVE_NAMES), names),
    tuples_of(small_expressions, most=1),
)
models = cast(
    st.SearchStrategy[syntax.Model],
    st.builds(
        syntax.Model,
        tuples_of(st.builds(syntax.EnvVariable, env_types, names, initials), most=2),
        tuples_of(classes, most=2),
        tuples_of(instances),
        tuples_of(interfaces, most=2),
        tuples_of(st.builds(syntax.Import, st.text('ab/. "\\')), most=2),
    ),
)
