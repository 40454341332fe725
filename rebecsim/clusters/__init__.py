"""The cluster models: workload patterns, policies, hardware, plug-ins, and the generated texts.

Configuration: one dispatch policy, workload and cluster size; what one model is made from.
NatjamConfiguration: the same with an eviction policy; Eviction says how jobs are put aside.
natjam_source: such a configuration rendered as Timed Rebeca.
NATJAM_COUNTERS: the columns of its results and the state variables they are read from.
ClusterConfiguration: what both kinds of configuration have.
HighPriority: which jobs have high priority, and how long those are.
rebeca_source: a configuration rendered as Timed Rebeca.
COUNTERS: the state variables of the model that count what became of the jobs.
busy_time_variables: the state variables that count how long each AppMaster was busy.
DispatchPolicy: one way to choose among the waiting jobs.
DISPATCH_POLICIES: the dispatch policies by name.
dispatch_policy: the dispatch policy with a given name.
EvictionPolicy: one way to choose the running job to be put aside.
EVICTION_POLICIES: the eviction policies by name.
eviction_policy: the eviction policy with a given name.
UnknownNameError: a name under which no policy or pattern is registered.
Power: the power draw of AppMasters.
busy_time: how long a job occupies an AppMaster of a given speed.
energy: the energy of runs.
utilisation: when AppMasters were busy, from traces.
windows: utilisation in windows of several time units.
Plugin: policies and patterns with their template fragments.
PluginError: a plug-in that cannot be used.
PluginRecord: a plug-in that is loaded, and which version of it.
load_plugin: load the plug-in in a file.
load_plugins: load the plug-ins of installed packages, then those in files.
load_installed_plugins: load the plug-ins of installed packages.
loaded_plugins: the plug-ins that are loaded.
unload_plugin: take out what a plug-in has brought.
WorkloadPattern: what arrival and length patterns have in common.
TablePattern: a pattern that lists the values of its period.
Arrivals: any arrival pattern, as a type for validation.
Lengths: any length pattern, as a type for validation.
ARRIVAL_PATTERNS: the classes of arrival patterns by name.
LENGTH_PATTERNS: the classes of length patterns by name.
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
from rebecsim.clusters.dispatch.patterns import (
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
    Sine,
    Spline,
    TablePattern,
    UniformArrivals,
    UniformLengths,
    Wave,
    WorkloadPattern,
)
from rebecsim.clusters.dispatch.policies import DISPATCH_POLICIES, DispatchPolicy, dispatch_policy
from rebecsim.clusters.dispatch.source import COUNTERS, busy_time_variables, rebeca_source
from rebecsim.clusters.dispatch.utilisation import utilisation, windows
from rebecsim.clusters.loading import (
    PluginRecord,
    load_installed_plugins,
    load_plugin,
    load_plugins,
    loaded_plugins,
    unload_plugin,
)
from rebecsim.clusters.plugin import Plugin, install

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
