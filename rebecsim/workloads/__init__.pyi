from .cleaning import CleaningRules as CleaningRules
from .containers.apps import AppsRule as AppsRule
from .containers.generation import (
    Spread as Spread,
    TraceModel as TraceModel,
    generate_containers as generate_containers,
)
from .containers.jobs import ContainerJob as ContainerJob, TaskClass as TaskClass
from .containers.sls import (
    SlsTrace as SlsTrace,
    read_sls_jobs as read_sls_jobs,
    read_sls_trace as read_sls_trace,
    write_sls as write_sls,
)
from .containers.summary import (
    ContainerSummary as ContainerSummary,
    summarise_containers as summarise_containers,
)
from .containers.swim import SwimRule as SwimRule, SwimTrace as SwimTrace, read_swim as read_swim
from .containers.topology import (
    AlikeNodes as AlikeNodes,
    NodeLabel as NodeLabel,
    Rack as Rack,
    RackNode as RackNode,
    is_sls_topology as is_sls_topology,
    racks_of as racks_of,
    read_sls_topology as read_sls_topology,
    write_sls_topology as write_sls_topology,
)
from .errors import WorkloadError as WorkloadError
from .export import write_workload as write_workload
from .job import Workload as Workload
from .logs import read_log as read_log
from .lublin import LublinModel as LublinModel, generate as generate
from .pbs import read_pbs as read_pbs
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
