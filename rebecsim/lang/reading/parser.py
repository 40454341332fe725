"""Read Timed Rebeca: from text to syntax tree.

Everything behind the parser is recursive, and Python's compiler has limits of its own: 100 levels
of indentation, 20 loops in each other, 200 open brackets. The limits of nesting here keep a model
within those, too, when it is written as Python.

Keywords that became reserved late are names to the lexer. Behind it, `ContextualKeywords` looks at
what stands beside one: only in these places can it be the keyword, and there it can be nothing
else.
"""

from __future__ import annotations

import pickle
import pkgutil
import sys
import threading
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, cast

from lark import Lark, Token, __version__ as lark_version
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.lark import PostLex

from rebecsim.lang import syntax
from rebecsim.lang.errors import Diagnostic, RebecaSyntaxError, diagnose, with_source
from rebecsim.lang.reading.syntax_errors import (
    CONTEXTUAL_KEYWORDS,
    explain_character,
    explain_token,
)
from rebecsim.lang.reading.tree_builder import PropertySection, TreeBuilder
from rebecsim.lang.syntax import Node
from rebecsim.lang.traversal import INT_MAX, children
from rebecsim.trust import GRAMMAR_TABLES, kept_file, read_kept, write_kept

MAX_NESTING = 200
"""Levels of a tree."""
MAX_STATEMENTS = 40
"""Statements in each other; `else if` counts once, and so does a statement with its block."""
MAX_LOOPS = 15
"""Loops and switches in each other."""
_MAX_BRACKETS = 180
"""Brackets that may be open in the Python of an expression, as estimated here."""

_LOOPS = (syntax.While, syntax.For, syntax.Switch)
_COMPOUND = (syntax.If, syntax.Block, *_LOOPS)


class _Depth(NamedTuple):
    tree: int = 1
    statements: int = 0
    loops: int = 0
    brackets: int = 0


def too_deep(root: Node) -> Diagnostic | None:
    """Find a node that is nested too deeply, the first in the order of the text."""
    pending: list[tuple[Node, _Depth]] = [(root, _Depth())]
    while pending:
        node, depth = pending.pop()
        if depth.statements > MAX_STATEMENTS:
            return diagnose("blocks-too-deep", node.span, limit=MAX_STATEMENTS)
        if depth.loops > MAX_LOOPS:
            return diagnose("loops-too-deep", node.span, limit=MAX_LOOPS)
        if depth.tree > MAX_NESTING or depth.brackets > _MAX_BRACKETS:
            return diagnose("too-deep", node.span)
        below = [(child, _below(node, child, depth)) for child in children(node)]
        pending.extend(reversed(below))
    return None


def _below(parent: Node, node: Node, depth: _Depth) -> _Depth:
    statements, loops, brackets = depth.statements, depth.loops, 0
    if isinstance(node, _COMPOUND) and not _goes_with(parent, node):
        statements += 1
    if isinstance(node, _LOOPS):
        loops += 1
    if isinstance(parent, syntax.Binary):
        brackets = depth.brackets + (1 if node is parent.left else 3)
    elif isinstance(parent, syntax.Expression):
        brackets = depth.brackets + 5
    return _Depth(depth.tree + 1, statements, loops, brackets)


def _goes_with(parent: Node, node: Node) -> bool:
    """Whether a statement is at the level of the one around it: its block, or an `else if`."""
    if isinstance(node, syntax.If):
        return isinstance(parent, syntax.If) and node is parent.otherwise
    return isinstance(node, syntax.Block) and not isinstance(parent, (syntax.Block, syntax.Case))


_MARK = b"rebecsim parser tables 1\n"


_TERMINALS = {word: terminal for terminal, word in CONTEXTUAL_KEYWORDS.items()}
_DECLARATIONS_END = frozenset({"", "RBRACE", "SEMICOLON"})
_VALUE_TOKENS = frozenset({"NULL", "TRUE", "FALSE", "INTEGER", "FLOAT"})
_OPERANDS_END = frozenset({"NAME", "RPAR", "RSQB", "INCREMENT"}) | _VALUE_TOKENS
_CLASSES = frozenset({"NAME", "PRIMITIVE"})


class ContextualKeywords(PostLex):
    """Makes keywords of names where they are keywords."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Give the tokens of a text, of which one more is read only behind such a word."""
        depth = 0
        groups: list[int] = []  # how deep it is right inside each `pAlt` that is open
        before = ""
        waiting: Token | None = None
        for token in stream:
            if waiting is not None:
                in_group = groups[-1:] == [depth]
                before = _terminal(waiting, depth, before, token.type, in_group)
                yield Token.new_borrow_pos(before, waiting.value, waiting)
                waiting = None
                if before == "PALT":
                    groups.append(depth + 1)
            if token.type == "NAME" and token in _TERMINALS:
                waiting = token
                continue
            depth += {"LBRACE": 1, "RBRACE": -1}.get(token.type, 0)
            if groups and depth < groups[-1] and token.type == "RBRACE":
                groups.pop()
            before = token.type
            yield token
        if waiting is not None:
            yield waiting


def _terminal(token: Token, depth: int, before: str, after: str, in_group: bool) -> str:
    """Say what a word is that stands in so many braces between these two terminals.

    `in_group`: right inside a `pAlt`.
    """
    keyword = _TERMINALS[str(token)]
    fits = {
        "IMPORT": depth == 0 and before in _DECLARATIONS_END and after == "STRING",
        "INTERFACE": depth == 0 and before in _DECLARATIONS_END and after == "NAME",
        "IMPLEMENTS": depth == 0 and before == "NAME" and after == "NAME",
        "INSTANCEOF": before in _OPERANDS_END and after in _CLASSES,
        "PALT": depth > 1 and after == "LBRACE",
        "PROB": in_group and after == "LPAR",
    }
    return keyword if fits[keyword] else "NAME"


class _Machine(NamedTuple):
    lark: Lark
    builder: TreeBuilder


_LOCK = threading.Lock()  # the tree builder holds the name of the file being read


def parse_model(text: str, file: str = "<string>") -> syntax.Model:
    """The syntax tree of a model; `file` is the name that spans and errors carry.

    Raises RebecaSyntaxError at the first mistake.
    """
    return cast(syntax.Model, _parse(text, file, "model"))


def parse_library(text: str, file: str) -> syntax.Library:
    """The syntax tree of a file that is imported, which has no main; raises as `parse_model`."""
    return cast(syntax.Library, _parse(text, file, "library"))


def parse_any(text: str, file: str = "<string>") -> syntax.Model:
    """The syntax tree of a model, or of a file that can be imported; raises as `parse_model`."""
    try:
        return parse_model(text, file)
    except RebecaSyntaxError as error:
        if error.diagnostics[0].code != "main-missing":
            raise
        return parse_library(text, file)


def parse_expression(text: str, file: str = "<string>") -> syntax.Expression:
    """The syntax tree of one expression, such as an invariant `lamp.level < 3`."""
    return cast(syntax.Expression, _parse(text, file, "expression_only"))


def parse_property_sections(text: str, file: str = "<string>") -> PropertySection:
    """The outer shape of a property file; `rebecsim.lang.properties` gives it its meaning."""
    return cast(PropertySection, _parse(text, file, "property_file"))


def _parse(text: str, file: str, start: str) -> Node:
    try:
        tree = _run(text, file, start)
    except RebecaSyntaxError as error:
        raise RebecaSyntaxError(with_source(error.diagnostics, {file: text})) from None
    mistake = _first_bad_node(tree)
    if mistake is not None:
        raise RebecaSyntaxError(with_source([mistake], {file: text}))
    return tree


def _run(text: str, file: str, start: str) -> Node:
    with _LOCK:
        machine = _machine()
        machine.builder.file = file
        try:
            return cast(Node, machine.lark.parse(text, start=start))
        except UnexpectedCharacters as error:
            diagnostic = explain_character(error, text, file)
        except UnexpectedToken as error:
            diagnostic = explain_token(error, text, file, machine.lark)
    raise RebecaSyntaxError([diagnostic])


def _grammar() -> str:
    data = pkgutil.get_data(__package__, "grammar.lark")
    assert data is not None
    return data.decode("utf-8")


@cache
def _machine() -> _Machine:
    """The parser, made at first use and kept; its tables (about 0.15 s) are kept on disk, too."""
    builder = TreeBuilder()
    grammar = _grammar()
    file = kept_file(GRAMMAR_TABLES, grammar, lark_version, sys.version)
    lark = _kept_parser(file, builder)
    if lark is None:
        lark = Lark(
            grammar,
            parser="lalr",
            lexer="basic",
            postlex=ContextualKeywords(),
            start=["model", "library", "expression_only", "property_file"],
            transformer=builder,
            keep_all_tokens=True,
            maybe_placeholders=False,
        )
        _keep_parser(file, lark)
    return _Machine(lark, builder)


def _kept_parser(file: Path | None, builder: TreeBuilder) -> Lark | None:
    payload = read_kept(file, _MARK)
    if payload is None:
        return None
    # Written by this program, to a directory of the user's own: see `kept_files`.
    kept = pickle.loads(payload)  # noqa: S301
    parser: Any = Lark  # the parsers that Lark generates begin so; it has no annotations
    return cast(
        Lark,
        parser._load_from_dict(
            kept["data"], kept["memo"], transformer=builder, postlex=ContextualKeywords()
        ),
    )


def _keep_parser(file: Path | None, lark: Lark) -> None:
    tables = BytesIO()
    lark.save(tables, ("transformer", "postlex"))
    write_kept(file, _MARK, tables.getvalue())


def _first_bad_node(root: Node) -> Diagnostic | None:
    """What the grammar cannot say: the depth of a tree, and 2147483648 without a minus."""
    mistake = too_deep(root)
    if mistake is not None:
        return mistake
    pending: list[tuple[Node, Node | None]] = [(root, None)]
    while pending:
        node, parent = pending.pop()
        if isinstance(node, syntax.IntLiteral) and node.value > INT_MAX:
            negated = isinstance(parent, syntax.Unary) and parent.operator == "-"
            if not negated:
                return diagnose("int-range", node.span, text=node.value)
        pending.extend((child, node) for child in reversed(tuple(children(node))))
    return None
