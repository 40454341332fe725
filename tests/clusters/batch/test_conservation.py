"""What no scenario of the kind may lose or make: jobs, and processor seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.batch import BATCH_POLICIES
from rebecsim.clusters.batch.scenario import BatchScenario
from rebecsim.clusters.batch.study import STUDY, ScheduleSetup
from rebecsim.metrics import count_over_time
from rebecsim.workloads import Schedule

MACHINES = (
    {},
    {"processors": 24},
    {"nodes": [{"count": 20, "processors": 1}]},
    {"nodes": [{"count": 3, "processors": 4}, {"count": 2, "processors": 6}]},
)


@st.composite
def scenarios(draw: st.DrawFn) -> BatchScenario:
    """Generated jobs of some users, under any policy, settings, machine and estimates."""
    estimates = draw(st.sampled_from((("requested",), ("exact",), ())))
    values: dict[str, Any] = {
        "name": "drawn",
        "policies": [draw(st.sampled_from(tuple(BATCH_POLICIES)))],
        "seed": draw(st.integers(0, 10**6)),
        "estimates": list(estimates),
        "estimate_errors": [] if estimates else [draw(st.floats(0, 9))],
        "load_factors": [draw(st.floats(0.2, 5))],
        "workload": {
            "generate": {
                "jobs": draw(st.integers(2, 40)),
                "processors": draw(st.integers(2, 16)),
                "users": draw(st.integers(1, 5)),
            },
            "load": draw(st.none() | st.floats(0.1, 3)),
        },
        "machine": draw(st.sampled_from(MACHINES)),
        "settings": {
            "backfill_order": draw(st.sampled_from(("queue", "shortest"))),
            "usage": draw(st.sampled_from(("running", "ended"))),
            "half_life": draw(st.none() | st.integers(1, 10**6)),
            "window": draw(st.none() | st.integers(1, 10**6)),
            "refresh": draw(st.integers(60, 10**5)),
        },
        "share": draw(st.none() | st.integers(1, 8)),
    }
    return BatchScenario.model_validate(values)


@settings(max_examples=500)
@given(scenarios())
def test_no_job_and_no_processor_second_is_lost_or_made(scenario: BatchScenario) -> None:
    (cell,) = STUDY.cells(scenario, Path())
    setup: ScheduleSetup = cell.setup
    jobs = setup.workload(0)
    rows = STUDY.run(cell, range(1))
    (kept,) = rows.tables.values()
    column = {name: np.asarray(values) for name, values in kept.items() if name != "expected_end"}
    for name in ("job", "user", "queue", "processors", "submit"):  # every job once, as submitted
        assert column[name].tolist() == getattr(jobs, name).tolist()
    start, lasts, width = column["start"], column["duration"], column["processors"]
    capacity = jobs.capacity if setup.machine is None else setup.machine.processors
    assert (start >= jobs.submit).all()
    assert (lasts == jobs.run).all()  # none was killed: none asked for less time than it ran

    in_use = count_over_time(start, start + lasts, width)
    assert in_use.values.min() >= 0
    assert in_use.values.max() <= capacity
    work = int((jobs.processors * jobs.run).sum())
    assert int((np.diff(in_use.times) * in_use.values[:-1]).sum()) == work
    begin, end = int(jobs.submit.min()), int((start + lasts).max())
    share = rows.columns["utilisation"][0] / 100
    assert share * jobs.capacity * (end - begin) == pytest.approx(work, rel=1e-12)

    moments = np.unique(np.concatenate((jobs.submit, start, start + lasts)))
    schedule = Schedule(jobs, start, lasts)
    counts = [  # submitted, waiting, running, ended at each moment
        count_over_time(first, last).at(moments)
        for first, last in (
            (jobs.submit, np.full_like(start, end + 1)),
            (jobs.submit, start),
            (start, schedule.end),
            (schedule.end, np.full_like(start, end + 1)),
        )
    ]
    assert (counts[0] == counts[1] + counts[2] + counts[3]).all()
