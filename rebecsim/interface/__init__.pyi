from .checking import (
    CheckedFile as CheckedFile,
    check as check,
    format as format,
    generate as generate,
    new as new,
)
from .comparing import Comparison as Comparison, compare as compare, size as size
from .exploring import (
    Explored as Explored,
    Replayed as Replayed,
    explore as explore,
    replay as replay,
)
from .loading import LoadedModel as LoadedModel, load as load, loads as loads
from .measuring import Measures as Measures, measure as measure
from .quantities import (
    Estimated as Estimated,
    EstimatedRare as EstimatedRare,
    Exact as Exact,
    estimate as estimate,
    exact as exact,
    rare as rare,
)
from .racing import FoundRaces as FoundRaces, races as races
from .running import ManyRuns as ManyRuns, open as open, run as run
from .searching import (
    Sensitivities as Sensitivities,
    Tuned as Tuned,
    sensitivity as sensitivity,
    tune as tune,
)
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
from .workloads import (
    ContainerJobs as ContainerJobs,
    ExpectedShares as ExpectedShares,
    LoggedJobs as LoggedJobs,
    MeasuredSchedules as MeasuredSchedules,
    containers as containers,
    draw_containers as draw_containers,
    draw_workload as draw_workload,
    measure_schedules as measure_schedules,
    workload as workload,
)
