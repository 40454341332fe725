"""Accepting plug-ins: their parts are checked and tried, and kept only if all can be used."""

from __future__ import annotations

from rebecsim.clusters.batch.policies.policy import batch_policies
from rebecsim.clusters.batch.trial import try_policy
from rebecsim.clusters.dispatch.configuration import Configuration, HighPriority
from rebecsim.clusters.dispatch.eviction import eviction_policies
from rebecsim.clusters.dispatch.natjam import NatjamConfiguration, natjam_source
from rebecsim.clusters.dispatch.patterns.kinds import arrivals, lengths
from rebecsim.clusters.dispatch.patterns.steps import UniformArrivals, UniformLengths
from rebecsim.clusters.dispatch.source import rebeca_source
from rebecsim.clusters.kit.plugin_errors import PluginSource, blaming
from rebecsim.clusters.plugin import Plugin, install, uninstall
from rebecsim.generate.templates import template_environment
from rebecsim.lang import check_source


def accept(plugin: Plugin, source: PluginSource) -> None:
    """Register what a plug-in brings, and try it.

    Raises PluginError, and leaves everything as it was, when it cannot be used.
    """
    try:
        install(plugin, source)
    except (TypeError, ValueError) as error:
        raise source.error(str(error)) from error
    try:
        _try_policies(plugin)
        _try_patterns(plugin)
    except Exception:
        uninstall(plugin.fragments, source)
        raise


def _try_policies(plugin: Plugin) -> None:
    """Render and check a model with each policy, run a few jobs under batch policies.

    Raises PluginError.
    """
    workload = {
        "arrivals": UniformArrivals(count=1),
        "lengths": UniformLengths(length=3),
        "app_masters": 2,
        "queue_size": 3,
        "epsilon": 1.0,
        "high_priority": HighPriority(probability=10, length=1),
    }
    for dispatch in plugin.dispatch_policies:
        rebeca_source(Configuration.model_validate({"policy": dispatch.name, **workload}))
    for eviction in plugin.eviction_policies:
        with blaming(*eviction_policies.suspects(eviction.name)):
            given = {"policy": eviction.name, **workload}
            text = natjam_source(NatjamConfiguration.model_validate(given))
            check_source(text, "model.rebeca")
    for batch in plugin.batch_policies:
        with blaming(*batch_policies.suspects(batch.name)):
            try_policy(batch)


def _try_patterns(plugin: Plugin) -> None:
    """Compile the fragment of each pattern; it is rendered with the numbers of a scenario only.

    Raises PluginError.
    """
    for registry, patterns in (
        (arrivals, plugin.arrival_patterns),
        (lengths, plugin.length_patterns),
    ):
        for pattern in patterns:
            with blaming(*registry.suspects(pattern.names()[0])):
                template = template_environment().get_template(pattern.fragment)
                if not hasattr(template.module, "assign"):
                    raise TypeError(f"fragment {pattern.fragment} defines no macro `assign`")
