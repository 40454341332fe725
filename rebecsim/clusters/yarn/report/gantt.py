"""Gantt charts of nodes: which containers each had when, as high as their memory.

Colours say which job a container is of, or, where several queues are compared, which queue.

Traces say how much memory a container had, not where it lay: for the picture each gets the lowest
place on its node that is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.yarn.queue_tables import QUEUE_JOBS
from rebecsim.clusters.yarn.report.stored import StoredTables, values_of
from rebecsim.report.figures import BLUE, GREEN, ORANGE, legend_below, new_figure, time_axis

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SECOND = 1000
_MOST_NODES = 20
_MOST_TASKS = 40  # of the median length, side by side in the window
# The palette without black, with its yellow, and a grey for what has no colour.
_COLOURS = (BLUE, ORANGE, GREEN, "#E69F00", "#56B4E9", "#CC79A7", "#F0E442")
_OTHERS = "#c4c4c4"
_ROW = 0.9  # of the place between two nodes


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


@dataclass(frozen=True, slots=True)
class _Colours:
    """What colours stand for: jobs, or queues.

    Attributes:
        owners: of each run, whose the containers of a job are, by its number.
        of: the colour of each owner.
        noun: what owners are.
    """

    owners: Sequence[Mapping[int, str]]
    of: Mapping[str, str]
    noun: str


def gantt_figure(
    shown: Sequence[StoredTables], window: tuple[int, int], heading: str = ""
) -> Figure:
    """Draw the first nodes under some schedulers, one below the other, in one window (ms).

    The jobs, or the queues if there are several, that take the most memory in the window have
    colours, in all charts the same.
    """
    nodes = min(max(len(each.nodes) for each in shown), _MOST_NODES)
    colours = _colours(shown, window)
    figure = new_figure(11, 1.4 + len(shown) * (0.5 + 0.2 * max(nodes, 4)), heading)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    begin, end = window
    unit, name = time_axis((end - begin) / _SECOND)
    for axes, each, owners in zip(panels, shown, colours.owners, strict=True):
        of_job = {job: colours.of[owner] for job, owner in owners.items()}
        _panel(axes, each, of_job, window, unit)
    panels[-1].set_xlim(0, (end - begin) / _SECOND / unit)
    since = f" from second {begin / _SECOND:,.0f} on" if begin else ""
    panels[-1].set_xlabel(f"Time ({name}{since})")
    _legend(figure, colours)
    return figure


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


def _colours(shown: Sequence[StoredTables], window: tuple[int, int]) -> _Colours:
    """Give colours to those with the most work: to queues by their names, to jobs by their work."""
    by_queue, all_queues = has_queues(shown), _queues(shown)
    work: dict[str, float] = {}
    found: list[Mapping[int, str]] = []
    for each, queues in zip(shown, all_queues, strict=True):
        tasks = _within(each.tasks, window)
        amounts = (tasks["end"] - tasks["begin"]) * tasks["given"]
        jobs, row = np.unique(tasks["job"], return_inverse=True)
        named = queues if by_queue else {}
        owners = {job: named.get(job, f"job_{job}") for job in jobs.tolist()}
        sums = np.bincount(row, amounts).tolist()
        for owner, amount in zip(owners.values(), sums, strict=True):
            work[owner] = work.get(owner, 0.0) + amount
        found.append(owners)
    most = sorted(work, key=lambda owner: (-work[owner], owner))[: len(_COLOURS)]
    colours = dict(zip(sorted(most) if by_queue else most, _COLOURS, strict=False))
    others = dict.fromkeys(work.keys() - colours.keys(), _OTHERS)
    return _Colours(found, {**colours, **others}, "queues" if by_queue else "jobs")


def _within(tasks: pa.Table, window: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Give the containers that run at some time of a window, cut to it, in the order of launch."""
    names = ("job", "node", "given", "launched", "finished", "elastic")
    columns = {name: values_of(tasks, name) for name in names}
    begin, end = window
    inside = np.flatnonzero((columns["launched"] < end) & (columns["finished"] > begin))
    inside = inside[np.argsort(columns["launched"][inside], kind="stable")]
    found = {name: column[inside] for name, column in columns.items()}
    found["begin"] = np.maximum(found["launched"], begin) - begin
    found["end"] = np.minimum(found["finished"], end) - begin
    return found


def _panel(
    axes: Axes, each: StoredTables, colours: dict[int, str], window: tuple[int, int], unit: int
) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    sizes = dict(
        zip(
            values_of(each.nodes, "node").tolist(),
            values_of(each.nodes, "memory").tolist(),
            strict=True,
        )
    )
    rows = {name: place for place, name in enumerate(list(sizes)[:_MOST_NODES])}
    tasks = _within(each.tasks, window)
    places = _places(tasks, rows)
    corners, faces = [], []
    for at, lowest in places:
        node = tasks["node"][at]
        left, right = (tasks[side][at] / _SECOND / unit for side in ("begin", "end"))
        low = rows[node] - _ROW / 2 + _ROW * lowest / sizes[node]
        high = low + _ROW * tasks["given"][at] / sizes[node]
        corners.append([(left, low), (left, high), (right, high), (right, low)])
        faces.append(to_rgba(colours[int(tasks["job"][at])], 0.45 if tasks["elastic"][at] else 1))
    axes.barh(
        list(rows.values()),
        (window[1] - window[0]) / _SECOND / unit,
        _ROW,
        color="#f4f4f4",
        zorder=0,
    )
    many = len(corners) > 2000
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=faces,
            edgecolors="white",
            linewidths=0.15 if many else 0.4,
            rasterized=many,
        )
    )
    left_out = len(sizes) - len(rows)
    title = (
        f"{each.scheduler}, the first {len(rows)} of {len(sizes)} nodes"
        if left_out
        else (each.scheduler)
    )
    axes.set_title(title, fontsize=10, parse_math=False)
    axes.set_yticks(list(rows.values()), list(rows), fontsize=7, parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _places(tasks: dict[str, NDArray[Any]], rows: dict[str, int]) -> list[tuple[int, int]]:
    """Give the index of each container on the nodes drawn, and the MB below it."""
    held: dict[str, list[tuple[int, int, int]]] = {name: [] for name in rows}
    found = []
    for at, node in enumerate(tasks["node"].tolist()):
        if node not in held:
            continue
        now, size = int(tasks["launched"][at]), int(tasks["given"][at])
        running = sorted(each for each in held[node] if each[2] > now)
        lowest = 0
        for low, high, _ in running:
            if low - lowest >= size:
                break
            lowest = max(lowest, high)
        running.append((lowest, lowest + size, int(tasks["finished"][at])))
        held[node] = running
        found.append((at, lowest))
    return found


def _legend(figure: Figure, colours: _Colours) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    named = {owner: colour for owner, colour in colours.of.items() if colour != _OTHERS}
    handles = [Patch(color=colour, label=owner) for owner, colour in named.items()]
    if others := len(colours.of) - len(named):
        handles.append(Patch(color=_OTHERS, label=f"{others} other {colours.noun}"))
    handles.append(Patch(color=to_rgba(_OTHERS, 0.45), label="elastic: paler"))
    handles.append(Patch(color="#f4f4f4", label="free"))
    legend_below(figure, handles, columns=10, size=8)
