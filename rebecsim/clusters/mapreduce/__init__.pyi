from .attempts import AttemptOutcome as AttemptOutcome, Phase as Phase
from .cluster import cluster_model as cluster_model, run_mapreduce as run_mapreduce
from .cluster_state import ClusterPlan as ClusterPlan
from .configuration import (
    ChangeTable as ChangeTable,
    ClusterTable as ClusterTable,
    FailuresTable as FailuresTable,
    MapReduceConfiguration as MapReduceConfiguration,
    NodeClassTable as NodeClassTable,
    OutageTable as OutageTable,
    QueueCondition as QueueCondition,
    Speculation as Speculation,
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
    Outage as Outage,
)
from .requirements import StuckJobsError as StuckJobsError
from .schedulers.capacity import CapacityTaskScheduler as CapacityTaskScheduler
from .schedulers.fair import FairTaskScheduler as FairTaskScheduler
from .schedulers.fifo import JobQueueTaskScheduler as JobQueueTaskScheduler
from .schedulers.registry import SLOT_SCHEDULERS as SLOT_SCHEDULERS, SlotScheduler as SlotScheduler
from .schedulers.scheduler import Assignment as Assignment, TaskScheduler as TaskScheduler
