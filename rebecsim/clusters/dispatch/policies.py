"""Policies: which waiting job a free AppMaster gets, and which running job is evicted.

A dispatch policy is a template fragment with the synchronous method `int chooseJob()` of the
ResourceManager, which returns the slot of the chosen job, or -1 when no job waits. A slot i is
taken when `m_deadline[i] > 0`; `m_deadline` holds the time left and `m_length` the work of the job.
With `uses_priority`, `m_priority` holds the value drawn: high priority is at most HIGH_PRIORITY.

Ties: of equal deadlines EDF, MDF and PRIORITY take the lowest slot, as the models of Appendix B of
Leifsson's thesis do; its text says the slot nearest the back.

None of the built-in ones looks ahead: a job that can no longer meet its deadline is dispatched like
others. None knows the speeds of AppMasters: the work of a job is its length.

An eviction policy is a template fragment with the synchronous method
`int evictionKey(int jobTime, int jobDeadline)` of the ResourceManager, which gives the key of a job
with that much work and time left. The running job with the largest key is evicted, in favour of the
waiting or evicted research job with the smallest key, and only when its own key is larger.
Production jobs evict whatever their key, and are never evicted.

Those built in are those of Natjam-R: Cho et al., "Natjam: design and evaluation of eviction
policies for supporting priorities and deadlines in MapReduce clusters", SoCC 2013."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.kit.plugins import NamedPolicy, Registry


@dataclass(frozen=True, slots=True)
class DispatchPolicy(NamedPolicy):
    """One way to choose among the waiting jobs."""

    fragment: str
    """Name of the template with the method `chooseJob`."""

    uses_priority: bool = False
    """Whether waiting jobs draw a priority; without it the model has none."""

    keeps_arrival_order: bool = False
    """Whether waiting jobs move up into gaps, so that a lower slot is an earlier arrival."""


BUILTIN_DISPATCH_POLICIES = (
    DispatchPolicy(
        name="EDF",
        title="Earliest deadline first",
        description="the job with the least time left; of equals the lowest slot",
        fragment="policies/edf.j2",
    ),
    DispatchPolicy(
        name="FIFO",
        title="First in, first out",
        description="the job that has waited longest",
        fragment="policies/fifo.j2",
        keeps_arrival_order=True,
    ),
    DispatchPolicy(
        name="MDF",
        title="Maximum deadline first",
        description="the job with the most time left; of equals the lowest slot",
        fragment="policies/mdf.j2",
    ),
    DispatchPolicy(
        name="PRIORITY",
        title="Priority, then earliest deadline",
        description="earliest deadline first among the jobs of high priority; "
        "only when there is none, among the others",
        fragment="policies/priority.j2",
        uses_priority=True,
    ),
    DispatchPolicy(
        name="LLF",
        title="Least laxity first",
        description="the job with the least time to spare, which is time left minus work; "
        "of equals the lowest slot",
        fragment="policies/llf.j2",
    ),
    DispatchPolicy(
        name="MLF",
        title="Maximum laxity first",
        description="the job with the most time to spare, which is time left minus work; "
        "of equals the lowest slot",
        fragment="policies/mlf.j2",
    ),
    DispatchPolicy(
        name="SJF",
        title="Shortest job first",
        description="the job with the least work; of equals the lowest slot",
        fragment="policies/sjf.j2",
    ),
)
dispatch_policies: Registry[DispatchPolicy] = Registry("dispatch policy", BUILTIN_DISPATCH_POLICIES)
DISPATCH_POLICIES = dispatch_policies.entries
dispatch_policy = dispatch_policies.find
"""Return the dispatch policy of a name. Raises UnknownNameError when there is none."""


@dataclass(frozen=True, slots=True)
class EvictionPolicy(NamedPolicy):
    """One way to order research jobs by how well they can wait."""

    fragment: str
    """Name of the template with the method `evictionKey`."""


BUILTIN_EVICTION_POLICIES = (
    EvictionPolicy(
        name="MDF",
        title="Maximum deadline first",
        description="the job with the most time left; of equals the first AppMaster's",
        fragment="eviction/mdf.j2",
    ),
    EvictionPolicy(
        name="MLF",
        title="Maximum laxity first",
        description="the job with the most time to spare, which is time left minus work "
        "left; of equals the first AppMaster's",
        fragment="eviction/mlf.j2",
    ),
)
eviction_policies: Registry[EvictionPolicy] = Registry("eviction policy", BUILTIN_EVICTION_POLICIES)
EVICTION_POLICIES = eviction_policies.entries
eviction_policy = eviction_policies.find
"""Return the eviction policy of a name. Raises UnknownNameError when there is none."""
