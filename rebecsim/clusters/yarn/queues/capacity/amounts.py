"""Resources by the label of nodes, which is empty for nodes that have none."""

from __future__ import annotations

from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources

Label = str
Amounts = dict[Label, Resources]


class UsedByLabel:
    """What somebody has of the nodes of each label.

    Attributes:
        used: containers and reservations.
        reserved: these alone.
        masters: what AppMasters may take, of those that have been let in.
    """

    __slots__ = ("masters", "reserved", "used")

    def __init__(self) -> None:
        self.used: Amounts = {}
        self.reserved: Amounts = {}
        self.masters: Amounts = {}


def amount(amounts: Amounts, label: Label) -> Resources:
    """Give what there is of a label."""
    return amounts.get(label, NONE)


def add(amounts: Amounts, label: Label, more: Resources) -> None:
    """Add something to what there is of a label."""
    memory, cores = amounts.get(label, NONE)
    amounts[label] = Resources(memory + more[0], cores + more[1])


def minus(some: Resources) -> Resources:
    """Give what takes something away when it is added."""
    return Resources(-some.memory, -some.cores)
