"""What queues should ideally have, given what they have and what they ask for.

A queue keeps what it has up to its capacity; what is left goes to those that have the least of
theirs, step by step. A queue that has its capacity gets no more by this, unless it has it already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rebecsim.clusters.yarn.queue_files.resources import NONE, Calculator, Resources


@dataclass(slots=True)
class IdealQueue:
    """A queue on nodes of one label, as it is looked at in one round.

    Attributes:
        guaranteed: its capacity.
        most: what it may have.
        used: what it has.
        pending: what it asks for and may have.
        preemptable: whether its containers may be killed.
        priority: a higher one first, if its parent says so.
        by_priority: whether its children come by their priorities.
        ideal: what it should have.
        to_take: what it has too much, as far as it is taken in this round.
    """

    path: str
    guaranteed: Resources
    most: Resources
    used: Resources
    pending: Resources
    preemptable: bool = True
    priority: int = 0
    by_priority: bool = False
    children: list[IdealQueue] = field(default_factory=list)
    ideal: Resources = NONE
    to_take: Resources = NONE

    @property
    def extra(self) -> Resources:
        """What it has beyond its capacity."""
        return self.used.minus(self.guaranteed).not_negative()

    @property
    def preemptable_extra(self) -> Resources:
        """What of this may be taken."""
        if not self.children:
            return self.extra if self.preemptable else NONE
        return self._of_children.least(self.extra)

    @property
    def untouchable(self) -> Resources:
        """What of this may not be taken."""
        return self.extra.minus(self.preemptable_extra)

    @property
    def _of_children(self) -> Resources:
        found = NONE
        for child in self.children:
            found = found.plus(child.preemptable_extra)
        return found

    def leaves(self) -> Iterator[IdealQueue]:
        """Give the leaves below it, or itself."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


class Ideal:
    """Computes what queues should have.

    `allowed` is what is taken at most of the queues of one parent, `balances` says whether
    queues may get more than their capacity by it.
    """

    def __init__(
        self, calculator: Calculator, total: Resources, allowed: Resources, *, balances: bool
    ) -> None:
        self._calculator = calculator
        self._total = total
        self._allowed = allowed
        self._balances = balances

    def compute(self, root: IdealQueue) -> None:
        """Say for each queue what it should have, and what is to be taken of it."""
        root.ideal = self._total
        self._compute_below(root)

    def _compute_below(self, parent: IdealQueue) -> None:
        if not parent.children:
            return
        left = parent.ideal
        given = [each for each in parent.children if self._is_some(each.guaranteed)]
        others = [each for each in parent.children if not self._is_some(each.guaranteed)]
        left = self._share(given, left, by_priority=parent.by_priority)
        if others:
            self._share(others, left, by_priority=parent.by_priority, equal=True)
        self._scale(parent.children)
        for child in parent.children:
            self._compute_below(child)

    def _share(
        self,
        queues: Sequence[IdealQueue],
        total: Resources,
        *,
        by_priority: bool,
        equal: bool = False,
    ) -> Resources:
        """Share what there is; give what is left."""
        calculator, left = self._calculator, total
        for each in queues:
            each.ideal = each.used
            if calculator.less(self._total, each.guaranteed, each.used):
                each.ideal = each.guaranteed.least(each.used).plus(each.untouchable)
            left = left.minus(each.ideal)
        asking = [
            each
            for each in queues
            if calculator.less(self._total, each.ideal, each.used.plus(each.pending))
        ]
        while asking and self._is_some(left):
            parts = self._parts(asking, equal=equal)
            served = self._neediest(asking, by_priority=by_priority)
            before = left
            for each in served:
                offered = Resources(
                    *(
                        min(math.ceil(have * part), rest)
                        for have, part, rest in zip(before, parts[id(each)], left, strict=True)
                    )
                )
                accepted = self._accepted(each, offered.not_negative())
                each.ideal = each.ideal.plus(accepted)
                left = left.minus(accepted)
                if not self._is_some(accepted):
                    asking.remove(each)
        return left

    def _parts(
        self, asking: Sequence[IdealQueue], *, equal: bool
    ) -> dict[int, tuple[float, float]]:
        """Give the part of each resource that queues are offered, by their capacities."""
        memory = sum(each.guaranteed.memory for each in asking)
        cores = sum(each.guaranteed.cores for each in asking)
        alike = 1 / len(asking)
        return {
            id(each): (
                alike if equal else each.guaranteed.memory / memory if memory else 0.0,
                alike if equal else each.guaranteed.cores / cores if cores else 0.0,
            )
            for each in asking
        }

    def _neediest(self, asking: Sequence[IdealQueue], *, by_priority: bool) -> list[IdealQueue]:
        """Give those who have the least of their capacity."""
        keys = []
        for each in asking:
            ratio = self._calculator.divided(self._total, each.ideal, each.guaranteed)
            keys.append((ratio >= 1, -each.priority, ratio) if by_priority else (False, 0, ratio))
        least = min(keys)
        return [each for each, key in zip(asking, keys, strict=True) if key == least]

    def _accepted(self, each: IdealQueue, offered: Resources) -> Resources:
        wanted = each.used.plus(each.pending).minus(each.ideal)
        accepted = self._calculator.lesser(self._total, offered, wanted)
        accepted = accepted.least(each.most.minus(each.ideal))
        if not each.children and not self._balances:
            until = self._calculator.greater(self._total, each.guaranteed, each.used)
            accepted = self._calculator.lesser(self._total, accepted, until.minus(each.ideal))
        return accepted.not_negative()

    def _scale(self, queues: Sequence[IdealQueue]) -> None:
        """Take of those who have too much, all together as much as is allowed."""
        needed = NONE
        for each in queues:
            if self._calculator.less(self._total, each.ideal, each.used):
                needed = needed.plus(each.used.minus(each.ideal))
        factor = 1.0
        if self._calculator.less(self._total, self._allowed, needed):
            factor = self._calculator.divided(self._total, self._allowed, needed)
        for each in queues:
            wanted = self._calculator.lesser(
                self._total, each.used.plus(each.pending), each.guaranteed
            )
            keeps = self._calculator.greater(self._total, each.ideal, wanted)
            each.to_take = each.used.minus(keeps).not_negative().times(factor)

    def _is_some(self, some: Resources) -> bool:
        return self._calculator.less(self._total, NONE, some)
