"""What plug-ins may bring to the kind `yarn`: schedulers."""

from __future__ import annotations

from functools import partial

from rebecsim.clusters.kit.plugins import PluginPart, require_policy
from rebecsim.clusters.yarn.schedulers.registry import YarnScheduler, yarn_schedulers
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler

PLUGIN_PARTS = (
    PluginPart(
        "yarn_schedulers",
        yarn_schedulers,
        partial(require_policy, kind=YarnScheduler, scheduler=ContainerScheduler),
    ),
)
"""Ways to share the containers of a cluster under YARN."""
