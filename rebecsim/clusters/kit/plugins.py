"""What plug-ins may bring: names in registries, parts of kinds, and errors that name their file.

The code of a plug-in runs long after it was loaded: its patterns when a scenario is validated, its
fragments when a model is rendered. Whatever it does wrong is reported as an error in its file.

A kind that takes something has a module `plugin_parts` with a tuple `PLUGIN_PARTS` of `PluginPart`.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from rebecsim.errors import UserError
from rebecsim.wording import suggestion


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


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A way to do something that scenarios choose by its name; a kind adds what does it."""

    name: str
    """What commands and scenarios call it."""

    title: str
    """The name in words, for charts and tables."""

    description: str
    """The rule in one line, ties included."""


Entry = TypeVar("Entry")


class UnknownNameError(ValueError):
    """A name under which nothing is registered; the message says what to write instead."""


class TakenNameError(ValueError):
    """A name under which something is registered already."""


class Registry(Generic[Entry]):
    """Things of one kind by name, in the order of tables and charts; plug-ins come last."""

    def __init__(self, kind: str, builtin: Iterable[Any] = ()) -> None:
        self.kind = kind
        """What the things are, as in "dispatch policy"."""
        self._entries: dict[str, Entry] = {}
        self._sources: dict[str, PluginSource] = {}
        self.entries: Mapping[str, Entry] = MappingProxyType(self._entries)
        """What is registered now, read-only; later registrations appear in it."""
        for each in builtin:
            self.add(each.name, each)

    def add(self, name: str, entry: Entry, source: PluginSource | None = None) -> None:
        """Register something, which comes from a plug-in if there is a source.

        Raises TakenNameError when the name is taken.
        """
        if name in self._entries:
            owner = self.source_of(name)
            of = "rebecsim itself" if owner is None else owner.name
            raise TakenNameError(f"{self.kind} {name} already exists, from {of}; rename yours")
        self._entries[name] = entry
        if source is not None:
            self._sources[name] = source

    def remove(self, source: PluginSource) -> None:
        """Take out everything that comes from a plug-in."""
        for name in [name for name, owner in self._sources.items() if owner is source]:
            del self._sources[name], self._entries[name]

    def find(self, name: str) -> Entry:
        """Return what is registered under a name. Raises UnknownNameError if there is nothing."""
        if name in self._entries:
            return self._entries[name]
        hint = suggestion(name, self._entries)
        raise UnknownNameError(f"no {self.kind} is called {name!r}; {hint}")

    def source_of(self, name: str) -> PluginSource | None:
        """Return the plug-in that what has this name comes from; None if it is built in."""
        return self._sources.get(name)

    def suspects(self, name: str) -> tuple[PluginSuspect, ...]:
        """Return the plug-in to blame for errors of this entry; none if it is built in."""
        source = self.source_of(name)
        return () if source is None else (PluginSuspect(source, f"{self.kind} {name}"),)


_POLICY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,39}")


def _own_name(entry: Any) -> tuple[str, ...]:
    return (entry.name,)


@dataclass(frozen=True)
class PluginPart:
    """One sort of thing that plug-ins may bring.

    Attributes:
        attribute: the argument of `Plugin` that takes a tuple of them.
        registry: what they are added to.
        require: raises TypeError or ValueError, saying what to mend, for one that is unusable.
        names: gives the names to register one under.
        attempt: tries one that is registered, before the plug-in is accepted.
    """

    attribute: str
    registry: Registry[Any]
    require: Callable[[Any], None]
    names: Callable[[Any], Iterable[str]] = _own_name
    attempt: Callable[[Any], None] | None = None


def require_policy(policy: Any, kind: type[Any], **classes: type) -> None:
    """Raise TypeError or ValueError for a policy that is not of a type, or has no texts to show.

    `classes` are attributes that must be subclasses, which can be instantiated: name -> base.
    """
    if not isinstance(policy, kind):
        raise TypeError(f"{policy!r} is not a {kind.__name__}")
    if not isinstance(policy.name, str) or not _POLICY_NAME.fullmatch(policy.name):
        raise ValueError(
            f"a policy cannot be called {policy.name!r}; "
            "use capital letters, digits and _, with a letter first"
        )
    for attribute in ("title", "description"):
        text = getattr(policy, attribute)
        if not isinstance(text, str) or not text or not text.isprintable():
            raise ValueError(f"policy {policy.name}: the {attribute} must be one line of text")
    for attribute, base in classes.items():
        _require_class(policy, attribute, base)


def _require_class(policy: Any, attribute: str, base: type) -> None:
    given: Any = getattr(policy, attribute)
    if not isinstance(given, type) or not issubclass(given, base):
        kind = f"subclass of {base.__name__}"
        raise TypeError(f"policy {policy.name}: the {attribute} {given!r} is not a {kind}")
    if inspect.isabstract(given):
        raise TypeError(
            f"policy {policy.name}: {given.__name__} does not define {abstract_methods(given)}"
        )


def abstract_methods(abstract: Any) -> str:
    """Name the methods that a class still has to define."""
    return ", ".join(sorted(abstract.__abstractmethods__))
