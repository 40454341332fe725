"""Rendering models, with errors of plug-ins reported as such."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from rebecsim.clusters.dispatch.configuration import ClusterConfiguration
from rebecsim.clusters.dispatch.hardware import cycled, speed_ratio
from rebecsim.clusters.dispatch.patterns import kinds
from rebecsim.clusters.dispatch.patterns.base import WorkloadPattern
from rebecsim.clusters.kit.plugin_errors import PluginSuspect, blaming
from rebecsim.generate.templates import template_environment
from rebecsim.lang import check_source


def _pattern_suspects(
    arrival_pattern: WorkloadPattern, length_pattern: WorkloadPattern
) -> tuple[PluginSuspect, ...]:
    """Return whom to blame for errors of two patterns; nobody for built-in ones."""
    return (
        *kinds.arrivals.suspects(arrival_pattern.names()[0]),
        *kinds.lengths.suspects(length_pattern.names()[0]),
    )


def render_model(
    name: str,
    configuration: ClusterConfiguration,
    suspects: tuple[PluginSuspect, ...],
    **values: object,
) -> str:
    """Render the template of a configuration as Timed Rebeca; its policy is among the `suspects`.

    The text holds nothing but the template's own words, identifiers of the registered policies and
    numbers, since a configuration has been validated field by field. A model that parts of
    plug-ins go into is checked as well.

    Raises PluginError when it does not check, or when one of the suspects raises.
    """
    arrivals, lengths = configuration.arrivals, configuration.lengths
    epsilon = _float_literal(configuration.epsilon)
    suspects = (*suspects, *_pattern_suspects(arrivals, lengths))
    with blaming(*suspects):
        template = template_environment().get_template(name)
        text = template.render(
            configuration=configuration,
            arrivals=arrivals,
            lengths=lengths,
            epsilon=epsilon,
            speeds=_speed_ratios(configuration),
            priorities=", ".join(map(str, configuration.high_priority.values)),
            **values,
        )
        if suspects:
            check_source(text, "model.rebeca")
    return text


def _speed_ratios(configuration: ClusterConfiguration) -> list[Fraction]:
    """Return the speed of each AppMaster; none where no speeds are given."""
    speeds = configuration.speeds
    cycle = cycled(speeds, configuration.app_masters) if speeds else ()
    return [speed_ratio(speed) for speed in cycle]


def _float_literal(value: float) -> str:
    """Return a float literal without exponent, which not every Rebeca tool reads."""
    digits = format(Decimal(repr(value)), "f")
    return digits if "." in digits else f"{digits}.0"
