"""Find the states in which propositions are true, in one pass for all formulas of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.compiled.compiled_search import PackedStates
from rebecsim.exploration.states.transitions import State
from rebecsim.exploration.temporal.formulas import StateProposition

Labels = NDArray[np.int64]
"""For each state, a bit for each proposition."""

MOST_PROPOSITIONS = 62


class Groups:
    """States that do not differ in what some rebecs are: a state of each group, its own of each."""

    def __init__(self, first: Sequence[int], of_state: NDArray[np.int64]) -> None:
        self.first = first
        self.of_state = of_state


class Labelling:
    """Says in which states propositions are true."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states
        self._groups: dict[frozenset[int], Groups] = {}

    def labels(self, propositions: Sequence[StateProposition]) -> Labels:
        """Say in which states which propositions are true.

        Each is worked out once for states that do not differ in what it reads. Raises UserError
        where a proposition has no value.
        """
        labels = np.zeros(len(self._states), np.int64)
        for place, each in enumerate(propositions):
            groups = self._alike(each.reads)
            truth = [bool(each.holds(self._states[number])) for number in groups.first]
            labels |= (np.array(truth, np.int64) << place)[groups.of_state]
        return labels

    def _alike(self, reads: frozenset[int]) -> Groups:
        known = self._groups.get(reads)
        if known is None:
            known = self._groups[reads] = self._grouped(reads)
        return known

    def _grouped(self, reads: frozenset[int]) -> Groups:
        if isinstance(self._states, PackedStates):
            first, of_state = self._states.alike(reads)
            return Groups(first.tolist(), of_state)
        numbers: dict[tuple[object, ...], int] = {}
        first_of: list[int] = []
        of_state = np.fromiter(self._numbered(sorted(reads), numbers, first_of), np.int64)
        return Groups(first_of, of_state)

    def _numbered(
        self, reads: list[int], numbers: dict[tuple[object, ...], int], first: list[int]
    ) -> Iterator[int]:
        for place, state in enumerate(self._states):
            key = tuple([state[rebec] for rebec in reads])
            number = numbers.setdefault(key, len(numbers))
            if number == len(first):
                first.append(place)
            yield number
