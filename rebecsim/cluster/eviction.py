"""Eviction policies: which running research job is put aside for a more urgent one.

A policy is a template fragment with the synchronous method
`int evictionKey(int jobTime, int jobDeadline)` of the ResourceManager, which gives the key of a job
with that much work and time left. The running job with the largest key is evicted, in favour of the
waiting or evicted research job with the smallest key, and only when its own key is larger.
Production jobs evict whatever their key, and are never evicted.

The policies are those of Natjam-R: B. Cho et al., "Natjam: design and evaluation of eviction
policies for supporting priorities and deadlines in MapReduce clusters", SoCC 2013.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rebecsim.cluster.policies import UnknownPolicyError

__all__ = ["EVICTION_POLICIES", "EvictionPolicy", "eviction_policy"]


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


EVICTION_POLICIES: Mapping[str, EvictionPolicy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
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
    }
)
"""The eviction policies by name, in the order of tables and charts."""


def eviction_policy(name: str) -> EvictionPolicy:
    """Return the eviction policy called `name`.

    Raises UnknownPolicyError when there is none.
    """
    if name in EVICTION_POLICIES:
        return EVICTION_POLICIES[name]
    close = difflib.get_close_matches(name.upper(), EVICTION_POLICIES, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(EVICTION_POLICIES)}"
    raise UnknownPolicyError(f"no eviction policy is called {name!r}; {hint}")
