"""Highlight Timed Rebeca in Pygments, which finds this lexer by an entry point."""

from __future__ import annotations

from typing import ClassVar, Final

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

_DECLARATIONS = (
    *("abstract", "define", "env", "extends", "knownrebecs", "main", "msgsrv", "reactiveclass"),
    *("statevars", "Assertion"),
)
_STATEMENTS = (
    *("after", "assertion", "break", "case", "continue", "deadline", "default", "delay", "else"),
    *("for", "if", "return", "switch", "while"),
)


_TYPES = ("int", "short", "byte", "boolean", "float", "double", "void")
_CONSTANTS = ("true", "false", "null")
_PSEUDO = ("self", "sender", "super", "now")

WORDS: Final = {
    "declaration": (*_DECLARATIONS, "import", "interface", "implements"),
    "statement": (*_STATEMENTS, "instanceof", "pAlt", "prob"),
    "type": _TYPES,
    "constant": _CONSTANTS,
    "pseudo": _PSEUDO,
}
"""The words of the language by what they are, for highlighters elsewhere."""


class RebecaLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Cuts a model or property file into tokens, as grammar.lark does."""

    name = "Rebeca"
    aliases: ClassVar = ["rebeca"]
    filenames: ClassVar = ["*.rebeca", "*.property"]
    tokens: ClassVar = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r"/\*(.|\n)*?\*/", Comment.Multiline),
            (r'"([^"\\\r\n]|\\.)*"', String),
            (r"@\w+", Name.Decorator),
            (words(_DECLARATIONS, suffix=r"\b"), Keyword.Declaration),
            (
                r"import(?=\s*\")|interface(?=\s+\w+[\w\s,]*\{)|implements(?=\s+\w)",
                Keyword.Declaration,
            ),
            (r"instanceof(?=\s+\w)", Operator.Word),
            (words(_STATEMENTS, suffix=r"\b"), Keyword),
            (r"pAlt(?=\s*\{)|prob(?=\s*\([^{};]*\)\s*:)", Keyword),
            (words(_TYPES, suffix=r"\b"), Keyword.Type),
            (words(_CONSTANTS, suffix=r"\b"), Keyword.Constant),
            (words(_PSEUDO, suffix=r"\b"), Name.Builtin.Pseudo),
            (r"currentMessage\w+\b", Name.Builtin.Pseudo),
            (
                r"(\d[\d_]*\.\d*|\.\d+)([eE][-+]?\d+)?[fFdD]?"
                r"|\d[\d_]*([eE][-+]?\d+[fFdD]?|[fFdD])",
                Number.Float,
            ),
            (r"(0[xX][0-9a-fA-F_]+|0[bB][01_]+|\d[\d_]*)[lL]?", Number.Integer),
            (r"'([^'\\\r\n]|\\.)'", String.Char),
            (r"[A-Za-z_]\w*", Name),
            (r"[-+*/%&|^<>=!~?:]", Operator),
            (r"[][(){};,.]", Punctuation),
            (r"\s+", Text),
        ]
    }
