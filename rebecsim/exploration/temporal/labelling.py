"""In which states propositions are true: one pass over the states for all formulas of a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.compiled.compiled_search import PackedStates
from rebecsim.exploration.states.transitions import State
from rebecsim.exploration.temporal.formulas import StateProposition

Labels = NDArray[np.int64]
"""For each state, a bit for each proposition."""

MOST_PROPOSITIONS = 62


def labels_of(states: Sequence[State], propositions: Sequence[StateProposition]) -> Labels:
    """Say in which states which propositions are true.

    Each is worked out once for states that do not differ in what it reads. Raises UserError where
    a proposition has no value.
    """
    labels = np.zeros(len(states), np.int64)
    for place, each in enumerate(propositions):
        labels |= _truth(states, each).astype(np.int64) << place
    return labels


def _truth(states: Sequence[State], proposition: StateProposition) -> NDArray[np.bool_]:
    holds = proposition.holds
    if isinstance(states, PackedStates):
        first, alike = states.alike(proposition.reads)
        truth = [holds(states[number]) for number in first.tolist()]
        return np.array(truth, np.bool_)[alike]
    reads = sorted(proposition.reads)
    known: dict[tuple[object, ...], bool] = {}
    found = np.zeros(len(states), np.bool_)
    for number, state in enumerate(states):
        key = tuple([state[rebec] for rebec in reads])
        truth_here = known.get(key)
        if truth_here is None:
            truth_here = known[key] = bool(holds(state))
        found[number] = truth_here
    return found
