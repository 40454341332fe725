"""Words that became reserved late: where older models may still use them as names.

The lexer takes every one of them for a name. Behind it, `NewWords` looks at what stands beside
one: only in these places can it be the keyword, and there it can be nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token
from lark.lark import PostLex

NEW_WORDS = {"INTERFACE": "interface", "IMPLEMENTS": "implements", "INSTANCEOF": "instanceof"}
"""The terminals of the grammar that no rule of the lexer makes, and their words."""

_TERMINALS = {word: terminal for terminal, word in NEW_WORDS.items()}
_DECLARATIONS_END = frozenset({"", "RBRACE", "SEMICOLON"})
_LITERALS = frozenset({"NULL", "TRUE", "FALSE", "INTEGER", "FLOAT"})
_OPERANDS_END = frozenset({"NAME", "RPAR", "RSQB", "INCREMENT"}) | _LITERALS
_CLASSES = frozenset({"NAME", "PRIMITIVE"})


class NewWords(PostLex):
    """Makes keywords of names where they are keywords."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Give the tokens of a text, of which one more is read only behind such a word."""
        depth = 0
        before = ""
        waiting: Token | None = None
        for token in stream:
            if waiting is not None:
                before = _terminal(waiting, depth, before, token.type)
                yield Token.new_borrow_pos(before, waiting.value, waiting)
                waiting = None
            if token.type == "NAME" and token in _TERMINALS:
                waiting = token
                continue
            depth += {"LBRACE": 1, "RBRACE": -1}.get(token.type, 0)
            before = token.type
            yield token
        if waiting is not None:
            yield waiting


def _terminal(token: Token, depth: int, before: str, after: str) -> str:
    """Say what a word is that stands in so many braces between these two terminals."""
    keyword = _TERMINALS[str(token)]
    fits = {
        "INTERFACE": depth == 0 and before in _DECLARATIONS_END and after == "NAME",
        "IMPLEMENTS": depth == 0 and before == "NAME" and after == "NAME",
        "INSTANCEOF": before in _OPERANDS_END and after in _CLASSES,
    }
    return keyword if fits[keyword] else "NAME"
