"""What a job gets on the nodes that were chosen for it: CPUs, memory and generic resources."""

from __future__ import annotations

import numpy as np

from rebecsim.clusters.slurm.machine import Integers, Machine, Need
from rebecsim.clusters.slurm.occupancy import Allocation, Level
from rebecsim.clusters.slurm.rows import picked


def allotted(
    machine: Machine, level: Level, need: Need, nodes: list[int], most: list[int], cores: int
) -> Allocation:
    """Give each node its CPUs: a task on each, then one after the other, round the nodes.

    `cores` are those that it may take, as bits, where it is known which ones jobs have.
    """
    order = sorted(range(len(nodes)), key=nodes.__getitem__)
    where = np.array([nodes[each] for each in order], np.int64)
    if need.whole:
        cpus = machine.cpus[where]
    else:
        caps = [most[each] for each in order]
        wanted = max(need.cpus, len(caps) * need.per_task)
        if need.per_task > 1:
            cpus = np.array(in_tasks(machine, need, where, caps), np.int64)
        else:
            cpus = np.array(_dealt(caps, wanted), np.int64)
        cpus = np.maximum(cpus, np.minimum(need.least, caps))
    return finished(machine, level, need, where, cpus, cores)


def finished(
    machine: Machine, level: Level, need: Need, where: Integers, cpus: Integers, cores: int = 0
) -> Allocation:
    """Give nodes, in ascending order and with what was dealt to them, whole units and the rest."""
    charged, asked = -1, cpus
    if not need.whole and machine.one_unit != 1:
        cpus = _in_units(machine, level, need, where, cpus)
        if machine.cluster.selection.unit == "CPU":
            charged = int(asked.sum())
    if need.memory_cpu:
        memory = (cpus if charged < 0 else asked) * need.memory_cpu
    elif need.all_memory:
        memory = machine.memory[where]
    else:
        memory = np.full(len(where), need.memory_node, np.int64)
    gres = _gres(machine, level, need, where)
    if machine.by_core:
        cores = picked(machine, need, where, cpus // machine.unit[where], cores)
    place = need.place.number
    return Allocation(where, cpus, memory, gres, place, cores, need.claim, charged)


def _in_units(
    machine: Machine, level: Level, need: Need, where: Integers, cpus: Integers
) -> Integers:
    """Round CPUs up to what is given out; tasks go to one socket after the other."""
    unit = machine.unit[where]
    units = -(-cpus // unit)
    selection = machine.cluster.selection
    if selection.unit == "SOCKET" and not selection.block:
        tasks = -(-cpus // need.per_task)
        units = np.maximum(units, np.minimum(tasks, level.cpus[where] // unit))
    rounded: Integers = units * unit
    return rounded


def _dealt(caps: list[int], wanted: int) -> list[int]:
    """Deal CPUs to nodes in rounds of one, none more than its cap."""
    if sum(caps) <= wanted:
        return caps
    if len(caps) == 1:
        return [min(caps[0], wanted)]
    given = [min(1, cap) for cap in caps]
    left = wanted - sum(given)
    while left > 0:
        open_ = [n for n, cap in enumerate(caps) if given[n] < cap]
        if not open_:
            break
        rounds = max(left // len(open_), 1)
        rounds = min(rounds, *(caps[n] - given[n] for n in open_))
        for node in open_:
            if left <= 0:
                break
            given[node] += rounds
            left -= rounds
    return given


def in_tasks(machine: Machine, need: Need, where: Integers, caps: list[int]) -> list[int]:
    """Deal tasks of several CPUs to nodes, one on each and then a core's worth in each round.

    Where no node has room for a whole task, the last ones get what is left of a node.
    """
    size, most = need.per_task, need.request.tasks_per_node
    tasks = max(need.cpus, len(caps) * need.least)
    tasks = most * len(caps) if most else tasks // size
    given = [min(size, cap) for cap in caps]
    count = [1] * len(caps)
    left = tasks - len(caps)
    crowded = not any(each < cap for each, cap in zip(given, caps, strict=True))
    threads = machine.threads[where].tolist()
    while left > 0:
        room = False
        for node, cap in enumerate(caps):
            for _ in range(max(threads[node] // size, 1)):
                full = cap - given[node] < size or (most is not None and count[node] >= most)
                if left <= 0 or (full and not crowded):
                    break
                given[node] = min(given[node] + size, cap)
                count[node] += 1
                left -= 1
                room = room or cap - given[node] >= size
        crowded = crowded or not room
    return given


def _gres(
    machine: Machine, level: Level, need: Need, where: Integers
) -> tuple[tuple[str, Integers], ...]:
    """Give the generic resources of each node; those of a type count without it, too."""
    if need.whole:
        return tuple(sorted((name, counts[where]) for name, counts in machine.gres.items()))
    if not (need.gres_node or need.gres_job):
        return ()
    found: dict[str, Integers] = {}
    for name, count in need.gres_node:
        found[name] = np.full(len(where), count, np.int64)
    for name, count in need.gres_job:
        found[name] = found.get(name, 0) + _spread(level.gres[name][where], count)
    for name in list(found):
        plain, _, of_type = name.partition(":")
        if of_type:
            found[plain] = found.get(plain, 0) + found[name]
            continue
        left = found[name].copy()
        for typed in sorted(each for each in machine.gres if each.startswith(f"{plain}:")):
            part = np.minimum(left, level.gres[typed][where])
            found[typed] = found.get(typed, 0) + part
            left -= part
    return tuple(sorted(found.items()))


def _spread(free: Integers, count: int) -> Integers:
    """Give each node as many as it has, but leave one for each further node, and then the rest."""
    given = np.zeros_like(free)
    for node, there in enumerate(free.tolist()):
        given[node] = max(min(there, count - (len(free) - 1 - node)), 0)
        count -= int(given[node])
    for node, there in enumerate((free - given).tolist()):
        more = min(there, count)
        given[node] += more
        count -= more
    return given
