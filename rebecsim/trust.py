"""Consent to run Python files that a file of the user names, and the record of a loaded plug-in.

A model in Python is executed. Users who name one in a command or a call agree to that. A scenario
or a suite of models may come from somebody else and name a program: then users must agree first,
and see which files would be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rebecsim.errors import UserError

Consent = Callable[[str, tuple[Path, ...]], None]
"""Called before Python files are executed, with the name of the file that names them.

Raises UserError unless they may be executed.
"""


class UntrustedCodeError(UserError):
    """A file names Python files, and the user has not said that they may be executed."""

    def __init__(self, origin: str, programs: Iterable[Path]) -> None:
        listed = ", ".join(map(str, programs))
        super().__init__(
            f"{origin}: names Python code, which rebecsim would run: {listed}; read it first, then "
            "add --trust (in Python, trust=True)"
        )


def refuse_programs(origin: str, programs: tuple[Path, ...]) -> None:
    """Withhold consent. Raises UntrustedCodeError."""
    raise UntrustedCodeError(origin, programs)


def run_programs(origin: str, programs: tuple[Path, ...]) -> None:
    """Give consent: the user has said that whatever is named may be executed."""


def is_program(model: str | Path) -> bool:
    """Whether a model of this name is a Python program, which is executed."""
    return Path(model).suffix == ".py"


def require_consent(consent: Consent, origin: str, files: Iterable[Path]) -> None:
    """Ask for consent if there are programs among the files that `origin` names.

    Raises what `consent` raises.
    """
    if programs := tuple(dict.fromkeys(filter(is_program, files))):
        consent(origin, programs)


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """A plug-in that is loaded, and which version of it."""

    name: str
    """The name of its file, or of its entry point as `package: entry point`."""

    sha256: str
    """The SHA-256 digest of its file, in hexadecimal."""
