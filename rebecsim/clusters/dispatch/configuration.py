"""One configuration of the dispatch cluster: its jobs, its policy, and its hardware.

Lists have an entry for each AppMaster, am1 first. A list that is shorter than the cluster starts
again from its first entry, so one list serves every cluster size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle, islice
from typing import Annotated, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rebecsim.clusters.dispatch.pattern_kinds import Arrivals, Lengths
from rebecsim.clusters.dispatch.patterns import MAX_LENGTH
from rebecsim.clusters.dispatch.policies import DispatchPolicy, dispatch_policy
from rebecsim.studies.scenario import NO_UNIT, unit, within

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
        (),
        json_schema_extra=unit("watts"),
        description="of each AppMaster without a job, over again like speeds",
    )
    busy: Annotated[tuple[Watts, ...], Field(strict=False)] = Field(
        (),
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


MAX_APP_MASTERS = 1_000
"""Most AppMasters: each is a rebec of its own and a block of the ResourceManager's text."""

MAX_QUEUE_SIZE = 10_000
"""Most waiting jobs: every time unit passes over all slots."""

MAX_EPSILON = 100.0
"""Largest epsilon, so that deadlines fit the 32 bits of the model's integers."""

_PRIORITY_STEP, _LOWEST_PRIORITY = 10, 100

PolicyName = Annotated[str, AfterValidator(lambda name: dispatch_policy(name).name)]
"""The name of a registered dispatch policy."""

ClusterSize = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_APP_MASTERS,
        json_schema_extra=unit("AppMasters"),
        description="how many: jobs run at once",
    ),
]
QueueSize = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_QUEUE_SIZE,
        json_schema_extra=unit("jobs"),
        description="slots for waiting jobs; more are dropped",
    ),
]
Epsilon = Annotated[
    float,
    Field(
        ge=0,
        le=MAX_EPSILON,
        allow_inf_nan=False,
        json_schema_extra=NO_UNIT,
        description="slack: a job of length L has trunc(L * (1 + epsilon)) time units",
    ),
]


class HighPriority(BaseModel):
    """Which jobs have high priority: PRIORITY runs them first, and eviction evicts others for them.

    A job that arrives draws one of `values` and has high priority when that is at most
    `probability`. Under the fair law that is a chance of `probability` percent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    probability: Annotated[int, within(0, 100, "%")] = Field(
        0, description="chance of high priority"
    )
    length: Annotated[int, within(0, MAX_LENGTH, "time units")] = Field(
        0, description="length that replaces the one of a high priority job; 0 keeps the job's own"
    )

    @property
    def decides_lengths(self) -> bool:
        """Whether there are jobs whose priority replaces their length."""
        return self.probability > 0 and self.length > 0

    @property
    def values(self) -> tuple[int, ...]:
        """What a job draws from: 10, 20, ..., 100, or in finer steps where that is not enough."""
        step = math.gcd(self.probability, _PRIORITY_STEP)
        return tuple(range(step, _LOWEST_PRIORITY + 1, step))


Workload = Literal["same", "as-published"]


def counts_priorities(high_priority: HighPriority, workload: Workload) -> bool:
    """Whether jobs of high priority are counted: there are some, and under all policies."""
    return high_priority.probability > 0 and workload == "same"


class ClusterConfiguration(BaseModel):
    """What every generated model has: a policy, a workload and a cluster."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    policy: str
    arrivals: Arrivals = Field(
        json_schema_extra=unit("jobs per time unit"), description="how many jobs come"
    )
    lengths: Lengths = Field(json_schema_extra=unit("time units"), description="work of each job")
    app_masters: ClusterSize
    queue_size: QueueSize
    epsilon: Epsilon
    high_priority: HighPriority = HighPriority()
    speeds: Speeds = ()
    horizon: int | None = Field(
        None,
        ge=1,
        description="the model counts the time units before this one in which each AppMaster is "
        "busy; without it, it counts none",
    )

    @property
    def file_stem(self) -> str:
        """A file name without ending, unique within a scenario: `edf_uniform1_nondet1to6_am3`."""
        return "_".join(
            (
                self.policy.lower(),
                self.arrivals.slug,
                self.lengths.slug,
                f"am{self.app_masters}",
            )
        )


class Configuration(ClusterConfiguration):
    """One dispatch policy, one workload and one cluster size: what one model is generated from."""

    policy: PolicyName = Field(description="name of the dispatch policy")
    workload: Workload = "same"

    @property
    def dispatch_policy(self) -> DispatchPolicy:
        """The policy that `policy` names."""
        return dispatch_policy(self.policy)

    @property
    def counts_priorities(self) -> bool:
        """Whether jobs of high priority are counted; see `counts_priorities`."""
        return counts_priorities(self.high_priority, self.workload)

    @property
    def draws_priorities(self) -> bool:
        """Whether jobs draw a priority: if it is counted, or if the policy uses it."""
        return self.counts_priorities or self.dispatch_policy.uses_priority
