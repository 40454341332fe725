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
from rebecsim.clusters.stages.managers.manager import StageManager, handling_errors
from rebecsim.clusters.stages.managers.milp import IntegerProgramme
from rebecsim.clusters.stages.managers.mrcp import ConstraintManager
from rebecsim.clusters.stages.managers.searching import SearchingManager
from rebecsim.clusters.stages.managers.wfbb import WorkflowBudgets


@dataclass(frozen=True, slots=True)
class StagesPolicy(NamedPolicy):
    """A way to plan jobs of several stages."""

    manager: type[StageManager]
    """What does it."""

    times: DecisionTimes | None = None
    """How long its decisions take; None: that was not recorded."""


_RULES = {
    BudgetRule.PROPORTIONAL: ("Proportional", "laxity is divided in proportion to the sample run"),
    BudgetRule.EVEN: ("Even", "every phase gets as much of the laxity"),
}
_LAXITIES = {
    "SL": ("sample laxity", "that of free resources"),
    "TL": ("true laxity", "that beside all that is planned"),
}
_PLACES = {
    "TSP1": ("early", "tasks begin as early as they can"),
    "TSP2": ("late", "tasks end just before their sub-deadlines"),
}


def _budgets() -> Iterator[StagesPolicy]:
    """Give WFBB-RM in its configurations."""
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
    True: ("", "", "when tasks start is searched, and who runs them is said afterwards"),
    False: ("_MATCHING", ", matched at once", "it is searched when tasks start and who runs them"),
}
_PLANNED = {
    True: ("", "", "jobs are planned when they may start"),
    False: ("_AHEAD", ", planned ahead", "jobs are planned when they arrive"),
}


def _constraints() -> Iterator[StagesPolicy]:
    """Give MRCP-RM with and without its two optimisations."""
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
        "as EDF, but jobs first get the least slots that they are expected to need, then the rest",
        MinimumSlots,
    ),
    StagesPolicy(
        "MLF",
        "Minimum laxity first",
        "as EDF, but by the time that is left until the deadline beside what the job still takes",
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
        "the least product of the late jobs and one more, and of the longest turnaround",
        TurnaroundManager,
    ),
)
stages_policies: Registry[StagesPolicy] = Registry(
    "resource manager",
    (replace(each, times=DECISION_TIMES[each.name]) for each in BUILTIN_STAGES_POLICIES),
)
STAGES_POLICIES = stages_policies.entries


HANDLING_ERRORS = "PSEH_"
"""What the names of managers begin with that plan by corrected estimates."""


def can_search(name: str) -> bool:
    """Whether the resource manager of a name has a solver. Raises UnknownNameError as below."""
    return issubclass(stages_policy(name).manager, SearchingManager)


def stages_policy(name: str) -> StagesPolicy:
    """Return the resource manager of a name. Raises UnknownNameError when there is none."""
    if name in STAGES_POLICIES or not name.startswith(HANDLING_ERRORS):
        return stages_policies.find(name)
    found = stages_policies.find(name.removeprefix(HANDLING_ERRORS))
    return StagesPolicy(
        name,
        f"{found.title}, errors handled",
        f"{found.description}; by estimates that are corrected by the errors so far",
        handling_errors(found.manager),
        found.times,
    )
