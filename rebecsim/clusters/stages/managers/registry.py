"""The resource managers of stages by name; plug-ins can add some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rebecsim.clusters.kit.plugins import NamedPolicy, Registry
from rebecsim.clusters.stages.laxity import BudgetRule
from rebecsim.clusters.stages.managers.decisions import DECISION_TIMES, DecisionTimes
from rebecsim.clusters.stages.managers.dispatching import (
    EarliestDeadlineFirst,
    FirstInFirstOut,
    MinimumLaxityFirst,
    MinimumSlots,
)
from rebecsim.clusters.stages.managers.hcp import TurnaroundManager
from rebecsim.clusters.stages.managers.manager import StageManager, with_error_handling
from rebecsim.clusters.stages.managers.milp import IntegerProgramme
from rebecsim.clusters.stages.managers.mrcp import ConstraintManager
from rebecsim.clusters.stages.managers.searching import SearchingManager
from rebecsim.clusters.stages.managers.wfbb import WorkflowBudgets


@dataclass(frozen=True, slots=True)
class StagesPolicy(NamedPolicy):
    """A way to plan jobs of several stages."""

    manager: type[StageManager]
    """Class of the resource manager."""

    times: DecisionTimes | None = None
    """Recorded decision times, if any."""


_RULES = {
    BudgetRule.PROPORTIONAL: ("Proportional", "tasks get laxity in proportion to the sample run"),
    BudgetRule.EVEN: ("Even", "every phase gets the same share of the laxity"),
}
_LAXITIES = {
    "SL": ("sample laxity", "laxity is computed on free resources"),
    "TL": ("true laxity", "laxity is computed beside all planned tasks"),
}
_PLACES = {
    "TSP1": ("early", "tasks start as early as they can"),
    "TSP2": ("late", "tasks end just before their sub-deadlines"),
}


def _budgets() -> Iterator[StagesPolicy]:
    """Yield the configurations of WFBB-RM."""
    for rule, laxity, place in product(_RULES, _LAXITIES, _PLACES):
        name = f"WFBB_{rule}_{laxity}_{place}"
        manager = type(
            name,
            (WorkflowBudgets,),
            {
                "rule": rule,
                "true_laxity": laxity == "TL",
                "late_as_possible": place == "TSP2",
                "pulls_forward": place != "TSP2",
                "__doc__": f"WFBB-RM as {rule}-{laxity}-{place}.",
            },
        )
        titles = _RULES[rule][0], _LAXITIES[laxity][0], _PLACES[place][0]
        rules = _RULES[rule][1], _LAXITIES[laxity][1], _PLACES[place][1]
        yield StagesPolicy(name, ", ".join(titles), "; ".join(rules), manager)


_SEARCHED = {
    True: ("", "", "searches start times, then matches resources"),
    False: ("_MATCHING", ", matched at once", "searches start times and resources together"),
}
_PLANNED = {
    True: ("", "", "jobs are planned at their earliest start"),
    False: ("_AHEAD", ", planned ahead", "jobs are planned when they arrive"),
}


def _constraints() -> Iterator[StagesPolicy]:
    """Yield MRCP-RM with and without its two optimisations."""
    for later, deferred in product(_SEARCHED, _PLANNED):
        searched, planned = _SEARCHED[later], _PLANNED[deferred]
        name = f"MRCP_RM{searched[0]}{planned[0]}"
        values = {"matches_later": later, "defers": deferred, "__doc__": f"MRCP-RM as {name}."}
        yield StagesPolicy(
            name,
            f"Fewest late jobs{searched[1]}{planned[1]}",
            f"the fewest late jobs; {searched[2]}; {planned[2]}",
            type(name, (ConstraintManager,), values),
        )


BUILTIN_STAGES_POLICIES = (
    *_budgets(),
    StagesPolicy(
        "EDF",
        "Earliest deadline first",
        "a free slot goes to the job with the earliest deadline that has a task for it",
        EarliestDeadlineFirst,
    ),
    StagesPolicy(
        "MINEDF_WC",
        "Minimum slots by deadlines",
        "as EDF, but jobs first get the fewest slots that should meet their deadlines",
        MinimumSlots,
    ),
    StagesPolicy(
        "MLF",
        "Minimum laxity first",
        "as EDF, but by laxity: time to the deadline less the longest chain of remaining tasks",
        MinimumLaxityFirst,
    ),
    StagesPolicy(
        "FIFO",
        "First in, first out",
        "a free slot goes to the job that arrived first",
        FirstInFirstOut,
    ),
    *_constraints(),
    StagesPolicy(
        "MILP",
        "Fewest late jobs by an integer programme",
        "the fewest late jobs, by an integer programme; jobs are planned when they arrive",
        IntegerProgramme,
    ),
    StagesPolicy(
        "HCP_RM",
        "Fewest late jobs and shortest turnaround",
        "minimises (late jobs + 1) times the longest turnaround",
        TurnaroundManager,
    ),
)
stages_policies: Registry[StagesPolicy] = Registry(
    "resource manager",
    (replace(each, times=DECISION_TIMES[each.name]) for each in BUILTIN_STAGES_POLICIES),
)
STAGES_POLICIES = stages_policies.entries


ERROR_HANDLING_PREFIX = "PSEH_"
"""Prefix of the names of managers that plan by corrected estimates."""


def can_search(name: str) -> bool:
    """Whether the resource manager of a name has a solver. Raises UnknownNameError as below."""
    return issubclass(stages_policy(name).manager, SearchingManager)


def stages_policy(name: str) -> StagesPolicy:
    """Return the resource manager of a name. Raises UnknownNameError when there is none."""
    if name in STAGES_POLICIES or not name.startswith(ERROR_HANDLING_PREFIX):
        return stages_policies.find(name)
    found = stages_policies.find(name.removeprefix(ERROR_HANDLING_PREFIX))
    return StagesPolicy(
        name,
        f"{found.title}, errors handled",
        f"{found.description}; estimates are corrected by the mean error so far",
        with_error_handling(found.manager),
        found.times,
    )
