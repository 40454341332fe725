"""The policies and patterns that come with the package, as a plug-in."""

from __future__ import annotations

from rebecsim.clusters.batch.policies.policy import BUILTIN_BATCH_POLICIES
from rebecsim.clusters.dispatch.eviction import BUILTIN_EVICTION_POLICIES
from rebecsim.clusters.dispatch.patterns.curves import Sine, Spline
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
from rebecsim.clusters.dispatch.policies import BUILTIN_DISPATCH_POLICIES
from rebecsim.clusters.mapreduce.schedulers.registry import BUILTIN_SLOT_SCHEDULERS
from rebecsim.clusters.plugin import Plugin
from rebecsim.clusters.stages.managers.registry import BUILTIN_STAGES_POLICIES
from rebecsim.clusters.yarn.schedulers.registry import BUILTIN_YARN_SCHEDULERS

_FOR_BOTH = (Nondet, Wave, Ascending, Descending, Sine, Spline)

BUILTIN = Plugin(
    dispatch_policies=BUILTIN_DISPATCH_POLICIES,
    eviction_policies=BUILTIN_EVICTION_POLICIES,
    batch_policies=BUILTIN_BATCH_POLICIES,
    yarn_schedulers=BUILTIN_YARN_SCHEDULERS,
    slot_schedulers=BUILTIN_SLOT_SCHEDULERS,
    stages_policies=BUILTIN_STAGES_POLICIES,
    arrival_patterns=(UniformArrivals, Bursty, *_FOR_BOTH),
    length_patterns=(UniformLengths, Linear, Geometric, *_FOR_BOTH),
)
"""What scenarios can use without any plug-in; its fragments lie in `rebecsim.templates`."""
