"""The experiments on MapReduce jobs with deadlines as scenarios, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rebecsim.clusters.stages.measures import STAGES_MEASURES
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.clusters.stages.workloads import CLOSED_WORKLOADS
from rebecsim.errors import UserError
from rebecsim.studies.estimates import estimate
from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun
from rebecsim.studies.scenario import validated
from rebecsim.wording import suggestion
from reproductions.framework import ENOUGH_RUNS, Extent, read_beside
from reproductions.workflows.running import planned

GENERIC_JOBS, HADOOP_JOBS = 200, 100
"""Of a run, all of which count. The thesis does not say how many; more of them cost hours."""

FACEBOOK_JOBS = 100
"""Of a run of jobs like those at Facebook, with about 80,000 maps. The thesis has 1,000 jobs."""

HADOOP_LIMIT = 0.004
"""Of the search of a decision of HCP-RM, in deterministic time: a fifth of the default."""

BUDGETS, CONSTRAINTS = "WFBB_PD_SL_TSP1", "MRCP_RM"
PRODUCT, HANDLING, EARLIEST = "HCP_RM", "PSEH_HCP_RM", "EDF"
MINIMUM = "MINEDF_WC"
SEARCHED, PROGRAMMED = "MRCP_RM_MATCHING_AHEAD", "MILP"

_BATCHES = ("small_1", "small_2", "medium", "large_1", "large_2")
_COARSE = {"large_1": 25}
"""The steps of the times of the integer programme (s), where that is not one."""

COMPARED_RATES = (0.01, 0.0175, 0.02, 0.0225, 0.025)
"""Of arrivals (1/s), at which MRCP-RM is compared with WFBB-RM."""

FACEBOOK_RATES = (0.0005, 0.001)
"""Of arrivals (1/s) of jobs like those at Facebook; which ones the thesis has is not printed. Slots
are busy for a third and for three fifths of a run.
"""

WORD_COUNT_INTERVALS = (150, 125)
"""A job arrives in so many seconds on average, where HCP-RM is compared with EDF on WordCount."""


class DeadlineExtent(Extent):
    """The ends of sweeps and three errors, if it is quick, or some parts."""

    __slots__ = ()
    name = "deadlines"
    usual, usual_if_quick = ENOUGH_RUNS, 1

    def some(self, levels: Iterable[Any]) -> list[Any]:
        """Give levels of a factor: if it is quick the first and the last one."""
        every = list(levels)
        return [every[0], every[-1]] if self.quick else every

    @property
    def errors(self) -> list[float]:
        """The errors of all estimates."""
        every: list[float] = published_deadlines()["tables"]["errors"]
        return [-0.5, 0.0, 0.5] if self.quick else every

    @property
    def batches(self) -> tuple[str, ...]:
        """The closed problems."""
        return _BATCHES[:2] if self.quick else _BATCHES


@dataclass(frozen=True, slots=True)
class Figures:
    """What one manager has come to in one experiment: the means over its runs.

    Attributes:
        late: P (%).
        turnaround: T (s).
        completion: C (s).
        processing: O (s a job), by the wall clock.
        batch: PO (s), the same for all jobs together.
        limited: decisions that ended at a limit of time, for each job.
    """

    late: float
    turnaround: float
    completion: float
    processing: float
    batch: float
    limited: float


_FIGURES = {
    "late": "late",
    "turnaround": "turnaround",
    "completion": "completion",
    "processing": "processing",
    "batch": "batch_processing",
    "limited": "limited",
}
"""Measures of the kind, by attributes of `Figures`."""

FoundDeadlines = Mapping[str, Mapping[str, Figures]]
"""By the name of the experiment, and by manager."""


@cache
def published_deadlines() -> Mapping[str, Any]:
    """Read what is published."""
    return read_beside(__file__)


def sweep_name(factor: str, level: float) -> str:
    """Give what the runs of MRCP-RM are called where one factor has a level."""
    base = "generic_reserved" if factor in _RESERVING else "generic"
    return base if _GENERIC[factor] == level else _named(base, factor, level)


def compared_name(factor: str, level: float) -> str:
    """Give what the runs of MRCP-RM and WFBB-RM are called where one factor has a level."""
    if factor not in _RESERVING and _GENERIC[factor] == level:
        factor, level = "rate", _GENERIC["rate"]
    return _named("budgets", factor, level)


def facebook_name(rate: float) -> str:
    """Give what the runs of jobs like those at Facebook are called."""
    return _named("facebook", "rate", rate)


def hadoop_name(interval: float, error: float | str = 0.0) -> str:
    """Give what the runs on Hadoop are called, by an error or by a model of errors."""
    return _named("hadoop", f"{interval:g}", error)


def earliest_name(factor: str, level: float) -> str:
    """Give what the runs of HCP-RM and EDF are called where one factor has a level."""
    if factor == "interval" or _ON_DEFAULT[factor] == level:
        return hadoop_name(level if factor == "interval" else _ON_DEFAULT["interval"])
    return _named("hadoop", factor, level)


def error_name(interval: float, error: float) -> str:
    """Give what the runs under an error of all estimates are called."""
    if interval in published_deadlines()["tables"]["intervals"]:
        return hadoop_name(interval, error)
    return _named("errors", f"{interval:g}", error)


def word_count_name(interval: float) -> str:
    """Give what the runs on Hadoop are called that count words."""
    return _named("word_count", f"{interval:g}")


def _named(*words: object) -> str:
    text = "_".join(f"{each:g}" if isinstance(each, float) else str(each) for each in words)
    return text.replace("-", "minus_").replace(".", "p")


_GENERIC: Mapping[str, float] = {
    "rate": 0.01,
    "longest_map": 50,
    "reserved_ahead": 50_000,
    "reserved": 0.5,
    "multiplier": 5,
    "count": 50,
}
"""Table 4.2: what sweeps vary one of."""

_ON_DEFAULT: Mapping[str, float] = {"interval": 30, "longest_map": 20, "multiplier": 25}
"""Table 5.1: what is varied one at a time on Hadoop."""

_RESERVING = ("reserved_ahead", "reserved")
"""The factors of jobs that may not start when they arrive. In all other experiments they may: these
managers plan a job when it may start, and in the long run starts are a Poisson process of the same
rate. In runs as short as these most of such jobs would come when the others have ended."""


def experiments(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    """Give the experiments of the parts that are wanted as values of scenarios, by name.

    Raises UserError for a part that there is not.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in extent.parts or PARTS:
        if name not in PARTS:
            raise UserError(f"--parts: there is no part {name}; {suggestion(name, PARTS)}")
        found |= PARTS[name](extent)
    return found


def _factors(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    return {
        sweep_name(sweep["factor"], level): _generic({sweep["factor"]: level}, (CONSTRAINTS,))
        for sweep in published_deadlines()["sweeps"]
        for level in extent.some(sweep["levels"])
    }


def _like_facebook(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    rates = FACEBOOK_RATES[:1] if extent.quick else FACEBOOK_RATES
    return {facebook_name(rate): _facebook(rate) for rate in rates}


def _budgets(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    found = {}
    levels = {"rate": list(COMPARED_RATES)}
    levels |= {each["factor"]: each["levels"] for each in published_deadlines()["budgets"]}
    for factor, several in levels.items():
        for level in extent.some(several):
            values = _generic({factor: level}, (CONSTRAINTS, BUDGETS))
            found[compared_name(factor, level)] = values
    return found


def _earliest(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    found = {
        earliest_name(each["factor"], level): _hadoop({each["factor"]: level}, (PRODUCT, EARLIEST))
        for each in published_deadlines()["earliest"]
        for level in extent.some(each["levels"])
    }
    for interval in extent.some(WORD_COUNT_INTERVALS):
        found[word_count_name(interval)] = _word_count(interval)
    return found


def _errors(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    said, found = published_deadlines()["errors"], {}
    for interval in said["intervals"]:
        policies = (PRODUCT, HANDLING) if interval in said["handled"] else (PRODUCT,)
        for error in extent.errors:
            model = {"model": "constant", "error": error}
            found[error_name(interval, error)] = _hadoop({"interval": interval}, policies, model)
    for interval in published_deadlines()["tables"]["intervals"]:
        for name in ("feitelson", "variable"):
            found[hadoop_name(interval, name)] = _hadoop(
                {"interval": interval}, (PRODUCT, HANDLING), {"model": name}
            )
    return found


def _closed(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
    return {f"batch_{name}": _batch(name) for name in extent.batches}


PARTS: Mapping[str, Callable[[DeadlineExtent], dict[str, dict[str, Any]]]] = {
    "factors": _factors,
    "facebook": _like_facebook,
    "wfbb": _budgets,
    "edf": _earliest,
    "errors": _errors,
    "closed": _closed,
}
"""The parts by name: which experiments each has."""


def _generic(changed: Mapping[str, float], policies: Iterable[str]) -> dict[str, Any]:
    """Section 4.4.3, Table 4.2: two slots for maps and two for reduces each."""
    point = {**_GENERIC, **changed}
    if not any(factor in changed for factor in _RESERVING):
        point["reserved"] = 0.0
    return {
        "policies": list(policies),
        "workload": {
            "jobs": GENERIC_JOBS,
            "rate": point["rate"],
            "map_reduce": {"maps": 100, "longest_map": int(point["longest_map"])},
            "reserved": point["reserved"],
            "reserved_ahead": int(point["reserved_ahead"]),
            "multiplier": float(point["multiplier"]),
        },
        "resources": {"count": int(point["count"]), "map_slots": 2, "reduce_slots": 2},
    }


def _facebook(rate: float) -> dict[str, Any]:
    """Section 4.4.2, Table 4.1: 64 resources with a slot of each sort."""
    workload = {
        "jobs": FACEBOOK_JOBS,
        "rate": rate,
        "map_reduce": {"like": "facebook"},
        "reserved": 0.0,
        "multiplier": 2.0,
    }
    return {
        "policies": [CONSTRAINTS, MINIMUM],
        "workload": workload,
        "resources": {"count": 64, "map_slots": 1, "reduce_slots": 1},
    }


def _hadoop(
    changed: Mapping[str, float],
    policies: Iterable[str],
    estimates: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Section 5.5.3, Table 5.1: ten TaskTrackers with a slot of each sort."""
    point = {**_ON_DEFAULT, **changed}
    workload: dict[str, Any] = {
        "jobs": HADOOP_JOBS,
        "rate": 1 / point["interval"],
        "map_reduce": {"maps": 10, "longest_map": int(point["longest_map"])},
        "reserved": 0.0,
        "multiplier": float(point["multiplier"]),
    }
    if estimates is not None:
        workload["estimates"] = dict(estimates)
    return {**_ON_HADOOP, "policies": list(policies), "workload": workload}


_ON_HADOOP: Mapping[str, Any] = {
    "resources": {"count": 10, "map_slots": 1, "reduce_slots": 1},
    "hadoop": {},
    "solver": {"limit": HADOOP_LIMIT},
}


def _word_count(interval: float) -> dict[str, Any]:
    """Section 5.5.2; how long tasks take is not printed."""
    workload = {
        "jobs": HADOOP_JOBS,
        "rate": 1 / interval,
        "map_reduce": {"like": "word_count"},
        "reserved": 0.0,
        "multiplier": 3.0,
        "alone": "sequential",
    }
    return {**_ON_HADOOP, "policies": [PRODUCT, EARLIEST], "workload": workload}


def _batch(name: str) -> dict[str, Any]:
    """Section 3.6, Table 3.3. The integer programme is not for the largest one."""
    closed = CLOSED_WORKLOADS[name]
    policies = [SEARCHED] if name == _BATCHES[-1] else [SEARCHED, PROGRAMMED]
    return {
        "policies": policies,
        "workload": {"closed": name},
        "resources": {
            "count": closed.resources,
            "map_slots": closed.slots,
            "reduce_slots": closed.slots,
        },
        "solver": {
            "rules_first": False,
            "limit": 1.0,
            "seconds": 30.0,
            "step": _COARSE.get(name, 1),
        },
    }


def deadline_plans(extent: DeadlineExtent) -> dict[str, Plan]:
    """Lay out the experiments, by name. Raises UserError for a part that there is not."""
    plans = {}
    for name, values in experiments(extent).items():
        full = f"deadlines_{name}"
        given = {
            **values,
            "name": full,
            "replications": extent.runs,
            "decisions": {"charged_by": "rate", "measured": True},
        }
        plans[name] = planned(validated(StagesScenario, full, given, {}))
    return plans


def found_in(runs: Mapping[str, PlannedRun]) -> FoundDeadlines:
    """Give the figures of finished runs, by the names of experiments."""
    metrics = {each.metric.name: each.metric for each in STAGES_MEASURES}
    found: dict[str, dict[str, Figures]] = {}
    for name, run in runs.items():
        found[name] = {}
        for moments in run.results.moments(run.plan):
            means = {
                name: estimate(metrics[each], [moments]).value for name, each in _FIGURES.items()
            }
            means["processing"] /= 1000
            found[name][moments.cell.policy] = Figures(**means)
    return found
