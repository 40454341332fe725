"""Units of the fields of scenarios, which pages and messages show.

A field has one as `Field(json_schema_extra=unit("MB"))`, so it is a part of the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field
from pydantic.config import JsonDict

_KEY = "unit"


def unit(name: str) -> JsonDict:
    """Say in which unit a field is given, e.g. `seconds`."""
    return {_KEY: name}


NO_UNIT = unit("")
"""Of a field that is a bare number: a seed, a share, a factor, or a count of what it is named for.
"""

UNIT_OUTSIDE: JsonDict = {_KEY: None}
"""Of a field that has the unit of the table or list in which it stands."""


def unit_of(field: Mapping[str, Any] | object, outside: str = "") -> str | None:
    """Give the unit of a field by its schema; "" for a bare number, None if not stated."""
    if not isinstance(field, Mapping) or _KEY not in field:
        return None
    return outside if field[_KEY] is None else str(field[_KEY])


def with_unit(description: str, field: Mapping[str, Any] | object) -> str:
    """Put the unit of a field behind what is said of it."""
    return ", ".join(filter(None, (description, unit_of(field))))


def within(least: float, most: float, unit_name: str = "") -> Any:
    """Say between which bounds a number lies, and in which unit it is given.

    It stands in the type: `Annotated[int, within(1, 1000, "MB")]`.
    """
    return Field(ge=least, le=most, json_schema_extra=unit(unit_name))
