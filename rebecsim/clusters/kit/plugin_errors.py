"""Errors in plug-ins: which file is to blame, and where in it.

The code of a plug-in runs long after it was loaded: its patterns when a scenario is validated, its
fragments when a model is rendered. Whatever it does wrong is reported as an error in its file.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rebecsim.errors import UserError


class PluginError(UserError):
    """A plug-in that cannot be used; the text names its file, the line if known, and the cause."""


@dataclass(frozen=True)
class PluginSource:
    """Where a plug-in comes from."""

    name: str
    """What messages call it: its file, as the user named it."""

    path: str
    """The file as tracebacks name it."""

    text: str = field(repr=False)
    """The text of the file."""

    fragments: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    """Its templates by name."""

    def error(self, message: str, line: int | None = None) -> PluginError:
        """Make the error that says what is wrong with this plug-in."""
        place = self.name if line is None else f"{self.name}:{line}"
        return PluginError(f"{place}: {message}")

    def line_of_error(self, error: BaseException) -> int | None:
        """Return the line of the file an exception comes from, or None."""
        from jinja2 import TemplateSyntaxError  # as in `_error_of`: imported where there is one

        if isinstance(error, SyntaxError):
            return error.lineno if error.filename == self.path else None
        if isinstance(error, TemplateSyntaxError):
            return self._line_in_fragment(error.name, error.lineno)
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == self.path:
                return frame.lineno
            if frame.filename in self.fragments:
                return self._line_in_fragment(frame.filename, frame.lineno)
        return None

    def line_of_text(self, rendered: str) -> int | None:
        """Return the line of the file that a line of a model was rendered from.

        None unless it is clear: exactly one line of a fragment must be able to give that text.
        """
        found = [
            self._line_in_fragment(name, number)
            for name, text in self.fragments.items()
            for number, line in enumerate(text.splitlines(), start=1)
            if _can_give(line.strip(), rendered.strip())
        ]
        return found[0] if len(found) == 1 else None

    def _line_in_fragment(self, fragment: str | None, line: int | None) -> int | None:
        """Return where a line of a fragment stands in the file, if its text stands there as is."""
        if fragment is None or line is None or fragment not in self.fragments:
            return None
        before, found, _ = self.text.partition(self.fragments[fragment])
        return before.count("\n") + line if found else None


def _can_give(line: str, rendered: str) -> bool:
    """Whether a line of a template can give a text; `{{ ... }}` stands for any characters."""
    literals = re.split(r"\{\{.*?\}\}", line)
    if not any(literal.strip() for literal in literals):
        return False
    return re.fullmatch(".*".join(map(re.escape, literals)), rendered) is not None


@dataclass(frozen=True)
class PluginSuspect:
    """What comes from a plug-in, and may be the cause of an error."""

    source: PluginSource
    what: str
    """What it is, as in "dispatch policy LJF"."""


@contextmanager
def blaming(*suspects: PluginSuspect) -> Iterator[None]:
    """Report what goes wrong in the block as the error of a plug-in: of the one it happened in.

    What is the user's mistake rather than the plug-in's, a ValidationError or a UserError, passes,
    but a model that does not check is the plug-in's. Without suspects, everything passes.
    """
    try:
        yield
    except Exception as error:
        blamed = _error_of(suspects, error) if suspects else None
        if blamed is None:
            raise
        raise blamed from error


def _error_of(suspects: Sequence[PluginSuspect], error: Exception) -> PluginError | None:
    """Give the error of a plug-in that an exception is; None if it is none of theirs."""
    from pydantic import ValidationError

    from rebecsim.lang import RebecaError

    if isinstance(error, RebecaError):
        rendered = error.diagnostics[0].source_line or ""
        lines = [suspect.source.line_of_text(rendered) for suspect in suspects]
        suspect, line = _guilty(suspects, lines)
        message = f"the model with the {suspect.what} does not check:\n{error}"
        return suspect.source.error(message, line)
    if isinstance(error, ValidationError | UserError):
        return None
    lines = [suspect.source.line_of_error(error) for suspect in suspects]
    suspect, line = _guilty(suspects, lines)
    return suspect.source.error(f"{suspect.what}: {type(error).__name__}: {error}", line)


def _guilty(
    suspects: Sequence[PluginSuspect], lines: Sequence[int | None]
) -> tuple[PluginSuspect, int | None]:
    """Return the first suspect in whose file the line is known; without one, the first suspect."""
    pairs = list(zip(suspects, lines, strict=True))
    return next((pair for pair in pairs if pair[1] is not None), pairs[0])
