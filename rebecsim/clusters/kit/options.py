"""Options of commands that set keys of scenarios: bounds and defaults are those of the keys."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Any

import typer
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


def _least(table: type[BaseModel], name: str) -> float | None:
    schema = _properties(table)[name]
    bounds = [each["minimum"] for each in (schema, *schema.get("anyOf", ())) if "minimum" in each]
    return bounds[0] if bounds else None


@cache
def _properties(table: type[BaseModel]) -> dict[str, Any]:
    properties: dict[str, Any] = table.model_json_schema()["properties"]
    return properties
