"""Figures of runs that are made by hand: two jobs, their attempts, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from rebecsim.clusters.mapreduce.columns import (
    JOB_FIGURES,
    AttemptColumns,
    JobColumns,
    job_columns,
    joined,
)
from rebecsim.clusters.mapreduce.measures import MeasuredRun, run_figures

SECOND = 1_000_000


def seconds(*values: float) -> np.ndarray:
    return np.array([round(each * SECOND) for each in values], dtype=np.int64)


@pytest.fixture
def jobs() -> JobColumns:
    return JobColumns(
        family=np.array(["large", "small"]),
        queue=np.array(["one", "two"]),
        user=np.array(["ann", "bob"]),
        submit=seconds(0, 10),
        begin=seconds(5, 40),
        maps_end=seconds(60, 45),
        reduces_begin=seconds(20, 46),
        end=seconds(105, 50),
        node_local=np.array([6, 1]),
        rack_local=np.array([2, 0]),
        remote=np.array([0, 1]),
    )


@pytest.fixture
def attempts() -> AttemptColumns:
    # A map that is overtaken by its second attempt, one that is not, one that is lost with its
    # node and run again elsewhere, and a reduce.
    return AttemptColumns(
        job=np.array([0, 0, 0, 0, 1, 1, 1]),
        kind=np.array([0, 0, 0, 0, 0, 0, 1]),
        task=np.array([0, 0, 1, 1, 0, 0, 0]),
        node=np.array([0, 1, 0, 1, 1, 0, 0]),
        locality=np.array([1, 2, 1, 2, 3, 1, 0]),
        start=seconds(5, 20, 5, 21, 40, 44, 20),
        end=seconds(30, 30, 25, 25, 42, 50, 105),
        backup=np.array([False, True, False, True, False, False, False]),
        outcome=np.array([2, 1, 1, 2, 3, 1, 1]),
    )


def test_figures_of_jobs(jobs):
    # Elapsed 105 and 40 s, of these 5 and 30 s waiting.
    assert JOB_FIGURES["elapsed"](jobs) == 72.5
    assert JOB_FIGURES["waiting"](jobs) == 17.5
    assert JOB_FIGURES["execution"](jobs) == 55
    assert JOB_FIGURES["map_time"](jobs) == 30
    assert JOB_FIGURES["reduce_time"](jobs) == 44.5
    assert JOB_FIGURES["response_ratio"](jobs) == pytest.approx((1.05 + 4) / 2)
    assert JOB_FIGURES["pooled_ratio"](jobs) == pytest.approx(72.5 / 55)
    assert JOB_FIGURES["makespan"](jobs) == 105
    assert JOB_FIGURES["makespan"](jobs.of(queue="two")) == 50
    assert JOB_FIGURES["variation"](jobs) == pytest.approx(90 / np.sqrt(2) / 55)
    assert JOB_FIGURES["variation"](jobs.of("large")) == 0
    assert [JOB_FIGURES[each](jobs) for each in ("node_local", "rack_local", "remote")] == [
        70,
        20,
        10,
    ]


def test_jobs_are_found_by_family_and_queue(jobs):
    both = joined([jobs, jobs])
    assert len(both.of("small")) == 2
    assert len(both.of("small", "one")) == 0
    kept = {name: getattr(both, name) for name in JobColumns.__dataclass_fields__}
    assert JOB_FIGURES["elapsed"](job_columns(kept)) == 72.5


def test_figures_of_attempts(jobs, attempts):
    run = MeasuredRun(jobs, attempts, (4, 2), {"disk": 12.5})
    figures = run_figures(run)
    held = 25 + 10 + 20 + 4 + 2 + 6
    assert figures["map_slots"] == pytest.approx(100 * held / (4 * 105))
    assert figures["reduce_slots"] == pytest.approx(100 * 85 / (2 * 105))
    assert [figures[each] for each in ("backups", "useful_backups", "wasted_backups")] == [2, 1, 1]
    assert figures["lost"] == 1
    assert (figures["disks"], figures["links"], figures["rejected"]) == (12.5, 0, 0)


def test_a_map_counts_where_its_first_attempt_ran(attempts):
    assert attempts.ran_there(1).tolist() == [0, 0]
    assert attempts.ran_there(2).tolist() == []
    assert attempts.ran_there(3).tolist() == [1]


def test_jobs_of_the_warm_up_do_not_count(jobs, attempts):
    run = MeasuredRun(jobs, attempts, (4, 2), {}, warm_up=0.5)
    # The first of two jobs does not count; the second is submitted at 10 s, and runs until 50 s.
    assert run.begin == 10 * SECOND
    figures = run_figures(run)
    assert figures["elapsed"] == 40
    assert figures["throughput"] == pytest.approx(3600 / 40)
    # Of maps, slots are held for 20, 10, 15, 4, 2 and 6 s from 10 s on; the last job ends at 105 s.
    assert figures["map_slots"] == pytest.approx(100 * 57 / (4 * 95))
    assert figures["reduce_slots"] == pytest.approx(100 * 85 / (2 * 95))


def test_without_a_warm_up_all_jobs_count(jobs, attempts):
    run = MeasuredRun(jobs, attempts, (4, 2), {})
    assert (run.begin, run.counted) == (0, jobs)
    assert run_figures(run)["throughput"] == pytest.approx(3600 * 2 / 105)


def test_the_warm_up_is_the_share_that_is_submitted_first(jobs):
    late = joined([jobs, jobs.only(np.array([False, True]))])
    assert late.after_warm_up(0.4).tolist() == [False, True, True]
    assert late.after_warm_up(0.7).tolist() == [False, False, True]
    assert late.after_warm_up(0.0).all()
