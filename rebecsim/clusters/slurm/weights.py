"""The weights by which nodes are taken, where limits are about nodes, and for GPUs.

Slurm writes them into its nodes whenever it tries to start a job: of each line of slurm.conf, the
nodes that count for the job's user, account or QOS already keep the weight of the line, and the
others weigh one more. Nodes outside the flexible reservation of a job weigh more than any within.
Whenever nodes are chosen for a job with GPUs, those with more of them come to weigh less
(`selection`). Weights stay as they are until the next job is tried; so what backfill plans in
between goes by the weights of another job.
"""

from __future__ import annotations

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.limits import LimitBook
from rebecsim.clusters.slurm.machine import Integers, Machine, bits_of
from rebecsim.clusters.slurm.records import Entry
from rebecsim.clusters.slurm.reservations import Reservations
from rebecsim.clusters.slurm.selection import RANGE

_OUTSIDE = 1 << 40


class NodeWeights(StatePart):
    """The present weight of each node.

    Attributes:
        now: the weights, shape (nodes,).
        change: whether they ever change.
    """

    def __init__(self, machine: Machine, limits: LimitBook, reservations: Reservations) -> None:
        self.machine, self.limits, self.reservations = machine, limits, reservations
        self.change = bool(limits.counts_nodes or reservations.has_flexible or machine.gres)
        self.now: Integers = machine.weight * (RANGE if self.change else 1)

    def try_on(self, entry: Entry, nodes: int) -> None:
        """Weigh the nodes, as bits, on which a job is tried."""
        if not self.change:
            return
        machine, heavier = self.machine, 0
        if self.limits.counts_nodes:
            own = bits_of(self.limits.shared_nodes(entry.record, entry.place.spec.qos))
            for line in machine.lines:
                if line & nodes & own:
                    heavier |= line & nodes & ~own
        outside = machine.mask(nodes & ~self.reservations.preferred(entry.record.job))
        weights = (machine.weight + machine.mask(heavier) + 1) * RANGE - 1 + _OUTSIDE * outside
        self.now = np.where(machine.mask(nodes), weights, self.now)
        if machine.loops is not None:
            machine.loops.table[3] = self.now
