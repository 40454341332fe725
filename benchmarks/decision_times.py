"""How long decisions of the resource managers of stages take, as `charged_by = "recorded"` needs.

`python benchmarks/decision_times.py` prints a line for each manager to be put into
`rebecsim/clusters/stages/managers/decisions.py`; `python benchmarks/decision_times.py EDF`
that of one. Time is that of the processor, so that others on the machine matter little; the first
decisions of a run are not counted, as loops are compiled then. Beside each line stand, for every
problem, what a decision took (ms) and by how much the line is off in sum.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from rebecsim.clusters.stages.inputs import StagesSetup
from rebecsim.clusters.stages.managers import decisions
from rebecsim.clusters.stages.managers.decisions import MadeDecision
from rebecsim.clusters.stages.managers.milp import IntegerProgramme
from rebecsim.clusters.stages.managers.registry import BUILTIN_STAGES_POLICIES, stages_policy
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.studies.scenario import validated

Values = Mapping[str, Any]

_TYPED = {"count": 50, "map_slots": 2, "reduce_slots": 2}
_SLOTS = {"count": 50, "slots": 2}
_NOT_COUNTED = 10


def main() -> None:
    """Measure managers and print what was found."""
    decisions.perf_counter = time.process_time  # type: ignore[attr-defined]
    for name in sys.argv[1:] or [each.name for each in BUILTIN_STAGES_POLICIES]:
        made = {title: _decisions(name, values) for title, values in _problems(name)}
        times = _fitted(list(made.values()))
        figures = ", ".join(f"{each:.4g}" for each in times)
        print(f'    "{name}": DecisionTimes({figures}),')
        for title, some in made.items():
            took = 1000 * sum(each.clock for each in some)
            off = float((_work(some) @ times).sum()) / took
            print(f"    # {title}: {took / len(some):.3f} ms, {off:.2f} times", flush=True)


def _problems(name: str) -> Iterator[tuple[str, Values]]:
    """Give scenarios by what they are; those that take long get fewer jobs."""
    manager = stages_policy(name).manager
    if issubclass(manager, IntegerProgramme):
        for closed, count in (("small_1", 10), ("small_2", 25)):
            resources = {**_TYPED, "count": count}
            solver = {"rules_first": False, "seconds": 10.0}
            yield (
                closed,
                {
                    "workload": {"closed": closed},
                    "resources": resources,
                    "solver": solver,
                    "replications": 6,
                },
            )
        return
    jobs = 60 if name == "HCP_RM" or "MATCHING" in name else 200
    for rate, multiplier in ((0.02, 5.0), (0.0225, 2.0)):
        stream = {"jobs": jobs, "rate": rate, "reserved": 0.0, "multiplier": multiplier}
        yield (
            f"MapReduce, em_max {multiplier:g}",
            {"workload": {**stream, "map_reduce": {}}, "resources": _TYPED},
        )
    small = {"maps": 10, "longest_map": 20}
    stream = {"jobs": jobs, "rate": 1 / 25, "reserved": 0.0, "multiplier": 10.0}
    yield (
        "MapReduce of ten maps, ten resources",
        {
            "workload": {**stream, "map_reduce": small},
            "resources": {"count": 10, "map_slots": 1, "reduce_slots": 1},
            "solver": {"limit": 0.004},
        },
    )
    for family, rate in (("cybershake", 1 / 20), ("ligo", 1 / 165)):
        stream = {"jobs": jobs // 2, "rate": rate, "reserved_ahead": 2000, "announced": False}
        yield family, {"workload": {**stream, "workflows": [family]}, "resources": _SLOTS}


def _decisions(name: str, values: Values) -> list[MadeDecision]:
    given = {**values, "name": "decisions", "policies": [name]}
    given["decisions"] = {"charged_by": "nothing"}
    scenario = validated(StagesScenario, "decisions", given, {})
    setup = StagesSetup(scenario, Path(), name)
    runs = [setup.measured(each).run for each in range(scenario.replications)]
    counted = 0 if scenario.replications > 1 else _NOT_COUNTED
    return [each for run in runs for each in run.decisions[counted:]]


def _fitted(problems: list[list[MadeDecision]]) -> np.ndarray[Any, Any]:
    """Fit times of all problems, by least squares of what they are off by their own mean."""
    means = [float(np.mean([each.clock for each in made])) for made in problems]
    work = [_work(made) / mean for made, mean in zip(problems, means, strict=True)]
    clocks = [
        np.array([each.clock for each in made]) / mean
        for made, mean in zip(problems, means, strict=True)
    ]
    found: np.ndarray[Any, Any] = nnls(np.concatenate(work), 1000 * np.concatenate(clocks))[0]
    return found


def _work(made: list[MadeDecision]) -> np.ndarray[Any, Any]:
    return np.array(
        [
            (1.0, work.tasks, work.waiting, work.modelled, work.searched)
            for work in (each.work for each in made)
        ]
    )


if __name__ == "__main__":
    main()
