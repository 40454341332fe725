"""What holds for every command: it overwrites no file that it reads, and names wrong options."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from rebecsim.errors import ArgumentError, UserError

_READ = frozenset({"like", "plugin", "property", "queues", "replay", "topology", "yarn_site"})
"""Options that name files to be read. Arguments do, too; all other options name files to write."""


def keep_inputs(command: Any) -> None:
    """Let a command, and those below it, refuse to write over what it reads before it begins."""
    for each in getattr(command, "commands", {}).values():
        keep_inputs(each)
    run, parameters = command.callback, command.params
    if run is None:
        return

    def guarded(**given: Any) -> Any:
        _require_other_files(parameters, given)
        try:
            return run(**given)
        except ArgumentError as error:
            hint = _option_of(parameters, error.argument)
            raise typer.BadParameter(error.fault, param_hint=hint) from error

    command.callback = guarded


def _require_other_files(parameters: list[Any], given: dict[str, Any]) -> None:
    read = [
        path
        for each in parameters
        if each.param_type_name == "argument" or each.name in _READ
        for path in _files(given.get(each.name))
    ]
    for each in parameters:
        if each.param_type_name == "argument" or each.name in _READ or each.type.name != "path":
            continue
        for path in _files(given.get(each.name)):
            if any(path.samefile(other) for other in read):
                raise UserError(
                    f"{each.opts[0]} {path}: the command reads this file and would write over it; "
                    "give another name"
                )


def _option_of(parameters: list[Any], argument: str) -> str:
    """Give the option that an argument of a function comes from; of texts it takes one."""
    for each in parameters:
        if each.name in (argument, argument.removesuffix("s")):
            return str(each.opts[0])
    return argument


def _files(value: object) -> Iterator[Path]:
    """Give those of some values that name files which are there."""
    for each in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(each, (str, Path)) and os.path.isfile(each):  # noqa: PTH113 - SQL is too long
            yield Path(each)
