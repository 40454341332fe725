"""Every number that a scenario of any kind may hold says its unit, or that it has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import pytest
from pydantic import Field

from rebecsim.clusters.kinds import find_kind, kind_names
from rebecsim.studies.scenario import NO_UNIT, UNIT_OUTSIDE, Table, unit, unit_of, with_unit


class Silent(Table):
    """What the check below has to find: numbers in five shapes, of which nobody says a unit."""

    plain: int = Field(description="")
    perhaps: float | None = Field(default=None, description="")
    several: Annotated[tuple[int, ...], Field(strict=False)] = Field(description="")
    pair: tuple[float, float] = Field(description="")
    named: dict[str, str | int] = Field(description="")
    text: str = Field(description="not one of them")
    said: int = Field(description="", json_schema_extra=NO_UNIT)


def properties(schema: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All fields of a schema, of what it refers to, and of what it has inside."""
    if isinstance(schema, Mapping):
        yield from schema.get("properties", {}).items()
        for inside in schema.values():
            yield from properties(inside)
    elif isinstance(schema, list):
        for inside in schema:
            yield from properties(inside)


def is_numeric(about: object) -> bool:
    """Whether numbers stand in a field itself, and not in a table inside it."""
    if isinstance(about, list):
        return any(map(is_numeric, about))
    if not isinstance(about, Mapping):
        return False
    if about.get("type") in ("integer", "number"):
        return True
    inside = ("anyOf", "oneOf", "items", "prefixItems", "additionalProperties")
    return any(is_numeric(about.get(key)) for key in inside)


def silent(schema: Mapping[str, Any]) -> set[str]:
    return {name for name, about in properties(schema) if is_numeric(about) and "unit" not in about}


@pytest.mark.parametrize("kind", kind_names())
def test_every_number_has_a_unit_or_says_that_it_has_none(kind: str) -> None:
    schema = find_kind(kind).scenario.model_json_schema()
    assert {name for name, about in properties(schema) if is_numeric(about)}
    assert silent(schema) == set()


def test_that_check_finds_numbers_in_every_shape() -> None:
    assert silent(Silent.model_json_schema()) == {"plain", "perhaps", "several", "pair", "named"}


def test_a_unit_is_that_of_the_field_or_of_what_is_around_it() -> None:
    assert unit_of(unit("MB"), "seconds") == "MB"
    assert unit_of(NO_UNIT, "seconds") == ""
    assert unit_of(UNIT_OUTSIDE, "seconds") == "seconds"
    assert unit_of({}, "seconds") is None
    assert unit_of(None) is None


def test_a_description_ends_with_the_unit() -> None:
    assert with_unit("of a node", unit("MB")) == "of a node, MB"
    assert with_unit("of a node", NO_UNIT) == with_unit("of a node", None) == "of a node"
