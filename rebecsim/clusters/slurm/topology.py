"""Nodes under switches, as topology/tree takes them: from few leaf switches that are near.

A job's nodes lie under one top switch. Light nodes come first; leaf switches that already hold
nodes of the job are filled before others, which follow by how near they are and how well they fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebecsim.actors import Constant
from rebecsim.clusters.slurm.configuration import Switch
from rebecsim.clusters.slurm.machine import Integers, Machine, Need, bits_of


@dataclass(frozen=True, eq=False)
class Branch(Constant):
    """A switch: its level (0 for leaves), the nodes under it as bits, and the switches above it."""

    name: str
    level: int
    nodes: int
    above: tuple[int, ...]


class Tree(Constant):
    """The switches of a cluster.

    Attributes:
        branches: all switches, in the order of the file.
    """

    def __init__(self, switches: tuple[Switch, ...], machine: Machine) -> None:
        by_name = {each.name: each for each in switches}
        number = {each.name: place for place, each in enumerate(switches)}
        parent = {
            number[child]: place
            for place, each in enumerate(switches)
            for child in each.switches
            if child in number
        }
        nodes: dict[str, int] = {}
        levels: dict[str, int] = {}

        def measure(name: str) -> None:
            if name in nodes:
                return
            each = by_name[name]
            nodes[name], levels[name] = bits_of(machine.number[n] for n in each.nodes), 0
            for child in each.switches:
                if child in by_name:
                    measure(child)
                    nodes[name] |= nodes[child]
                    levels[name] = max(levels[name], levels[child] + 1)

        def above(place: int) -> tuple[int, ...]:
            found = []
            while place in parent:
                place = parent[place]
                found.append(place)
            return tuple(found)

        for each in switches:
            measure(each.name)
        self.branches = tuple(
            Branch(each.name, levels[each.name], nodes[each.name], above(place))
            for place, each in enumerate(switches)
        )
        self._leaves = [place for place, each in enumerate(self.branches) if not each.level]

    def order(
        self,
        machine: Machine,
        need: Need,
        free: Integers,
        chosen: list[int],
        waited: int | None,
    ) -> list[int]:
        """Give the nodes in the order in which they are taken, after those `chosen`.

        `waited` is for how long the job could have started, seconds: until the wait of its
        `--switches` is over, nodes under more leaf switches are refused.
        """
        usable = machine.bits(free > 0)
        top = self._top(machine, need, usable, chosen)
        if top is None:
            return []
        under = self.branches[top].nodes & usable
        light = self._light(machine, need, free, under)
        order = self._leaf_by_leaf(need, light, bits_of(chosen))
        return self._in_time(machine, need, order, chosen, waited)

    def low_order(
        self,
        machine: Machine,
        need: Need,
        free: Integers,
        chosen: list[int],
        waited: int | None,
    ) -> list[int]:
        """Give the order of select/linear: small leaves first, under the lowest switch with enough.

        Leaves that have required nodes come before others.
        """
        usable, required = machine.bits(free > 0), bits_of(chosen)
        sizes = [int(free[machine.mask(each.nodes)].sum()) for each in self.branches]
        enough = [
            place
            for place, each in enumerate(self.branches)
            if sizes[place] >= need.cpus
            and (each.nodes & usable).bit_count() >= need.nodes
            and not required & ~each.nodes
        ]
        if not enough:
            return []
        low = min(
            enough,
            key=lambda n: (self.branches[n].level, (self.branches[n].nodes & usable).bit_count()),
        )
        under = self.branches[low].nodes & usable
        leaves = [each for each in self._leaves if self.branches[each].nodes & under]
        leaves.sort(key=lambda n: (not self.branches[n].nodes & required, sizes[n]))
        order: list[int] = []
        for leaf in leaves:
            order += self._nodes(leaf, under & ~required, order)
        return self._in_time(machine, need, order, chosen, waited)

    def _in_time(
        self, machine: Machine, need: Need, order: list[int], chosen: list[int], waited: int | None
    ) -> list[int]:
        """Leave out nodes under more leaf switches than a job wants, until it has waited enough."""
        most, wait = need.request.switches, need.request.switch_wait
        limit = machine.cluster.main.max_switch_wait if wait is None else wait
        if most is not None and (waited is None or waited < limit):
            return self._within(order, chosen, most)
        return order

    def _top(self, machine: Machine, need: Need, usable: int, chosen: list[int]) -> int | None:
        """Give the highest switch with all required nodes, or else with enough nodes."""
        required, best, key = bits_of(chosen), None, (-1, 0)
        for place, each in enumerate(self.branches):
            inside = each.nodes & usable
            if required & ~each.nodes or inside.bit_count() < need.nodes:
                continue
            lightest = int(machine.weight[machine.mask(inside)].min())
            if (each.level, -lightest) > key or best is None:
                best, key = place, (each.level, -lightest)
        return best

    def _light(self, machine: Machine, need: Need, free: Integers, under: int) -> int:
        """Give whole classes of weight, the light ones first, until they suffice."""
        if machine.one_weight:
            return under
        mask = machine.mask(under)
        for weight in np.unique(machine.weight[mask]).tolist():
            kept = mask & (machine.weight <= weight)
            if kept.sum() >= need.wanted and free[kept].sum() >= need.cpus:
                return machine.bits(kept)
        return under

    def _leaf_by_leaf(self, need: Need, among: int, chosen: int) -> list[int]:
        leaves = [each for each in self._leaves if self.branches[each].nodes & among]
        wanted = max(need.wanted - chosen.bit_count(), 1)
        order: list[int] = []
        taken = [each for each in leaves if self.branches[each].nodes & chosen]
        for leaf in taken:
            order += self._nodes(leaf, among, order)
        left = [each for each in leaves if each not in taken]
        taken = [n for n, each in enumerate(self.branches) if each.nodes & chosen]
        while left:
            best = left[0]
            for leaf in left[1:]:
                if self._is_better(leaf, best, taken, among, wanted - len(order)):
                    best = leaf
            left.remove(best)
            taken.append(best)
            order += self._nodes(best, among, order)
        return order

    def _nodes(self, leaf: int, among: int, order: list[int]) -> list[int]:
        inside = self.branches[leaf].nodes & among & ~bits_of(order)
        return [each for each in range(inside.bit_length()) if inside >> each & 1]

    def _is_better(self, one: int, best: int, taken: list[int], among: int, wanted: int) -> bool:
        """Whether a leaf comes before the best so far: nearer and not worse, or as near and better.

        Where neither holds all that is wanted, their parents are compared in their place.
        """
        near, near_best = self._hops(one, taken), self._hops(best, taken)
        if near > near_best:
            return False
        fit = self._fit(one, best, among, wanted)
        return fit >= 0 if near < near_best else fit > 0

    def _hops(self, leaf: int, taken: list[int]) -> int:
        """Give the links between a leaf and the switches taken before, all together."""
        path = (leaf, *self.branches[leaf].above)
        hops = 0
        for other in taken:
            others = (other, *self.branches[other].above)
            hops += next(
                (n + others.index(each) for n, each in enumerate(path) if each in others),
                len(self.branches) ** 2,
            )
        return hops

    def _fit(self, one: int, other: int, among: int, wanted: int) -> int:
        """Compare how well two switches hold what is wanted: 1, 0 or -1."""
        counts = [(self.branches[each].nodes & among).bit_count() for each in (one, other)]
        holds = [each >= wanted for each in counts]
        if holds[0] != holds[1]:
            return 1 if holds[0] else -1
        if holds[0]:
            return (counts[0] < counts[1]) - (counts[0] > counts[1])
        parents = [next(iter(self.branches[each].above), None) for each in (one, other)]
        if parents[0] is not None and parents[1] is not None and parents[0] != parents[1]:
            found = self._fit(parents[0], parents[1], among, wanted)
            if found:
                return found
        more = (counts[0] > counts[1]) - (counts[0] < counts[1])
        levels = [self.branches[each].level for each in (one, other)]
        return more or (levels[0] < levels[1]) - (levels[0] > levels[1])

    def _within(self, order: list[int], chosen: list[int], most: int) -> list[int]:
        """Leave out nodes under more leaf switches than so many."""
        leaves: set[int] = set()
        kept = []
        for node in (*chosen, *order):
            leaf = next(n for n in self._leaves if self.branches[n].nodes >> node & 1)
            if leaf in leaves or len(leaves) < most:
                leaves.add(leaf)
                if node not in chosen:
                    kept.append(node)
        return kept
