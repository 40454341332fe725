"""The record of a loaded plug-in, for plans and runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """A plug-in that is loaded, and which version of it."""

    name: str
    """The name of its file, or of its entry point as `package: entry point`."""

    sha256: str
    """The SHA-256 digest of its file, in hexadecimal."""
