"""Who ran where and when: a timeline, from which charts, use and checks are made.

A lane is a place with some room: a node with its memory, a node's map slots, a machine with its
processors. Runs say how much room work took, not which part of it, so charts choose: the first gap
that is wide enough, or the lowest free parts.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.metrics import count_over_time

Integers = NDArray[np.int64]
Names = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Lane:
    """A place where work runs.

    Attributes:
        name: of its row in charts; neighbours of one name share a row.
        room: how much it has; 0: as much as any lane of its timeline has in use at once.
    """

    name: str
    room: int = 0


@dataclass(frozen=True, eq=False)
class Timeline:
    """Work that ran in lanes; arrays of shape (stretches,).

    Attributes:
        lanes: the places.
        who: the job, or task, that ran.
        owner: whose it was; charts colour by it.
        lane: index of its lane.
        begin, end: from when until before when; in parts of a second.
        size: how much room it took.
        pale: whether charts show it paler than other work.
        per_second: how many parts a second has.
    """

    lanes: Sequence[Lane]
    who: NDArray[Any]
    owner: Names
    lane: Integers
    begin: Integers
    end: Integers
    size: Integers
    pale: NDArray[np.bool_]
    per_second: int = field(default=1, kw_only=True)

    def __len__(self) -> int:
        return len(self.begin)

    def only(self, chosen: NDArray[Any]) -> Timeline:
        """Give the stretches of a mask or of an array of indices, in that order."""
        columns = (each.name for each in fields(self) if each.name not in ("lanes", "per_second"))
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def within(self, begin: int, end: int) -> Timeline:
        """Give what runs at some time from `begin` until before `end`, in the order of begins."""
        inside = np.flatnonzero((self.begin < end) & (self.end > begin))
        return self.only(inside[np.argsort(self.begin[inside], kind="stable")])

    def work(self, begin: int, end: int) -> dict[str, float]:
        """Give what each owner used in a window: room times parts of a second."""
        parts = np.clip(self.end, begin, end) - np.clip(self.begin, begin, end)
        owners, row = np.unique(self.owner, return_inverse=True)
        sums = np.bincount(row, weights=parts * self.size, minlength=len(owners))
        return dict(zip(owners.tolist(), sums.tolist(), strict=True))

    def in_use(self, edges: Integers) -> NDArray[np.float64]:
        """Give the room in use in all lanes, means over windows; shape (edges - 1,)."""
        return count_over_time(self.begin, self.end, self.size).means(edges)

    @cached_property
    def rooms(self) -> Integers:
        """The room of each lane, that which the timeline does not say filled in; shape (lanes,)."""
        said = np.array([each.room for each in self.lanes], dtype=np.int64)
        if said.all():
            return said
        taken = _in_use_at_begins(self.lane, self.begin, self.end, self.size)[1]
        return np.where(said, said, max(int(taken.max(initial=0)), 1))

    def placed(self) -> Places:
        """Choose a part of its lane for each stretch; several parts where no gap is wide enough.

        Raises ValueError for a lane that is too full.
        """
        rooms, found = self.rooms.tolist(), []
        running: list[list[tuple[int, int, int]]] = [[] for _ in rooms]
        columns = (self.lane, self.begin, self.end, self.size)
        rows = list(zip(*(each.tolist() for each in columns), strict=True))
        for at in np.argsort(self.begin, kind="stable").tolist():
            lane, begin, end, size = rows[at]
            if begin >= end:
                continue
            held = running[lane] = [each for each in running[lane] if each[2] > begin]
            parts = _parts(held, size, rooms[lane])
            if sum(high - low for low, high in parts) < size:
                of = f"{size} of {rooms[lane]}"
                raise ValueError(f"{self.who[at]} begins at {begin} when less than {of} is free")
            for low, high in parts:
                insort(held, (low, high, end))
                found.append((at, low, high - low))
        return Places(*np.array(found, dtype=np.int64).reshape(-1, 3).T)


def overfull(
    lane: Integers, begin: Integers, end: Integers, size: Integers, rooms: Integers
) -> tuple[Integers, Integers]:
    """Give which stretches begin when less than they take is free, and what is in use then.

    They are in the order of lanes and begins; of several at one time, the later ones are too many.
    What ends at that time is gone already.
    """
    stretch, used = _in_use_at_begins(lane, begin, end, size)
    over = used > rooms[lane[stretch]]
    return stretch[over], used[over]


def _in_use_at_begins(
    lane: Integers, begin: Integers, end: Integers, size: Integers
) -> tuple[Integers, Integers]:
    """Give the stretches in the order of begins within their lanes, and what is in use then."""
    count = len(lane)
    begins = np.repeat([False, True], count)
    order = np.lexsort((begins, np.concatenate([end, begin]), np.tile(lane, 2)))  # stable
    used = np.cumsum(np.concatenate([-size, size])[order])
    return (order - count)[begins[order]], used[begins[order]]


@dataclass(frozen=True, eq=False)
class Places:
    """Parts of lanes; arrays of shape (parts,).

    Attributes:
        stretch: index of what has it in the timeline.
        low: where it begins in its lane.
        size: how much it is.
    """

    stretch: Integers
    low: Integers
    size: Integers


def _parts(held: Sequence[tuple[int, int, int]], size: int, room: int) -> list[tuple[int, int]]:
    """Choose the first gap that is wide enough beside what is held, or the lowest free parts."""
    gaps, lowest = [], 0
    for low, high, _ in held:
        if low - lowest >= size:
            return [(lowest, lowest + size)]
        if low > lowest:
            gaps.append((lowest, low))
        lowest = high
    if room - lowest >= size:
        return [(lowest, lowest + size)]
    parts, left = [], size
    for low, high in (*gaps, (lowest, room)):
        if left and high > low:
            parts.append((low, min(high, low + left)))
            left -= parts[-1][1] - low
    return parts
