from .checking import (
    BrokenScheduleError as BrokenScheduleError,
    ScheduleChecker as ScheduleChecker,
    require_sound_schedule as require_sound_schedule,
)
from .cluster import (
    ArrivalSource as ArrivalSource,
    FinishedStages as FinishedStages,
    ResourceManager as ResourceManager,
    TaskExecutor as TaskExecutor,
    run_stages as run_stages,
    stages_model as stages_model,
)
from .job import (
    BrokenJobError as BrokenJobError,
    StageJob as StageJob,
    StageTask as StageTask,
    TaskKey as TaskKey,
    TaskKind as TaskKind,
)
from .managers.decisions import DecisionCost as DecisionCost, MadeDecision as MadeDecision
from .managers.manager import StageManager as StageManager
from .managers.registry import (
    STAGES_POLICIES as STAGES_POLICIES,
    StagesPolicy as StagesPolicy,
    stages_policy as stages_policy,
)
from .resources import (
    Assignment as Assignment,
    Schedule as Schedule,
    StageResource as StageResource,
    identical as identical,
    identical_typed as identical_typed,
)
from .workloads import (
    CLOSED_WORKLOADS as CLOSED_WORKLOADS,
    ClosedWorkload as ClosedWorkload,
    JobDraws as JobDraws,
)
