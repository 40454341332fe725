"""Registries of the policies, patterns and kinds that scenarios can name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

from rebecsim.clusters.kit.plugin_errors import PluginSource, PluginSuspect
from rebecsim.wording import suggestion

Entry = TypeVar("Entry")


class UnknownNameError(ValueError):
    """A name under which nothing is registered; the message says what to write instead."""


class TakenNameError(ValueError):
    """A name under which something is registered already."""


class Registry(Generic[Entry]):
    """Things of one kind by name, in the order in which they were registered."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        """What the things are, as in "dispatch policy"."""
        self._entries: dict[str, Entry] = {}
        self._sources: dict[str, PluginSource] = {}
        self.entries: Mapping[str, Entry] = MappingProxyType(self._entries)
        """What is registered now, read-only; later registrations appear in it."""

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
