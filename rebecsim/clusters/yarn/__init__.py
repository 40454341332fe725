"""Clusters under YARN: containers of memory and cores, heartbeats, schedulers that may give less.

Running: `run_cluster` runs jobs of containers on nodes of a `NodeSize` under a `YarnConfiguration`,
and gives what is `Finished`: each `Application` with its `Container`s, each `ClusterNode` with its
`Reservation`s, and its `Occupancy`. `cluster_model` is the model behind it, of a
`ResourceManager`, a `NodeManager` for each node and an `AppMaster` for each job. `StuckError` says
that jobs wait for ever.

Schedulers: a `ContainerScheduler` of `SCHEDULERS` by name: `Regular`, `Greedy`, `SmartGreedy`,
`Peek`, `ShortestRemaining`, `RaceInLockstep`, `FirstInFirstOut`, and `Fair` and `DominantFair`,
which share a cluster between the `PoolTable`s of a configuration. Those with a fair order have a
`FairQueue`.

Placement: with `PlacementRules` in a configuration, labels of nodes count, tasks of a job may be
spread, and they wait some time for a node near to where they would rather run: their `Locality`.

Elasticity: a `Penalty` of `PENALTIES` by name, found by `penalty_named`, says how much longer a
task runs in less memory; `Elasticity` is what a run has of it, with an `InjectedError` here and
there.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
