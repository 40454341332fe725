from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from rebecsim.clusters.batch import InflatedEstimates, PolicySettings, run_schedule
from rebecsim.clusters.batch.run import durations, estimates_of
from rebecsim.errors import UserError
from rebecsim.workloads import Workload

COUNT = 2000
WORKLOAD = Workload.of(
    submit=np.arange(COUNT) * 3,
    run=np.arange(COUNT) % 50 + 1,
    processors=np.arange(COUNT) % 8 + 1,
    requested_time=np.where(np.arange(COUNT) % 2 == 0, 30, -1),
)


def test_jobs_are_killed_at_the_time_they_have_requested() -> None:
    assert durations(WORKLOAD).max() == 50
    assert durations(WORKLOAD)[::2].max() == 30
    assert run_schedule(WORKLOAD).duration.tolist() == durations(WORKLOAD).tolist()


def test_named_estimates() -> None:
    assert estimates_of(WORKLOAD, "requested", 0)[:3].tolist() == [30, 2, 30]
    assert estimates_of(WORKLOAD, "exact", 0).tolist() == durations(WORKLOAD).tolist()


def test_an_error_lengthens_at_random_within_its_factor() -> None:
    shortest = durations(WORKLOAD)
    made = estimates_of(WORKLOAD, InflatedEstimates(4), 7)
    assert (made >= shortest).all()
    assert (made <= 5 * shortest).all()
    assert 2.8 < (made / shortest).mean() < 3.2
    assert made.tolist() == estimates_of(WORKLOAD, InflatedEstimates(4), 7).tolist()
    assert made.tolist() != estimates_of(WORKLOAD, InflatedEstimates(4), 8).tolist()
    assert estimates_of(WORKLOAD, InflatedEstimates(0), 7).tolist() == shortest.tolist()


@pytest.mark.parametrize("factor", [-1, float("nan"), float("inf"), 1e7])
def test_impossible_errors_are_refused(factor: float) -> None:
    with pytest.raises(UserError, match="an estimate error of"):
        InflatedEstimates(factor)


@pytest.mark.parametrize(
    "wrong",
    [
        {"half_life": 0},
        {"window": -1},
        {"refresh": 0},
        {"clock_lead": -1},
        {"backfill_order": "longest"},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        PolicySettings(**wrong)  # type: ignore[arg-type]
