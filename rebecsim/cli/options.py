"""How options become arguments: groups in dataclasses, guarded files, faults named by option."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from rebecsim.errors import ArgumentError, UserError


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command as typer has to see it: each field of a dataclass is an option of its own.

    The options stand in the order of the parameters, those of a group in that of its fields.
    """
    groups: dict[str, type] = {}
    options: list[Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for parameter in signature(command).parameters.values():
        hint = hints[parameter.name]
        if is_dataclass(hint) and isinstance(hint, type):
            groups[parameter.name] = hint
            options += _options_of(hint)
        else:
            options.append(_option(parameter.name, hint, parameter.default))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    vars(run)["__signature__"] = Signature(options)
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options_of(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        _option(
            each.name,
            _hint(hints[each.name], each.metadata.get("option")),
            Parameter.empty if each.default is MISSING else each.default,
        )
        for each in fields(group)
    ]


def _hint(hint: Any, option: Any) -> Any:
    """Give the type with its option, which may have been made from a key of scenarios."""
    return hint if option is None else Annotated[hint, option]


def _option(name: str, hint: Any, default: object) -> Parameter:
    if default is MISSING:
        default = Parameter.empty
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


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
