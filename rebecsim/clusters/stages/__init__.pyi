from .checking import (
    BrokenScheduleError as BrokenScheduleError,
    ScheduleChecker as ScheduleChecker,
    require_sound_schedule as require_sound_schedule,
)
from .cluster import (
    FinishedStages as FinishedStages,
    run_stages as run_stages,
    stages_model as stages_model,
)
from .decisions import DecisionCost as DecisionCost, MadeDecision as MadeDecision
from .job import (
    BrokenJobError as BrokenJobError,
    StageJob as StageJob,
    StageTask as StageTask,
    TaskKey as TaskKey,
    TaskKind as TaskKind,
)
from .managers.manager import StageManager as StageManager
from .managers.registry import (
    STAGES_POLICIES as STAGES_POLICIES,
    StagesPolicy as StagesPolicy,
    stages_policy as stages_policy,
)
from .rebecs import (
    ArrivalSource as ArrivalSource,
    ResourceManager as ResourceManager,
    TaskExecutor as TaskExecutor,
)
from .resources import (
    StageResource as StageResource,
    alike as alike,
    typed_alike as typed_alike,
)
from .schedule import Assignment as Assignment, Schedule as Schedule
from .workloads.closed import CLOSED_WORKLOADS as CLOSED_WORKLOADS, ClosedWorkload as ClosedWorkload
from .workloads.stream import JobDraws as JobDraws
