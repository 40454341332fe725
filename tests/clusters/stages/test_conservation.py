"""Nothing is lost and nothing is made: jobs, tasks and slot seconds of random scenarios.

The laws are counted here from what a run gives, without the checker that runs have themselves.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st

from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.inputs import StagesSetup
from rebecsim.clusters.stages.job import TaskKey
from rebecsim.clusters.stages.measures import DECISIONS, JOBS, TASKS, MeasuredStages, tables_of
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.studies.scenario import validated

DISPATCHING = ("EDF", "FIFO", "MLF", "MINEDF_WC")
BUDGETS = tuple(
    f"WFBB_{r}_{x}_{t}" for r in ("PD", "ED") for x in ("SL", "TL") for t in ("TSP1", "TSP2")
)
SEARCHING = ("MRCP_RM", "MRCP_RM_MATCHING_AHEAD", "HCP_RM", "MILP")
ON_HADOOP = ("EDF", "FIFO", "HCP_RM", "MRCP_RM_AHEAD")

estimates = st.sampled_from(
    [
        None,
        {"model": "constant", "error": -0.5},
        {"model": "constant", "error": 1.0},
        {"model": "feitelson"},
        {"model": "variable"},
    ]
)


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    hadoop = draw(st.integers(0, 5)) == 0
    flows = not hadoop and draw(st.booleans())
    known = ON_HADOOP if hadoop else (*DISPATCHING, *BUDGETS) if flows else None
    name = draw(st.sampled_from(known or (*DISPATCHING, *BUDGETS, *SEARCHING)))
    handles = draw(st.booleans()) and not (hadoop and name in DISPATCHING)
    workload: dict[str, Any] = {
        "jobs": draw(st.integers(1, 4 if name in SEARCHING or flows else 8)),
        "rate": draw(st.sampled_from([0.005, 0.05, 1.0])),
        "reserved": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "reserved_ahead": draw(st.sampled_from([1, 60, 500])),
        "announced": draw(st.booleans()),
        "multiplier": draw(st.sampled_from([1.0, 2.0, 6.0])),
        "alone": draw(st.sampled_from(["resources", "sequential"])),
    }
    if flows:
        workload |= {
            "workflows": [draw(st.sampled_from(["cybershake", "ligo"]))],
            "sizes": ["small"],
        }
    else:
        workload["map_reduce"] = {
            "maps": draw(st.integers(1, 5)),
            "longest_map": 6,
            "reduce_extra": 3,
        }
    if (errors := draw(estimates)) is not None:
        workload["estimates"] = errors
    count = draw(st.integers(1, 5))
    slots = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    typed = not flows and (hadoop or draw(st.booleans()))
    resources = (
        {"count": count, "map_slots": slots[0], "reduce_slots": slots[1]}
        if typed
        else {"count": count, "slots": slots[0]}
    )
    values = {
        "policies": [f"PSEH_{name}" if handles else name],
        "seed": draw(st.integers(0, 10**6)),
        "workload": workload,
        "resources": resources,
        "decisions": {"charged_by": draw(st.sampled_from(["recorded", "rate", "nothing"]))},
        "budgets": {"by_letter": draw(st.booleans())},
        "solver": {"limit": 0.001, "seconds": 1.0, "rules_first": draw(st.integers(0, 3)) > 0},
    }
    if hadoop:
        values["hadoop"] = {"job_task": draw(st.sampled_from([0.0, 5.0])), "overhead": 2.0}
    return values


def ran(values: dict[str, Any]) -> tuple[StagesSetup, FinishedStages]:
    scenario = validated(StagesScenario, "laws", {**values, "name": "laws"}, {})
    setup = StagesSetup(scenario, Path(), scenario.policies[0])
    return setup, setup.measured(0).run


def most_at_once(spans: list[tuple[int, int]]) -> int:
    changes = Counter[int]()
    for start, end in spans:
        changes[start] += 1
        changes[end] -= 1
    level = highest = 0
    for time in sorted(changes):
        level += changes[time]
        highest = max(highest, level)
    assert level == 0
    return highest


def slot_seconds_are_kept(run: FinishedStages, resources: tuple[StageResource, ...]) -> None:
    kinds = {TaskKey(j.number, t.number): t.kind for j in run.jobs for t in j.real_tasks}
    for each in resources:
        mine = [(key, a) for key, a in run.ran.items() if a.resource == each.number]
        pools = set(kinds.values()) if each.is_typed else {None}
        for pool in pools:
            spans = [(a.start, a.end) for key, a in mine if pool is None or kinds[key] is pool]
            slots = each.slots if pool is None else each.slots_for(pool)
            assert most_at_once(spans) <= slots


@settings(max_examples=500, deadline=None)
@given(scenarios())
def test_jobs_tasks_and_slot_seconds_are_kept(values: dict[str, Any]) -> None:
    setup, run = ran(values)
    jobs = setup.jobs(0)
    # Every job that arrives ends once, and not before it may start.
    assert sorted(run.completed) == [job.number for job in jobs]
    # Every task runs once, after those that it waits for, and its job ends with the last one.
    assert run.ran.keys() == {TaskKey(j.number, t.number) for j in jobs for t in j.real_tasks}
    for job in jobs:
        mine = [run.ran[TaskKey(job.number, task.number)] for task in job.real_tasks]
        last = max(each.end for each in mine)
        assert min(each.start for each in mine) >= job.start
        assert run.completed[job.number] >= last
        if "hadoop" not in values:
            assert run.completed[job.number] == last
            for task in job.real_tasks:
                at = run.ran[TaskKey(job.number, task.number)]
                assert at.end - at.start == task.duration
                for parent in task.parents:
                    before = run.ran.get(TaskKey(job.number, parent))
                    assert before is None or before.end <= at.start
    # Slot seconds: what slots give is what tasks take, and never more than there are slots.
    slot_seconds_are_kept(run, setup.resources())
    given_time = sum(each.end - each.start for each in run.ran.values())
    work = sum(task.duration for job in jobs for task in job.real_tasks)
    assert given_time == work if "hadoop" not in values else given_time > work
    # The figures and tables count the same.
    measured = MeasuredStages(run)
    assert 0 <= measured.utilisation <= 100 + 1e-9
    tables = tables_of(run)
    assert len(tables[JOBS]["job"]) == len(jobs)
    assert len(tables[TASKS]["task"]) == len(run.ran)
    late = sum(run.completed[job.number] > job.deadline for job in jobs)
    assert measured.late_jobs == late
    if tables[DECISIONS]["jobs"].size and "hadoop" not in values:
        assert int(tables[DECISIONS]["jobs"].sum()) == len(jobs)
        placed = int(tables[DECISIONS]["placed"].sum())
        assert placed == len(run.ran)
