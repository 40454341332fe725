"""Checks recorded runs against the rules of their files, without the scheduler.

What is known is when containers were given and when they ended. The ResourceManager counts a
container until the next heartbeat of its node, so what it believes to be in use is never less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.containers import Container

PATIENCE = 5000
"""Milliseconds without any event after which nobody should wait who could run."""


@dataclass
class Tree:
    """Queues with what they may have, worked out from percent alone.

    Attributes:
        capacity, maximum: MB, by path.
        values: the keys of the file.
    """

    capacity: dict[str, int] = field(default_factory=dict)
    maximum: dict[str, int] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    leaves: list[str] = field(default_factory=list)


def above(path: str) -> Iterator[str]:
    """Give a queue and those above it."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def most_at_a_time(held: Iterable[Container]) -> int:
    """Give the most memory that containers had together."""
    changes = []
    for each in held:
        assert each.finished is not None
        changes += [(each.scheduled, 1, each.memory), (each.finished, 0, -each.memory)]
    most = now = 0
    for _, _, change in sorted(changes):  # what ends at a time ends first
        now += change
        most = max(most, now)
    return most


def held_in(run: Finished, path: str) -> list[Container]:
    """Give the containers of a queue and of those below it."""
    return [
        each
        for job in run.applications
        if path in above(run.queue_of[job.number])
        for each in job.containers
    ]


def check_maxima(run: Finished, maximum: dict[str, int]) -> None:
    """No queue has more than it may."""
    for path, limit in maximum.items():
        used = most_at_a_time(held_in(run, path))
        assert used <= limit, f"{path} has {used} MB, and may have {limit}"


def check_users(run: Finished, hard: dict[str, int], largest: int) -> None:
    """No user has more of a leaf than the hard limit and one container."""
    for path, limit in hard.items():
        held = held_in(run, path)
        for user in {each.application.job.user for each in held}:
            used = most_at_a_time(each for each in held if each.application.job.user == user)
            assert used <= limit + largest, f"{user} has {used} MB of {path}, of {limit}"


def check_masters(run: Finished, most: dict[str, int]) -> None:
    """AppMasters have no more than their part of a leaf, but for a single one."""
    for path, limit in most.items():
        masters = [each for each in held_in(run, path) if each.task.is_master]
        largest = max((each.memory for each in masters), default=0)
        used = most_at_a_time(masters)
        assert used <= max(limit, largest), f"{path}: {used} MB of AppMasters, of {limit}"


def check_nothing_lost(run: Finished) -> None:
    """Every job has ended, with each of its tasks done once since its AppMaster began."""
    for job in run.applications:
        assert job.end is not None, f"job {job.number} has not ended"
        done = [each for each in job.containers[job.before :] if not each.killed]
        asked = 1 + sum(each.count for each in job.job.classes)
        assert len(done) == asked, f"job {job.number} has {len(done)} containers, of {asked}"
        assert all(each.finished is not None for each in done)


def check_guarantees(run: Finished, capacity: dict[str, int]) -> None:
    """Nothing of a leaf is killed that has its capacity or less, but for a part of a container.

    What has ended within a heartbeat may still be counted; an AppMaster takes along what it has.
    """
    killed: dict[tuple[str, int], list[Container]] = {}
    for each in run.killed:
        leaf = run.queue_of[each.container.application.number]
        killed.setdefault((leaf, each.killed), []).append(each.container)
    for (leaf, now), gone in killed.items():
        if any(each.task.is_master for each in gone):
            continue
        believed = [
            each
            for each in held_in(run, leaf)
            if each.scheduled <= now
            and each.finished is not None
            and each.finished > now - run.configuration.node_heartbeat
            and not (each.killed and each.finished < now)
        ]
        left = sum(each.memory for each in believed) - sum(each.memory for each in gone)
        least = capacity[leaf] - max(each.memory for each in gone)
        assert left > least, f"{leaf} is left {left} MB at {now} ms, of {capacity[leaf]}"


def check_work_conserved(run: Finished, maximum: dict[str, int], slack: int = 0) -> None:
    """Nobody waits for long who could run; for containers that are all alike.

    `slack` is how many containers queues may leave free: one that is stopped by its maximum keeps
    what is left below that from its siblings.
    """
    containers = [each for job in run.applications for each in job.containers]
    times = sorted(
        {job.start for job in run.applications}
        | {each.scheduled for each in containers}
        | {each.launched for each in containers if each.launched is not None}
        | {each.finished for each in containers if each.finished is not None}
    )
    size = containers[0].memory
    for begin, end in pairwise(times):
        if end - begin > PATIENCE:
            _require_nobody(run, begin, maximum, (size, slack))


def _require_nobody(
    run: Finished, now: int, maximum: dict[str, int], alike: tuple[int, int]
) -> None:
    size, slack = alike
    held = [
        (job, each)
        for job in run.applications
        for each in job.containers
        if each.scheduled <= now < (each.finished or 0)
    ]
    free = sum(
        (node.size.memory - sum(each.memory for _, each in held if each.node is node)) // size
        for node in run.nodes
    )
    if free < 1:
        return
    used: dict[str, int] = {}
    for job, each in held:
        for path in above(run.queue_of[job.number]):
            used[path] = used.get(path, 0) + each.memory
    for job in run.applications:
        own = job.containers[0] if job.containers else None
        if own is None or own.launched is None or not own.launched <= now < (own.finished or 0):
            continue
        waiting = sum(count for _, count in job.tasks) - sum(
            each.scheduled <= now for each in job.containers
        )
        if waiting < 1:
            continue
        path = run.queue_of[job.number]
        may = all(used.get(each, 0) + size * (1 + slack) <= maximum[each] for each in above(path))
        assert not may, f"job {job.number} of {path} waits at {now} ms, and {free} would fit"
