"""Eviction policies: which running research job is put aside for a more urgent one.

A policy is a template fragment with the synchronous method
`int evictionKey(int jobTime, int jobDeadline)` of the ResourceManager, which gives the key of a job
with that much work and time left. The running job with the largest key is evicted, in favour of the
waiting or evicted research job with the smallest key, and only when its own key is larger.
Production jobs evict whatever their key, and are never evicted.

The policies are those of Natjam-R: Cho et al., "Natjam: design and evaluation of eviction
policies for supporting priorities and deadlines in MapReduce clusters", SoCC 2013.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.kit.registry import Registry


@dataclass(frozen=True, slots=True)
class EvictionPolicy:
    """One way to order research jobs by how well they can wait."""

    name: str
    """What scenarios call it."""

    title: str
    """The name in words, for charts and tables."""

    description: str
    """The rule in one line, ties included."""

    fragment: str
    """Name of the template with the method `evictionKey`."""


eviction_policies: Registry[EvictionPolicy] = Registry("eviction policy")

EVICTION_POLICIES = eviction_policies.entries
"""The eviction policies by name, in the order of tables and charts; plug-ins come last."""

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
for _policy in BUILTIN_EVICTION_POLICIES:
    eviction_policies.add(_policy.name, _policy)

eviction_policy = eviction_policies.find
"""Return the eviction policy of a name. Raises UnknownNameError when there is none."""
