"""The dispatch model: a configuration rendered as plain Timed Rebeca.

Behaviour: the dispatch models of Leifsson, Reykjavik University 2015 (EDF, FIFO, MDF, PRIORITY).
"""

from __future__ import annotations

from decimal import Decimal

from rebecsim.cluster.configuration import Configuration
from rebecsim.generate.environment import template_environment

__all__ = ["COUNTERS", "rebeca_source"]

COUNTERS = ("m_queue_misses", "m_update_misses", "m_jobs_complete", "m_dropped_jobs")
"""State variables of the ResourceManager `rm` that count what became of the jobs: deadlines passed
in the queue, deadlines passed on an AppMaster, completions, and arrivals at a full queue. Jobs that
still wait or run at the end of a run are in none of them."""

_PUBLISHED_QUEUE_LENGTH = 20
_EXECUTING_AND_NEXT_TICK = 2


def rebeca_source(configuration: Configuration) -> str:
    """Return the Timed Rebeca text of the model of `configuration`.

    The text holds nothing but the template's own words, identifiers of the registered policies and
    numbers, since a configuration has been validated field by field. The choices of checkQueue
    stand in the order arrivals, lengths, priorities, so models that differ in policy alone have
    the same first choice sites.
    """
    template = template_environment().get_template("dispatch.rebeca.j2")
    return template.render(
        configuration=configuration,
        policy=configuration.dispatch_policy,
        arrivals=configuration.arrivals,
        lengths=configuration.lengths,
        high_priority=configuration.high_priority,
        epsilon=_decimal(configuration.epsilon),
        manager_queue=_manager_queue(configuration.app_masters),
    )


def _manager_queue(app_masters: int) -> int:
    """Return the length of the ResourceManager's message queue.

    A message on its way counts from the moment it is sent. Each busy AppMaster has one update on
    its way, and to these come the message being executed and the next tick.
    """
    return max(_PUBLISHED_QUEUE_LENGTH, app_masters + _EXECUTING_AND_NEXT_TICK)


def _decimal(value: float) -> str:
    """Return a float literal without exponent, which not every Rebeca tool reads."""
    digits = format(Decimal(repr(value)), "f")
    return digits if "." in digits else f"{digits}.0"
