"""Resources by the label of nodes, which is empty for nodes that have none."""

from __future__ import annotations

from typing import TypeVar

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources

Label = str


_What = TypeVar("_What")


class Unchanging(dict[Label, _What], Constant):
    """Something of each label, which never changes."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


class Amounts(dict[Label, Resources], StatePart):
    """What there is of each label; nothing of those that are not named."""

    __slots__ = ()

    def __missing__(self, label: Label) -> Resources:
        return NONE

    def add(self, label: Label, more: Resources) -> None:
        """Add something to what there is of a label."""
        self[label] = self[label].plus(more)


class UsedByLabel(StatePart):
    """What a queue, a user or an application has of the nodes of each label.

    Attributes:
        used: containers and reservations.
        reserved: these alone.
        masters: what AppMasters may take, of those that have been let in.
    """

    __slots__ = ("masters", "reserved", "used")

    def __init__(self) -> None:
        self.used = Amounts()
        self.reserved = Amounts()
        self.masters = Amounts()
