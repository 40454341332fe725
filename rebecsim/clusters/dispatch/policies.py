"""Dispatch policies: which of the waiting jobs a free AppMaster gets.

A policy is a template fragment with the synchronous method `int chooseJob()` of the
ResourceManager, which returns the slot of the chosen job, or -1 when no job waits. A slot i is
taken when `m_deadline[i] > 0`; `m_deadline` holds the time left and `m_length` the work of the job.
With `uses_priority`, `m_priority` holds the value drawn: high priority is at most HIGH_PRIORITY.

Ties: of equal deadlines EDF, MDF and PRIORITY take the lowest slot, as the models of Appendix B of
Leifsson's thesis do; its text says the slot nearest the back.

None of the built-in ones looks ahead: a job that can no longer meet its deadline is dispatched like
others. None knows the speeds of AppMasters: the work of a job is its length.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.kit.registry import Registry


@dataclass(frozen=True, slots=True)
class DispatchPolicy:
    """One way to choose among the waiting jobs."""

    name: str
    """What scenarios call it."""

    title: str
    """The name in words, for charts and tables."""

    description: str
    """The rule in one line, ties included."""

    fragment: str
    """Name of the template with the method `chooseJob`."""

    uses_priority: bool = False
    """Whether waiting jobs draw a priority; without it the model has none."""

    keeps_arrival_order: bool = False
    """Whether waiting jobs move up into gaps, so that a lower slot is an earlier arrival."""


dispatch_policies: Registry[DispatchPolicy] = Registry("dispatch policy")

DISPATCH_POLICIES = dispatch_policies.entries
"""The dispatch policies by name, in the order of tables and charts; plug-ins come last."""

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
for _policy in BUILTIN_DISPATCH_POLICIES:
    dispatch_policies.add(_policy.name, _policy)

dispatch_policy = dispatch_policies.find
"""Return the dispatch policy of a name. Raises UnknownNameError when there is none."""
