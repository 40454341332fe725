"""Where the input data of maps are stored."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rebecsim.clusters.stages.job import TaskKey, TaskKind


@dataclass(frozen=True)
class Locality:
    """Every map reads a block of data that some resources have; others get it from there first.

    Attributes:
        resources: how many there are.
        replicas: how many of them have each block, if there are so many.
        transfer: how long a map takes longer elsewhere (ms).
        seed: of the random numbers that say which; they are the same for all resource managers.
    """

    resources: int
    replicas: int
    transfer: int
    seed: tuple[int, ...]
    _known: dict[TaskKey, frozenset[int]] = field(default_factory=dict, repr=False, compare=False)

    def local(self, key: TaskKey) -> frozenset[int]:
        """Give the resources that have what a map reads."""
        found = self._known.get(key)
        if found is None:
            draws = np.random.default_rng([*self.seed, *key])
            count = min(self.replicas, self.resources)
            chosen = draws.choice(self.resources, count, replace=False).tolist()
            found = self._known[key] = frozenset(chosen)
        return found

    def extra(self, key: TaskKey, kind: TaskKind, resource: int) -> int:
        """Give how much longer a task takes on a resource than where its data lie (ms)."""
        if kind is not TaskKind.MAP or resource in self.local(key):
            return 0
        return self.transfer
