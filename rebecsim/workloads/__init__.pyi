from .cleaning import CleaningRules as CleaningRules
from .containers.jobs import ContainerJob as ContainerJob, TaskClass as TaskClass
from .containers.sls import read_sls_jobs as read_sls_jobs
from .containers.topology import (
    NodeLabel as NodeLabel,
    Rack as Rack,
    RackNode as RackNode,
    read_sls_topology as read_sls_topology,
)
from .errors import WorkloadError as WorkloadError
from .export import write_workload as write_workload
from .job import Workload as Workload
from .lublin import LublinModel as LublinModel, generate as generate
from .resample import resample as resample
from .schedule import (
    Schedule as Schedule,
    read_schedule as read_schedule,
    write_schedule as write_schedule,
)
from .summary import WorkloadSummary as WorkloadSummary, summarise as summarise
from .swf import read_swf as read_swf, write_swf as write_swf
from .transform import (
    first_jobs as first_jobs,
    of_queues as of_queues,
    of_users as of_users,
    offered_load as offered_load,
    scale_load as scale_load,
    window as window,
    with_load as with_load,
)
