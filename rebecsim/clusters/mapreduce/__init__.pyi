from .attempts import AttemptOutcome as AttemptOutcome, Phase as Phase
from .cluster import cluster_model as cluster_model, run_mapreduce as run_mapreduce
from .cluster_state import ClusterPlan as ClusterPlan
from .configuration import (
    Failures as Failures,
    FileSystem as FileSystem,
    HadoopSettings as HadoopSettings,
    MapReduceConfiguration as MapReduceConfiguration,
    NodeClass as NodeClass,
    NodeHardware as NodeHardware,
    Outage as Outage,
    QueueCondition as QueueCondition,
    Speculation as Speculation,
    TimedChange as TimedChange,
    VariationTable as VariationTable,
)
from .job import (
    JobCosts as JobCosts,
    JobInProgress as JobInProgress,
    JobPriority as JobPriority,
    Locality as Locality,
    MapReduceJob as MapReduceJob,
    SlotKind as SlotKind,
    TrackerSlots as TrackerSlots,
)
from .records import (
    AttemptRecord as AttemptRecord,
    DeviceUse as DeviceUse,
    FinishedRun as FinishedRun,
    JobRecord as JobRecord,
)
from .requirements import StuckJobsError as StuckJobsError
from .schedulers.capacity import CapacityTaskScheduler as CapacityTaskScheduler
from .schedulers.fair import FairTaskScheduler as FairTaskScheduler
from .schedulers.fifo import JobQueueTaskScheduler as JobQueueTaskScheduler
from .schedulers.registry import SLOT_SCHEDULERS as SLOT_SCHEDULERS, SlotScheduler as SlotScheduler
from .schedulers.scheduler import Assignment as Assignment, TaskScheduler as TaskScheduler
