"""Gantt charts of nodes: which containers each had when, as high as their memory.

Colours say which job a container is of, or, where several queues are compared, which queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.kit.gantt import Colours, colours_by_work, gantt_figure as draw_gantt
from rebecsim.clusters.kit.stored import values_of
from rebecsim.clusters.kit.timeline import Lane, Timeline
from rebecsim.clusters.yarn.queue_tables import QUEUE_JOBS
from rebecsim.clusters.yarn.report.stored import SECOND, StoredTables

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

_MOST_TASKS = 40  # of the median length, side by side in the window


def busiest_window(shown: Sequence[StoredTables]) -> tuple[int, int]:
    """Give the time to look at (ms), from when until when, in runs of which the first one decides.

    All of that run if it is not long against its tasks, and of the others what is not; otherwise as
    much of it as that, where the most memory is in use.
    """
    base = shown[0]
    end = int(values_of(base.jobs, "end").max())
    lengths = values_of(base.tasks, "finished") - values_of(base.tasks, "launched")
    width = int(np.median(lengths)) * _MOST_TASKS if len(lengths) else end
    if not 0 < width < end:
        latest = max(int(values_of(each.jobs, "end").max()) for each in shown)
        return 0, min(latest, max(end, width))
    time, memory = values_of(base.occupancy, "time"), values_of(base.occupancy, "memory")
    step = int(time[1] - time[0])
    windows = max(width // step, 1)
    sums = np.convolve(memory, np.ones(windows), "valid")
    begin = int(time[int(np.argmax(sums))])
    return begin, begin + max(width, step)


def timelines(shown: Sequence[StoredTables]) -> dict[str, Timeline]:
    """Give which containers nodes had, by scheduler; owners are queues if there are several."""
    by_queue = has_queues(shown)
    return {
        each.scheduler: _timeline(each.tasks, each.nodes, queues if by_queue else {})
        for each, queues in zip(shown, _queues(shown), strict=True)
    }


def _timeline(tasks: pa.Table, nodes: pa.Table, queues: Mapping[int, str]) -> Timeline:
    names = values_of(nodes, "node").tolist()
    place = {name: number for number, name in enumerate(names)}
    jobs = values_of(tasks, "job")
    numbers, row = np.unique(jobs, return_inverse=True)
    owners = [queues.get(job, f"job_{job}") for job in numbers.tolist()]
    return Timeline(
        list(map(Lane, names, values_of(nodes, "memory").tolist())),
        who=jobs,
        owner=np.array(owners, dtype=str)[row],
        lane=np.array([place[name] for name in values_of(tasks, "node").tolist()], dtype=np.int64),
        begin=values_of(tasks, "launched"),
        end=values_of(tasks, "finished"),
        size=values_of(tasks, "given"),
        pale=values_of(tasks, "elastic").astype(bool),
        per_second=SECOND,
    )


def gantt_figure(
    shown: Sequence[StoredTables], window: tuple[int, int], heading: str = ""
) -> Figure:
    """Draw the first nodes under some schedulers, one below the other, in one window (ms).

    The jobs, or the queues if there are several, that take the most memory in the window have
    colours, in all charts the same.
    """
    lines = timelines(shown)
    by_queue = has_queues(shown)
    colours = Colours(
        colours_by_work(list(lines.values()), window, by_name=by_queue),
        noun="queues" if by_queue else "jobs",
        pale="elastic" if any(each.pale.any() for each in lines.values()) else "",
    )
    return draw_gantt(lines, colours, window, heading, noun="node")


def has_queues(shown: Sequence[StoredTables]) -> bool:
    """Whether there are several queues to tell apart."""
    return len({queue for queues in _queues(shown) for queue in queues.values()}) > 1


def _queues(shown: Sequence[StoredTables]) -> list[dict[int, str]]:
    """Give the queue of each job in each run; no jobs where queues are not compared.

    A queue that one run knows by its name and the others by its path is one queue.
    """
    found = [_queues_of(each) for each in shown]
    names = {queue for queues in found for queue in queues.values()}
    paths: dict[str, list[str]] = {}
    for name in names:
        paths.setdefault(name.rpartition(".")[2], []).append(name)
    known = {last: max(same, key=len) for last, same in paths.items() if len(same) == 2}
    return [{job: known.get(queue, queue) for job, queue in queues.items()} for queues in found]


def _queues_of(each: StoredTables) -> dict[int, str]:
    if QUEUE_JOBS not in each.queues:
        return {}
    table = each.queues[QUEUE_JOBS]
    return dict(zip(*(table.column(name).to_pylist() for name in ("job", "queue")), strict=True))
