"""Node labels: partitions of a cluster, of which some lend what is idle."""

from __future__ import annotations

from collections.abc import Iterable

from rebecsim.clusters.yarn.node import NodeSize


def may_use(size: NodeSize, label: str) -> bool:
    """Whether jobs of a label, or of none, may ever use a node.

    Those with a label use nodes that have it. Those without use nodes without, and nodes of labels
    that are not exclusive, as long as nobody waits for these; see `lent`.
    """
    if label:
        return any(each.name == label for each in size.labels)
    return not any(each.exclusive for each in size.labels)


def lent(size: NodeSize, waiting: Iterable[str]) -> bool:
    """Whether a node may be used by jobs without a label, if jobs of these labels wait."""
    names = {each.name for each in size.labels}
    return not names or names.isdisjoint(waiting)
