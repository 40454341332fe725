"""The slot of each task in a Gantt chart: the lowest one that is free when it starts."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray


def slots_of(
    start: NDArray[np.int64], end: NDArray[np.int64], node: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give each task the lowest slot of its node that is free when it starts."""
    found = np.zeros(len(start), dtype=np.int64)
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[int, int]]] = {}
    used: dict[int, int] = {}
    for at in np.lexsort((end, start)).tolist():
        where = int(node[at])
        ended = busy.setdefault(where, [])
        left = free.setdefault(where, [])
        while ended and ended[0][0] <= start[at]:
            heapq.heappush(left, heapq.heappop(ended)[1])
        if left:
            slot = heapq.heappop(left)
        else:
            slot = used.get(where, 0)
            used[where] = slot + 1
        heapq.heappush(ended, (int(end[at]), slot))
        found[at] = slot
    return found
