"""The symmetries of a system as arrays, grouped by what they do to a part of a state."""

from __future__ import annotations

from collections.abc import Sequence, Set as AbstractSet
from typing import Any

import numpy as np

from rebecsim.exploration.analysis.relabelling import Labels
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.states.values import Reference
from rebecsim.exploration.symmetry import Renaming
from rebecsim.native.arrays import Integers

_AT_ONCE = 128
"""Symmetries of which images are worked out together; of more, most are never asked for."""


class SymmetryArrays:
    """A group of symmetries.

    Attributes:
        origins: whose image each rebec is; shape (symmetries, rebecs).
    """

    def __init__(self, system: SymmetricSystem) -> None:
        self._group = system.group
        self._images = np.array([each.images for each in system.group], np.int64)
        self.origins = np.argsort(self._images, axis=1)
        numbers: dict[Labels, int] = {}
        self._labels = np.array(
            [
                [numbers.setdefault(own, len(numbers)) for own in each.labels]
                for each in system.group
            ]
        )

    def around(
        self, asked: int, owner: int, rebecs: AbstractSet[int]
    ) -> tuple[Integers, Integers, list[Renaming]]:
        """Give some symmetries, one of them asked for, by what they do with a part of one rebec.

        That is what becomes of the names of its class, of itself and of these rebecs.

        Gives their numbers, for each of them a place in the list that comes last, and that list:
        a symmetry for each thing that is done.
        """
        first = asked - asked % _AT_ONCE
        part = slice(first, first + _AT_ONCE)
        images = self._images[part][:, sorted(rebecs | {owner})]
        done = np.column_stack([self._labels[part, owner], images])
        places: dict[bytes, int] = {}
        alike = [places.setdefault(each.tobytes(), len(places)) for each in done]
        _, chosen = np.unique(alike, return_index=True)
        members = np.arange(first, first + len(images), dtype=np.int64)
        renamings = [self._group[first + each] for each in chosen.tolist()]
        return members, np.array(alike, np.int64), renamings


def references_in(values: Sequence[Any]) -> set[int]:
    """Give the positions of the rebecs in values, however deep in them."""
    found = set()
    for value in values:
        if isinstance(value, Reference):
            found.add(value.index)
        elif isinstance(value, tuple):
            found |= references_in(value)
    return found
