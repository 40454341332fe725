"""The state of a cluster: nodes, jobs and their attempts.

Also the times of heartbeats, the places of blocks in HDFS, and conditions that change settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.mapreduce.attempts import Attempt, Rates
from rebecsim.clusters.mapreduce.configuration import (
    ChangeTable,
    ClusterTable,
    MapReduceConfiguration,
    QueueFigure,
)
from rebecsim.clusters.mapreduce.job import (
    SECOND,
    JobInProgress,
    Locality,
    MapReduceJob,
    SlotKind,
    TrackerSlots,
)


class SlotBeats(StatePart):
    """Heartbeat times of the slots of a node: each slot has a first one and a period.

    A slot sends heartbeats while it is free, and to report the end of its attempt. If the node
    sends them for all its slots, the slots share their times, and send one heartbeat.
    """

    __slots__ = ("_free", "_period")

    def __init__(self, period: int, slots: Iterable[int], firsts: Iterator[int]) -> None:
        """Take the first heartbeat of each slot of each kind (microseconds)."""
        self._period = period
        self._free = tuple([next(firsts) for _ in range(number)] for number in slots)

    def fill(self, kind: SlotKind, now: int) -> int:
        """Fill a free slot, preferably the one that sends this heartbeat; return its first."""
        free = self._free[kind]
        sender = next((first for first in free if not (now - first) % self._period), free[0])
        free.remove(sender)
        return sender

    def empty(self, kind: SlotKind, first: int) -> None:
        """Free a slot, named by its first heartbeat."""
        self._free[kind].append(first)

    def until_next(
        self, now: int, kinds: Iterable[SlotKind], telling: Iterable[int] = ()
    ) -> int | None:
        """Return the time until the next heartbeat (microseconds), or None.

        Args:
            now: the time.
            kinds: kinds of free slots that send heartbeats.
            telling: first heartbeats of slots with an end to report.
        """
        senders = {*telling, *(first for kind in kinds for first in self._free[kind])}
        return min((self._until(first, now) for first in senders), default=None)

    def _until(self, first: int, now: int) -> int:
        return first - now if now < first else self._period - (now - first) % self._period


class TrackerStatus(StatePart):
    """What the JobTracker knows of a TaskTracker.

    Attributes:
        number: of its node, from 0.
        slots: what schedulers see of it.
        beats: when its slots send heartbeats.
        works: whether its node has not failed; the JobTracker acts on failures later.
        outages: how often that has failed.
        ended: attempts that the JobTracker is told of at the next heartbeat.
        next_beat: when it sends that (microseconds); None: it has no reason to.
    """

    __slots__ = ("beats", "ended", "next_beat", "number", "outages", "slots", "works")

    def __init__(self, slots: TrackerSlots, beats: SlotBeats) -> None:
        self.number = slots.number
        self.slots = slots
        self.beats = beats
        self.works = True
        self.outages = 0
        self.ended: list[Attempt] = []
        self.next_beat: int | None = None

    def until_beat(self, now: int, kinds: Iterable[SlotKind]) -> int | None:
        """Return the time until it reports an end or asks for tasks of some kinds.

        None if it has no end to report and no free slot of these kinds.
        """
        return self.beats.until_next(now, kinds, (each.slot_beat for each in self.ended))


class JobRun(StatePart):
    """A job, and its attempts.

    Attributes:
        job: what is submitted.
        progress: what its scheduler sees; None before it is submitted.
        rejected: why it is not accepted; None: it is.
        attempts: where there are backups: in the order of their launch, of maps and of reduces.
        tries: how many each task has had, by kind and number.
        live: the attempts that hold slots, in the order of their launch.
        done: whether each task has ended, by kind and number.
        wanted: how many maps, and how many reduces, a scheduler could give slots now.
        outputs: of maps: the attempt whose output reduces fetch, in the order of their ends.
        missing: of maps that have ended and whose output is lost: the attempt; no reduce needs them
            now.
        first_map: when its first map was launched (microseconds).
        maps_end: when the last of its maps was reported to have ended.
        first_reduce: when its first reduce was launched.
        end: when the last of its tasks was reported to have ended.
    """

    def __init__(self, job: MapReduceJob) -> None:
        self.job = job
        self.progress: JobInProgress | None = None
        self.rejected: str | None = None
        self.attempts: tuple[list[Attempt], list[Attempt]] = ([], [])
        self.tries: tuple[list[int], list[int]] = ([0] * job.maps, [0] * job.reduces)
        self.live: tuple[dict[int, list[Attempt]], dict[int, list[Attempt]]] = ({}, {})
        self.done: tuple[list[bool], list[bool]] = ([False] * job.maps, [False] * job.reduces)
        self.wanted = (0, 0)
        self.outputs: dict[int, Attempt] = {}
        self.missing: dict[int, Attempt] = {}
        self.first_map: int | None = None
        self.maps_end: int | None = None
        self.first_reduce: int | None = None
        self.end: int | None = None

    def wants(self) -> tuple[int, int]:
        """Return the number of waiting maps, and of waiting reduces that may start."""
        progress = self.progress
        if progress is None or self.rejected is not None:
            return 0, 0
        reduces = progress.waiting(SlotKind.REDUCE) if progress.offers_reduce() else 0
        return progress.waiting(SlotKind.MAP), reduces


@dataclass(frozen=True, eq=False)
class ClusterPlan(Constant):
    """Constant facts that all rebecs of a cluster share.

    Attributes:
        configuration: the configuration.
        seed: seed of all random numbers.
    """

    configuration: MapReduceConfiguration
    seed: int

    @cached_property
    def racks(self) -> tuple[int, ...]:
        """The rack of each node."""
        cluster = self.configuration.cluster
        return tuple(racks_of(cluster.nodes, cluster.racks))

    @cached_property
    def classes(self) -> Sequence[ClusterTable]:
        """The class of each node."""
        return self.configuration.cluster.class_of_nodes

    @cached_property
    def rates(self) -> Sequence[Rates]:
        """Rates of the devices of each node, without the slowdown of slow nodes."""
        return [Rates.of(each) for each in self.classes]

    def slowdown(self, node: int) -> float:
        """Return the slowdown of a node."""
        return self.configuration.variation.node_slowdown if node in self.slow_nodes else 1.0

    @cached_property
    def slow_nodes(self) -> frozenset[int]:
        """The slow nodes, drawn; their number is the share, rounded."""
        nodes = self.configuration.cluster.nodes
        slow = round(nodes * self.configuration.variation.slow_nodes)
        return frozenset(Random(f"{self.seed} slow nodes").sample(range(nodes), slow))

    @cached_property
    def _lifetimes(self) -> dict[int, tuple[Random, list[int]]]:
        return {}

    def lifetime(self, node: int, number: int) -> int:
        """Return the time until a node's next random failure (microseconds).

        `number` counts its failures from 0. The time does not depend on other nodes or on tasks.
        """
        mean = self.configuration.failures.mean_time_between
        assert mean is not None
        scale = round(mean * SECOND)
        if node not in self._lifetimes:
            self._lifetimes[node] = Random(f"{self.seed} {node} failures"), []
        draws, drawn = self._lifetimes[node]
        while len(drawn) <= number:
            drawn.append(max(round(draws.expovariate(1.0 / scale)), 1))
        return drawn[number]


def racks_of(nodes: int, racks: int) -> list[int]:
    """Spread nodes evenly over racks, neighbours together."""
    return [node * racks // nodes for node in range(nodes)]


def place_blocks(
    blocks: int, racks: Sequence[int], cluster: ClusterTable, draws: Random
) -> list[tuple[int, ...]]:
    """Draw the nodes with a replica of each block, at most one on a node."""
    nodes = range(len(racks))
    if cluster.placement == "random":
        return [tuple(draws.sample(nodes, cluster.replication)) for _ in range(blocks)]
    return [_in_two_racks(racks, cluster.replication, draws) for _ in range(blocks)]


def _in_two_racks(racks: Sequence[int], replication: int, draws: Random) -> tuple[int, ...]:
    """Place as Hadoop does for a client that is not on a node of the cluster.

    The first replica is on any node, the second in another rack, the third in the rack of the
    second, and any others anywhere. Where a rack has no node left, any node will do.
    """
    chosen: list[int] = []
    while len(chosen) < replication:
        free = [node for node in range(len(racks)) if node not in chosen]
        wished = free
        if len(chosen) == 1:
            wished = [node for node in free if racks[node] != racks[chosen[0]]]
        elif len(chosen) == 2:
            wished = [node for node in free if racks[node] == racks[chosen[1]]]
        chosen.append(draws.choice(wished or free))
    return tuple(chosen)


def replica_for(hosts: Sequence[int], node: int, racks: Sequence[int], drawn: float) -> int | None:
    """Choose the replica that a node reads: its own, one in its rack, or any; None without one.

    Of replicas that are equally near, a number between 0 and 1 that is `drawn` chooses one.
    """
    if node in hosts:
        return node
    near = [host for host in hosts if racks[host] == racks[node]]
    among = near or hosts
    return among[int(drawn * len(among))] if among else None


def locality_of(host: int, node: int, racks: Sequence[int]) -> Locality:
    """Return how far a replica is from a node."""
    if host == node:
        return Locality.NODE
    return Locality.RACK if racks[host] == racks[node] else Locality.OFF_SWITCH


_FIGURES: Sequence[QueueFigure] = ("jobs", "waiting_maps", "waiting_reduces")


@dataclass(slots=True)
class _Watched(StatePart):
    """A change, and whether its condition was true at the last check."""

    change: ChangeTable
    was_true: bool


class QueueTriggers(StatePart):
    """Changes that wait for conditions, and the queue figures of these conditions."""

    def __init__(self, changes: Sequence[ChangeTable]) -> None:
        """Take the changes that have a condition; all queues are empty."""
        conditional = [(each, each.when) for each in changes if each.when is not None]
        self._watched = [_Watched(change, when.holds(0)) for change, when in conditional]
        self._figures = {when.queue: [0] * len(_FIGURES) for _, when in conditional}

    def add(self, queue: str, amounts: Sequence[int]) -> None:
        """Add to the figures of a queue: its jobs, maps and reduces that wait."""
        figures = self._figures.get(queue)
        if figures is not None:
            figures[:] = map(sum, zip(figures, amounts, strict=True))

    def due(self) -> Iterator[ChangeTable]:
        """Return the changes whose condition has become true since the last call."""
        for each in self._watched:
            when = each.change.when
            assert when is not None
            is_true = when.holds(self._figures[when.queue][_FIGURES.index(when.figure)])
            if is_true and not each.was_true:
                yield each.change
            each.was_true = is_true
