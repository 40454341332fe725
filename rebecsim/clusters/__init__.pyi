from .dispatch.configuration import (
    ClusterConfiguration as ClusterConfiguration,
    Configuration as Configuration,
    HighPriority as HighPriority,
    Power as Power,
    energy as energy,
)
from .dispatch.energy import utilisation as utilisation, windows as windows
from .dispatch.pattern_kinds import (
    ARRIVAL_PATTERNS as ARRIVAL_PATTERNS,
    LENGTH_PATTERNS as LENGTH_PATTERNS,
    Arrivals as Arrivals,
    Lengths as Lengths,
    Sine as Sine,
    Spline as Spline,
    TablePattern as TablePattern,
)
from .dispatch.patterns import (
    Ascending as Ascending,
    Bursty as Bursty,
    Descending as Descending,
    Geometric as Geometric,
    Linear as Linear,
    Nondet as Nondet,
    UniformArrivals as UniformArrivals,
    UniformLengths as UniformLengths,
    Wave as Wave,
    WorkloadPattern as WorkloadPattern,
)
from .dispatch.policies import (
    DISPATCH_POLICIES as DISPATCH_POLICIES,
    EVICTION_POLICIES as EVICTION_POLICIES,
    DispatchPolicy as DispatchPolicy,
    EvictionPolicy as EvictionPolicy,
    dispatch_policy as dispatch_policy,
    eviction_policy as eviction_policy,
)
from .dispatch.source import (
    COUNTERS as COUNTERS,
    NATJAM_COUNTERS as NATJAM_COUNTERS,
    Eviction as Eviction,
    NatjamConfiguration as NatjamConfiguration,
    busy_time_variables as busy_time_variables,
    natjam_source as natjam_source,
    rebeca_source as rebeca_source,
)
from .kinds import (
    Command as Command,
    load_installed_plugins as load_installed_plugins,
    load_plugin as load_plugin,
    load_plugins as load_plugins,
    loaded_plugins as loaded_plugins,
    unload_plugin as unload_plugin,
)
from .kit.command import scenario_command as scenario_command
from .kit.plugins import PluginError as PluginError, UnknownNameError as UnknownNameError
from .kit.rebec_study import RebecStudy as RebecStudy, read_entries as read_entries
from .plugin import Plugin as Plugin
