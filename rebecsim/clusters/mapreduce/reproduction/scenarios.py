"""The published experiments as scenarios."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from rebecsim.clusters.mapreduce.cluster_tables import ParameterValue
from rebecsim.clusters.mapreduce.reproduction.published import Experiment
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.studies.cell import grouped
from rebecsim.studies.scenarios.scenario import validated

Settings = dict[str, ParameterValue]

_BENCHMARKS = ("sort", "terasort", "wordcount")
_FIVE_GB = 5e9 / 2**20
"""MiB. In decimal gigabytes, so that a job has 75 maps: the thesis says 70 to 80."""

_PRIORITIES = {"sort": "very_low", "terasort": "normal", "wordcount": "very_high"}
_TERASORT, _SORT = 2 * 1024.0, 1024.0  # MiB
_SECOND_USER, _SECOND_JOB = 5.0, 120.0  # seconds


@cache
def cluster_settings() -> Mapping[str, Mapping[str, Any]]:
    """Read the keys of the table `cluster` for the large, the small and the validation cluster.

    Beside them, as `large_scheduler`, are settings that all experiments on the large one have.
    """
    file = resources.files("rebecsim.clusters.mapreduce.reproduction") / "clusters.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def experiment_scenarios(
    experiments: Iterable[Experiment], replications: int
) -> list[MapReduceScenario]:
    """Give a scenario for each pattern of submission, with a variant for each experiment."""
    return [
        _scenario(
            f"capacity_{pattern}",
            replications,
            cluster=cluster_settings()["large"],
            workload={"mix": _mix(pattern, same[0].queues)},
            variants=[_variant(each.name, _of_experiment(each)) for each in same],
        )
        for pattern, same in grouped(experiments, lambda each: each.pattern).items()
    ]


def _mix(pattern: str, queues: Sequence[str]) -> dict[str, Any]:
    """Give where jobs go: of four queues the first two get the small ones."""
    if pattern == "apart":
        return {"pattern": pattern, "small_queues": queues[:2], "queues": queues[2:]}
    return {"pattern": pattern, "queues": queues}


def _of_experiment(experiment: Experiment) -> Settings:
    found: Settings = dict(cluster_settings()["large_scheduler"])
    for queue, capacity in zip(experiment.queues, experiment.capacities, strict=True):
        found |= _of_queue(
            queue,
            capacity,
            maximum_capacity=capacity if experiment.capped else -1,
            user_limit_factor=experiment.factor,
            minimum_user_limit_percent=experiment.percent,
        )
    return found


def _of_queue(queue: str, capacity: float, **settings: ParameterValue) -> Settings:
    named = {"capacity": capacity, **settings}
    return {f"queue.{queue}.{name.replace('_', '-')}": value for name, value in named.items()}


def _even(capacities: Sequence[float], **settings: ParameterValue) -> Settings:
    """Give queues of some capacities, with the same settings otherwise."""
    found: Settings = {}
    for number, capacity in enumerate(capacities, start=1):
        found |= _of_queue(f"queue{number}", capacity, **settings)
    return found


def _capped(capacities: Sequence[float]) -> Settings:
    found: Settings = {}
    for number, capacity in enumerate(capacities, start=1):
        found |= _of_queue(f"queue{number}", capacity, maximum_capacity=capacity)
    return found


def small_scenarios(replications: int) -> list[MapReduceScenario]:
    """Give the runs of table 5.1, one scenario for each of their workloads.

    Each queue gets a sort, a TeraSort and a count of words, a second apart, over 5 GB each; in the
    runs about user limits one queue gets four TeraSorts at once.
    """
    even, uneven = (50.0, 50.0), (90.0, 10.0)
    tasks = "maximum_initialized_active_tasks"
    groups: dict[str, tuple[list[dict[str, Any]], dict[str, Settings]]] = {
        "two_queues": (
            _three_programs(2),
            {
                "two": _even(even),
                "ninety": _even(uneven),
                "two_capped": _capped(even),
                "ninety_capped": _capped(uneven),
                "two_factor_2": _even(even, user_limit_factor=2),
                "system_jobs_2": {**_even(even), "maximum-system-jobs": 2},
                "system_jobs_4": {**_even(even), "maximum-system-jobs": 4},
                "active_tasks_100": _even(even, **{tasks: 100, f"{tasks}_per_user": 80}),
                "active_tasks_160": _even(even, **{tasks: 160, f"{tasks}_per_user": 80}),
            },
        ),
        "three_queues": (_three_programs(3), {"three": _even((33.34,) * 3)}),
        "two_reduces": (
            _three_programs(2, reduces=2),
            {
                "ninety_reduces_2": _even(uneven),
                "ninety_reduces_2_factor_2": _even(uneven, user_limit_factor=2),
            },
        ),
        "prioritised": (
            _three_programs(2, prioritised=True),
            {"priorities": _even(even, supports_priority=True)},
        ),
        "four_users": (
            _four_users(1),
            {
                f"percent_{percent}": _even((100.0,), minimum_user_limit_percent=percent)
                for percent in (100, 25)
            },
        ),
        "four_users_five_reduces": (
            _four_users(5),
            {"percent_25_reduces_5": _even((100.0,), minimum_user_limit_percent=25)},
        ),
    }
    return [
        _scenario(
            f"capacity_{name}",
            replications,
            cluster=cluster_settings()["small"],
            workload={"jobs": jobs},
            variants=[_variant(each, settings) for each, settings in variants.items()],
        )
        for name, (jobs, variants) in groups.items()
    ]


def _three_programs(
    queues: int, reduces: int = 1, prioritised: bool = False
) -> list[dict[str, Any]]:
    return [
        {
            "program": program,
            "input": _FIVE_GB,
            "reduces": reduces,
            "queue": f"queue{queue}",
            "user": f"user{3 * (queue - 1) + place + 1}",
            "priority": _PRIORITIES[program] if prioritised else "normal",
            "arrivals": {"first": float(place)},
        }
        for queue in range(1, queues + 1)
        for place, program in enumerate(_BENCHMARKS)
    ]


def _four_users(reduces: int) -> list[dict[str, Any]]:
    return [
        {
            "program": "terasort",
            "count": 4,
            "input": _FIVE_GB,
            "reduces": reduces,
            "queue": "queue1",
            "arrivals": {"law": "at_once"},
        }
    ]


def validation_scenarios(replications: int) -> list[MapReduceScenario]:
    """Give the runs of section 5.2: with one and with two reduce slots of a node.

    Users 1 and 2 share a queue, users 3 and 4 another; each runs a TeraSort of 2 GB, and a sort of
    1 GB. In the thesis the sort is submitted when the TeraSort has ended; here at a fixed time
    after it.
    """
    even = (50.0, 50.0)
    two: dict[str, Settings] = {
        "queues": _even(even),
        "maximum": _capped(even),
        "percent": _even(even, minimum_user_limit_percent=50),
        "jobs": {**_even(even), "maximum-system-jobs": 2},
    }
    return [
        _scenario(
            f"capacity_validation{slots}_{name}",
            replications,
            cluster={**cluster_settings()["validation"], "reduce_slots": slots},
            workload={"jobs": _users(queues)},
            variants=[_variant(each, settings) for each, settings in variants.items()],
        )
        for slots in (1, 2)
        for name, queues, variants in (("one", 1, {"one": _even((100.0,))}), ("two", 2, two))
    ]


def _users(queues: int) -> list[dict[str, Any]]:
    return [
        {
            "program": program,
            "input": size,
            "queue": f"queue{(user + 1) // 2}",
            "user": f"user{user}",
            "arrivals": {"first": later + _SECOND_USER * ((user - 1) % 2)},
        }
        for program, size, later in (("terasort", _TERASORT, 0.0), ("sort", _SORT, _SECOND_JOB))
        for user in range(1, 2 * queues + 1)
    ]


def _variant(name: str, settings: Settings) -> dict[str, Any]:
    return {"name": name, "scheduler": "CAPACITY", "settings": settings}


def _scenario(name: str, replications: int, **keys: Any) -> MapReduceScenario:
    values = {"name": name, "replications": replications, **keys}
    return validated(MapReduceScenario, name, values, {})
