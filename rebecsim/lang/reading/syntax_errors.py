"""Explain why a text cannot be read.

Each rule of the explanations looks at one frequent mistake; the first that recognises it explains
it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.lexer import PatternStr

from rebecsim.lang.errors import FOREIGN_WORDS, Diagnostic, diagnose
from rebecsim.lang.syntax import Span

CONTEXTUAL_KEYWORDS = {
    "IMPORT": "import",
    "INTERFACE": "interface",
    "IMPLEMENTS": "implements",
    "INSTANCEOF": "instanceof",
    "PALT": "pAlt",
    "PROB": "prob",
}
"""The terminals of the grammar that no rule of the lexer makes, and their words."""

_SIGNS = frozenset({"PLUS", "MINUS", "INCREMENT", "QMARK", "LPAR"})
_ASSIGNMENTS = frozenset({"EQUAL", "ASSIGNMENT_OPERATOR"})
_OPERATORS = _SIGNS | _ASSIGNMENTS | {"BINARY_OPERATOR", "INSTANCEOF", "DOT", "LSQB"}
_LITERALS = {"INTEGER", "FLOAT", "CHARACTER", "TRUE", "FALSE", "NULL"}
_OPERANDS = _SIGNS | _LITERALS | {"NAME", "BANG", "TILDE"}
_VALUES = (_OPERANDS | _OPERATORS) - {"NAME"}
_JUMPS = frozenset({"BREAK", "CONTINUE", "RETURN"})
_BRANCHES = frozenset({"IF", "WHILE", "FOR", "SWITCH", "PALT"})
_SIMPLE = frozenset({"PRIMITIVE", "LBRACE", "SEMICOLON", "DELAY", "ASSERTION"})
_STATEMENTS = _OPERANDS | _JUMPS | _BRANCHES | _SIMPLE
_SECTIONS = frozenset({"MSGSRV", "KNOWNREBECS", "STATEVARS"})
_MEMBERS = _SECTIONS | {"AT", "PRIMITIVE", "VOID", "ABSTRACT", "NAME"}
_TOP_LEVEL = frozenset(["IMPORT", "REACTIVECLASS", "ENV", "MAIN", "AT", "ABSTRACT", "INTERFACE"])
_GROUPS = (
    ("WHILE", "a statement", _STATEMENTS),
    ("MSGSRV", "a declaration of the class", _MEMBERS | {"SEMICOLON"}),
    ("REACTIVECLASS", "a reactive class, interface, env or main", _TOP_LEVEL | {"SEMICOLON"}),
    ("INTEGER", "an expression", _OPERANDS),
    ("BINARY_OPERATOR", "an operator", _OPERATORS),
)
_WORDS = {
    "NAME": "a name",
    "PRIMITIVE": "a type",
    "STRING": "a text",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "CHARACTER": "a character",
    "INCREMENT": "`++`",
    "BINARY_OPERATOR": "an operator",
    "ASSIGNMENT_OPERATOR": "an assignment",
    "$END": "the end of the file",
}
"""Words for the terminals that have no fixed text."""
_OUTSIDE_BLOCKS = _SECTIONS | {"REACTIVECLASS", "MAIN", "ENV"}


@dataclass(frozen=True, slots=True)
class _Mistake:
    """Where the parser stopped: the token, those before, what could follow, what is open.

    `sentence` are the tokens behind the last `;`, `{` or `}`, up to and with the one it stopped at.
    """

    file: str
    text: str
    token: Token
    previous: Token | None
    sentence: tuple[Token, ...]
    accepted: frozenset[str]
    stack: tuple[object, ...]
    terminal_texts: dict[str, str]

    @property
    def kind(self) -> str:
        return self.token.type

    @property
    def kind_before(self) -> str:
        return "" if self.previous is None else self.previous.type

    @property
    def found(self) -> str:
        return "the end of the file" if self.token.type == "$END" else f"`{self.token}`"

    @property
    def span(self) -> Span:
        if self.token.type == "$END":
            return _end_of(self.text, self.file)
        return _span_of(self.file, self.token)

    @property
    def after_previous(self) -> Span:
        """The place right behind the last token that was read."""
        if self.previous is None:
            return self.span
        line, column = self.previous.end_line or 1, self.previous.end_column or 1
        return Span(self.file, line, column, line, column + 1)

    def open_brace(self) -> Token | None:
        return next(
            (item for item in reversed(self.stack) if isinstance(item, Token) and item == "{"),
            None,
        )

    def inside(self, keyword: str) -> bool:
        return any(isinstance(item, Token) and item == keyword for item in self.stack)


def explain_character(error: UnexpectedCharacters, text: str, file: str) -> Diagnostic:
    """Why the lexer stopped: an unknown character or a text without end."""
    span = Span(file, error.line, error.column, error.line, error.column + 1)
    character = text[error.pos_in_stream or 0]
    if character == '"':
        return diagnose("unterminated-text", span)
    directive = character == "#" and text[error.pos_in_stream or 0 :].startswith("#define")
    hint = FOREIGN_WORDS["#define"] if directive else None
    return diagnose("unknown-character", span, hint, character=_shown(character))


def explain_token(error: UnexpectedToken, text: str, file: str, lark: Lark) -> Diagnostic:
    """Why the parser stopped at a token of the text."""
    parser: Any = error.interactive_parser
    previous, sentence = _tokens_before(error.token, text, lark)
    mistake = _Mistake(
        file,
        text,
        error.token,
        previous,
        sentence,
        frozenset(parser.accepts()),
        tuple(parser.parser_state.value_stack),
        _terminal_texts(lark),
    )
    for rule in _RULES:
        diagnostic = rule(mistake)
        if diagnostic is not None:
            return diagnostic
    return diagnose("unexpected", mistake.span, found=mistake.found, expected=_expected(mistake))


def _tokens_before(token: Token, text: str, lark: Lark) -> tuple[Token | None, tuple[Token, ...]]:
    """The token before one, and the sentence up to it."""
    previous = None
    sentence: list[Token] = []
    for candidate in lark.lex(text):
        if token.type != "$END" and (candidate.start_pos or 0) >= (token.start_pos or 0):
            break
        if previous in (";", "{", "}"):
            sentence.clear()
        sentence.append(candidate)
        previous = candidate
    if previous in (";", "{", "}"):
        sentence.clear()
    return previous, (*sentence, token)


def _terminal_texts(lark: Lark) -> dict[str, str]:
    return CONTEXTUAL_KEYWORDS | {
        terminal.name: str(terminal.pattern.value)
        for terminal in lark.terminals
        if isinstance(terminal.pattern, PatternStr)
    }


def _comment(mistake: _Mistake) -> Diagnostic | None:
    start = mistake.token.start_pos or 0
    for position in (start, start - 1):
        if position >= 0 and mistake.text.startswith("/*", position):
            column = (mistake.token.column or 1) + position - start
            line = mistake.token.line or 1
            return diagnose(
                "unterminated-comment", Span(mistake.file, line, column, line, column + 2)
            )
    return None


def _foreign_word(mistake: _Mistake) -> Diagnostic | None:
    """A word of Java, C or Python in the sentence that cannot be read."""
    for token in mistake.sentence:
        hint = FOREIGN_WORDS.get(str(token))
        if hint is not None:
            span = _span_of(mistake.file, token)
            return diagnose("foreign-word", span, hint, word=str(token))
    return None


def _main(mistake: _Mistake) -> Diagnostic | None:
    """`main()` or `void main`, and a rebec without its two pairs of parentheses."""
    previous, token = mistake.previous, mistake.token
    if (previous == "main" and token == "(") or (previous == "void" and token == "main"):
        return diagnose("main-form", mistake.span)
    named = previous is not None and previous.type == "NAME" and token in (";", "=")
    if named and mistake.inside("main") and mistake.accepted == {"LPAR"}:
        return diagnose("arguments-missing", mistake.after_previous)
    return None


def _variable(mistake: _Mistake) -> Diagnostic | None:
    """A variable of a class outside of statevars, or a parameter without its type."""
    token, accepted = mistake.token, mistake.accepted
    if token in (";", "=", ",") and accepted == {"LPAR"} and mistake.inside("reactiveclass"):
        return diagnose("variable-place", _span_of(mistake.file, mistake.sentence[0]))
    if token in (")", ",") and accepted == {"NAME", "LSQB"} and mistake.previous is not None:
        span = _span_of(mistake.file, mistake.previous)
        return diagnose("parameter-type", span, name=str(mistake.previous))
    return None


def _end(mistake: _Mistake) -> Diagnostic | None:
    if mistake.token.type != "$END":
        return None
    if mistake.previous is None and "REACTIVECLASS" in mistake.accepted:
        return diagnose("empty-model", mistake.span)
    if "MAIN" in mistake.accepted:
        return diagnose("main-missing", mistake.span)
    return _open_block(mistake)


def _block(mistake: _Mistake) -> Diagnostic | None:
    if mistake.token.type not in _OUTSIDE_BLOCKS or "RBRACE" not in mistake.accepted:
        return None
    return _open_block(mistake)


def _open_block(mistake: _Mistake) -> Diagnostic | None:
    brace = mistake.open_brace()
    if brace is None:
        return None
    return diagnose("brace-missing", mistake.span, found=mistake.found, line=brace.line)


def _queue_size(mistake: _Mistake) -> Diagnostic | None:
    last = [item if isinstance(item, Token) else "" for item in mistake.stack[-5:]]
    if "reactiveclass" not in last[:-1] or mistake.token not in ("{", ")"):
        return None
    name = last[last.index("reactiveclass") + 1]
    return diagnose("queue-size-missing", mistake.span, name=name)


def _reserved(mistake: _Mistake) -> Diagnostic | None:
    word = str(mistake.token)
    if "NAME" not in mistake.accepted or "INTEGER" in mistake.accepted:
        return None
    if "RBRACE" in mistake.accepted or not word.isalpha() or mistake.token.type == "NAME":
        return None
    return diagnose("reserved-word", mistake.span, word=word)


def _semicolon(mistake: _Mistake) -> Diagnostic | None:
    previous, token = mistake.previous, mistake.token
    if previous is None or "SEMICOLON" not in mistake.accepted or previous in ("{", "}", ";"):
        return None
    begins = token.type in _STATEMENTS | _MEMBERS | {"RBRACE"} and token.type not in _VALUES
    if begins or (token.line or 0) > (previous.end_line or 0):
        return diagnose("semicolon-missing", mistake.after_previous)
    return None


def _if(
    holds: Callable[[_Mistake], bool], code: str, *, behind: bool = False, **values: str
) -> Callable[[_Mistake], Diagnostic | None]:
    """Make the rule that explains a mistake of which something holds.

    The place is that of the token, or `behind` the one before; `values` are attributes.
    """

    def rule(mistake: _Mistake) -> Diagnostic | None:
        if not holds(mistake):
            return None
        span = mistake.after_previous if behind else mistake.span
        return diagnose(
            code, span, **{name: getattr(mistake, value) for name, value in values.items()}
        )

    return rule


_RULES: tuple[Callable[[_Mistake], Diagnostic | None], ...] = (
    _comment,
    _if(lambda it: it.kind == "IMPORT", "import-place"),
    _foreign_word,
    _main,
    _if(lambda it: it.kind == "MAIN" and "$END" in it.accepted, "import-main"),
    _if(lambda it: it.previous == "msgsrv" and it.kind in ("VOID", "PRIMITIVE"), "server-result"),
    _if(lambda it: it.previous == "extends", "base-missing"),
    _if(lambda it: it.token == "extends" and it.previous == ")", "base-late"),
    _variable,
    _if(lambda it: it.token == ":" and it.sentence[0] == "for", "for-each"),
    _if(lambda it: it.kind == "STRING", "text-misplaced"),
    _end,
    _block,
    _queue_size,
    _if(
        lambda it: it.inside("main") and "COLON" in it.accepted and it.previous == ")",
        "arguments-missing",
        behind=True,
    ),
    _if(lambda it: it.kind == "LSQB" and it.kind_before == "NAME", "array-after-name"),
    _if(lambda it: it.kind_before == "INSTANCEOF", "instanceof-type", found="found"),
    _reserved,
    _if(
        lambda it: it.kind in _ASSIGNMENTS and "BINARY_OPERATOR" in it.accepted,
        "assignment-left",
        operator="token",
    ),
    _if(lambda it: it.kind in ("AFTER", "DEADLINE"), "timing-misplaced", word="token"),
    _if(
        lambda it: "RPAR" in it.accepted and it.kind in ("LBRACE", "RBRACE", "SEMICOLON"),
        "parenthesis-missing",
        found="found",
    ),
    _semicolon,
)


def _expected(mistake: _Mistake) -> str:
    left = set(mistake.accepted)
    words = []
    for witness, word, group in _GROUPS:
        if witness in left:
            words.append(word)
            left -= group
    words += sorted({_WORDS.get(name) or f"`{mistake.terminal_texts[name]}`" for name in left})
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"


def _span_of(file: str, token: Token) -> Span:
    line, column = token.line or 1, token.column or 1
    return Span(file, line, column, token.end_line or line, token.end_column or column + 1)


def _end_of(text: str, file: str) -> Span:
    lines = text.rstrip().split("\n")
    line, column = len(lines), len(lines[-1].rstrip("\r")) + 1
    return Span(file, line, column, line, column + 1)
