"""What is free on the nodes, now and when running jobs will have ended by their limits.

A `Level` is what is free at some time. `Occupancy` keeps the one of now, and of each running job
its planned end, so that the level of a later time is a sum over what will have ended by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.configuration import NodeState
from rebecsim.clusters.slurm.machine import Integers, Machine
from rebecsim.clusters.slurm.rows import CoreRows


class Allocation(NamedTuple):
    """What a job has; arrays of shape (nodes of the job,).

    Attributes:
        nodes: numbers of its nodes, ascending.
        cpus: CPUs on each.
        memory: MB on each.
        gres: of each generic resource how many on each.
        place: the number of its partition.
        cores: the cores themselves, as bits, where jobs may share them.
        claim: what it adds to the claims on each node.
        charged: CPUs that it is charged for; -1: all. CR_CPU gives out whole cores, too, but
            charges what was asked for.
    """

    nodes: Integers
    cpus: Integers
    memory: Integers
    gres: tuple[tuple[str, Integers], ...]
    place: int
    cores: int = 0
    claim: int = 0
    charged: int = -1

    @property
    def bits(self) -> int:
        """Its nodes as a set."""
        there = np.zeros(int(self.nodes[-1]) + 1, bool)
        there[self.nodes] = True
        return int.from_bytes(np.packbits(there, bitorder="little").tobytes(), "little")


def together(parts: list[Allocation]) -> Allocation:
    """Make one of what a job has on different nodes."""
    nodes = np.concatenate([each.nodes for each in parts])
    order = np.argsort(nodes)
    names = sorted({name for each in parts for name, _ in each.gres})
    gres = tuple(
        (
            name,
            np.concatenate(
                [dict(each.gres).get(name, np.zeros_like(each.nodes)) for each in parts]
            )[order],
        )
        for name in names
    )
    cpus = np.concatenate([each.cpus for each in parts])[order]
    memory = np.concatenate([each.memory for each in parts])[order]
    charged = [each.charged for each in parts]
    return parts[0]._replace(
        nodes=nodes[order],
        cpus=cpus,
        memory=memory,
        gres=gres,
        charged=sum(charged) if min(charged) >= 0 else -1,
    )


class Level(StatePart):
    """What is free.

    Attributes:
        table: CPUs and memory that no job has, and how many jobs are there; shape (3, nodes).
        gres: free generic resources by name, shape (nodes,).
        rows: which cores jobs have; None: nobody shares any.
        of_place: CPUs in use by the jobs of a partition, of those with MaxCPUsPerNode, by number.
    """

    __slots__ = ("gres", "of_place", "rows", "table")

    def __init__(self, machine: Machine) -> None:
        self.table = np.stack([machine.cpus, machine.memory, np.zeros_like(machine.cpus)])
        self.gres = {name: counts.copy() for name, counts in machine.gres.items()}
        self.rows = CoreRows(machine) if machine.by_core else None
        self.of_place: dict[int, Integers] = {}
        for place in machine.places.values():
            if place.spec.max_cpus_per_node is not None:
                self.of_place[place.number] = np.zeros_like(machine.cpus)

    @property
    def cpus(self) -> Integers:
        """CPUs that no job has, shape (nodes,)."""
        found: Integers = self.table[0]
        return found

    @property
    def memory(self) -> Integers:
        """MB that no job has, shape (nodes,)."""
        found: Integers = self.table[1]
        return found

    @property
    def jobs(self) -> Integers:
        """How many jobs are there, shape (nodes,)."""
        found: Integers = self.table[2]
        return found

    def copy(self) -> Level:
        """Give one that changes apart from this."""
        made = Level.__new__(Level)
        made.table = self.table.copy()
        made.gres = {name: counts.copy() for name, counts in self.gres.items()}
        made.rows = self.rows and self.rows.copy()
        made.of_place = {number: used.copy() for number, used in self.of_place.items()}
        return made

    def take(self, given: Allocation, sign: int = 1) -> None:
        """Note that a job has this from now on."""
        nodes, (cpus, memory, jobs), rows = given.nodes, self.table, self.rows
        jobs[nodes] += sign
        memory[nodes] -= sign * given.memory
        if rows is not None:
            before = rows.machine.cpus_of(rows.used())[nodes]
            rows.take(given) if sign > 0 else rows.give(given)
            cpus[nodes] -= rows.machine.cpus_of(rows.used())[nodes] - before
        else:
            cpus[nodes] -= sign * given.cpus
        for name, counts in given.gres:
            self.gres[name][nodes] -= sign * counts
        used = self.of_place.get(given.place)
        if used is not None:
            used[nodes] += sign * given.cpus

    def give(self, given: Allocation) -> None:
        """Note that a job has this no more."""
        self.take(given, -1)


_FIRST_ROOM = 256


class Occupancy(StatePart):
    """Who runs where.

    Attributes:
        machine: the nodes.
        level: what is free now.
        up: nodes that are neither down nor drained, as bits.
        drained: nodes that take no new jobs but keep theirs.
        completing: nodes of which a job has just ended, and which take no new job yet, with the
            number of such jobs.
        freed: how often something has become free, or a node has come back.
        given: what each running job has, by its number.
        planned: planned end, job, node, CPUs and memory of each stretch of a job on a node, in the
            order of ends, jobs and nodes, shape (5, room).
        many: how many stretches there are.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.level = Level(machine)
        self.up = 0
        self.states: list[NodeState] = []
        self.completing: dict[int, int] = {}
        self.freed = 0
        self.taken = 0
        self.given: dict[int, Allocation] = {}
        self.is_additive = not (machine.by_core or self.level.of_place)
        self.planned = np.zeros((5, _FIRST_ROOM), np.int64)
        self.many = 0
        self._ends: dict[int, int] = {}
        for number, node in enumerate(machine.cluster.nodes):
            self.states.append(node.state)
            if node.state == "UP":
                self.up |= 1 << number

    def start(self, job: int, given: Allocation, end: int) -> None:
        """Note that a job has this until its planned end."""
        self.level.take(given)
        self.given[job] = given
        self.taken += 1
        self._ends[job] = end
        self._insert(job, given, end)

    def _insert(self, job: int, given: Allocation, end: int) -> None:
        size, many, place = len(given.nodes), self.many, self._place(job, end)
        while many + size > self.planned.shape[1]:
            self.planned = np.concatenate((self.planned, np.zeros_like(self.planned)), axis=1)
        planned = self.planned
        planned[:, place + size : many + size] = planned[:, place:many]
        new = planned[:, place : place + size]
        new[0], new[1], new[2], new[3], new[4] = end, job, given.nodes, given.cpus, given.memory
        self.many = many + size

    def _place(self, job: int, end: int) -> int:
        """Give where the stretches of a job are, or will be."""
        ends = self.planned[0, : self.many]
        first, last = ends.searchsorted(end), ends.searchsorted(end, "right")
        return int(first + self.planned[1, first:last].searchsorted(job))

    def _take_out(self, job: int, size: int) -> None:
        many, place, planned = self.many, self._place(job, self._ends.pop(job)), self.planned
        planned[:, place : many - size] = planned[:, place + size : many]
        planned[:, many - size : many] = 0
        self.many = many - size

    def replan(self, job: int, end: int) -> None:
        """Note another planned end of a job."""
        given = self.given[job]
        self._take_out(job, len(given.nodes))
        self._ends[job] = end
        self._insert(job, given, end)
        self.freed += 1

    def suspend(self, job: int, end: int) -> Allocation:
        """Take the cores of a job, but not its memory; give what it had."""
        given = self.end(job)
        kept = given._replace(cpus=np.zeros_like(given.cpus))
        self.start(job, kept, end)
        return given

    def resume(self, job: int, given: Allocation, end: int) -> None:
        """Give a suspended job its cores back."""
        self.end(job)
        self.start(job, given, end)

    def end(self, job: int) -> Allocation:
        """Note that a job has ended; give what it had."""
        given = self.given.pop(job)
        self.level.give(given)
        self._take_out(job, len(given.nodes))
        self.freed += 1
        return given

    def in_turn(self, nodes: int, gone: Sequence[int] = ()) -> tuple[Integers, Integers, Integers]:
        """Give the jobs on some of these nodes, their planned ends, and those of the jobs after.

        Jobs are in the order of their ends, then of their numbers; after each comes any job of the
        cluster, after the last one none, which is a time beyond all. Jobs that are `gone`, by
        number, are passed over.
        """
        ends, jobs, where, _, _ = self.planned[:, : self.many]
        if gone:
            kept = ~np.isin(jobs, gone)
            ends, jobs, where = ends[kept], jobs[kept], where[kept]
        if not len(ends):
            return jobs, ends, ends
        first = np.flatnonzero(np.diff(jobs, prepend=-1))
        there = np.logical_or.reduceat(self.machine.mask(nodes)[where], first)
        own = ends[first]
        following = np.append(own[1:], np.iinfo(np.int64).max)
        return jobs[first][there], own[there], following[there]

    def later(self, job: int, gone: Sequence[int] = ()) -> Level:
        """Give the level once a job has ended, and all before it in turn, and what is gone."""
        many = self._place(job, self._ends[job]) + len(self.given[job].nodes)
        _, jobs, where, cpus, memory = self.planned[:, :many]
        made = self.level.copy()
        if self.is_additive and not made.gres and not gone:
            np.add.at(made.table[0], where, cpus)
            np.add.at(made.table[1], where, memory)
            np.add.at(made.table[2], where, -1)
            return made
        for each in dict.fromkeys([*jobs.tolist(), *gone]):
            made.give(self.given[each])
        return made

    def without(self, jobs: Iterable[int]) -> Level:
        """Give the level if some running jobs had ended."""
        made = self.level.copy()
        for job in jobs:
            made.give(self.given[job])
        return made

    @property
    def open(self) -> int:
        """The nodes that take new jobs, as bits."""
        closed = 0
        for node in self.completing:
            closed |= 1 << node
        return self.up & ~closed

    def complete(self, given: Allocation) -> None:
        """Note that an ended job keeps its nodes from taking another one."""
        for node in given.nodes.tolist():
            self.completing[node] = self.completing.get(node, 0) + 1

    def release(self, given: Allocation) -> None:
        """Note that the nodes of an ended job may take another one."""
        for node in given.nodes.tolist():
            self.completing[node] -= 1
            if not self.completing[node]:
                del self.completing[node]
        self.freed += 1

    def set_state(self, node: int, state: NodeState) -> None:
        """Take a node down, drain it or bring it back."""
        self.states[node] = state
        if state == "UP":
            self.up |= 1 << node
            self.freed += 1
        else:
            self.up &= ~(1 << node)
