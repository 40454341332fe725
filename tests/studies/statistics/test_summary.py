import numpy as np
import pytest

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.studies.cells import Cell, Condition
from rebecsim.studies.estimates import estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.summary import summarise


def summarised(moments):
    ends = frozenset({"time limit"})
    return summarise(moments, DISPATCH_METRICS, axis="app_masters", normal_outcomes=ends)


def cell(
    policy: str, size: int, lengths: str = "uniform 3", *, ends: dict[str, int] | None = None
) -> CellMoments:
    rng = np.random.default_rng([size, len(policy), len(lengths)])
    counters = ("queue_misses", "update_misses", "completions", "drops")
    columns = {name: rng.integers(0, 20, size=10, dtype=np.int32) for name in counters}
    return CellMoments.from_columns(
        Cell.of(policy, arrivals="uniform 1", lengths=lengths, app_masters=size),
        columns,
        ends or {"time limit": 10},
    )


def grid(*policies: str) -> list[CellMoments]:
    # Sizes in an order that is not ascending.
    return [cell(p, n, w) for n in (2, 1) for p in policies for w in ("uniform 3", "wave")]


def test_rows_pool_everything_and_points_pool_workloads() -> None:
    moments = grid("FIFO", "EDF")
    summary = summarised(moments)
    assert summary.policies == ("FIFO", "EDF")
    assert summary.places == (1, 2)
    assert summary.workloads == tuple(
        Condition.of(arrivals="uniform 1", lengths=lengths) for lengths in ("uniform 3", "wave")
    )
    edf = [m for m in moments if m.cell.policy == "EDF"]
    row = summary.rows[1]
    assert row.replications == 40
    assert row.estimates == tuple(estimate(metric, edf) for metric in DISPATCH_METRICS)
    points = summary.points_of("EDF")
    assert [point.at for point in points] == [1, 2]
    on_one = [m for m in edf if m.cell["app_masters"] == 1]
    assert points[0].estimates == tuple(estimate(metric, on_one) for metric in DISPATCH_METRICS)
    assert points[0].replications == 20


def test_a_rate_is_the_ratio_of_sums() -> None:
    moments = grid("EDF")
    sums = np.sum([m.sums for m in moments], axis=0)
    queue_misses, update_misses, completions, _ = sums
    misses, request_success, am_success = summarised(moments).rows[0].estimates
    assert misses.value == pytest.approx((queue_misses + update_misses) / 40)
    assert request_success.value == pytest.approx(
        completions / (completions + queue_misses + update_misses)
    )
    assert am_success.value == pytest.approx(completions / (completions + update_misses))


def test_abnormal_ends_are_counted_per_policy() -> None:
    moments = [
        cell("EDF", 1, ends={"time limit": 7, "queue overflow": 3}),
        cell("EDF", 2, ends={"queue overflow": 2, "deadlock": 8}),
        cell("FIFO", 1),
        cell("FIFO", 2),
    ]
    edf, fifo = summarised(moments).rows
    assert edf.abnormal == {"deadlock": 8, "queue overflow": 5}
    assert fifo.abnormal == {}


def test_policies_run_on_different_cells_are_not_compared() -> None:
    moments = [*grid("EDF", "FIFO"), cell("EDF", 3)]
    with pytest.raises(ValueError, match=r"FIFO was not run with .*uniform 3, app masters 3"):
        summarised(moments)


def test_nothing_and_doubles_are_errors() -> None:
    with pytest.raises(ValueError, match="no results"):
        summarised([])
    with pytest.raises(ValueError, match="appears twice"):
        summarised([cell("EDF", 1), cell("EDF", 1)])
