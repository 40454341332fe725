from .checking import CheckedFile as CheckedFile, check as check
from .comparing import Comparison as Comparison, compare as compare, size as size
from .estimating import (
    Estimated as Estimated,
    EstimatedRare as EstimatedRare,
    estimate as estimate,
    rare as rare,
)
from .exploring import (
    Explored as Explored,
    Replayed as Replayed,
    explore as explore,
    replay as replay,
)
from .loading import LoadedModel as LoadedModel, load as load, loads as loads
from .orders import Exact as Exact, exact as exact
from .racing import FoundRaces as FoundRaces, races as races
from .running import ManyRuns as ManyRuns, open as open, run as run
from .shown import Drawing as Drawing
from .simulating import (
    Simulated as Simulated,
    run_live as run_live,
    simulate as simulate,
    step as step,
)
from .small import LoadedCluster as LoadedCluster, small_clusters as small_clusters
from .stored import (
    RunsCompared as RunsCompared,
    StoredRuns as StoredRuns,
    diff as diff,
    runs as runs,
)
from .writing import format as format, generate as generate, new as new
