"""Workloads: jobs of real machines and of generators, and their schedules.

A `Workload` has jobs as columns, in the order of submission; `WorkloadError` says what is wrong
with one, with file and line. `read_swf` reads a log in the Standard Workload Format, by
`CleaningRules` which say what rows count as jobs; `write_swf` writes one, `write_workload` also CSV
and Parquet. `summarise` gives a `WorkloadSummary`.

A `Schedule` is a workload and when each job ran: `read_schedule`, `write_schedule`.

Workloads are made by `generate`, of the `LublinModel`, or `resample`, like a log, user by user. Of
one, `window`, `first_jobs`, `of_users` and `of_queues` give some jobs; `offered_load` is the share
of the machine that they ask for, `scale_load` and `with_load` change it.
"""

from rebecsim.workloads.cleaning import CleaningRules
from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.export import write_workload
from rebecsim.workloads.job import Workload
from rebecsim.workloads.lublin import LublinModel, generate
from rebecsim.workloads.resample import resample
from rebecsim.workloads.schedule import Schedule, read_schedule, write_schedule
from rebecsim.workloads.summary import WorkloadSummary, summarise
from rebecsim.workloads.swf import read_swf, write_swf
from rebecsim.workloads.transform import (
    first_jobs,
    of_queues,
    of_users,
    offered_load,
    scale_load,
    window,
    with_load,
)

__all__ = [
    "CleaningRules",
    "LublinModel",
    "Schedule",
    "Workload",
    "WorkloadError",
    "WorkloadSummary",
    "first_jobs",
    "generate",
    "of_queues",
    "of_users",
    "offered_load",
    "read_schedule",
    "read_swf",
    "resample",
    "scale_load",
    "summarise",
    "window",
    "with_load",
    "write_schedule",
    "write_swf",
    "write_workload",
]
