"""The text of a model in colours, with the message server that ran last."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from rebecsim.lang.highlighting import RebecaLexer

_LONGEST = 60_000
"""Characters; longer texts are for the editor."""

_COLOURS = {
    "Comment": "tok-comment",
    "Keyword.Type": "tok-typeName",
    "Keyword.Constant": "tok-atom",
    "Keyword": "tok-keyword",
    "Literal": "tok-number",
}
"""Classes of the style sheet by kinds of tokens, the special ones first."""

Spans = dict[tuple[str, str], tuple[int, int]]
"""Class and message server -> the first and the last of its lines, from 1."""


class ShownLine(NamedTuple):
    """A line of a model; `runs` if it is of the message server that ran last."""

    html: Markup
    runs: bool


def shown_lines(
    text: str, is_python: bool, reactive_class: str, server: str
) -> tuple[ShownLine, ...]:
    """Give a text in colours, a server of a class marked; nothing for a text that is too long.

    A server that a class inherits is found by its name.
    """
    if len(text) > _LONGEST:
        return ()
    lines, spans = _read(text, is_python)
    named = (span for (_, name), span in spans.items() if name == server)
    first, last = spans.get((reactive_class, server)) or next(named, (0, 0))
    return tuple(ShownLine(html, first <= at <= last) for at, html in enumerate(lines, start=1))


@lru_cache(maxsize=64)
def _read(text: str, is_python: bool) -> tuple[tuple[Markup, ...], Spans]:
    from pygments.lexers.python import PythonLexer

    tokens = list((PythonLexer() if is_python else RebecaLexer()).get_tokens(text))
    spans = _python_servers(text) if is_python else dict(_rebeca_servers(tokens))
    html = Markup("").join(_coloured(str(kind)[6:], words) for kind, words in tokens)
    return tuple(map(Markup, html.rstrip().split("\n"))), spans


def _coloured(kind: str, words: str) -> Markup:
    style = next((of for name, of in _COLOURS.items() if kind.startswith(name)), "")
    if not style:
        return escape(words)
    parts = [Markup('<span class="{}">{}</span>').format(style, part) for part in words.split("\n")]
    return Markup("\n").join(parts)


def _python_servers(text: str) -> Spans:
    try:
        classes = [each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)]
    except SyntaxError:
        return {}
    return {
        (each.name, part.name): (part.lineno, part.end_lineno or part.lineno)
        for each in classes
        for part in each.body
        if isinstance(part, ast.FunctionDef)
    }


def _rebeca_servers(
    tokens: list[tuple[Any, str]],
) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    """Find `reactiveclass C ... msgsrv m ... { }` by counting braces."""
    line, depth, within, server, first = 1, 0, "", "", 0
    said = [each for each in tokens if each[1].strip()]
    names = {id(one): other[1] for one, other in pairwise(said)}
    for token in tokens:
        words = token[1]
        if words == "reactiveclass":
            within = names.get(id(token), "")
        elif words == "msgsrv":
            server, first, depth = names.get(id(token), ""), line, 0
        elif server and words in "{}":
            depth += 1 if words == "{" else -1
            if not depth:
                yield (within, server), (first, line)
                server = ""
        line += words.count("\n")
