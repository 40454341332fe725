"""Format a text as the printer does, and keep its comments and spellings."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher

from pygments.token import Comment, Text

from rebecsim.errors import UserError
from rebecsim.lang.highlighting import RebecaLexer
from rebecsim.lang.printer import print_model
from rebecsim.lang.reading.parser import parse_any

_MOST_COMPARED = 5000
"""Tokens that are compared one with another; the comparison takes the square of their number."""


@dataclass(frozen=True)
class _Token:
    """A token, where it begins, and the line on which that is, from 0."""

    text: str
    start: int
    line: int


@dataclass(frozen=True)
class _Comment:
    """A comment: as lines, which token follows it, and how it stands in the text.

    `alone` on lines of its own, or else at a `column` behind this `code`.
    """

    lines: tuple[str, ...]
    before: int
    alone: bool
    code: str
    column: int
    gap_before: bool
    gap_behind: bool


def format_source(text: str, file: str = "<string>") -> str:
    """Give a model in the layout of the printer; only spaces and needless parentheses change.

    Raises RebecaSyntaxError, and UserError where a comment would lose its place.
    """
    tree = parse_any(text, file)
    printed = print_model(tree)
    tokens, comments = _read(text)
    laid_out, _ = _read(printed)
    partners = _partners(tokens, laid_out)
    spelled = _spelled(printed, tokens, laid_out, partners)
    found = _with_comments(spelled, comments, laid_out, partners, len(tokens))
    if parse_any(found, file) != tree or _said(found) != _said(text):
        raise UserError(
            f"{file}: cannot be formatted, because a comment would lose its place; "
            "move the comment to a line of its own"
        )
    return found


def _read(text: str) -> tuple[list[_Token], list[_Comment]]:
    """Cut a text into tokens, without parentheses, and comments."""
    tokens: list[_Token] = []
    comments: list[_Comment] = []
    line = 0
    for start, kind, value in RebecaLexer().get_tokens_unprocessed(text):
        if kind in Comment:
            comments.append(_comment_at(text, start, value, len(tokens)))
        elif kind not in Text and value not in "()":
            tokens.append(_Token(value, start, line))
        line += value.count("\n")
    return tokens, comments


def _comment_at(text: str, start: int, value: str, before: int) -> _Comment:
    begin = text.rfind("\n", 0, start) + 1
    end = start + len(value)
    rest = text[end:].partition("\n")[0] if "\n" in text[end:] else text[end:]
    lines = text[begin:end].split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    shown = (value.split("\n")[0], *(_outdented(each, indent) for each in lines[1:]))
    return _Comment(
        tuple(each.rstrip() for each in shown),
        before,
        not text[begin:start].strip() and not rest.strip(),
        text[begin:start].rstrip(),
        start - begin,
        text[:begin].endswith("\n\n"),
        text[end:].lstrip(" \t").startswith("\n\n"),
    )


def _outdented(line: str, indent: int) -> str:
    return line[min(indent, len(line) - len(line.lstrip())) :]


def _said(text: str) -> list[str]:
    """Give the words of all comments, in order."""
    return sorted(" ".join(" ".join(each.lines).split()) for each in _read(text)[1])


def _partners(tokens: list[_Token], others: list[_Token]) -> list[tuple[int, int]]:
    """Match tokens with those of the printed text, each with at most one, in order."""
    a, b = [each.text for each in tokens], [each.text for each in others]
    if len(a) == len(b):  # but for the spelling of numbers they are the same
        return [(place, place) for place in range(len(a))]
    if len(a) > _MOST_COMPARED:
        raise UserError("this is too long to be formatted with empty sections in it; remove them")
    found: list[tuple[int, int]] = []
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and j - i == m - k):
            found += zip(range(i, j), range(k, m), strict=True)
    return found


def _spelled(
    printed: str, tokens: list[_Token], others: list[_Token], partners: list[tuple[int, int]]
) -> list[str]:
    """Give the printed lines, with numbers as they were written."""
    parts, end = [], 0
    for mine, other in partners:
        if tokens[mine].text != others[other].text:
            token = others[other]
            parts += [printed[end : token.start], tokens[mine].text]
            end = token.start + len(token.text)
    return "".join([*parts, printed[end:]]).removesuffix("\n").split("\n")


def _with_comments(
    lines: list[str],
    comments: list[_Comment],
    others: list[_Token],
    partners: list[tuple[int, int]],
    count: int,
) -> str:
    above: dict[int, list[_Comment]] = defaultdict(list)
    behind: dict[int, list[_Comment]] = defaultdict(list)
    starts = [mine for mine, _ in partners]
    for each in comments:
        following = bisect_left(starts, each.before)
        if not each.alone and following and starts[following - 1] == each.before - 1:
            behind[others[partners[following - 1][1]].line].append(each)
        else:
            place = len(lines)
            if each.before < count and following < len(partners):
                place = others[partners[following][1]].line
            above[place].append(each)
    written: list[str] = []
    for number in range(len(lines) + 1):
        line = lines[number] if number < len(lines) else ""
        tail = behind[number]
        moved = [each for each in tail[:-1] if each.lines[0].startswith("//")]
        for each in [*above[number], *moved]:
            _write_above(written, each, line)
        if number < len(lines):
            written.append(line)
            for each in tail:
                if each not in moved:
                    _write_behind(written, each)
    return "\n".join(written).rstrip("\n") + "\n"


def _write_above(written: list[str], comment: _Comment, line: str) -> None:
    indent = " " * (len(line) - len(line.lstrip()) + (4 if line.lstrip().startswith("}") else 0))
    opened = not written or not written[-1] or written[-1].endswith("{")
    if comment.gap_before and not opened:
        written.append("")
    written += [indent + each if each else "" for each in comment.lines]
    if comment.gap_behind and not line.lstrip().startswith("}"):
        written.append("")


def _write_behind(written: list[str], comment: _Comment) -> None:
    """Put a comment behind a line; columns of them stay where the lines do."""
    same = written[-1] == comment.code
    width = comment.column if same else len(written[-1]) + 2
    written[-1] = written[-1].ljust(width) + comment.lines[0]
    written += comment.lines[1:]
