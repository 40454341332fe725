"""Run times as the resource manager estimates them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from rebecsim.errors import UserError
from rebecsim.workloads import Workload
from rebecsim.workloads.job import Integers

NamedEstimates = Literal["requested", "exact"]
ESTIMATES: tuple[NamedEstimates, ...] = get_args(NamedEstimates)


@dataclass(frozen=True)
class InflatedEstimates:
    """Estimates that are too long by a random part, up to `factor` times the run time.

    The estimate is uniform among the whole seconds from r to (1 + factor) r (Mu'alem and
    Feitelson, IEEE TPDS 12(6), 2001, section 4, where the factor is called f). Factor 0 gives
    exact estimates.
    """

    factor: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and 0 <= self.factor <= 1e6):
            raise UserError(f"an estimate error of {self.factor}; give it from 0 to 1,000,000")


Estimates: TypeAlias = NamedEstimates | InflatedEstimates
"""`requested`: the time that the user asked for, the run time where nobody asked; `exact`: the
run time; or run times with an error."""


def durations(workload: Workload) -> Integers:
    """Give how long each job runs, seconds: it is killed at the time that it has requested."""
    return np.minimum(workload.run, workload.estimate)


def estimates_of(workload: Workload, estimates: Estimates, seed: int) -> Integers:
    """Give the estimate of each job, seconds, never less than it runs; `seed` is for the error."""
    match estimates:
        case "requested":
            return workload.estimate
        case "exact":
            return durations(workload)
        case InflatedEstimates(factor):
            shortest = durations(workload)
            longest = np.floor(shortest * (1 + factor)).astype(np.int64)
            generator = np.random.default_rng(np.random.SeedSequence(seed))
            return generator.integers(shortest, longest, endpoint=True)
    raise UserError(f"no estimates {estimates!r}; known are {', '.join(ESTIMATES)}")
