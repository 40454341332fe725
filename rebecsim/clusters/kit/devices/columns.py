"""The numbers of classes of flows, in columns, and the loops over them: plain, or compiled.

Small networks are done with before compiled code is loaded, which takes about a second; so columns
are lists at first. After some work they become arrays, and the loops are the compiled ones; they
give the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import inf
from typing import Any

from rebecsim.clusters.kit.devices import loops
from rebecsim.clusters.kit.devices.loops import LINKS_OF_PATH

_LOADS = 300_000
"""Visits of a class, in the search for rates, after which compiled loops on disk are loaded."""

_COMPILES = 3_000_000
"""Visits after which they are compiled, where they are not on disk."""

_loaded: list[Any] = []  # the compiled loops, once a network of this process has needed them


class FlowColumns:
    """Columns with a place for each class of flows, or each link, and the loops over them.

    Attributes:
        classes: how many there are; columns have more places.
        paths, counts, rates, served, heads: of each class: its links, `LINKS_OF_PATH` of them; how
            many flows; their rate; what each has been served since the class was opened, and will
            have been when the first of them ends.
        capacities, carried: of each link.
    """

    def __init__(self, capacities: Sequence[float]) -> None:
        links = len(capacities)
        self.classes = 0
        self._places = 16
        self.capacities: Any = list(capacities)
        self.carried: Any = [0.0] * links
        self.paths: Any = [-1] * (self._places * LINKS_OF_PATH)
        self.counts: Any = [0] * self._places
        self.rates: Any = [0.0] * self._places
        self.served: Any = [0.0] * self._places
        self.heads: Any = [inf] * self._places
        self._working: Any = ([0.0] * links, [0] * links, [0] * links, [0] * links)
        self._members: Any = [0] * (self._places * LINKS_OF_PATH)
        self._found: Any = [0] * self._places
        self._loops: Any = loops
        self._visits = 0
        self._enough = 0 if _loaded else _LOADS

    def open(self, path: tuple[int, ...]) -> int:
        """Make room for a class; give its place."""
        slot = self.classes
        if slot == self._places:
            self._grow()
        self.classes = slot + 1
        for place in range(LINKS_OF_PATH):
            self.paths[slot * LINKS_OF_PATH + place] = path[place] if place < len(path) else -1
        self.counts[slot] = 0
        self.rates[slot] = 0.0
        self.served[slot] = 0.0
        self.heads[slot] = inf
        return slot

    def close(self, slot: int) -> None:
        """Forget a class; the last one takes its place."""
        last = self.classes = self.classes - 1
        if slot != last:
            for column in (self.counts, self.rates, self.served, self.heads):
                column[slot] = column[last]
            for place in range(LINKS_OF_PATH):
                self.paths[slot * LINKS_OF_PATH + place] = self.paths[last * LINKS_OF_PATH + place]

    def find_rates(self) -> None:
        """Bring the rates up to date."""
        self._visits += self.classes
        if self._visits > self._enough:
            self._use_compiled()
        self._loops.fair_rates(
            self.classes,
            self.paths,
            self.counts,
            self.rates,
            self.capacities,
            *self._working,
            self._members,
        )

    def go_on(self, elapsed: int) -> None:
        """Let time pass (microseconds)."""
        self._loops.go_on(
            float(elapsed),
            self.classes,
            self.paths,
            self.counts,
            self.rates,
            self.served,
            self.carried,
        )

    def next_end(self) -> float:
        """Give after what time the first flow ends (microseconds); -1: there is none."""
        return float(self._loops.next_end(self.classes, self.served, self.heads, self.rates))

    def ending(self, instant: float) -> list[int]:
        """Give the classes of which a flow ends within an instant (microseconds)."""
        number = self._loops.ending(
            instant, self.classes, self.served, self.heads, self.rates, self._found
        )
        return [int(slot) for slot in self._found[:number]]

    def _grow(self) -> None:
        """Double the places."""
        more = self._places
        self._places *= 2
        numbers, whole = [0.0] * more, [0] * more
        self.paths = _longer(self.paths, whole * LINKS_OF_PATH)
        self._members = _longer(self._members, whole * LINKS_OF_PATH)
        self.counts = _longer(self.counts, whole)
        self._found = _longer(self._found, whole)
        self.rates = _longer(self.rates, numbers)
        self.served = _longer(self.served, numbers)
        self.heads = _longer(self.heads, numbers)

    def _use_compiled(self) -> None:
        """Go on with compiled loops, if they are worth it by now."""
        if not _loaded:
            from rebecsim.clusters.kit.devices import compiled_loops
            from rebecsim.native.cache import is_plain, is_ready, prepare

            if is_plain():
                self._enough = sys.maxsize
                return
            if self._visits < _COMPILES and not all(map(is_ready, compiled_loops.ALL)):
                self._enough = _COMPILES
                return
            prepare(*compiled_loops.ALL)
            _loaded.append(compiled_loops)
        import numpy as np

        self._enough = sys.maxsize
        self._loops = _loaded[0]
        for name in ("capacities", "carried", "rates", "served", "heads"):
            setattr(self, name, np.array(getattr(self, name), np.float64))
        for name in ("paths", "counts", "_members", "_found"):
            setattr(self, name, np.array(getattr(self, name), np.int64))
        left, *whole = self._working
        self._working = (np.array(left, np.float64), *(np.array(each, np.int64) for each in whole))


def _longer(column: Any, more: list[Any]) -> Any:
    """Add places to a list, or to an array."""
    if isinstance(column, list):
        return column + more
    import numpy as np

    return np.concatenate([column, np.array(more, column.dtype)])
