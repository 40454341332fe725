"""Say what is wrong in a model or property file, where, and what to do.

Every message has a code and a template in `rebecsim.lang.messages`; `diagnose` is the only way
the package makes one, so that no message escapes the table of errors in the tests.

Words from Java, C and Python that Rebeca does not have are looked up only where a model is wrong
already, so each of them may be a name in a model that is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rebecsim.errors import UserError
from rebecsim.files import SOURCE, read_file
from rebecsim.lang.messages import MESSAGES, WARNINGS
from rebecsim.lang.syntax import Span
from rebecsim.wording import clipped

MOST_SHOWN = 20
"""Mistakes of one text that are printed; of more, only the number."""

_LONGEST_LINE = 160
_LONGEST_MESSAGE = 600


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: what is wrong, where, and what to do about it.

    A warning is about a model that can be run, but hardly means what its author wants.
    """

    message: str
    span: Span
    hint: str | None = None
    source_line: str | None = None
    code: str = ""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        """Print `file:line:column: severity: message`, the source line, a caret and the hint.

        Of a long line, the part around the caret is shown; long names in messages are shortened.
        """
        place = f"{self.span.file}:{self.span.line}:{self.span.column}"
        lines = [f"{place}: {self.severity}: {clipped(self.message, _LONGEST_MESSAGE)}"]
        if self.source_line is not None:
            lines += [f"    {each}" for each in _excerpt(self.span, self.source_line)]
        if self.hint is not None:
            lines.append(f"hint: {clipped(self.hint, _LONGEST_MESSAGE)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Give plain values for other programs.

        Lines and columns, of characters, count from 1, and the end column is the first one behind.
        """
        return {
            "file": self.span.file,
            "line": self.span.line,
            "column": self.span.column,
            "end_line": self.span.end_line,
            "end_column": self.span.end_column,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "code": self.code,
        }


class RebecaError(UserError):
    """A model or property file is wrong; `diagnostics` holds every mistake that was found.

    >>> rs.loads("main { }")
    Traceback (most recent call last):
    ...
    rebecsim.lang.errors.RebecaCheckError: ...
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = tuple(diagnostics)

    @property
    def message(self) -> str:
        """The message of the first mistake."""
        return self.diagnostics[0].message

    def __str__(self) -> str:
        """Print the mistakes, the first ones if there are many."""
        lines = [str(diagnostic) for diagnostic in self.diagnostics[:MOST_SHOWN]]
        more = len(self.diagnostics) - len(lines)
        if more:
            lines.append(f"and {more:,} more error{'' if more == 1 else 's'}")
        return "\n".join(lines)


class RebecaSyntaxError(RebecaError):
    """The text cannot be read; there is one diagnostic, the first mistake."""


class RebecaCheckError(RebecaError):
    """The text can be read but breaks rules of the language; all mistakes are reported."""


def read_source(path: str | Path) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Raises OSError if it cannot be read, RebecaSyntaxError if it is no UTF-8, and LimitError if it
    is too large for a model or a property file.
    """
    data = read_file(Path(path), SOURCE)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8-sig")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        span = Span(str(path), line, column, line, column + 1)
        byte = f"0x{data[problem.start]:02x}"
        raise RebecaSyntaxError([diagnose("not-utf-8", span, byte=byte)]) from None


def diagnose(code: str, span: Span, hint: str | None = None, /, **values: object) -> Diagnostic:
    """A diagnostic from the template of that code, its placeholders filled with the values.

    `hint` is one that fits the case better than the hint of the template.
    """
    template = MESSAGES[code]
    if hint is None and template.hint is not None:
        hint = template.hint.format(**values)
    severity: Literal["error", "warning"] = "warning" if code in WARNINGS else "error"
    return Diagnostic(template.text.format(**values), span, hint, code=code, severity=severity)


def syntax_error(code: str, span: Span, **values: object) -> RebecaSyntaxError:
    """The exception for a mistake that the grammar itself lets pass."""
    return RebecaSyntaxError([diagnose(code, span, **values)])


Texts = Mapping[str, str]
"""Texts by the names that spans carry, in the order of their reading."""


def in_order(found: Iterable[Diagnostic], texts: Texts) -> list[Diagnostic]:
    """The diagnostics in the order of the texts, with their lines."""
    ranks = {file: rank for rank, file in enumerate(texts)}
    spans = [(ranks.get(each.span.file, -1), each) for each in found]
    spans.sort(key=lambda one: (one[0], one[1].span.line, one[1].span.column))
    return with_source([each for _, each in spans], texts)


def with_source(diagnostics: Iterable[Diagnostic], texts: Texts) -> list[Diagnostic]:
    """The diagnostics with the lines that they point to, as far as their texts are known."""
    lines = {file: text.split("\n") for file, text in texts.items()}
    return [_with_line(each, lines.get(each.span.file, ())) for each in diagnostics]


def _with_line(diagnostic: Diagnostic, lines: Sequence[str]) -> Diagnostic:
    number = diagnostic.span.line
    if diagnostic.source_line is not None or not 1 <= number <= len(lines):
        return diagnostic
    return replace(diagnostic, source_line=lines[number - 1].rstrip("\r"))


def _excerpt(span: Span, line: str) -> tuple[str, str]:
    """Give a line and the carets below it; of a long one, the part around the first caret."""
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    if len(line) <= _LONGEST_LINE:
        return line, _carets(line, start, end)
    first = max(0, start - _LONGEST_LINE // 2)
    last = first + _LONGEST_LINE
    before, behind = "\u2026" if first else "", "\u2026" if last < len(line) else ""
    shown = before + line[first:last]
    moved = first - len(before)
    return shown + behind, _carets(shown, start - moved, min(end, last) - moved)


def _carets(line: str, start: int, end: int) -> str:
    indent = "".join("\t" if character == "\t" else " " for character in line[:start])
    return indent + "^" * max(1, end - start)


_PRINT = "a rebec does not print; `rebecsim simulate` shows every message and what it changes"
_CHOICE = "chance is a choice of constants in a message server, as in `x = ?(1, 2, 6);`"
_DELAY = "`delay(3);` makes the rebec busy for 3 time units"
_NO_TEXT = "there are no texts; use numbers, and env constants as names for them"
_VISIBILITY = "remove it: variables belong to their rebec, and every message server can be sent to"
_CONSTANT = "write a constant before the classes, as in `env int LIMIT = 3;`"
_IMPORT = 'write `import "other.rebeca";` before all declarations'
_EXCEPTION = "there are no exceptions; `assertion(condition);` says what must hold"

TYPE_HINTS = {
    "bool": "write `boolean`",
    "Boolean": "write `boolean`",
    "Integer": "write `int`",
    "integer": "write `int`",
    "long": "write `int`, which has 32 bits",
    "Long": "write `int`, which has 32 bits",
    "unsigned": "write `int`",
    "String": _NO_TEXT,
    "string": _NO_TEXT,
    "void": "a variable needs a type with values, such as `int`",
    "var": "write the type, such as `int`",
}
"""Types of other languages. One that Rebeca has a word for is named there."""

NAME_HINTS = {
    "True": "write `true`",
    "TRUE": "write `true`",
    "False": "write `false`",
    "FALSE": "write `false`",
    "None": "write `null`",
    "NULL": "write `null`",
    "nil": "write `null`",
    "nullptr": "write `null`",
    "this": "write `self`",
    "System": _PRINT,
    "console": _PRINT,
    "Math": _CHOICE,
    "Random": _CHOICE,
    "Thread": _DELAY,
    "time": "the time is `now`",
}
METHOD_HINTS = {
    "print": _PRINT,
    "println": _PRINT,
    "printf": _PRINT,
    "random": _CHOICE,
    "rand": _CHOICE,
    "nextInt": _CHOICE,
    "randint": _CHOICE,
    "sleep": _DELAY,
    "wait": _DELAY,
    "assert": "write `assertion(condition);`",
}

FOREIGN_WORDS = {
    "private": _VISIBILITY,
    "public": _VISIBILITY,
    "protected": _VISIBILITY,
    "static": "remove it: every rebec has variables of its own; a shared constant is an env",
    "final": _CONSTANT,
    "const": _CONSTANT,
    "#define": _CONSTANT,
    "import": _IMPORT,
    "package": "remove it: files are imported by their names, and have no packages",
    "include": _IMPORT,
    "class": "a class begins with `reactiveclass Name(10) {`, 10 being the length of its queue",
    "enum": _CONSTANT,
    "new": "all rebecs are made in main, as in `Class name(known rebecs):(arguments);`",
    "String": _NO_TEXT,
    "System": _PRINT,
    "print": _PRINT,
    "println": _PRINT,
    "printf": _PRINT,
    "elif": "write `else if`",
    "elsif": "write `else if`",
    "elseif": "write `else if`",
    "foreach": "count, as in `for (int i = 0; i < 3; i++) { ... v[i] ... }`",
    "unsigned": "write `int`",
    "let": "write the type, such as `int`",
    "auto": "write the type, such as `int`",
    "do": "write `while (condition) { ... }`",
    "and": "write `&&`",
    "or": "write `||`",
    "not": "write `!`",
    "assert": "write `assertion(condition);`",
    "try": _EXCEPTION,
    "throw": _EXCEPTION,
    "throws": _EXCEPTION,
    "catch": _EXCEPTION,
    "def": "a message server is `msgsrv name(int x) { ... }`",
    "function": "a method is `int name(int x) { ... }`",
    "synchronized": "remove it: a rebec serves one message at a time",
    "volatile": "remove it: a rebec serves one message at a time",
}
"""Words that make a text unreadable."""
