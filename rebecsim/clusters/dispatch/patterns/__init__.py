"""Workload patterns: how many jobs arrive in a time unit, and how long each of them runs.

A pattern is a function of the time unit t = 0, 1, 2, ... Arrival patterns give jobs per time unit,
length patterns give the time units of work of one job; all values are whole numbers. Patterns whose
meaning is the same for both (nondet, wave, ascending, descending, sine, spline) are one class.

Every pattern but `nondet` is deterministic: all jobs of one time unit have the same length. The
values of `nondet` are drawn anew for every time unit (arrivals) or every job (lengths).

Each class names the template fragment that computes it in the generated model. The fragment defines
a macro `assign(target, prefix, pattern)` which writes the statements that put the pattern's value
for the time unit `m_time` into the variable `target`; the numbers it needs are constants of the
model, named `prefix` plus the names in `constants`.

WorkloadPattern: what arrival and length patterns have in common.
TablePattern: a pattern that lists the values of its period.
Arrivals: any arrival pattern, as a type for validation.
Lengths: any length pattern, as a type for validation.
ARRIVAL_PATTERNS: the classes of arrival patterns by name.
LENGTH_PATTERNS: the classes of length patterns by name.
MAX_ALTERNATIVES: most values that nondet draws from.
MAX_ARRIVALS: most jobs in one time unit.
MAX_LENGTH: longest job in time units.
MAX_PERIOD: longest table in time units.
MAX_POINTS: longest period in time units.
Ascending: values that grow step by step and start again.
Bursty: jobs that arrive in bursts.
Descending: values that fall step by step and start again.
Geometric: lengths that grow by a factor and start again.
Linear: lengths that grow with time, called exponential in the thesis.
Nondet: values drawn from a range.
Sine: values on a sine curve.
Spline: values on a smooth curve through given points.
UniformArrivals: the same number of jobs at every time unit.
UniformLengths: the same length for every job.
Wave: values that rise and fall.
"""

from rebecsim.clusters.dispatch.patterns.base import (
    MAX_ALTERNATIVES,
    MAX_ARRIVALS,
    MAX_LENGTH,
    MAX_POINTS,
    WorkloadPattern,
)
from rebecsim.clusters.dispatch.patterns.curves import MAX_PERIOD, Sine, Spline, TablePattern
from rebecsim.clusters.dispatch.patterns.kinds import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    Arrivals,
    Lengths,
)
from rebecsim.clusters.dispatch.patterns.steps import (
    Ascending,
    Bursty,
    Descending,
    Geometric,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
)

__all__ = [
    "ARRIVAL_PATTERNS",
    "LENGTH_PATTERNS",
    "MAX_ALTERNATIVES",
    "MAX_ARRIVALS",
    "MAX_LENGTH",
    "MAX_PERIOD",
    "MAX_POINTS",
    "Arrivals",
    "Ascending",
    "Bursty",
    "Descending",
    "Geometric",
    "Lengths",
    "Linear",
    "Nondet",
    "Sine",
    "Spline",
    "TablePattern",
    "UniformArrivals",
    "UniformLengths",
    "Wave",
    "WorkloadPattern",
]
