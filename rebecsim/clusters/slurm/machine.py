"""A cluster as its scheduler sees it: nodes are numbers, and sets of nodes are bits of a number.

Bit n of a set stands for the node that comes n-th in natural order of the names, which is Slurm's
order of nodes. What a job asks for in a partition is worked out once, as a `Need`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import ceil
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import Constant
from rebecsim.clusters.slurm.configuration import Cluster, NodeSpec, Partition
from rebecsim.clusters.slurm.features import Alternative, alternatives
from rebecsim.clusters.slurm.jobs import Amounts, Request, gpus_of, gres_tasks, times_of

if TYPE_CHECKING:
    from rebecsim.clusters.slurm.loops import Loops

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_MANY = 10**9
_MOST_PARTS = 10**6

ALONE = 1
WHOLE = 64_000

ONE_YEAR = 365 * 86_400
"""What backfill takes for an unlimited time, seconds."""


def bits_of(numbers: Iterable[int]) -> int:
    """Give a set of nodes by their numbers."""
    return reduce(or_, (1 << each for each in numbers), 0)


@dataclass(frozen=True, eq=False)
class Place(Constant):
    """A partition, by number in the order of the file.

    Attributes:
        number: its number.
        name: its name.
        spec: what the file says.
        nodes: its nodes, as bits.
        rows: how many jobs may share a core, for jobs that share.
    """

    number: int
    name: str
    spec: Partition
    nodes: int
    rows: int


@dataclass(frozen=True, eq=False)
class Need(Constant):
    """What a request comes to in a partition; memory is MB.

    Attributes:
        number: of this need; those of equal requests and partitions are one.
        place: the partition.
        request: what the job asks for.
        nodes: fewest nodes.
        wanted: how many are taken if there are so many.
        most_nodes: the most; None: any number.
        cpus: CPUs of the whole job.
        per_task: CPUs of a task.
        least: CPUs that a node must give to be used.
        most: CPUs that a node gives at most; None: all.
        whole: whether it takes whole nodes.
        memory_node, memory_cpu: memory on each node, and for each CPU; 0: none.
        all_memory: whether it takes all memory of its nodes.
        gres_node: generic resources on each node.
        gres_job: those of the whole job.
        gres_tasks: the most tasks on a node of a job with generic resources; 0: it has none, or its
            CPUs go by its GPUs.
        alternatives: the nodes that it may use, in the order in which they are tried.
        candidates: all of them.
        reach: nodes that backfill counts with: those that have enough for one task, too.
        required: nodes that it must have.
        claim: what it adds to the claims on its nodes: 0 if its cores may be shared, ALONE if they
            may not, WHOLE if nobody else may be on its nodes.
        problem: the reason for which it never starts here; empty: it may.
        preferred: how many of the alternatives are those of --prefer; the main scheduler tries no
            others.
    """

    number: int
    place: Place
    request: Request
    nodes: int
    wanted: int
    most_nodes: int | None
    cpus: int
    per_task: int
    least: int
    most: int | None
    whole: bool
    memory_node: int
    memory_cpu: int
    all_memory: bool
    gres_node: Amounts
    gres_job: Amounts
    gres_tasks: int
    alternatives: tuple[Alternative, ...]
    candidates: int
    reach: int
    required: int
    claim: int
    problem: str = ""
    preferred: int = 0

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is about nodes, CPUs and memory alone, with nodes taken by sets in a row."""
        asked, spec = self.request, self.place.spec
        is_special = self.gres_node or self.gres_job or self.required
        of_place = spec.lln or spec.max_cpus_per_node is not None
        is_special = is_special or of_place or asked.contiguous or asked.spread
        return not is_special and len(self.alternatives) == 1 and not self.alternatives[0].counted

    @cached_property
    def gpus(self) -> Amounts:
        """Its GPUs, of a node or of the whole job."""
        asked = (*self.gres_node, *self.gres_job)
        return tuple(each for each in asked if each[0].split(":")[0] == "gpu")

    @cached_property
    def family(self) -> tuple[object, ...]:
        """What plain needs have in common that differ in nodes and CPUs alone."""
        node = self.per_task, self.least, self.most, self.whole
        memory = self.memory_node, self.memory_cpu, self.all_memory
        return self.place.number, self.candidates, *node, *memory

    @cached_property
    def packed(self) -> Integers:
        """Its numbers in the order of `NODES` to `ALL_MEMORY`; -1 is None."""
        most = [-1 if each is None else each for each in (self.most_nodes, self.most)]
        sizes = [self.nodes, self.wanted, most[0], self.cpus, self.per_task, self.least, most[1]]
        memory = [self.memory_node, self.memory_cpu, self.all_memory]
        return np.array([*sizes, self.whole, *memory], np.int64)


NODES, WANTED, MOST_NODES, CPUS, PER_TASK, LEAST, MOST = range(7)
WHOLE, MEMORY_NODE, MEMORY_CPU, ALL_MEMORY = range(7, 11)


@dataclass(eq=False)
class Machine(Constant):
    """Nodes and partitions with numbers; arrays have shape (nodes,).

    Attributes:
        cluster: as described by the files.
        names: of the nodes.
        number: of each node by its name.
        cpus: of each node, without those that are kept for the system.
        unit: CPUs that are given out together.
        threads: CPUs of a core.
        memory: MB that jobs may take.
        weight: lower ones are taken first.
        gres: how many of each generic resource, by `gpu` and `gpu:type`.
        everything: all nodes, as bits.
        places: the partitions by name.
        one_weight: whether all nodes have the same.
        one_unit: the unit of all nodes, if it is one.
        default: the partition of jobs that name none.
        by_core: whether jobs may share cores, so that it is known which ones each has.
        first_core: the number of the first core of each node, and how many there are; what is
            counted is what is given out together, shape (nodes + 1,).
        lines: the nodes of each line of slurm.conf, as bits; equal lines are one.
        loops: compiled ones for plain needs; None: they are not used.
    """

    cluster: Cluster
    names: tuple[str, ...] = field(init=False)
    number: Mapping[str, int] = field(init=False)
    cpus: Integers = field(init=False)
    unit: Integers = field(init=False)
    threads: Integers = field(init=False)
    memory: Integers = field(init=False)
    weight: Integers = field(init=False)
    gres: Mapping[str, Integers] = field(init=False)
    everything: int = field(init=False)
    places: Mapping[str, Place] = field(init=False)
    one_weight: bool = field(init=False)
    one_unit: int | None = field(init=False)
    default: Partition | None = field(init=False)
    by_core: bool = field(init=False)
    first_core: Integers = field(init=False)
    lines: tuple[int, ...] = field(init=False)
    loops: Loops | None = None

    def __post_init__(self) -> None:
        nodes, selection = self.cluster.nodes, self.cluster.selection
        self.names = tuple(each.name for each in nodes)
        self.number = {name: number for number, name in enumerate(self.names)}
        is_linear = selection.type == "linear"
        self.unit = np.array([1 if is_linear else self._unit(each) for each in nodes], np.int64)
        self.threads = np.array([_threads(each) for each in nodes], np.int64)
        self.cpus = np.array([_usable(each) for each in nodes], np.int64)
        self.memory = np.array([each.memory - each.reserved_memory for each in nodes], np.int64)
        self.weight = np.array([each.weight for each in nodes], np.int64)
        self.one_weight = len(set(self.weight.tolist())) <= 1
        self.one_unit = int(self.unit[0]) if len(set(self.unit.tolist())) == 1 else None
        self.everything = (1 << len(nodes)) - 1
        self.first_core = np.concatenate(([0], np.cumsum(self.cpus // self.unit)))
        self.by_core = self.cluster.shares_cores
        self.gres = self._gres(nodes)
        self.places = {
            each.name: Place(
                number,
                each.name,
                each,
                bits_of(self.number[name] for name in each.nodes),
                each.rows if each.sharing in ("YES", "FORCE") else 1,
            )
            for number, each in enumerate(self.cluster.partitions)
        }
        self._features: dict[str, int] = {}
        for number, node in enumerate(nodes):
            for feature in node.features:
                self._features[feature] = self._features.get(feature, 0) | 1 << number
        lines: dict[NodeSpec, int] = {}
        self._kind = [
            lines.setdefault(replace(each, name="", state="UP"), len(lines)) for each in nodes
        ]
        sets = [0] * len(lines)
        for number, kind in enumerate(self._kind):
            sets[kind] |= 1 << number
        self.lines = tuple(sets)
        self._masks: dict[int, Mask] = {}
        self._needs: dict[tuple[Request, int], Need] = {}
        self._known: dict[tuple[int, int], tuple[Request, Need]] = {}  # by identity, which is fast
        self._parts: dict[int, tuple[Need, ...]] = {}
        self._whole: dict[int, Need] = {}
        self._alone: dict[int, Need] = {}
        self.default = next((each for each in self.cluster.partitions if each.is_default), None)

    def use_loops(self) -> None:
        """Use compiled loops from now on, if there are any for these settings."""
        from rebecsim.native.cache import is_plain

        selection, cluster = self.cluster.selection, self.cluster
        in_rows = selection.type == "cons_tres" and not (selection.lln or cluster.switches)
        other = cluster.main.pack_serial_at_end or cluster.backfilling.bf_busy_nodes
        if in_rows and not (other or self.by_core) and not is_plain():
            from rebecsim.clusters.slurm.loops import Loops

            self.loops = Loops(self)

    def _unit(self, node: NodeSpec) -> int:
        """Give the CPUs of what is given out; with CR_CPU that are cores, too."""
        cores = 1 if self.cluster.selection.unit == "SOCKET" else node.cores
        return max(node.cpus // max(node.sockets * cores, 1), 1)

    def _gres(self, nodes: Iterable[NodeSpec]) -> dict[str, Integers]:
        found: dict[str, Integers] = {}
        for number, node in enumerate(nodes):
            for each in node.gres:
                for name in {each.name, f"{each.name}:{each.type}" if each.type else each.name}:
                    counts = found.setdefault(name, np.zeros(len(self.names), np.int64))
                    counts[number] += each.count
        return found

    def mask(self, nodes: int) -> Mask:
        """Give a set of nodes as an array of truths."""
        found = self._masks.get(nodes)
        if found is None:
            count = len(self.names)
            raw = np.frombuffer(nodes.to_bytes(-(-count // 8), "little"), np.uint8)
            found = np.unpackbits(raw, bitorder="little", count=count).astype(bool)
            if len(self._masks) > 4096:
                self._masks.clear()
            self._masks[nodes] = found
        return found

    def bits(self, mask: Mask) -> int:
        """Give the set of nodes of an array of truths."""
        return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")

    def cpus_of(self, cores: int) -> Integers:
        """Give how many CPUs of each node are in a set of cores, shape (nodes,)."""
        count = int(self.first_core[-1])
        raw = np.frombuffer(cores.to_bytes(-(-count // 8), "little"), np.uint8)
        bits = np.unpackbits(raw, bitorder="little", count=count).astype(np.int64)
        found: Integers = np.add.reduceat(bits, self.first_core[:-1]) * self.unit
        return found

    def kinds(self, nodes: Integers, *, together: bool) -> list[Integers]:
        """Split nodes by their lines of slurm.conf, light ones first.

        Equal lines are one; so are lines of equal weight if they are to be taken `together`.
        """
        found: dict[tuple[int, int], list[int]] = {}
        for node in nodes.tolist():
            kind = -1 if together else self._kind[node]
            found.setdefault((int(self.weight[node]), kind), []).append(node)
        return [np.array(found[each], np.int64) for each in sorted(found)]

    def having(self, feature: str) -> int:
        """Give the nodes that have a feature."""
        return self._features.get(feature, 0)

    def named(self, names: Iterable[str]) -> int:
        """Give the nodes of these names; unknown ones are passed over."""
        return bits_of(self.number[each] for each in names if each in self.number)

    def need(self, request: Request, place: Place) -> Need:
        """Work out what a request comes to in a partition. Raises FeatureError."""
        key = id(request), place.number
        known = self._known.get(key)
        if known is not None:
            return known[1]
        found = self._needs.get((request, place.number))
        if found is None:
            found = self._needs[request, place.number] = self._worked_out(request, place)
        self._known[key] = request, found
        return found

    def whole(self, need: Need) -> Need:
        """Give what a job needs if it takes whole nodes."""
        if need.whole:
            return need
        found = self._whole.get(need.number)
        if found is None:
            number = -_MANY - need.number
            found = self._whole[need.number] = replace(need, number=number, whole=True)
        return found

    def alone(self, need: Need) -> Need:
        """Give what a job needs as if it had not asked to share cores, where it need not."""
        if need.claim or need.place.spec.sharing != "YES":
            return need
        found = self._alone.get(need.number)
        if found is None:
            number = -2 * _MANY - need.number
            found = self._alone[need.number] = replace(need, number=number, claim=ALONE)
        return found

    def parts(self, need: Need) -> tuple[Need, ...]:
        """Give what a job with counted features needs of each of them; empty: it counts none."""
        counted = need.alternatives[0].counted if need.alternatives else ()
        if not counted:
            return ()
        found = self._parts.get(need.number)
        if found is None:
            found = self._parts[need.number] = tuple(
                replace(
                    need,
                    number=-1 - len(self._parts) - _MOST_PARTS * place,
                    nodes=count,
                    wanted=count,
                    alternatives=(Alternative(bits & need.candidates),),
                    candidates=bits & need.candidates,
                    required=0,
                )
                for place, (bits, count) in enumerate(counted)
            )
        return found

    def _worked_out(self, request: Request, place: Place) -> Need:
        spec, selection = place.spec, self.cluster.selection
        is_linear = selection.type == "linear"
        nodes = max(request.min_nodes, 1)
        asked_most = request.max_nodes
        problem = ""
        if spec.max_nodes is not None and nodes > spec.max_nodes:
            problem = "PartitionNodeLimit"
        if asked_most is not None and asked_most < spec.min_nodes:
            problem = "PartitionNodeLimit"
        wanted = max(nodes, asked_most or nodes)
        if spec.max_nodes is not None:
            wanted = min(wanted, spec.max_nodes)
        most = (
            spec.max_nodes if asked_most is None else min(asked_most, spec.max_nodes or asked_most)
        )
        nodes, wanted = max(nodes, spec.min_nodes), max(wanted, spec.min_nodes)
        per_task = request.cpus_per_task or 1
        memory_node, memory_cpu, per_task, excess = self._memory(request, place, per_task)
        for_memory = -(-memory_node // (self._most_per_cpu(place) or memory_node or 1))
        cpus = request.least_cpus // (request.cpus_per_task or 1) * per_task
        by_gpus = spec.cpus_per_gpu and request.cpus_per_task is None
        if by_gpus and spec.cpus_per_gpu:
            gpus = gpus_of(request.gres_per_node) * nodes + gpus_of(request.gres)
            cpus = max(cpus, spec.cpus_per_gpu * gpus)
        cpus = max(cpus, nodes)
        least = per_task
        if request.tasks_per_node:
            least = request.tasks_per_node * per_task
        least = at_least = max(least, for_memory)
        if most == 1 and not request.tasks_per_node:
            least = max(cpus, for_memory)
        whole = is_linear or spec.sharing == "EXCLUSIVE"
        if request.exclusive == "node" and spec.sharing != "FORCE":
            whole = True
        gres_node = request.gres_per_node
        gres_job = times_of(request.gres_per_task, request.tasks or nodes) + request.gres
        by_tasks = bool(gres_node or gres_job) and not by_gpus
        shares = spec.sharing == "FORCE" or (spec.sharing == "YES" and request.oversubscribe)
        reach = fit = place.nodes & ~self.named(request.excluded)
        all_memory = selection.memory and not memory_node and not memory_cpu
        enough = self.cpus >= least
        if selection.memory:
            enough &= self.memory >= max(memory_node, memory_cpu * least)
        for name, count in gres_node:
            enough &= self.gres.get(name, np.zeros_like(self.cpus)) >= count
        fit &= self.bits(enough)
        room = self.memory >= max(memory_node, memory_cpu * at_least)
        reach &= self.bits((self.cpus >= at_least) & room)
        found = alternatives(request.features, self.everything, self.having)
        preferred = 0
        if request.prefer:
            liked = alternatives(request.prefer, self.everything, self.having)
            found = (
                *(Alternative(a.nodes & b.nodes, a.counted) for a in found for b in liked),
                *found,
            )
            preferred = len(found) // (len(liked) + 1) * len(liked)
        kept = tuple(Alternative(each.nodes & fit, each.counted) for each in found)
        return Need(
            number=len(self._needs),
            place=place,
            request=request,
            nodes=nodes,
            wanted=wanted,
            most_nodes=most,
            cpus=cpus,
            per_task=per_task,
            least=least,
            most=request.tasks_per_node and request.tasks_per_node * per_task,
            whole=whole,
            memory_node=memory_node if selection.memory else 0,
            memory_cpu=memory_cpu if selection.memory else 0,
            all_memory=all_memory,
            gres_node=gres_node,
            gres_job=gres_job,
            gres_tasks=gres_tasks(request, most) if by_tasks else 0,
            alternatives=kept,
            candidates=reduce(or_, (each.nodes for each in kept), 0),
            reach=reach & reduce(or_, (each.nodes for each in found), 0),
            required=self.named(request.required),
            claim=0 if shares and not whole else WHOLE if spec.sharing == "EXCLUSIVE" else ALONE,
            problem=problem or ("MaxMemPerLimit" if excess else ""),
            preferred=preferred,
        )

    def _most_per_cpu(self, place: Place) -> int | None:
        own = place.spec.memory.most_per_cpu
        return self.cluster.memory.most_per_cpu if own is None else own

    def _memory(self, request: Request, place: Place, per_task: int) -> tuple[int, int, int, bool]:
        """Give memory of a node and of a CPU, CPUs of a task, and whether it is too much."""
        own, all_ = place.spec.memory, self.cluster.memory
        node, cpu, gpu = request.memory_per_node, request.memory_per_cpu, request.memory_per_gpu
        if node is None and cpu is None and gpu is None:
            for each in (own, all_):
                node, cpu, gpu = each.default_per_node, each.default_per_cpu, each.default_per_gpu
                if node is not None or cpu is not None or gpu is not None:
                    break
        if node is None and cpu is None and gpu is not None:
            node = gpu * gpus_of(request.gres_per_node)
        most_cpu = self._most_per_cpu(place)
        most_node = own.most_per_node if own.most_per_node is not None else all_.most_per_node
        if cpu and most_cpu and cpu > most_cpu:
            times = ceil(cpu / most_cpu)
            per_task, cpu = per_task * times, ceil(cpu / times)
        excess = bool(node and most_node and node > most_node)
        return node or 0, cpu or 0, per_task, excess


def _threads(node: NodeSpec) -> int:
    return max(node.cpus // max(node.sockets * node.cores, 1), 1)


def _usable(node: NodeSpec) -> int:
    return node.cpus - node.reserved_cores * _threads(node)
