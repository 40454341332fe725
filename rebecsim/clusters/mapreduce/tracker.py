"""A TaskTracker as schedulers see it: its place and its free slots."""

from __future__ import annotations

from rebecsim.clusters.mapreduce.job import SlotKind


class TrackerSlots:
    """The slots of a node.

    Attributes:
        number: of the node, from 0.
        rack: the number of its rack, from 0.
        slots: how many it has, of maps and of reduces.
        busy: how many of these run something.
        alive: whether it sends heartbeats; tasks of a node that does not are lost.
    """

    __slots__ = ("alive", "busy", "number", "rack", "slots")

    def __init__(self, number: int, rack: int, maps: int, reduces: int) -> None:
        self.number = number
        self.rack = rack
        self.slots = (maps, reduces)
        self.busy = [0, 0]
        self.alive = True

    def free(self, kind: SlotKind) -> int:
        """Give how many slots run nothing."""
        return self.slots[kind] - self.busy[kind]
