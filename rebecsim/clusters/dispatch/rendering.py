"""Rendering models, with errors of plug-ins reported as such."""

from __future__ import annotations

from rebecsim.clusters.common.plugin_errors import Suspect, blaming
from rebecsim.clusters.dispatch.patterns.base import WorkloadPattern
from rebecsim.clusters.dispatch.patterns.kinds import arrivals, lengths
from rebecsim.generate.environment import template_environment
from rebecsim.lang import check_source

__all__ = ["pattern_suspects", "render_model"]


def pattern_suspects(
    arrival_pattern: WorkloadPattern, length_pattern: WorkloadPattern
) -> tuple[Suspect, ...]:
    """Return whom to blame for errors of two patterns; nobody for built-in ones."""
    return (
        *arrivals.suspects(arrival_pattern.names()[0]),
        *lengths.suspects(length_pattern.names()[0]),
    )


def render_model(template: str, suspects: tuple[Suspect, ...], **values: object) -> str:
    """Render a template as Timed Rebeca.

    A model that parts of plug-ins go into is checked as well. Raises PluginError when it does not
    check, or when one of the suspects raises.
    """
    with blaming(*suspects):
        text = template_environment().get_template(template).render(**values)
        if suspects:
            check_source(text, "model.rebeca")
    return text
