from .application import Application as Application
from .cluster import (
    Finished as Finished,
    cluster_model as cluster_model,
    run_cluster as run_cluster,
)
from .configuration import (
    Elasticity as Elasticity,
    FairPool as FairPool,
    InjectedError as InjectedError,
    PlacementRules as PlacementRules,
    YarnConfiguration as YarnConfiguration,
)
from .container import Container as Container, Locality as Locality
from .elasticity.penalties import (
    PENALTIES as PENALTIES,
    Penalty as Penalty,
    penalty_named as penalty_named,
)
from .node import (
    ClusterNode as ClusterNode,
    NodeSize as NodeSize,
    Reservation as Reservation,
)
from .quirks import QUIRKS_OF_DSS as QUIRKS_OF_DSS, Quirks as Quirks
from .rebecs import (
    AppMaster as AppMaster,
    NodeManager as NodeManager,
    ResourceManager as ResourceManager,
    StuckError as StuckError,
)
from .sampler import Occupancy as Occupancy
from .schedulers.elastic import Greedy as Greedy, SmartGreedy as SmartGreedy
from .schedulers.fair import DominantFair as DominantFair, Fair as Fair
from .schedulers.fair_queue import FairQueue as FairQueue
from .schedulers.fifo import FirstInFirstOut as FirstInFirstOut
from .schedulers.peek import Peek as Peek
from .schedulers.race import RaceInLockstep as RaceInLockstep
from .schedulers.registry import (
    SCHEDULERS as SCHEDULERS,
    YarnScheduler as YarnScheduler,
    yarn_scheduler as yarn_scheduler,
)
from .schedulers.regular import Regular as Regular
from .schedulers.scheduler import ContainerScheduler as ContainerScheduler
from .schedulers.srtf import ShortestRemaining as ShortestRemaining
