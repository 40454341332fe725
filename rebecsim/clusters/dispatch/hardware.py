"""Hardware of AppMasters: speeds and power draw, and the energy of a run.

Lists have an entry for each AppMaster, am1 first. A list that is shorter than the cluster starts
again from its first entry, so one list serves every cluster size.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle, islice
from typing import Annotated, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rebecsim.studies.units import unit

Entry = TypeVar("Entry")

_MAX_SPEED = 100
_SPEED_DECIMALS = 2
"""Speeds are n/100: with lengths up to MAX_LENGTH nothing in the model exceeds 32 bits."""


def _require_decimals(speed: float) -> float:
    if (speed_ratio(speed) * 10**_SPEED_DECIMALS).denominator != 1:
        raise ValueError(
            f"must have at most {_SPEED_DECIMALS} digits after the point, found {speed}"
        )
    return speed


Speed = Annotated[
    float,
    Field(ge=10**-_SPEED_DECIMALS, le=_MAX_SPEED, allow_inf_nan=False),
    AfterValidator(_require_decimals),
]
"""Work done in a time unit; 1 is the speed in which lengths are measured."""

Speeds = Annotated[
    tuple[Speed, ...],
    Field(
        strict=False,
        json_schema_extra=unit("work per time unit"),
        description="of each AppMaster, over again from the first one when the cluster "
        "is larger; empty: 1.0 for all",
    ),
]

Watts = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class Power(BaseModel):
    """Power draw of AppMasters; without `idle` and `busy`, no energy is computed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    idle: Annotated[tuple[Watts, ...], Field(strict=False)] = Field(
        default=(),
        json_schema_extra=unit("watts"),
        description="of each AppMaster without a job, over again like speeds",
    )
    busy: Annotated[tuple[Watts, ...], Field(strict=False)] = Field(
        default=(),
        json_schema_extra=unit("watts"),
        description="of each AppMaster with a job, over again like speeds",
    )
    time_unit: float = Field(
        default=1.0,
        ge=0.001,
        le=1e9,
        allow_inf_nan=False,
        json_schema_extra=unit("seconds"),
        description="how long a time unit is",
    )

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if bool(self.idle) != bool(self.busy):
            raise ValueError("give the watts of both idle and busy, or of neither")
        return self

    @property
    def is_given(self) -> bool:
        """Whether energy is to be computed."""
        return bool(self.idle)


def cycled(entries: Sequence[Entry], app_masters: int) -> tuple[Entry, ...]:
    """Return the entry of each AppMaster. Raises ValueError when there are none to cycle."""
    if not entries:
        raise ValueError("an empty list cannot be cycled")
    return tuple(islice(cycle(entries), app_masters))


def speed_ratio(speed: float) -> Fraction:
    """Return a speed as the fraction that its decimal digits say, in lowest terms."""
    return Fraction(repr(speed))


def energy(power: Power, busy_times: NDArray[np.integer], ticks: int) -> NDArray[np.float64]:
    """Return the energy of runs in joules, float64 of shape (runs,).

    `busy_times` has shape (runs, AppMasters): time units of the run's `ticks` in which each was
    busy, the state variable `m_busy_time`. Each AppMaster draws its busy watts then and its idle
    watts otherwise. Raises ValueError when the power draw is not given or a busy time is not
    between 0 and `ticks`.
    """
    if not power.is_given:
        raise ValueError("the power draw is not given")
    if np.any(busy_times < 0) or np.any(busy_times > ticks):
        raise ValueError(f"busy times must lie between 0 and {ticks}")
    app_masters = busy_times.shape[1]
    idle = np.array(cycled(power.idle, app_masters))
    busy = np.array(cycled(power.busy, app_masters))
    watts: NDArray[np.float64] = busy_times @ busy + (ticks - busy_times) @ idle
    return watts * power.time_unit
