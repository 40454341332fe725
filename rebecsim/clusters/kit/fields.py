"""Fields that scenarios of several kinds have, and parts of fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from pydantic import AfterValidator, BaseModel, Field

from rebecsim.studies.scenario import require_known, require_metrics, without_duplicates
from rebecsim.studies.units import NO_UNIT, unit_of

MAX_RUNS = 10_000
"""Most runs of one scenario."""

AnyList = Field(strict=False)
"""TOML and JSON give a list, the scenario keeps a tuple; the entries are not converted."""

Load = Annotated[float, Field(ge=0.001, le=1000)]

Unique = AfterValidator(without_duplicates)
"""Nothing stands in the list twice."""


def named_by(find: Callable[[str], object]) -> AfterValidator:
    """Give what refuses names for which `find` has nothing."""

    def require(names: tuple[str, ...]) -> tuple[str, ...]:
        require_known(names, find)
        return names

    return AfterValidator(require)


LoadFactors = Annotated[
    tuple[Load, ...],
    Unique,
    Field(
        strict=False,
        min_length=1,
        json_schema_extra=NO_UNIT,
        description="submit jobs so many times as fast",
    ),
]

MetricNames = Annotated[
    tuple[str, ...],
    Unique,
    Field(strict=False, description="columns of the table, by name; all of them without this key"),
]


def among(known: Sequence[str]) -> AfterValidator:
    """Give what refuses other names of metrics than these."""

    def require(names: tuple[str, ...]) -> tuple[str, ...]:
        require_metrics(names, known)
        return names

    return AfterValidator(require)


Made = TypeVar("Made")


def settings_of(
    made: Callable[..., Made], table: BaseModel, scales: Mapping[str, float], **own: Any
) -> Made:
    """Make the settings that a simulation reads from a table of its scenario.

    They are a dataclass; each field of it that the table has, too, gets its value. `scales` says
    how many of the simulation's units one of the table's is, by the name of that: `{"ms": 1000}`
    for microseconds. What becomes a whole number is rounded. Entries of a list of tables become
    settings, too. `own` are further fields.
    """
    known = type(table).model_fields
    hints = _hints(made)
    for name in hints.keys() & known.keys() - own.keys():
        factor = scales.get(unit_of(known[name].json_schema_extra) or "", 1)
        own[name] = _scaled(getattr(table, name), hints[name], factor, scales)
    return made(**own)


def _scaled(value: Any, hint: Any, factor: float, scales: Mapping[str, float]) -> Any:
    if isinstance(value, tuple):
        of: Any = get_args(hint)[0]
        is_settings = is_dataclass(of)
        return tuple(settings_of(of, each, scales) for each in value) if is_settings else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round(value * factor) if int in (hint, *get_args(hint)) else value * factor


@cache
def _hints(made: Any) -> dict[str, Any]:
    hints = get_type_hints(made)
    return {each.name: hints[each.name] for each in fields(made)}
