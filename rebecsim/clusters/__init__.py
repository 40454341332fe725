"""The kinds of clusters, and the parts of plug-ins.

Plug-ins: a `Plugin` brings policies, patterns, template fragments, kinds, and each `Command` of
the program; `load_plugin` loads one from a file, `load_plugins` several, `load_installed_plugins`
those of installed packages. `loaded_plugins` gives the record of each that runs may depend on,
`unload_plugin` takes one out; `PluginError` says what is wrong with one. `UnknownNameError` is
about names under which nothing is registered.

Kinds: a `RebecStudy` is a kind whose clusters are systems of rebecs; `read_entries` reads lists in
JSON files for one, and `scenario_command` makes its command from its scenarios.

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

Hardware: `energy` of runs by the `Power` draw of AppMasters, `utilisation`
over time and in `windows`.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
