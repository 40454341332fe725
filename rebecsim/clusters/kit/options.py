"""Options of commands as fields of dataclasses; those of keys of scenarios are as these are.

They may also be defaults of the parameters of a command: see `rebecsim.cli.app.grouped`.
"""

from __future__ import annotations

from dataclasses import MISSING, field
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

OPTION = "option"
"""What the option stands under in the metadata of a field of a dataclass."""


def key(table: type[BaseModel], name: str, text: str) -> Any:
    """Give a field of a dataclass of options, for the key of a table of scenarios.

    The option is called like the key, and has its default and its least value; one that is true or
    false is a flag. What is too large is refused with the scenario. `text` is the help.
    """
    found = table.model_fields[name]
    names = [f"--{name.replace('_', '-')}"] if found.annotation is bool else []
    option = typer.Option(*names, min=_least(table, name), help=text)
    return field(default=found.default, metadata={OPTION: option})


def option(text: str, default: Any = None, *names: str, **more: Any) -> Any:
    """Give a field of a dataclass of options, for an option that is no key of a scenario.

    `text` is the help, `names` are those of the option if it is not called like the field, or has
    others; further arguments are those of `typer.Option`.
    """
    return field(default=default, metadata={OPTION: typer.Option(*names, help=text, **more)})


def argument(text: str, default: Any = MISSING, **more: Any) -> Any:
    """Give a field of a dataclass of options for what stands at its place, not behind a name."""
    shows = default is not MISSING and default is not None
    found = typer.Argument(help=text, **{"show_default": shows, **more})
    return field(default=default, metadata={OPTION: found})


def _least(table: type[BaseModel], name: str) -> float | None:
    schema = _properties(table)[name]
    bounds = [each["minimum"] for each in (schema, *schema.get("anyOf", ())) if "minimum" in each]
    return bounds[0] if bounds else None


@cache
def _properties(table: type[BaseModel]) -> dict[str, Any]:
    properties: dict[str, Any] = table.model_json_schema()["properties"]
    return properties
