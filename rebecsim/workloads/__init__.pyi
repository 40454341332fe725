from .cleaning import CleaningRules as CleaningRules
from .container_jobs import (
    AlikeNodes as AlikeNodes,
    ContainerJob as ContainerJob,
    NodeLabel as NodeLabel,
    Rack as Rack,
    RackNode as RackNode,
    TaskClass as TaskClass,
    is_sls_topology as is_sls_topology,
    racks_of as racks_of,
    read_sls_topology as read_sls_topology,
    write_sls_topology as write_sls_topology,
)
from .files import WorkloadError as WorkloadError
from .generation import (
    LublinModel as LublinModel,
    Spread as Spread,
    TraceModel as TraceModel,
    generate as generate,
    generate_containers as generate_containers,
    resample as resample,
)
from .hadoop_history import AppsRule as AppsRule
from .logs import (
    Schedule as Schedule,
    read_log as read_log,
    read_schedule as read_schedule,
    write_schedule as write_schedule,
    write_workload as write_workload,
)
from .sacct import read_sacct as read_sacct
from .sls import (
    SlsTrace as SlsTrace,
    read_sls_jobs as read_sls_jobs,
    read_sls_trace as read_sls_trace,
    write_sls as write_sls,
)
from .summary import (
    ContainerSummary as ContainerSummary,
    WorkloadSummary as WorkloadSummary,
    summarise as summarise,
    summarise_containers as summarise_containers,
)
from .swf import read_pbs as read_pbs, read_swf as read_swf, write_swf as write_swf
from .swim import SwimRule as SwimRule, SwimTrace as SwimTrace, read_swim as read_swim
from .workload import (
    Workload as Workload,
    cut as cut,
    first_jobs as first_jobs,
    offered_load as offered_load,
    scale_load as scale_load,
    window as window,
    with_load as with_load,
)
