"""The weights by which nodes are taken, where limits are about nodes.

Slurm writes them into its nodes whenever it tries to start a job: of each line of slurm.conf, the
nodes that count for the job's user, account or QOS already keep the weight of the line, and the
others weigh one more. They stay as they are until the next job is tried; so what backfill plans
in between goes by the weights of another job.
"""

from __future__ import annotations

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.limits import LimitBook
from rebecsim.clusters.slurm.machine import Integers, Machine, bits_of
from rebecsim.clusters.slurm.records import Entry


class NodeWeights(StatePart):
    """The present weight of each node; shape (nodes,)."""

    def __init__(self, machine: Machine, limits: LimitBook) -> None:
        self.machine, self.limits = machine, limits
        self.now: Integers = machine.weight

    def try_on(self, entry: Entry, nodes: int) -> None:
        """Weigh the nodes, as bits, on which a job is tried."""
        if not self.limits.counts_nodes:
            return
        machine = self.machine
        own = bits_of(self.limits.shared_nodes(entry.record, entry.place.spec.qos))
        heavier = 0
        for line in machine.lines:
            if line & nodes & own:
                heavier |= line & nodes & ~own
        weights = machine.weight + machine.mask(heavier)
        self.now = np.where(machine.mask(nodes), weights, self.now)
        if machine.loops is not None:
            machine.loops.table[3] = self.now
