"""Schedules of other simulators, reproduced job by job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rebecsim.clusters.batch import (
    Estimates,
    PolicySettings,
    check_capacity,
    check_head_reservations,
    check_start_order,
    run_schedule,
)
from rebecsim.workloads import CleaningRules, Workload, read_swf
from tests.oracles import schedule_rows

HALVING = 72 * 3600
CLOCK_LEAD = 17  # the clock of the simulator that made the hpc2n files starts 17 s earlier


@pytest.fixture(scope="module")
def kth(shared_data: Path) -> Workload:
    return read_swf(shared_data / "swf/KTH-SP2-1996.swf.gz", processors=100)


@pytest.fixture(scope="module")
def hpc2n() -> Workload:
    rows = schedule_rows("hpc2n-exact-FCFS")
    job, submit, run, processors, user = (
        [int(row[column]) for row in rows]
        for column in ("job", "submit", "runtime", "cpus", "user")
    )
    return Workload.of(submit, run, processors, capacity=240, job=job, user=user)


@pytest.mark.large
@pytest.mark.parametrize(
    ("oracle", "estimates", "order", "mean"),
    [
        ("easy", "requested", "queue", 6836.87),
        ("easy_prediction_backfill.clairvoyant", "exact", "queue", None),
        ("easy_plus_plus.clairvoyant", "exact", "shortest", None),
    ],
)
def test_kth_under_easy(
    shared_data: Path,
    kth: Workload,
    oracle: str,
    estimates: Estimates,
    order: str,
    mean: float | None,
) -> None:
    settings = PolicySettings(backfill_order=order)  # type: ignore[arg-type]
    schedule = run_schedule(kth, 100, "EASY", estimates=estimates, settings=settings)
    theirs = read_swf(
        shared_data / f"oracles/KTH-SP2.{oracle}.swf.gz", rules=CleaningRules(sort=True)
    )
    waits = dict(zip(theirs.job.tolist(), theirs.wait.tolist(), strict=True))
    assert len(waits) == 28_481
    assert dict(zip(kth.job.tolist(), schedule.wait.tolist(), strict=True)) == waits
    if mean is not None:
        assert round(float(schedule.wait.mean()), 2) == mean
    believed = kth.estimate if estimates == "requested" else schedule.duration
    assert check_capacity(schedule, 100).holds
    assert check_head_reservations(schedule, 100, believed).holds


@pytest.mark.large
def test_kth_first_come_first_served(kth: Workload) -> None:
    schedule = run_schedule(kth, 100, "FCFS")
    assert round(float(schedule.wait.mean())) == 353_776
    assert check_start_order(schedule).holds
    assert check_capacity(schedule, 100).holds


@pytest.mark.parametrize(
    ("oracle", "policy", "settings", "mean"),
    [
        ("FCFS", "FCFS", PolicySettings(), 5614.44),
        ("FairFCFS", "FAIR_FCFS", PolicySettings(usage="ended", clock_lead=CLOCK_LEAD), 2864.15),
        (
            "FairFCFS-decay",
            "FAIR_FCFS",
            PolicySettings(usage="ended", clock_lead=CLOCK_LEAD, half_life=HALVING),
            2867.79,
        ),
    ],
)
def test_hpc2n(
    hpc2n: Workload, oracle: str, policy: str, settings: PolicySettings, mean: float
) -> None:
    schedule = run_schedule(hpc2n, 240, policy, estimates="exact", settings=settings)
    rows = {int(row["job"]): row for row in schedule_rows(f"hpc2n-exact-{oracle}")}
    assert len(rows) == len(hpc2n) == 3145
    ours = zip(hpc2n.job.tolist(), schedule.wait.tolist(), schedule.duration.tolist(), strict=True)
    assert [
        (job, wait, duration)
        for job, wait, duration in ours
        if (wait, duration) != (int(rows[job]["wait"]), int(rows[job]["runtime"]))
    ] == []
    assert abs(np.mean(schedule.wait) - mean) < 0.01
