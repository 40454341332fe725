"""Fields that scenarios of several kinds have, and parts of fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from rebecsim.studies.scenario import require_metrics, without_duplicates
from rebecsim.studies.units import NO_UNIT

MAX_RUNS = 10_000
"""Most runs of one scenario."""

AnyList = Field(strict=False)
"""TOML and JSON give a list, the scenario keeps a tuple; the entries are not converted."""

Load = Annotated[float, Field(ge=0.001, le=1000)]

LoadFactors = Annotated[
    tuple[Load, ...],
    AfterValidator(without_duplicates),
    Field(
        strict=False,
        min_length=1,
        json_schema_extra=NO_UNIT,
        description="submit jobs so many times as fast",
    ),
]

MetricNames = Annotated[
    tuple[str, ...],
    AfterValidator(without_duplicates),
    Field(strict=False, description="columns of the table, by name; all of them without this key"),
]


def among(known: Sequence[str]) -> AfterValidator:
    """Give what refuses other names of metrics than these."""

    def require(names: tuple[str, ...]) -> tuple[str, ...]:
        require_metrics(names, known)
        return names

    return AfterValidator(require)
