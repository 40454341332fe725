"""Commands of the program that plug-ins bring."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rebecsim.clusters.kit.registry import Registry

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that `rebecsim NAME` runs."""

    name: str
    """What the user types, in lower-case letters, digits and `-`."""

    run: Callable[..., None]
    """A function whose parameters and docstring give options and help, as Typer reads them."""

    example: str
    """What follows `rebecsim` in the first line of its help, as in `hello --to you`."""


commands: Registry[Command] = Registry("command")
"""Those of plug-ins; `rebecsim.cli.commands` lists those of the package, which come first."""


def require_command(command: object) -> None:
    """Raises TypeError or ValueError where a plug-in brings a command that cannot be one."""
    if not isinstance(command, Command):
        raise TypeError(f"{command!r} is no Command")
    if not isinstance(command.name, str) or not _NAME.fullmatch(command.name):
        raise ValueError(
            f"a command cannot be called {command.name!r}; "
            "use lower-case letters, digits and -, with a letter first"
        )
    if not callable(command.run):
        raise TypeError(f"command {command.name}: {command.run!r} is no function")
