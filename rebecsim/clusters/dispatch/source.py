"""The dispatch models, with eviction too (Natjam-R): configurations rendered as Timed Rebeca.

Behaviour: the models of Leifsson, Reykjavik University, 2015 (EDF, FIFO, MDF, PRIORITY), and his
Natjam models (eviction by MDF and MLF). Errors of plug-ins are reported as such."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rebecsim.clusters.dispatch import pattern_kinds
from rebecsim.clusters.dispatch.configuration import (
    ClusterConfiguration,
    Configuration,
    cycled,
    speed_ratio,
)
from rebecsim.clusters.dispatch.patterns import MAX_LENGTH, WorkloadPattern
from rebecsim.clusters.dispatch.policies import (
    EvictionPolicy,
    dispatch_policies,
    eviction_policies,
    eviction_policy,
)
from rebecsim.clusters.kit.plugins import PluginSuspect, blaming
from rebecsim.generate.templates import template_environment
from rebecsim.lang import check_source
from rebecsim.studies.scenario import within


def _pattern_suspects(
    arrival_pattern: WorkloadPattern, length_pattern: WorkloadPattern
) -> tuple[PluginSuspect, ...]:
    """Return the plug-ins to name in errors of two patterns; none for built-in ones."""
    return (
        *pattern_kinds.arrivals.suspects(arrival_pattern.names()[0]),
        *pattern_kinds.lengths.suspects(length_pattern.names()[0]),
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


NATJAM_COUNTERS: Mapping[str, str] = MappingProxyType(
    {
        "production_queue_misses": "m_production_queue_misses",
        "research_queue_misses": "m_research_queue_misses",
        "production_job_misses": "m_production_job_misses",
        "research_job_misses": "m_research_job_misses",
        "checkpoint_queue_misses": "m_checkpoint_queue_misses",
        "checkpoint_overflow": "m_checkpoint_overflow",
        "checkpoints": "m_checkpoints",
        "production_completions": "m_production_jobs_complete",
        "research_completions": "m_research_jobs_complete",
        "drops": "m_dropped_jobs",
        "production_drops": "m_production_dropped_jobs",
        "arrived": "m_arrived_jobs",
        "margin": "m_margin",
    }
)
"""Columns of the results, and the state variables of the ResourceManager `rm` they are read from.

Deadlines passed before the job ran, on an AppMaster and after an eviction; evicted jobs that the
full checkpoint queue lost, and those it kept; completions; arrivals at a full queue, and those of
them that were production jobs; all jobs that arrived, which are more than the others by those that
wait or run at the end of a run; and the sum of time left minus work left over all jobs that ended
on an AppMaster, which can be negative."""

_MESSAGES_OF_AN_APP_MASTER = 2

EvictionPolicyName = Annotated[str, AfterValidator(lambda name: eviction_policy(name).name)]
"""The name of a registered eviction policy."""


class Eviction(BaseModel):
    """How running jobs are put aside for others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    checkpoint_overhead: Annotated[int, within(0, MAX_LENGTH, "time units")] = Field(
        0, description="work added to a job whenever it is evicted"
    )
    as_published: bool = Field(
        False,
        description="keep the mistakes of the published models, which read the priorities of "
        "evicted jobs off the incoming queue, and lose jobs and AppMasters",
    )


class NatjamConfiguration(ClusterConfiguration):
    """One eviction policy, one workload and one cluster size: what one model is generated from.

    A job of high priority is a production job and is never evicted; all others are for research.
    """

    policy: EvictionPolicyName = Field(description="name of the eviction policy")
    eviction: Eviction = Eviction()

    @property
    def eviction_policy(self) -> EvictionPolicy:
        """The policy that `policy` names."""
        return eviction_policy(self.policy)


def natjam_source(configuration: NatjamConfiguration, *, asserting: bool = True) -> str:
    """Return the Timed Rebeca text of the model of `configuration`.

    With `asserting` it asserts at each tick that no job got lost, as in `rebeca_source`; not as
    published, where jobs do get lost.

    The choices of checkQueue stand in the order arrivals, lengths, priorities, as in the dispatch
    models.

    Raises PluginError when a policy or pattern of a plug-in gives no model.
    """
    return render_model(
        "natjam.rebeca.j2",
        configuration,
        eviction_policies.suspects(configuration.policy),
        policy=configuration.eviction_policy,
        manager_queue=_natjam_queue(configuration.app_masters),
        asserting=asserting,
    )


def _natjam_queue(app_masters: int) -> int:
    """Return the length of the ResourceManager's message queue.

    An AppMaster sends at most a checkPoint and an update in one time unit: when a job is given to
    it before its unit of work is done, and the new job ends with that unit. To these come the
    message being executed and the next tick.
    """
    needed = app_masters * _MESSAGES_OF_AN_APP_MASTER + _EXECUTING_AND_NEXT_TICK
    return max(_PUBLISHED_QUEUE_LENGTH, needed)
