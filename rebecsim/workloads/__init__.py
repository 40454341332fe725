"""Workloads: jobs of real machines and of generators, and their schedules.

* `Workload`: jobs as columns, in the order of submission.
* `read_swf`: read a log in the Standard Workload Format, plain or gzip.
* `write_swf`: write one.
* `write_workload`: write one as SWF, CSV or Parquet.
* `CleaningRules`: which rows of a log count as jobs.
* `Schedule`: a workload and when each job ran.
* `read_schedule`: read a schedule from an SWF file with waits.
* `write_schedule`: write one.
* `generate`: draw a workload of the model of Lublin and Feitelson.
* `LublinModel`: the parameters of that model.
* `resample`: draw a workload like a log, user by user.
* `window`: the jobs of a time.
* `first_jobs`: the first so many jobs.
* `of_users`: the jobs of some users.
* `of_queues`: the jobs of some queues.
* `offered_load`: the share of the machine that the jobs ask for.
* `scale_load`: let jobs come faster or slower.
* `with_load`: let them come as fast as makes an offered load.
* `summarise`: describe a workload in numbers.
* `WorkloadSummary`: these numbers.
* `WorkloadError`: what is wrong with a workload; names file and line.
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
