from .estimates import (
    ESTIMATES as ESTIMATES,
    Estimates as Estimates,
    InflatedEstimates as InflatedEstimates,
)
from .job import Job as Job
from .machine import (
    PLACEMENTS as PLACEMENTS,
    Machine as Machine,
    NodeGroup as NodeGroup,
    Nodes as Nodes,
    Pool as Pool,
    SingleNodes as SingleNodes,
    machine_of as machine_of,
)
from .policies.allocations import Allocations as Allocations
from .policies.backfilling import (
    Backfilling as Backfilling,
    EasyBackfilling as EasyBackfilling,
    NoBackfilling as NoBackfilling,
)
from .policies.conservative import ConservativeBackfilling as ConservativeBackfilling
from .policies.orders import (
    BySubmission as BySubmission,
    Fairshare as Fairshare,
    LargestArea as LargestArea,
    LongestJob as LongestJob,
    QueueOrder as QueueOrder,
    QueuePriority as QueuePriority,
    ShortestJob as ShortestJob,
    SmallestArea as SmallestArea,
)
from .policies.policy import (
    BATCH_POLICIES as BATCH_POLICIES,
    BatchPolicy as BatchPolicy,
    batch_policy as batch_policy,
)
from .policies.settings import BACKFILL_ORDERS as BACKFILL_ORDERS, PolicySettings as PolicySettings
from .policies.usage import Usage as Usage
from .rebecs import (
    Client as Client,
    ComputeNode as ComputeNode,
    ResourceManager as ResourceManager,
    cluster_model as cluster_model,
)
from .run import run_schedule as run_schedule
from .validation import (
    Check as Check,
    check_capacity as check_capacity,
    check_head_reservations as check_head_reservations,
    check_start_order as check_start_order,
    check_submissions as check_submissions,
)
