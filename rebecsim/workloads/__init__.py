"""Workloads: jobs of real machines and of generators, and their schedules.

A `Workload` has jobs as columns, in the order of submission; `WorkloadError` says what is wrong
with one, with file and line. `read_log` reads a log in the Standard Workload Format (`read_swf`),
CSV, an accounting log of PBS or Torque (`read_pbs`), or what Slurm's sacct printed (`read_sacct`),
by `CleaningRules` which say what rows count as jobs; `write_swf` writes one in the first,
`write_workload` also CSV and Parquet. `summarise` gives a `WorkloadSummary`.

A `Schedule` is a workload and when each job ran: `read_schedule`, `write_schedule`.

Workloads are made by `generate`, of the `LublinModel`, or `resample`, like a log, user by user. Of
one, `window`, `first_jobs` and `cut` give some jobs; `offered_load` is the share
of the machine that they ask for, `scale_load` and `with_load` change it.

A `ContainerJob` is one of YARN, with `TaskClass`es that ask for memory and cores; `read_sls_jobs`
reads such jobs from a trace in SLS JSON, `read_sls_trace` as an `SlsTrace` with the nodes it asks
for, and `write_sls` writes them. What the ResourceManager answers about its applications is such a
trace, too: an `AppsRule` says how long their tasks are. `read_swim` makes a `SwimTrace` of them by
a `SwimRule`, and `generate_containers` draws them of a `TraceModel`, a `Spread` for each column;
`summarise_containers` gives a `ContainerSummary`. The nodes of a cluster are `RackNode`s with
`NodeLabel`s, by `Rack`: from `read_sls_topology`, or `racks_of` nodes that are `AlikeNodes`;
`write_sls_topology` writes them, and `is_sls_topology` tells such a file from a trace.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
