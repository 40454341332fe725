"""Which nodes a job gets, and how many CPUs on each: select/cons_tres and select/linear.

`choose` finds nodes at a level, among candidates. Nodes in a row, in order of their names and of
one weight, make a set; the lightest and then the tightest set that suffices is taken. Where that
fails, nodes with few free CPUs are left out, and it is tried again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from rebecsim.clusters.slurm.allotment import allotted
from rebecsim.clusters.slurm.machine import Integers, Machine, Need, bits_of
from rebecsim.clusters.slurm.occupancy import Allocation, Level
from rebecsim.clusters.slurm.room import could_fit, usable
from rebecsim.clusters.slurm.rows import placed
from rebecsim.clusters.slurm.topology import Tree

_MOST = 2**62

RANGE = 256
"""A weight of slurm.conf is so many here; nodes of one weight differ by the GPUs of a job."""


class Search(NamedTuple):
    """How nodes are searched for.

    Attributes:
        machine: the nodes.
        tree: the switches; None: nodes are in a row.
        now: seconds since the job could have started, for `--switches`; None: it is not limited.
        for_later: whether it is for a later time, for bf_busy_nodes.
        preferred: whether only what the job prefers will do.
        weights: of nodes, light ones are taken first; None: those of slurm.conf. Shape (nodes,).
        plans: whether backfill plans a job, and does not start it: select/linear sees no weights.
    """

    machine: Machine
    tree: Tree | None = None
    waited: int | None = None
    for_later: bool = False
    preferred: bool = False
    weights: Integers | None = None
    plans: bool = False


def choose(search: Search, level: Level, need: Need, nodes: int) -> Allocation | None:
    """Find what a job gets at a level, among the nodes of a set; None if it does not fit."""
    loops = search.machine.loops
    if loops is not None and need.is_plain:
        return loops.choose(level, need, nodes)
    if need.required & ~nodes:
        return None
    on_cores = partial(_on_cores, search, level, need)
    return on_cores(nodes) if level.rows is None else placed(level.rows, need, nodes, on_cores)


def _on_cores(
    search: Search, level: Level, need: Need, nodes: int, cores: int | None = None
) -> Allocation | None:
    """Do so on some cores; None: on those that no job has."""
    machine, cpus = search.machine, None
    if cores is not None and level.rows is not None:
        kept = machine.cpus - machine.cpus_of(level.rows.used()) - level.cpus  # by reservations
        cpus = machine.cpus_of(cores) - kept
    free = usable(machine, level, need, cpus)
    few = need.preferred if search.preferred and need.preferred else None
    for alternative in need.alternatives[:few]:
        among = alternative.nodes & nodes
        if among.bit_count() < need.nodes:
            continue
        inside = free * machine.mask(among)
        if need.gpus and search.weights is not None:
            _weigh(search, search.weights, level, need, among)
        if not could_fit(need, inside):
            continue
        found = _Chooser(search, level, need, inside, alternative.counted).found()
        if found is not None:
            return allotted(machine, level, need, *found, cores or 0)
    return None


def _weigh(search: Search, weights: Integers, level: Level, need: Need, nodes: int) -> None:
    """Let nodes weigh less with more of the GPUs of a job, whatever CPUs are free there.

    As in Slurm, weights are left so for later jobs.
    """
    machine, near = search.machine, np.zeros_like(weights)
    for name, count in need.gpus:
        near += np.minimum(level.gres.get(name, 0), count)
    there = (usable(machine, level, need, machine.cpus) > 0) & machine.mask(nodes)
    lighter = weights // RANGE * RANGE + RANGE - 1 - np.minimum(near, RANGE - 1)
    weights[there] = lighter[there]
    if machine.loops is not None:
        machine.loops.table[3] = weights


class _Chooser:
    """One search, with the CPUs that the job may have on each node."""

    def __init__(
        self,
        search: Search,
        level: Level,
        need: Need,
        free: Integers,
        counted: tuple[tuple[int, int], ...],
    ) -> None:
        self.search, self.machine, self.level = search, search.machine, level
        self.need, self.free = need, free
        self.weight, self.one_weight = search.machine.weight, search.machine.one_weight
        if search.weights is not None:
            self.weight, self.one_weight = search.weights, False
        self.last: list[tuple[int, int]] = []
        self.gpus = np.zeros_like(free)
        for name, _ in need.gpus:
            self.gpus = self.gpus + level.gres.get(name, 0)
        self.required = need.required
        self.lacks = False
        taken = 0
        for bits, count in counted:
            part = replace(need, nodes=count, wanted=count, cpus=count, required=0)
            inside = free * self.machine.mask(bits & ~taken)
            found = _Chooser(search, level, part, inside, ()).found()
            if found is None:
                self.lacks = True
                break
            taken |= bits_of(found[0])
        self.required |= taken

    def found(self) -> tuple[list[int], list[int]] | None:
        """Give nodes and the most CPUs taken of each; leave out nodes with few until it works."""
        need, free = self.need, self.free
        if self.lacks:
            return None
        found = self.tried(free)
        if found is not None or self.machine.cluster.selection.type == "linear":
            return found
        amounts = free + self.gpus * (free > 0)
        kept = self.machine.mask(self.required) if self.required else None
        fewer = free.copy()
        count = int(np.count_nonzero(fewer))
        for least in np.unique(amounts[free > 0])[:-1].tolist():
            if count <= need.nodes:
                break
            for node, taken in self.last:  # Slurm remembers how little of it was wanted
                fewer[node] = min(fewer[node], taken)
            few = (amounts <= least) & (fewer > 0)
            if kept is not None:
                few &= ~kept
            left_out = np.flatnonzero(few)[: count - need.nodes]
            fewer[left_out] = 0
            count -= len(left_out)
            if not could_fit(need, fewer):
                return None
            found = self.tried(fewer)
            if found is not None:
                return found
        return None

    def tried(self, free: Integers) -> tuple[list[int], list[int]] | None:
        """Try once."""
        walk = _Walk(self, free)
        walk = self._walked(walk, free)
        self.last = list(zip(walk.nodes, walk.taken, strict=True))
        return (walk.nodes, walk.taken) if walk.is_enough else None

    def _walked(self, walk: _Walk, free: Integers) -> _Walk:
        if self.required:
            required = _numbers(self.required)
            if not walk.along([n for n in required if free[n]]) or not free[required].all():
                walk.fails = True
                return walk
            if walk.is_done:
                return walk
        selection, need = self.machine.cluster.selection, self.need
        if selection.type == "linear":
            self._linear(walk, free)
        elif self.search.tree is not None and self._uses_tree():
            order = self.search.tree.order(self.machine, need, free, walk.nodes, self.search.waited)
            walk.along([each for each in order if each not in walk.nodes])
        elif need.request.spread:
            nodes = np.flatnonzero(free)
            most = min(need.cpus // need.per_task, need.most_nodes or len(nodes))
            walk.wanted = max(min(len(nodes), most), need.nodes)
            walk.along(nodes.tolist())
        elif selection.lln or need.place.spec.lln:
            walk.along(self._least_loaded(free))
        elif self.search.for_later and self.machine.cluster.backfilling.bf_busy_nodes:
            nodes = np.flatnonzero(free)
            idle = self.level.jobs[nodes] == 0
            walk.along(nodes[np.lexsort((nodes, idle, self.weight[nodes]))].tolist())
        elif need.cpus == 1 and self.machine.cluster.main.pack_serial_at_end:
            walk.along(np.flatnonzero(free)[-1:].tolist())
        else:
            self._in_sets(walk, free)
        return walk

    def _uses_tree(self) -> bool:
        request = self.need.request
        optional = self.machine.cluster.topology_optional and request.switches is None
        return not request.contiguous and not optional

    def _least_loaded(self, free: Integers) -> list[int]:
        nodes = np.flatnonzero(free)
        ratio = self.level.cpus[nodes] / np.maximum(self.machine.cpus[nodes], 1)
        order = np.lexsort((nodes, -ratio, self.weight[nodes]))
        found: list[int] = nodes[order].tolist()
        return found

    def _sets(self, nodes: Integers, by_weight: bool) -> Integers:
        """Give where runs of nodes in a row begin."""
        new = np.empty(len(nodes), bool)
        new[0] = True
        np.not_equal(nodes[1:] - nodes[:-1], 1, out=new[1:])
        if by_weight and not self.one_weight:
            weight = self.weight[nodes]
            new[1:] |= weight[1:] != weight[:-1]
        return np.flatnonzero(new)

    def _in_sets(self, walk: _Walk, free: Integers) -> None:
        """Take sets, the best one first, until the job has enough.

        Required nodes, which the walk has already, join the sets around them: of such a set the
        nodes after the first required one are taken first, and then those before it, downward.
        """
        need, contiguous = self.need, self.need.request.contiguous
        is_linear = self.machine.cluster.selection.type == "linear"
        left = free
        if walk.nodes:
            left = free.copy()
            left[walk.nodes] = 0
        nodes = np.flatnonzero(free if walk.nodes else left)
        if not len(nodes):
            return
        begins = self._sets(nodes, not (contiguous or is_linear))
        ends = np.append(begins[1:], len(nodes))
        cpus = np.add.reduceat(left[nodes], begins)
        counts = np.add.reduceat((left[nodes] > 0).astype(np.int64), begins)
        gres = {
            name: np.add.reduceat(self.level.gres[name][nodes] * (left[nodes] > 0), begins)
            for name in walk.gres_left
        }
        required = np.full(len(begins), -1)
        for node in sorted(walk.nodes, reverse=True):
            required[np.searchsorted(begins, np.searchsorted(nodes, node), "right") - 1] = node
        weights = self.weight[nodes[begins]]
        unused = counts > 0
        if contiguous and walk.nodes:
            if np.count_nonzero(required >= 0) > 1:
                return
            unused &= required >= 0
        while not walk.is_done and unused.any() and walk.may_go_on:
            best = self._best(
                walk, cpus, counts, weights, unused, required, gres, contiguous or is_linear
            )
            enough = cpus[best] >= walk.cpus_left
            if contiguous and not (enough and counts[best] >= need.nodes - len(walk.nodes)):
                break
            inside = nodes[begins[best] : ends[best]]
            inside = inside[left[inside] > 0]
            unused[best] = False
            first = int(required[best])
            if first >= 0:
                walk.along(
                    [*inside[inside > first].tolist(), *inside[inside < first][::-1].tolist()]
                )
                continue
            single = None
            if walk.nodes_left <= 1 and not is_linear:
                fits = (left[inside] >= walk.cpus_left) & self._has_gres(walk, inside)
                if fits.any():
                    single = int(np.where(fits, left[inside], _MOST).argmin())
            walk.along(inside.tolist() if single is None else [int(inside[single])])

    def _has_gres(self, walk: _Walk, nodes: Integers) -> np.ndarray:
        """Whether each node alone has what the job still needs of generic resources."""
        enough = np.ones(len(nodes), bool)
        for name, count in walk.gres_left.items():
            found = self.level.gres.get(name)
            enough &= (found[nodes] if found is not None else 0) >= count
        return enough

    def _best(
        self,
        walk: _Walk,
        cpus: Integers,
        counts: Integers,
        weights: Integers,
        unused: np.ndarray,
        required: Integers,
        gres: dict[str, Integers],
        ignore: bool,
    ) -> int:
        """Give the lightest set; of these the tightest that suffices, else the largest.

        Slurm goes through them once, and lets a set that does not suffice, as it has too few nodes,
        take the place of one that does if it has more CPUs. A set with required nodes takes the
        place of one without.
        """
        suffices = (cpus >= walk.cpus_left) & (counts >= self.need.nodes - len(walk.nodes))
        for name, there in gres.items():
            suffices &= there >= walk.gres_left[name]
        among = unused
        if not walk.nodes:
            if not (ignore or self.one_weight):
                among = among & (weights == weights[unused].min())
            good = among & suffices
            if not good.any():
                return int(np.where(among, cpus, -1).argmax())
            tight = int(np.where(good, cpus, _MOST).argmin())
            if np.where(among & ~suffices, cpus, 0).max() <= cpus[tight]:
                return tight
        best = -1
        for place in np.flatnonzero(among).tolist():
            if best < 0:
                best = place
                continue
            joins = required[best] < 0 <= required[place]
            lighter = not ignore and weights[place] < weights[best]
            better = (
                not suffices[best] or cpus[place] < cpus[best]
                if suffices[place]
                else cpus[place] > cpus[best]
            )
            if joins or lighter or (better and (ignore or weights[place] == weights[best])):
                best = place
        return best

    def _linear(self, walk: _Walk, free: Integers) -> None:
        """Take idle nodes: one kind of nodes after the other, light ones first, until it fits."""
        need, machine = self.need, self.machine
        begun = list(walk.nodes), list(walk.taken), walk.cpus_left
        inside = np.zeros_like(free)
        kinds = [np.flatnonzero(free)]
        if not self.search.plans:
            kinds = machine.kinds(kinds[0], together=self.search.tree is not None)
        for place, kind in enumerate(kinds):
            inside[kind] = free[kind]
            if np.count_nonzero(inside) < need.wanted and place + 1 < len(kinds):
                continue
            walk.nodes, walk.taken, walk.cpus_left = list(begun[0]), list(begun[1]), begun[2]
            nodes = np.flatnonzero(inside)
            sizes = inside[nodes]
            if self.search.tree is not None and self._uses_tree():
                order = self.search.tree.low_order(
                    machine, need, inside, walk.nodes, self.search.waited
                )
                walk.along(order)
            elif sizes.min() != sizes.max() and walk.cpus_left > sizes.min() * walk.nodes_left:
                order = nodes[np.lexsort((-nodes, -sizes))].tolist()
                walk.along([each for each in order if each not in walk.nodes])
            else:
                self._in_sets(walk, inside)
            if walk.is_enough:
                return


class _Walk:
    """Nodes taken one after the other."""

    def __init__(self, chooser: _Chooser, free: Integers) -> None:
        self.chooser, self.need, self.free = chooser, chooser.need, free
        self.unit = chooser.machine.unit
        self.nodes: list[int] = []
        self.taken: list[int] = []
        self.cpus_left = self.need.cpus
        self.gres_left = dict(self.need.gres_job)
        self.wanted = self.need.nodes if self.gres_left else self.need.wanted
        self.fails = False
        self.is_linear = chooser.machine.cluster.selection.type == "linear"

    @property
    def nodes_left(self) -> int:
        """How many more nodes are wanted."""
        return self.wanted - len(self.nodes)

    @property
    def is_done(self) -> bool:
        """Whether nothing more is wanted."""
        return self.nodes_left <= 0 and self.cpus_left <= 0 and not any(self.gres_left.values())

    @property
    def is_enough(self) -> bool:
        """Whether the job can start with what it has."""
        enough = len(self.nodes) >= self.need.nodes and self.cpus_left <= 0 and not self.fails
        return enough and not any(self.gres_left.values())

    @property
    def may_go_on(self) -> bool:
        """Whether one more node is allowed."""
        return self.need.most_nodes is None or len(self.nodes) < self.need.most_nodes

    def along(self, nodes: Sequence[int]) -> bool:
        """Take nodes in this order until nothing more is wanted; say whether all were allowed."""
        free, need, most = self.free, self.need, self.need.most_nodes
        is_whole = need.whole
        is_plain = most is None and not self.gres_left and not need.request.spread
        if is_plain and self.chooser.machine.one_unit is not None:
            self._along_plainly(nodes, self.chooser.machine.one_unit)
            return True
        for node in nodes:
            if self.is_done:
                break
            if not self.may_go_on:
                return False
            offered = int(free[node])
            kept = max(need.nodes - len(self.nodes) - 1, 0) * int(self.unit[node])
            take = offered if is_whole else min(offered, max(self.cpus_left - kept, need.least))
            is_last = most is not None and len(self.nodes) + 1 == most
            if is_last and offered < self.cpus_left and not self.is_linear:
                continue
            self.nodes.append(node)
            self.taken.append(take)
            self.cpus_left -= take
            for name, left in self.gres_left.items():
                there = self.chooser.level.gres.get(name)
                self.gres_left[name] = max(left - int(there[node] if there is not None else 0), 0)
        return True

    def _along_plainly(self, nodes: Sequence[int], unit: int) -> None:
        """Do the same for a job of any number of nodes without generic resources, faster."""
        need = self.need
        left, wanted, least = self.cpus_left, self.nodes_left, need.least
        for node, offered in zip(nodes, self.free[list(nodes)].tolist(), strict=True):
            if wanted <= 0 and left <= 0:
                break
            take = offered
            if not need.whole:
                room = left - (wanted - 1) * unit if wanted > 1 else left
                take = min(offered, max(room, least))
            self.nodes.append(node)
            self.taken.append(take)
            left -= take
            wanted -= 1
        self.cpus_left = left


def _numbers(nodes: int) -> list[int]:
    found = []
    while nodes:
        lowest = nodes & -nodes
        found.append(lowest.bit_length() - 1)
        nodes ^= lowest
    return found
