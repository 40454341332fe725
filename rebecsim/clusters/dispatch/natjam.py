"""The preemptive cluster (Natjam-R): a configuration rendered as plain Timed Rebeca.

Behaviour: the Natjam models of Leifsson, Reykjavik University, 2015 (eviction by MDF and MLF).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rebecsim.clusters.dispatch.configuration import ClusterConfiguration
from rebecsim.clusters.dispatch.eviction import EvictionPolicy, eviction_policies, eviction_policy
from rebecsim.clusters.dispatch.patterns.base import MAX_LENGTH
from rebecsim.clusters.dispatch.rendering import render_model
from rebecsim.clusters.dispatch.source import _EXECUTING_AND_NEXT_TICK, _PUBLISHED_QUEUE_LENGTH
from rebecsim.studies.scenarios.units import unit

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

    checkpoint_overhead: int = Field(
        default=0,
        ge=0,
        le=MAX_LENGTH,
        json_schema_extra=unit("time units"),
        description="work added to a job whenever it is evicted",
    )
    as_published: bool = Field(
        default=False,
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
