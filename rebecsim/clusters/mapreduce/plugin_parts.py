"""What plug-ins may bring to the kind `mapreduce`: schedulers."""

from __future__ import annotations

from functools import partial

from rebecsim.clusters.kit.plugins import PluginPart, require_policy
from rebecsim.clusters.mapreduce.schedulers.registry import SlotScheduler, slot_schedulers
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler

PLUGIN_PARTS = (
    PluginPart(
        "slot_schedulers",
        slot_schedulers,
        partial(require_policy, kind=SlotScheduler, scheduler=TaskScheduler),
    ),
)
"""Ways to share the map and reduce slots of a cluster of Hadoop 1."""
