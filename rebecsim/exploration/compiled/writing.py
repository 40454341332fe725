"""Record the transitions that compiled code follows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.compiled.collapsed import Collapsed
from rebecsim.exploration.recording import NO_SERVICE, Recording
from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.native import control as at
from rebecsim.native.arrays import Integers
from rebecsim.native.loops.breadth_first import EDGE_SERVED, EDGE_WIDTH
from rebecsim.native.loops.successors import TIME_PASSES

EdgeRows = NDArray[np.uint32]

NOTHING_WRITTEN: EdgeRows = np.zeros((0, EDGE_WIDTH), dtype=np.uint32)

_FEW = 1 << 14  # transitions


class RecordingWriter:
    """The rows that compiled code writes, which are put behind those of a recording.

    `edges` has more rows than are in use; see `rebecsim.native.loops.breadth_first.expand_states`.
    """

    def __init__(self, recording: Recording, collapsed: Collapsed, control: Integers) -> None:
        self._recording = recording
        self._collapsed = collapsed
        self._control = control
        self._before = len(recording)
        self.edges: EdgeRows = np.empty((_FEW, EDGE_WIDTH), dtype=np.uint32)
        recording.go_on = self._columns

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more."""
        return bool(self._control[at.EDGES] == len(self.edges))

    @property
    def growth(self) -> int:
        """Give the bytes that growing takes."""
        return 2 * self.edges.nbytes

    def grow(self) -> None:
        """Make room for twice as many."""
        larger = np.empty((2 * len(self.edges), EDGE_WIDTH), dtype=np.uint32)
        larger[: len(self.edges)] = self.edges
        self.edges = larger

    def note(self) -> None:
        """Note how far the search is."""
        self._recording.expanded = int(self._control[at.NUMBER])

    def breached(self, key: BreachKey) -> None:
        """Write down that something goes wrong in the transition that was followed last."""
        if self.is_full:
            self.grow()
        control = self._control
        edge = int(control[at.EDGES])
        source, served, choice = control[[at.NUMBER, at.SERVED, at.CHOICE]].tolist()
        self.edges[edge] = source, 0, served, choice, 0
        self._recording.breached.append((self._before + edge, key))
        control[at.EDGES] = edge + 1

    def _columns(self) -> Iterator[NDArray[np.integer]]:
        """Give what was written, with the services as the recording numbers them, and keep none."""
        edges, self.edges = self.edges[: self._control[at.EDGES]], NOTHING_WRITTEN
        for column in range(EDGE_WIDTH):
            yield self._services(edges[:, column]) if column == EDGE_SERVED else edges[:, column]

    def _services(self, served: EdgeRows) -> NDArray[np.int32]:
        passes = served == TIME_PASSES
        places = np.where(passes, 0, served)
        met = np.zeros(int(places.max(initial=0)) + 1, dtype=bool)
        met[places[~passes]] = True
        numbers = np.zeros(len(met), dtype=np.int32)
        for each in np.flatnonzero(met).tolist():
            numbers[each] = self._recording.service(self._collapsed.service(each))
        found: NDArray[np.int32] = numbers[places]
        found[passes] = NO_SERVICE
        return found
