"""The state of a run: nodes with their devices, and jobs with their attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration, Outage
from rebecsim.clusters.mapreduce.heartbeats import SlotBeats
from rebecsim.clusters.mapreduce.job import MapReduceJob, SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress
from rebecsim.clusters.mapreduce.tasks.attempt import Attempt
from rebecsim.clusters.mapreduce.tasks.phases import Rates
from rebecsim.clusters.mapreduce.tracker import TrackerSlots

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.devices import Device
    from rebecsim.clusters.mapreduce.tasktracker import TaskTracker


class WorkerNode:
    """A node of the cluster.

    Attributes:
        number: from 0.
        rack: its number, from 0.
        slots: what schedulers see of it.
        works: whether it has not failed; the JobTracker learns of failures later.
        slowdown: how much longer its processors and disks take than they should.
        rates: of its devices, if it is not slow.
        tracker: its TaskTracker.
        processor: its processors, as one device.
        disk: its disks, as one device.
        running: attempts, in the order of their launch.
        ended: attempts that the JobTracker has not been told of.
        outputs: maps that have ended here, as long as what they left is there.
        beats: when its slots send heartbeats.
        outages: how often it has failed.
        next_beat: when it sends the next one (microseconds); None: it has no reason to.
    """

    __slots__ = (
        "beats",
        "disk",
        "ended",
        "next_beat",
        "number",
        "outages",
        "outputs",
        "processor",
        "rack",
        "rates",
        "running",
        "slots",
        "slowdown",
        "tracker",
        "works",
    )

    tracker: TaskTracker
    processor: Device
    disk: Device

    def __init__(
        self, slots: TrackerSlots, slowdown: float, beats: SlotBeats, rates: Rates
    ) -> None:
        self.number = slots.number
        self.rack = slots.rack
        self.slots = slots
        self.works = True
        self.slowdown = slowdown
        self.rates = rates
        self.running: dict[Attempt, None] = {}
        self.ended: list[Attempt] = []
        self.outputs: list[Attempt] = []
        self.beats = beats
        self.outages = 0
        self.next_beat: int | None = None

    def until_beat(self, now: int, kinds: Iterable[SlotKind]) -> int | None:
        """Give how long it is until it tells of an end, or asks for tasks of some kinds.

        Without an end and a free slot of these kinds it does neither: None.
        """
        return self.beats.until_next(now, kinds, (each.slot_beat for each in self.ended))


class JobRun:
    """A job, and its attempts.

    Attributes:
        job: what is submitted.
        progress: what its scheduler sees; None before it is submitted.
        rejected: why it is not accepted; None: it is.
        attempts: in the order of their launch, of maps and of reduces.
        tries: how many each task has had, by kind and number.
        live: the attempts that hold slots, in the order of their launch.
        done: numbers of the tasks that have ended, by kind.
        wanted: how many maps, and how many reduces, a scheduler could give slots now.
        outputs: of maps: the attempt whose output reduces fetch, in the order of their ends.
        missing: of maps that have ended and whose output is lost: the attempt; nobody needs them
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
        self.done: tuple[set[int], set[int]] = (set(), set())
        self.wanted = (0, 0)
        self.outputs: dict[int, Attempt] = {}
        self.missing: dict[int, Attempt] = {}
        self.first_map: int | None = None
        self.maps_end: int | None = None
        self.first_reduce: int | None = None
        self.end: int | None = None

    def wants(self) -> tuple[int, int]:
        """Give how many maps wait, and how many reduces that may begin."""
        progress = self.progress
        if progress is None or self.rejected is not None:
            return 0, 0
        reduces = progress.waiting(SlotKind.REDUCE) if progress.offers_reduce() else 0
        return progress.waiting(SlotKind.MAP), reduces


@dataclass(eq=False)
class MapReduceCluster:
    """What rebecs share that does not change, and what they write down.

    Attributes:
        configuration: as it is given.
        seed: of all that is drawn.
        racks: that of each node.
        nodes: in the order of their numbers.
        attempts: in the order of their launch.
        backups: how many run now, of maps and of reduces.
        outages: of nodes, that have begun.
        repairs: how many nodes have failed and will work again.
    """

    configuration: MapReduceConfiguration
    seed: int
    racks: Sequence[int]
    nodes: Sequence[WorkerNode]
    attempts: list[Attempt] = field(default_factory=list)
    backups: list[int] = field(default_factory=lambda: [0, 0])
    outages: list[Outage] = field(default_factory=list)
    repairs: int = 0
