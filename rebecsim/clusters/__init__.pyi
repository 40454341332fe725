from .commands import Command as Command
from .dispatch.configuration import (
    ClusterConfiguration as ClusterConfiguration,
    Configuration as Configuration,
    HighPriority as HighPriority,
)
from .dispatch.eviction import (
    EVICTION_POLICIES as EVICTION_POLICIES,
    EvictionPolicy as EvictionPolicy,
    eviction_policy as eviction_policy,
)
from .dispatch.hardware import Power as Power, energy as energy
from .dispatch.natjam import (
    NATJAM_COUNTERS as NATJAM_COUNTERS,
    Eviction as Eviction,
    NatjamConfiguration as NatjamConfiguration,
    natjam_source as natjam_source,
)
from .dispatch.patterns.base import WorkloadPattern as WorkloadPattern
from .dispatch.patterns.curves import Sine as Sine, Spline as Spline, TablePattern as TablePattern
from .dispatch.patterns.kinds import (
    ARRIVAL_PATTERNS as ARRIVAL_PATTERNS,
    LENGTH_PATTERNS as LENGTH_PATTERNS,
    Arrivals as Arrivals,
    Lengths as Lengths,
)
from .dispatch.patterns.steps import (
    Ascending as Ascending,
    Bursty as Bursty,
    Descending as Descending,
    Geometric as Geometric,
    Linear as Linear,
    Nondet as Nondet,
    UniformArrivals as UniformArrivals,
    UniformLengths as UniformLengths,
    Wave as Wave,
)
from .dispatch.policies import (
    DISPATCH_POLICIES as DISPATCH_POLICIES,
    DispatchPolicy as DispatchPolicy,
    dispatch_policy as dispatch_policy,
)
from .dispatch.source import (
    COUNTERS as COUNTERS,
    busy_time_variables as busy_time_variables,
    rebeca_source as rebeca_source,
)
from .dispatch.utilisation import utilisation as utilisation, windows as windows
from .kit.plugin_errors import PluginError as PluginError
from .kit.registry import UnknownNameError as UnknownNameError
from .loading import (
    load_installed_plugins as load_installed_plugins,
    load_plugin as load_plugin,
    load_plugins as load_plugins,
    loaded_plugins as loaded_plugins,
    unload_plugin as unload_plugin,
)
from .plugin import Plugin as Plugin
