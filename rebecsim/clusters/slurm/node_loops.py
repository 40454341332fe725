"""Compiled loops that choose nodes for a plain job, at a level or by the first planned end.

They do what `selection.choose` and backfill's walk over planned ends do, for needs that are plain.
Importing this imports Numba.
"""

from __future__ import annotations

from rebecsim.clusters.slurm.machine import (
    ALL_MEMORY,
    CPUS,
    LEAST,
    MEMORY_CPU,
    MEMORY_NODE,
    MOST,
    MOST_NODES,
    NODES,
    PER_TASK,
    WANTED,
    WHOLE,
)
from rebecsim.native.arrays import Flags, Integers, Table
from rebecsim.native.cache import compiled

FIRST_WINDOW = 30
LATEST = 2**62


@compiled(inline=True)
def offered(
    node: int,
    machine: Table,
    level: Table,
    per_task: int,
    least: int,
    most: int,
    whole: int,
    memory_node: int,
    memory_cpu: int,
    all_memory: int,
) -> int:
    """Give the CPUs that a node offers to a job, as `selection.usable` does.

    What the job needs comes in numbers, which stay in registers while arrays change.
    """
    free: int = level[0, node]
    if whole:
        free = machine[0, node] if level[2, node] == 0 else 0
    if memory_cpu:
        free = min(free, level[1, node] // memory_cpu)
    if per_task > 1 and memory_cpu:
        free -= free % per_task
    if most >= 0:
        free = min(free, most)
    if free < least:
        return 0
    if memory_node:
        if level[1, node] < memory_node:
            return 0
    elif all_memory and level[2, node] != 0:
        return 0
    return free


@compiled()
def tried(machine: Table, need: Integers, free: Integers, work: Table, taken: Integers) -> int:
    """Take sets of nodes in a row, the best one first; give how many nodes, 0: too few.

    `taken` has then what is taken of each node.
    """
    begins, ends, cpus, counts = work[0], work[1], work[2], work[3]
    size, sets, before = len(free), 0, -2
    for node in range(size):
        taken[node] = 0
        if free[node] == 0:
            continue
        if before != node - 1 or machine[3, node] != machine[3, before]:
            begins[sets], cpus[sets], counts[sets] = node, 0, 0
            sets += 1
        cpus[sets - 1] += free[node]
        counts[sets - 1] += 1
        ends[sets - 1] = node + 1
        before = node
    found, left, most = 0, need[CPUS], need[MOST_NODES]
    for _ in range(sets):
        if (need[WANTED] - found <= 0 and left <= 0) or 0 <= most <= found:
            break
        best, is_enough = -1, False
        for each in range(sets):
            if counts[each] == 0:
                continue
            suffices = cpus[each] >= left and counts[each] >= need[NODES] - found
            if best < 0:
                best, is_enough = each, suffices
                continue
            weight, other = machine[3, begins[each]], machine[3, begins[best]]
            better = cpus[each] > cpus[best]
            if suffices:
                better = not is_enough or cpus[each] < cpus[best]
            if weight < other or (better and weight == other):
                best, is_enough = each, suffices
        counts[best] = 0
        first, last = begins[best], ends[best]
        if need[WANTED] - found <= 1:
            single = -1
            for node in range(first, last):
                if free[node] >= left and (single < 0 or free[node] < free[single]):
                    single = node
            if single >= 0:
                first, last = single, single + 1
        for node in range(first, last):
            if (need[WANTED] - found <= 0 and left <= 0) or 0 <= most <= found:
                break
            take = free[node]
            if not need[WHOLE]:
                kept = max(need[NODES] - found - 1, 0) * machine[2, node]
                take = min(take, max(left - kept, need[LEAST]))
            if found + 1 == most and free[node] < left:
                continue
            taken[node] = take
            found += 1
            left -= take
    return found if found >= need[NODES] and left <= 0 else 0


@compiled()
def dealt(need: Integers, caps: Integers, count: int, given: Integers) -> None:
    """Deal CPUs to nodes in rounds of one, none more than its cap."""
    total, wanted = 0, max(need[CPUS], count)
    for n in range(count):
        total += caps[n]
        given[n] = min(1, caps[n])
    left = wanted
    if total <= wanted:
        for n in range(count):
            given[n] = caps[n]
        left = 0
    elif count == 1:
        given[0] = min(caps[0], wanted)
        left = 0
    for n in range(count):
        left -= given[n] if left > 0 else 0
    while left > 0:
        open_, rounds = 0, LATEST
        for n in range(count):
            if given[n] < caps[n]:
                open_ += 1
                rounds = min(rounds, caps[n] - given[n])
        if open_ == 0:
            break
        step = min(rounds, max(left // open_, 1))
        for n in range(count):
            if left > 0 and given[n] < caps[n]:
                given[n] += step
                left -= step
    for n in range(count):
        given[n] = max(given[n], min(need[LEAST], caps[n]))


@compiled()
def found_in(
    machine: Table,
    need: Integers,
    free: Integers,
    total: int,
    count: int,
    work: Table,
    given: Table,
) -> int:
    """Find nodes; leave out those with few CPUs until it works. `free` is used up.

    Give how many nodes; their numbers and CPUs stand in the rows of `given`.
    """
    taken, amounts = work[4], work[7]
    for node in range(len(free)):
        amounts[node] = free[node]
    while count >= need[NODES] and total >= need[CPUS]:
        found = tried(machine, need, free, work, taken)
        if found:
            place = 0
            for node in range(len(free)):
                if taken[node]:
                    given[0, place] = node
                    given[1, place] = machine[0, node] if need[WHOLE] else taken[node]
                    place += 1
            if not need[WHOLE] and need[PER_TASK] == 1:
                for each in range(found):
                    work[0, each] = given[1, each]
                dealt(need, work[0], found, given[1])
            return found
        if count <= need[NODES]:
            return 0
        least, highest = LATEST, 0
        for node in range(len(free)):
            if 0 < taken[node] < free[node] and not need[WHOLE]:
                total -= free[node] - taken[node]
                free[node] = taken[node]  # Slurm remembers how little of it was wanted
            if free[node] > 0:
                least = min(least, amounts[node])
                highest = max(highest, amounts[node])
        if least == highest:
            return 0
        for node in range(len(free)):
            if free[node] > 0 and amounts[node] == least and count > need[NODES]:
                total -= free[node]
                free[node] = 0
                count -= 1
    return 0


@compiled()
def fitting(machine: Table, level: Table, need: Integers, mask: Flags) -> bool:
    """Whether there may be enough CPUs on enough nodes of a set."""
    per_task, least, most, whole = need[PER_TASK], need[LEAST], need[MOST], need[WHOLE]
    memory, per_cpu, all_memory = need[MEMORY_NODE], need[MEMORY_CPU], need[ALL_MEMORY]
    total, count = 0, 0
    for node in range(len(mask)):
        if mask[node]:
            free = offered(
                node, machine, level, per_task, least, most, whole, memory, per_cpu, all_memory
            )
            total += free
            count += int(free > 0)
            if total >= need[CPUS] and count >= need[NODES]:
                return True
    return False


@compiled()
def chosen(
    machine: Table, level: Table, need: Integers, mask: Flags, work: Table, given: Table
) -> int:
    """Choose nodes of a set at a level; give how many, 0: it does not fit."""
    free = work[5]
    per_task, least, most, whole = need[PER_TASK], need[LEAST], need[MOST], need[WHOLE]
    memory, per_cpu, all_memory = need[MEMORY_NODE], need[MEMORY_CPU], need[ALL_MEMORY]
    total, count = 0, 0
    for node in range(len(mask)):
        free[node] = (
            offered(node, machine, level, per_task, least, most, whole, memory, per_cpu, all_memory)
            if mask[node]
            else 0
        )
        total += free[node]
        count += int(free[node] > 0)
    return found_in(machine, need, free, total, count, work, given)


@compiled()
def earliest(
    machine: Table,
    level: Table,
    need: Integers,
    mask: Flags,
    planned: Table,
    many: int,
    linear: int,
    work: Table,
    turns: Table,
    given: Table,
) -> int:
    """Give by which planned end a job fits on nodes of a set; -1: by none.

    `planned` has ends, jobs, nodes, CPUs and memory, in the order of ends and jobs, `many` of each.
    `level` is changed. Chosen nodes stand in `given`, how many of them in its last row.
    """
    free, left = work[5], work[6]
    jobs, place = 0, 0
    while place < many:
        job, end, there = planned[1, place], planned[0, place], False
        while place < many and planned[1, place] == job:
            there = there or mask[planned[2, place]]
            place += 1
        if there:
            turns[0, jobs] = end
            turns[1, jobs] = planned[0, place] if place < many else LATEST
            turns[2, jobs] = place
            jobs += 1
    if jobs == 0:
        return -1
    per_task, least, most, whole = need[PER_TASK], need[LEAST], need[MOST], need[WHOLE]
    memory, per_cpu, all_memory = need[MEMORY_NODE], need[MEMORY_CPU], need[ALL_MEMORY]
    total, count = 0, 0
    for node in range(len(mask)):
        left[node] = (
            offered(node, machine, level, per_task, least, most, whole, memory, per_cpu, all_memory)
            if mask[node]
            else 0
        )
        total += left[node]
        count += int(left[node] > 0)
    width = FIRST_WINDOW
    limit = turns[0, 0] + FIRST_WINDOW - turns[0, 0] % FIRST_WINDOW
    turn, place = 0, 0
    while turn < jobs:
        while turn < jobs - 1 and turns[1, turn] <= limit + width:
            turn += 1
        time: int = turns[0, turn]
        while place < turns[2, turn]:
            node = planned[2, place]
            level[0, node] += planned[3, place]
            level[1, node] += planned[4, place]
            level[2, node] -= 1
            if mask[node]:
                now = offered(
                    node, machine, level, per_task, least, most, whole, memory, per_cpu, all_memory
                )
                total += now - left[node]
                count += int(now > 0) - int(left[node] > 0)
                left[node] = now
            place += 1
        if count >= need[NODES] and total >= need[CPUS]:
            for node in range(len(mask)):
                free[node] = left[node]
            found = found_in(machine, need, free, total, count, work, given)
            if found:
                given[2, 0] = found
                return time
        while turn < jobs - 1 and turns[1, turn] > limit + width:
            width = width + linear if linear else 2 * width
        turn += 1
    return -1
