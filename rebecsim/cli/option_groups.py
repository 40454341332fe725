"""Dataclasses of options: a command takes one in place of several options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints


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
