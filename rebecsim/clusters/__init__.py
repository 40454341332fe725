"""The kinds of clusters, and what plug-ins are made of.

Plug-ins: a `Plugin` brings policies, patterns, template fragments and kinds; `load_plugin` loads
one from a file, `load_plugins` several, `load_installed_plugins` those of installed packages.
`loaded_plugins` gives the `PluginRecord` of each, `unload_plugin` takes one out; `PluginError` says
what is wrong with one. `UnknownNameError` is about names under which nothing is registered.

Policies: a `DispatchPolicy` chooses among the waiting jobs, an `EvictionPolicy` the running job to
be put aside; `DISPATCH_POLICIES` and `EVICTION_POLICIES` have them by name, as have the functions
`dispatch_policy` and `eviction_policy`.

Patterns: a `WorkloadPattern`, or a `TablePattern` that lists the values of its period, may stand
under `Arrivals` or `Lengths`, if it is among the `ARRIVAL_PATTERNS` or `LENGTH_PATTERNS`:
`UniformArrivals`, `UniformLengths`, `Nondet`, `Bursty`, `Wave`, `Ascending`, `Descending`,
`Linear`, `Geometric`, `Sine`, `Spline`.

Models: a `Configuration` is rendered as Timed Rebeca by `rebeca_source`, a `NatjamConfiguration`,
with its `Eviction`, by `natjam_source`; both are a `ClusterConfiguration` and may have jobs of
`HighPriority`. `COUNTERS` and `NATJAM_COUNTERS` say what is read from their runs, and
`busy_time_variables` how long AppMasters were busy.

Hardware: `busy_time` of a job, `energy` of runs by the `Power` draw of AppMasters, `utilisation`
over time and in `windows`.
"""

from rebecsim.clusters.builtin import BUILTIN
from rebecsim.clusters.common.plugin_errors import PluginError
from rebecsim.clusters.common.registry import UnknownNameError
from rebecsim.clusters.dispatch.configuration import (
    ClusterConfiguration,
    Configuration,
    HighPriority,
)
from rebecsim.clusters.dispatch.eviction import EVICTION_POLICIES, EvictionPolicy, eviction_policy
from rebecsim.clusters.dispatch.hardware import Power, busy_time, energy
from rebecsim.clusters.dispatch.natjam import (
    NATJAM_COUNTERS,
    Eviction,
    NatjamConfiguration,
    natjam_source,
)
from rebecsim.clusters.dispatch.patterns.base import WorkloadPattern
from rebecsim.clusters.dispatch.patterns.curves import Sine, Spline, TablePattern
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
from rebecsim.clusters.dispatch.policies import DISPATCH_POLICIES, DispatchPolicy, dispatch_policy
from rebecsim.clusters.dispatch.source import COUNTERS, busy_time_variables, rebeca_source
from rebecsim.clusters.dispatch.utilisation import utilisation, windows
from rebecsim.clusters.loading import (
    load_installed_plugins,
    load_plugin,
    load_plugins,
    loaded_plugins,
    unload_plugin,
)
from rebecsim.clusters.plugin import Plugin, install
from rebecsim.studies.plan import PluginRecord

__all__ = [
    "ARRIVAL_PATTERNS",
    "COUNTERS",
    "DISPATCH_POLICIES",
    "EVICTION_POLICIES",
    "LENGTH_PATTERNS",
    "NATJAM_COUNTERS",
    "Arrivals",
    "Ascending",
    "Bursty",
    "ClusterConfiguration",
    "Configuration",
    "Descending",
    "DispatchPolicy",
    "Eviction",
    "EvictionPolicy",
    "Geometric",
    "HighPriority",
    "Lengths",
    "Linear",
    "NatjamConfiguration",
    "Nondet",
    "Plugin",
    "PluginError",
    "PluginRecord",
    "Power",
    "Sine",
    "Spline",
    "TablePattern",
    "UniformArrivals",
    "UniformLengths",
    "UnknownNameError",
    "Wave",
    "WorkloadPattern",
    "busy_time",
    "busy_time_variables",
    "dispatch_policy",
    "energy",
    "eviction_policy",
    "load_installed_plugins",
    "load_plugin",
    "load_plugins",
    "loaded_plugins",
    "natjam_source",
    "rebeca_source",
    "unload_plugin",
    "utilisation",
    "windows",
]

install(BUILTIN, source=None)
