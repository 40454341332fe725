"""Which cores jobs have, where jobs may share them.

A partition has rows of jobs; the jobs of a row have different cores. Sets of cores are bits of a
number: those of the first node come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.machine import ALONE, WHOLE, Integers, Machine, Need, Place

if TYPE_CHECKING:
    from rebecsim.clusters.slurm.occupancy import Allocation


class CoreRows(StatePart):
    """The rows of all partitions.

    Attributes:
        of_place: the cores of each job in each row, by the number of the partition.
        claims: the sum of the claims of the jobs on each node, shape (nodes,).
    """

    __slots__ = ("claims", "machine", "of_place")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.of_place: dict[int, list[list[int]]] = {
            place.number: [[] for _ in range(place.rows)] for place in machine.places.values()
        }
        self.claims = np.zeros(len(machine.names), np.int64)

    def copy(self) -> CoreRows:
        """Give rows that change apart from these."""
        made = CoreRows.__new__(CoreRows)
        made.machine, made.claims = self.machine, self.claims.copy()
        made.of_place = {
            number: [list(row) for row in rows] for number, rows in self.of_place.items()
        }
        return made

    def used(self, places: Iterable[Place] | None = None) -> int:
        """Give the cores that jobs of some partitions have; None: of all."""
        chosen = self.machine.places.values() if places is None else places
        return union(
            cores for place in chosen for row in self.of_place[place.number] for cores in row
        )

    def take(self, given: Allocation) -> None:
        """Put a job into the first row that has its cores free."""
        self.claims[given.nodes] += given.claim
        for row in self.of_place[given.place]:
            if not union(row) & given.cores:
                row.append(given.cores)
                return

    def give(self, given: Allocation) -> None:
        """Take a job out, and put those that are left into as few rows as that way fit."""
        self.claims[given.nodes] -= given.claim
        rows = self.of_place[given.place]
        row = next((each for each in rows if given.cores in each), None)
        if row is None:
            return
        row.remove(given.cores)
        made: list[list[int]] = [[] for _ in rows]
        left = [each for row in rows for each in row]
        for cores in sorted(left, key=lambda each: (each & -each, each.bit_count())):
            fitting = next((each for each in made if not union(each) & cores), None)
            if fitting is None:
                return  # they stay as they are
            fitting.append(cores)
            fullest_first(made)
        self.of_place[given.place] = made

    def closed(self, need: Need) -> int:
        """Give the nodes whose jobs do not go together with a new one, as bits."""
        machine = self.machine
        if not need.claim:
            return machine.bits(self.claims >= ALONE)
        others = [
            each
            for each in machine.places.values()
            if need.claim >= WHOLE or (each.rows > 1 and each is not need.place)
        ]
        return machine.bits((self.claims >= WHOLE) | (machine.cpus_of(self.used(others)) > 0))


def union(sets: Iterable[int]) -> int:
    """Give what is in any of some sets of cores."""
    return reduce(or_, sets, 0)


def fullest_first(rows: list[list[int]]) -> None:
    """Sort rows by how many cores are in use, as Slurm does, which may swap equal ones."""
    counts = [union(row).bit_count() for row in rows]
    for one in range(len(rows)):
        for other in range(one + 1, len(rows)):
            if counts[other] > counts[one]:
                rows[one], rows[other] = rows[other], rows[one]
                counts[one], counts[other] = counts[other], counts[one]


def placed(
    rows: CoreRows, need: Need, nodes: int, place_on: Callable[[int, int], Allocation | None]
) -> Allocation | None:
    """Find cores for a job: free ones, or those of jobs that share them or have to give way.

    `place_on` places the job on some nodes, on some of their cores, if it can.
    """
    machine, place = rows.machine, need.place
    cluster, everything = machine.cluster, (1 << int(machine.first_core[-1])) - 1
    nodes &= ~rows.closed(need)
    found = place_on(nodes, everything & ~rows.used())
    if found is not None or (need.claim and not cluster.has_gang):
        return found
    tier, avail = place.spec.priority_tier, everything
    places = sorted(machine.places.values(), key=lambda each: -each.spec.priority_tier)
    if cluster.preemption.type == "partition_prio":
        above = [
            each
            for each in places
            if each.spec.priority_tier > tier
            or (each.spec.preempt_mode or cluster.preemption.mode) == "OFF"
        ]
        avail &= ~rows.used(above)
    if place_on(nodes, avail) is None:
        return None
    free = avail & ~rows.used(each for each in places if each.spec.priority_tier == tier)
    found = place_on(nodes, free)
    if found is not None:
        for each in places:
            if each.spec.priority_tier < tier:
                free &= ~rows.used([each])
                better = place_on(nodes, free)
                if better is None:
                    break
                found = better
        return found
    own = rows.of_place[place.number]
    if len(own) > 1:
        fullest_first(own)
    tries = (place_on(nodes, avail & ~union(row)) for row in own)
    return next((each for each in tries if each is not None), None)


def picked(machine: Machine, need: Need, where: Integers, counts: Integers, cores: int) -> int:
    """Give the cores that a job takes of free ones on its nodes, so many on each.

    They are dealt to one socket after the other; a task of several CPUs stays on one.
    """
    found = 0
    in_blocks = machine.cluster.selection.block or machine.cluster.selection.unit != "CORE"
    for node, count in zip(where.tolist(), counts.tolist(), strict=True):
        first, last = machine.first_core[node : node + 2].tolist()
        free = [each for each in range(first, last) if cores >> each & 1]
        if not in_blocks:
            size = max(machine.cluster.nodes[node].cores, 1)
            sockets: dict[int, list[int]] = {}
            for each in free:
                sockets.setdefault((each - first) // size, []).append(each)
            free = _dealt(list(sockets.values()), -(-need.per_task // int(machine.unit[node])))
        found |= union(1 << each for each in free[:count])
    return found


def _dealt(sockets: list[list[int]], task: int) -> list[int]:
    """Give cores in the order in which they are taken from sockets."""
    found = []
    if task > 1:
        for cores in sockets:
            whole = len(cores) - len(cores) % task
            found += cores[:whole]
            del cores[:whole]
    for turn in range(max(map(len, sockets), default=0)):
        found += [cores[turn] for cores in sockets if turn < len(cores)]
    return found
