"""Jobs of several stages with deadlines: workflows and MapReduce, planned ahead on fixed resources.

Running: `run_stages` runs `StageJob`s of `StageTask`s on `StageResource`s under a `StageManager`,
and gives what is `FinishedStages`. `stages_model` is the model behind it, of an `ArrivalSource`, a
`ResourceManager` and a `TaskExecutor` for each resource. What a decision costs is a `DecisionCost`.

Managers: a `StageManager` of `STAGES_POLICIES` by name, found by `stages_policy`; a plug-in adds a
`StagesPolicy`.

Closed problems: a `ClosedWorkload` of `CLOSED_WORKLOADS` draws its jobs from `JobDraws`.

Schedules: an `Assignment` says when a task runs and where; a `ScheduleChecker` looks at each
decision, and `require_sound_schedule` at a whole schedule.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
