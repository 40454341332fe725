"""The dispatch model: a configuration rendered as plain Timed Rebeca.

Behaviour: the dispatch models of Leifsson, Reykjavik University 2015 (EDF, FIFO, MDF, PRIORITY).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.policies import dispatch_policies
from rebecsim.clusters.dispatch.rendering import render_model

COUNTERS: Mapping[str, str] = MappingProxyType(
    {
        "queue_misses": "m_queue_misses",
        "update_misses": "m_update_misses",
        "completions": "m_jobs_complete",
        "drops": "m_dropped_jobs",
        "arrived": "m_arrived_jobs",
    }
)
"""Columns of the results, and the state variables of the ResourceManager `rm` they are read from.

Deadlines passed in the queue, deadlines passed on an AppMaster, completions, and arrivals at a full
queue; then all jobs that arrived. They are more than the others by those that still wait or run at
the end of a run."""

BUSY_TIME = "m_busy_time"
"""State variable of each AppMaster, in models with a horizon: in how many time units before the
horizon it was busy. They are counted when a job begins, those of a job that ends after the horizon
only as far as the horizon; with eviction, each when it begins."""

HIGH_PRIORITY_COUNTERS: Mapping[str, str] = MappingProxyType(
    {
        "high_queue_misses": "m_high_queue_misses",
        "high_update_misses": "m_high_update_misses",
        "high_completions": "m_high_jobs_complete",
        "high_drops": "m_high_dropped_jobs",
    }
)
"""Those of `COUNTERS` that are of jobs of high priority, in models that count priorities."""

_PUBLISHED_QUEUE_LENGTH = 20
_EXECUTING_AND_NEXT_TICK = 2


def busy_time_variables(app_masters: int) -> tuple[str, ...]:
    """Return the names of the AppMasters' busy times, `am1.m_busy_time` first."""
    return tuple(f"am{number + 1}.{BUSY_TIME}" for number in range(app_masters))


def rebeca_source(configuration: Configuration, *, asserting: bool = True) -> str:
    """Return the Timed Rebeca text of the model of `configuration`.

    With `asserting` it asserts at each tick that no job got lost. An assertion reads the counters,
    so they cannot be forgotten where it stands. Without it nothing is counted by priority either:
    a priority that is kept to be counted would make states differ. The choices are the same.

    The choices of checkQueue stand in the order arrivals, lengths, priorities, so models that
    differ in policy alone have the same first choice sites.

    Raises PluginError when a policy or pattern of a plug-in gives no model.
    """
    return render_model(
        "dispatch.rebeca.j2",
        configuration,
        dispatch_policies.suspects(configuration.policy),
        policy=configuration.dispatch_policy,
        high_priority=configuration.high_priority,
        manager_queue=_manager_queue(configuration.app_masters),
        asserting=asserting,
        counts_priorities=asserting and configuration.counts_priorities,
    )


def _manager_queue(app_masters: int) -> int:
    """Return the length of the ResourceManager's message queue.

    A message on its way counts from the moment it is sent. Each busy AppMaster has one update on
    its way, and to these come the message being executed and the next tick.
    """
    return max(_PUBLISHED_QUEUE_LENGTH, app_masters + _EXECUTING_AND_NEXT_TICK)
