"""What grammar.lark lets a model say, and what a text says of it.

A construct is a rule and something that can stand in it: `while_statement: expression`, or
`assignment: ASSIGNMENT_OPERATOR`. Tokens that have several spellings are one construct for each of
them, such as `PRIMITIVE: float`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

from lark import Lark, Token, Tree

from rebecsim.lang.reading.parser import ContextualKeywords
from rebecsim.lang.traversal import BINARY_PRECEDENCE

START = ("model", "property_file")
_SPELLINGS: dict[str, set[str]] = {
    "PRIMITIVE": {"int", "short", "byte", "boolean", "float", "double"},
    "INCREMENT": {"++", "--"},
    "ASSIGNMENT_OPERATOR": {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="},
    "BINARY_OPERATOR": set(BINARY_PRECEDENCE) - {"+", "-"},  # tokens of their own: signs, too
    "INTEGER": {"decimal", "hexadecimal", "octal", "binary", "underscore", "suffix"},
    "FLOAT": {"double", "suffix d", "suffix f"},
}


_INTEGERS = {
    "decimal": "^([1-9]|0$)",
    "hexadecimal": "^0[xX]",
    "octal": "^0[0-9]",
    "binary": "^0[bB]",
    "underscore": "_",
    "suffix": "[lL]$",
}


def constructs() -> set[str]:
    """All constructs that a model or a property file can have."""
    found = {f"{name}: {text}" for name, texts in _SPELLINGS.items() for text in texts}
    pending, known = list(START), set(START)
    while pending:
        rule = pending.pop()
        for name, symbols in _alternatives(rule):
            for symbol in symbols:
                found.add(f"{name}: {symbol}")
                if symbol in _expansions() and symbol not in known:
                    known.add(symbol)
                    pending.append(symbol)
    return found


def constructs_in(text: str, start: str = "model") -> set[str]:
    """The constructs in the text of a model or property file. Raises LarkError if it is none."""
    found = set()
    for tree in _parser().parse(text, start=start).iter_subtrees():
        for child in tree.children:
            if isinstance(child, Tree):
                origin = _origins().get(child.data, child.data)
                found.add(f"{tree.data}: {origin}")
            else:
                found.add(f"{tree.data}: {child.type}")
                found |= _spelling(child)
    return found


def _spelling(token: Token) -> set[str]:
    if token.type == "INTEGER":
        return {f"INTEGER: {name}" for name, shape in _INTEGERS.items() if re.search(shape, token)}
    if token.type == "FLOAT":
        suffix = token[-1].lower()
        return {f"FLOAT: suffix {suffix}" if suffix in "fd" else "FLOAT: double"}
    return {f"{token.type}: {token}"} if token.type in _SPELLINGS else set()


@cache
def _parser() -> Lark:
    """A parser of the same language whose trees hide nothing."""
    grammar = resources.files("rebecsim.lang.reading").joinpath("grammar.lark").read_text("utf-8")
    hidden = set(re.findall(r"^_(\w+):", grammar, re.M))
    grammar = re.sub(rf"\b_({'|'.join(hidden)})\b", r"plain_\1", grammar)
    grammar = re.sub(r"^\?(\w+:)", r"\1", grammar, flags=re.M)
    grammar = re.sub(r"^(\w+:.*) -> \w+$", r"\1", grammar, flags=re.M)
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        postlex=ContextualKeywords(),
        start=list(START),
        keep_all_tokens=True,
    )


@cache
def _expansions() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """For each rule its alternatives: the name that a tree gets, and what stands in it."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for rule in _parser().rules:
        names = tuple(symbol.name for symbol in rule.expansion)
        found.setdefault(rule.origin.name, []).append((rule.alias or rule.origin.name, names))
    return found


@cache
def _origins() -> dict[str, str]:
    """The rule in which each name stands that an alternative gets."""
    return {
        name: rule
        for rule, alternatives in _expansions().items()
        for name, _ in alternatives
        if name != rule
    }


def _alternatives(rule: str) -> Iterator[tuple[str, set[str]]]:
    """The alternatives of a rule, with repetitions (`x*`) resolved to what is repeated."""
    for name, symbols in _expansions()[rule]:
        yield name, {each for symbol in symbols for each in _resolved(symbol, set())}


def _resolved(symbol: str, seen: set[str]) -> set[str]:
    if not symbol.startswith("__") or symbol not in _expansions():
        return {symbol}
    if symbol in seen:
        return set()
    return {
        each
        for _, symbols in _expansions()[symbol]
        for inner in symbols
        for each in _resolved(inner, seen | {symbol})
    }
