from .cluster import (
    Finished as Finished,
    Occupancy as Occupancy,
    cluster_model as cluster_model,
    run_cluster as run_cluster,
)
from .configuration import (
    QUIRKS_OF_DSS as QUIRKS_OF_DSS,
    Elasticity as Elasticity,
    InjectedError as InjectedError,
    PlacementRules as PlacementRules,
    PoolTable as PoolTable,
    Quirks as Quirks,
    YarnConfiguration as YarnConfiguration,
)
from .containers import (
    Application as Application,
    ClusterNode as ClusterNode,
    Container as Container,
    Locality as Locality,
    NodeSize as NodeSize,
    Reservation as Reservation,
)
from .launching import AppMaster as AppMaster, NodeManager as NodeManager, StuckError as StuckError
from .penalties import PENALTIES as PENALTIES, Penalty as Penalty, penalty_named as penalty_named
from .rebecs import ResourceManager as ResourceManager
from .schedulers.elastic import (
    Greedy as Greedy,
    Peek as Peek,
    RaceInLockstep as RaceInLockstep,
    SmartGreedy as SmartGreedy,
)
from .schedulers.fair import (
    DominantFair as DominantFair,
    Fair as Fair,
    FairQueue as FairQueue,
    Regular as Regular,
)
from .schedulers.registry import (
    SCHEDULERS as SCHEDULERS,
    YarnScheduler as YarnScheduler,
    yarn_scheduler as yarn_scheduler,
)
from .schedulers.scheduler import (
    ContainerScheduler as ContainerScheduler,
    FirstInFirstOut as FirstInFirstOut,
    ShortestRemaining as ShortestRemaining,
)
