"""How many CPUs a job may have on each node, and whether that may do."""

from __future__ import annotations

import numpy as np

from rebecsim.clusters.slurm.machine import Integers, Machine, Need
from rebecsim.clusters.slurm.occupancy import Level


def usable(machine: Machine, level: Level, need: Need, cpus: Integers | None = None) -> Integers:
    """Give how many CPUs a job may have on each node, for its memory and generic resources too.

    `cpus` are those that it may have otherwise; None: those that no job has, or that it may share
    with some. Shape (nodes,).
    """
    free = level.cpus if cpus is None else cpus
    if cpus is None and machine.by_core and (not need.claim or machine.cluster.has_gang):
        free = machine.cpus
    elif need.whole:
        is_free = level.jobs == 0 if cpus is None else cpus >= machine.cpus
        free = np.where(is_free, machine.cpus, 0)
    limit = need.place.spec.max_cpus_per_node
    if limit is not None:
        free = np.minimum(free, limit - level.of_place[need.place.number])
    if need.memory_cpu:
        free = np.minimum(free, level.memory // need.memory_cpu)
    if need.per_task > 1 and need.memory_cpu:
        free = free - free % need.per_task
    if need.most is not None:
        free = np.minimum(free, need.most)
    fits = free >= need.least
    if need.memory_node:
        fits &= level.memory >= need.memory_node
    elif need.all_memory:
        fits &= level.jobs == 0
    for name, count in need.gres_node:
        found = level.gres.get(name)
        if found is None:
            return np.zeros_like(free)
        fits &= found >= count
    for name, _ in need.gres_job:
        fits &= level.gres.get(name, np.zeros_like(free)) > 0
    if need.gres_tasks and not need.whole:
        tasks = np.minimum(free // need.per_task, need.gres_tasks)
        for name, count in need.request.gres_per_task:
            tasks = np.minimum(tasks, level.gres.get(name, np.zeros_like(free)) // count)
        free = np.minimum(free, tasks * need.per_task)
    return free * fits


def could_fit(need: Need, free: Integers) -> bool:
    """Whether there may be enough; where this is false, `choose` finds nothing in any part."""
    if need.most_nodes is None:
        if np.add.reduce(free) < need.cpus:
            return False
        return need.nodes <= 1 or bool(np.count_nonzero(free) >= need.nodes)
    count = np.count_nonzero(free)
    if count < need.nodes:
        return False
    total = int(free.sum())
    if total < need.cpus:
        return False
    most = need.most_nodes
    if most >= count:
        return True
    if most == 1:
        return bool(free.max() >= need.cpus)
    return bool(np.partition(free, len(free) - most)[-most:].sum() >= need.cpus)
