"""The dispatch cluster: workload patterns, policies, and the model generated from them.

Configuration: one policy, workload and cluster size; what one model is made from.
HighPriority: which jobs have high priority, and how long those are.
rebeca_source: a configuration rendered as Timed Rebeca.
COUNTERS: the state variables of the model that count what became of the jobs.
DispatchPolicy: one way to choose among the waiting jobs.
DISPATCH_POLICIES: the policies by name.
dispatch_policy: the policy with a given name.
UnknownPolicyError: a name that no policy has.
WorkloadPattern: what arrival and length patterns have in common.
Arrivals: any arrival pattern, as a type for validation.
Lengths: any length pattern, as a type for validation.
ARRIVAL_PATTERNS: the classes of arrival patterns.
LENGTH_PATTERNS: the classes of length patterns.
Ascending: values that grow step by step and start again.
Bursty: jobs that arrive in bursts.
Descending: values that fall step by step and start again.
Geometric: lengths that grow by a factor and start again.
Linear: lengths that grow with time, called exponential in the thesis.
Nondet: values drawn from a range.
UniformArrivals: the same number of jobs at every time unit.
UniformLengths: the same length for every job.
Wave: values that rise and fall.
"""

from rebecsim.cluster.configuration import Configuration, HighPriority
from rebecsim.cluster.dispatch import COUNTERS, rebeca_source
from rebecsim.cluster.patterns import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    Arrivals,
    Ascending,
    Bursty,
    Descending,
    Geometric,
    Lengths,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
    WorkloadPattern,
)
from rebecsim.cluster.policies import (
    DISPATCH_POLICIES,
    DispatchPolicy,
    UnknownPolicyError,
    dispatch_policy,
)

__all__ = [
    "ARRIVAL_PATTERNS",
    "COUNTERS",
    "DISPATCH_POLICIES",
    "LENGTH_PATTERNS",
    "Arrivals",
    "Ascending",
    "Bursty",
    "Configuration",
    "Descending",
    "DispatchPolicy",
    "Geometric",
    "HighPriority",
    "Lengths",
    "Linear",
    "Nondet",
    "UniformArrivals",
    "UniformLengths",
    "UnknownPolicyError",
    "Wave",
    "WorkloadPattern",
    "dispatch_policy",
    "rebeca_source",
]
