"""What plug-ins may bring to the kind `stages`: resource managers."""

from __future__ import annotations

from functools import partial

from rebecsim.clusters.kit.plugins import PluginPart, require_policy
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.managers.registry import StagesPolicy, stages_policies

PLUGIN_PARTS = (
    PluginPart(
        "stages_policies",
        stages_policies,
        partial(require_policy, kind=StagesPolicy, manager=StageManager),
    ),
)
"""Ways to plan jobs of several stages with deadlines."""
