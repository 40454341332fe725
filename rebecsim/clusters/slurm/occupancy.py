"""What is free on the nodes, now and when running jobs will have ended by their limits.

A `Level` is what is free at some time. `Occupancy` keeps the one of now, and of each running job
its planned end, so that the level of a later time is a sum over what will have ended by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.configuration import NodeState
from rebecsim.clusters.slurm.machine import Integers, Machine, bits_of


class Allocation(NamedTuple):
    """What a job has; arrays of shape (nodes of the job,).

    Attributes:
        nodes: numbers of its nodes, ascending.
        cpus: CPUs on each.
        memory: MB on each.
        gres: of each generic resource how many on each.
        place: the number of its partition.
        row: which row of jobs that share cores it is in; -1: it shares none.
        charged: CPUs that it is charged for; -1: all. CR_CPU gives out whole cores, too, but
            charges what was asked for.
    """

    nodes: Integers
    cpus: Integers
    memory: Integers
    gres: tuple[tuple[str, Integers], ...]
    place: int
    row: int
    charged: int = -1

    @property
    def bits(self) -> int:
        """Its nodes as a set."""
        return bits_of(self.nodes.tolist())


class Level(StatePart):
    """What is free; arrays of shape (nodes,).

    Attributes:
        cpus: CPUs that no job has.
        memory: MB that no job has.
        jobs: how many jobs are there.
        gres: free generic resources by name.
        rows: CPUs in use by the jobs of a partition that share cores, shape (rows, nodes), by the
            number of the partition.
        of_place: CPUs in use by the jobs of a partition, of those with MaxCPUsPerNode, by number.
    """

    __slots__ = ("cpus", "gres", "jobs", "memory", "of_place", "rows")

    def __init__(self, machine: Machine) -> None:
        self.cpus = machine.cpus.copy()
        self.memory = machine.memory.copy()
        self.jobs = np.zeros_like(self.cpus)
        self.gres = {name: counts.copy() for name, counts in machine.gres.items()}
        self.rows: dict[int, Integers] = {}
        self.of_place: dict[int, Integers] = {}
        for place in machine.places.values():
            if place.rows > 1:
                self.rows[place.number] = np.zeros((place.rows, len(self.cpus)), np.int64)
            if place.spec.max_cpus_per_node is not None:
                self.of_place[place.number] = np.zeros_like(self.cpus)

    def copy(self) -> Level:
        """Give one that changes apart from this."""
        made = Level.__new__(Level)
        made.cpus, made.memory, made.jobs = self.cpus.copy(), self.memory.copy(), self.jobs.copy()
        made.gres = {name: counts.copy() for name, counts in self.gres.items()}
        made.rows = {number: rows.copy() for number, rows in self.rows.items()}
        made.of_place = {number: used.copy() for number, used in self.of_place.items()}
        return made

    def take(self, given: Allocation, sign: int = 1) -> None:
        """Note that a job has this from now on."""
        nodes = given.nodes
        self.jobs[nodes] += sign
        self.memory[nodes] -= sign * given.memory
        if given.row >= 0:
            rows = self.rows[given.place]
            before = rows[:, nodes].max(axis=0)
            rows[given.row, nodes] += sign * given.cpus
            self.cpus[nodes] -= rows[:, nodes].max(axis=0) - before
        else:
            self.cpus[nodes] -= sign * given.cpus
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
        self._is_plain = not (self.level.rows or self.level.of_place or self.level.gres)
        self._ends = np.zeros(_FIRST_ROOM, np.int64)  # planned end of each stretch; -1: unused
        self._ends[:] = -1
        self._where = np.zeros(_FIRST_ROOM, np.int64)
        self._cpus = np.zeros(_FIRST_ROOM, np.int64)
        self._memory = np.zeros(_FIRST_ROOM, np.int64)
        self._unused = list(range(_FIRST_ROOM - 1, -1, -1))
        self._stretches: dict[int, list[int]] = {}
        self._turns: tuple[tuple[int, int], Integers, Integers, Integers] | None = None
        for number, node in enumerate(machine.cluster.nodes):
            self.states.append(node.state)
            if node.state == "UP":
                self.up |= 1 << number

    def start(self, job: int, given: Allocation, end: int) -> None:
        """Note that a job has this until its planned end."""
        self.level.take(given)
        self.given[job] = given
        self.taken += 1
        count = len(given.nodes)
        while len(self._unused) < count:
            self._grow()
        places = [self._unused.pop() for _ in range(count)]
        self._stretches[job] = places
        self._ends[places] = end
        self._where[places] = given.nodes
        self._cpus[places] = given.cpus
        self._memory[places] = given.memory

    def replan(self, job: int, end: int) -> None:
        """Note another planned end of a job."""
        self._ends[self._stretches[job]] = end
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
        places = self._stretches.pop(job)
        self._ends[places] = -1
        self._cpus[places] = 0
        self._memory[places] = 0
        self._unused.extend(reversed(places))
        self.freed += 1
        return given

    def _grow(self) -> None:
        size = len(self._ends)
        for name, fill in (("_ends", -1), ("_where", 0), ("_cpus", 0), ("_memory", 0)):
            grown = np.full(2 * size, fill, np.int64)
            grown[:size] = getattr(self, name)
            setattr(self, name, grown)
        self._unused = [*range(2 * size - 1, size - 1, -1), *self._unused]

    def ends_on(self, nodes: int) -> Integers:
        """Give the planned ends of what runs on each of these nodes, ascending."""
        ends = self._ends
        chosen = ends >= 0
        if nodes != self.machine.everything:
            chosen &= self.machine.mask(nodes)[self._where]
        return np.sort(ends[chosen])

    def in_turn(self, nodes: int) -> tuple[Integers, Integers]:
        """Give the planned ends of the jobs on some of these nodes, and of the jobs after them.

        Jobs are in the order of their ends, then of their numbers; after each comes any job of the
        cluster, after the last one none, which is a time beyond all.
        """
        version = self.freed, self.taken
        if self._turns is None or self._turns[0] != version:
            numbers = np.fromiter(self._stretches, np.int64, len(self._stretches))
            ends = self._ends[[places[0] for places in self._stretches.values()]]
            order = np.lexsort((numbers, ends))
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            counts = [len(places) for places in self._stretches.values()]
            places = [place for each in self._stretches.values() for place in each]
            self._turns = version, ends[order], np.repeat(rank, counts), self._where[places]
        _, ends, rank, where = self._turns
        there = np.zeros(len(ends), bool)
        there[rank[self.machine.mask(nodes)[where]]] = True
        found = np.flatnonzero(there)
        return ends[found], np.append(ends, np.iinfo(np.int64).max)[found + 1]

    def later(self, time: int) -> Level:
        """Give the level once all has ended that is planned to end by a time."""
        ended = (self._ends >= 0) & (self._ends <= time)
        made = Level.__new__(Level)
        if self._is_plain:
            level, count = self.level, len(self.machine.names)
            where = self._where[ended]
            made.gres, made.rows, made.of_place = {}, {}, {}
            made.cpus = level.cpus + _sums(where, self._cpus[ended], count)
            made.memory = level.memory + _sums(where, self._memory[ended], count)
            made.jobs = level.jobs - np.bincount(where, minlength=count)
            return made
        made = self.level.copy()
        for job, places in self._stretches.items():
            if self._ends[places[0]] <= time:
                made.give(self.given[job])
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


def _sums(where: Integers, amounts: Integers, count: int) -> Integers:
    return np.bincount(where, weights=amounts, minlength=count).astype(np.int64)
