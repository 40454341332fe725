from .machine import (
    PLACEMENTS as PLACEMENTS,
    Job as Job,
    Machine as Machine,
    NodeGroup as NodeGroup,
    Nodes as Nodes,
    Pool as Pool,
    SingleNodes as SingleNodes,
    machine_of as machine_of,
)
from .policies.backfilling import (
    Allocations as Allocations,
    Backfilling as Backfilling,
    EasyBackfilling as EasyBackfilling,
    NoBackfilling as NoBackfilling,
)
from .policies.orders import (
    BySubmission as BySubmission,
    Fairshare as Fairshare,
    LargestArea as LargestArea,
    LongestJob as LongestJob,
    PolicySettings as PolicySettings,
    QueueOrder as QueueOrder,
    QueuePriority as QueuePriority,
    ShortestJob as ShortestJob,
    SmallestArea as SmallestArea,
    Usage as Usage,
)
from .policies.policy import (
    BATCH_POLICIES as BATCH_POLICIES,
    BatchPolicy as BatchPolicy,
    ConservativeBackfilling as ConservativeBackfilling,
    batch_policy as batch_policy,
)
from .rebecs import (
    Client as Client,
    ComputeNode as ComputeNode,
    ResourceManager as ResourceManager,
    cluster_model as cluster_model,
)
from .run import (
    ESTIMATES as ESTIMATES,
    Estimates as Estimates,
    InflatedEstimates as InflatedEstimates,
    run_schedule as run_schedule,
)
from .validation import (
    Check as Check,
    check_capacity as check_capacity,
    check_head_reservations as check_head_reservations,
    check_start_order as check_start_order,
    check_submissions as check_submissions,
)
