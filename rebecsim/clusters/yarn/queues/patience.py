"""How long nodes that are kept, or let pass, go on sending heartbeats in vain."""

from __future__ import annotations


class Patience:
    """So many heartbeats in vain, one after the other, until only what changes wakes nodes.

    So a cluster in which nothing can happen any more comes to rest, and is found to be stuck.
    """

    def __init__(self, nodes: int) -> None:
        self._most = 10 * nodes + 1000
        self._left = self._most

    def hope(self) -> None:
        """Take note that something has changed."""
        self._left = self._most

    def is_left(self) -> bool:
        """Whether another heartbeat is worth while."""
        self._left -= 1
        return self._left > 0
