"""REGULAR or SMARTG for the whole cluster, whichever is foreseen to do better."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.schedulers.elastic import SmartGreedy
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class RaceInLockstep(SmartGreedy):
    """As SMARTG while that is the winner of the last race, and as REGULAR otherwise.

    Attributes:
        shrinks: whether SMARTG has won.
    """

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self.shrinks = False

    def may_shrink(self, node: ClusterNode, application: Application) -> bool:
        """Whether SMARTG has won, and may."""
        return self.shrinks and super().may_shrink(node, application)
