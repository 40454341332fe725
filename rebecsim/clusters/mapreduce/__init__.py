"""MapReduce as Hadoop 1 runs it: map and reduce slots, a JobTracker, and TaskTrackers.

Running: `run_mapreduce` runs jobs, each a `MapReduceJob` with `JobCosts`, on a cluster of a
`MapReduceConfiguration` and gives a `FinishedRun`. A configuration has tables of a scenario: a
`ClusterTable` with each `NodeClassTable`, a `VariationTable`, a `FailuresTable` with each
`OutageTable`, `Speculation`, and each `ChangeTable`, perhaps with a `QueueCondition`. A run has a
`JobRecord` of each job, an `AttemptRecord` of each attempt with its `AttemptOutcome`, its
`Locality` and the time that it has spent on each `Phase`, each `Outage`, and `DeviceUse`.
`cluster_model` is the model behind it, of a `ClusterPlan`.
`StuckJobsError` says that jobs wait for ever.

Schedulers: a `TaskScheduler` gives free slots, of a `SlotKind` and seen as `TrackerSlots`, to tasks
of each `JobInProgress` by an `Assignment`. `SLOT_SCHEDULERS` has them by name: the
`CapacityTaskScheduler`, the `FairTaskScheduler` and the `JobQueueTaskScheduler`, which has no
queues; a plug-in adds a `SlotScheduler`.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
