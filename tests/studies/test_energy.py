import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters import Power, energy
from rebecsim.clusters.dispatch.energy import Hardware, by_policy_and_size, by_workload
from rebecsim.studies.cells import Cell
from rebecsim.studies.moments import CellMoments

POWER = Power(idle=[90.0, 20.5], busy=[200.0, 60.0, 0.1], time_unit=0.7)


def cell(busy_times, policy="EDF", arrivals="uniform 1"):
    """Moments of runs with these busy times, shape (runs, AppMasters)."""
    runs, size = np.shape(busy_times)
    columns = {f"busy_am{k + 1}": np.array(busy_times)[:, k] for k in range(size)}
    where = Cell.of(policy, arrivals=arrivals, lengths="uniform 3", app_masters=size)
    return CellMoments.from_columns(where, columns, {"time limit": runs})


def student(values):
    """Mean and standard error of one sample."""
    return np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))


@settings(max_examples=40)
@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(0, 50), min_size=size, max_size=size), min_size=2, max_size=6
        )
    )
)
def test_moments_give_what_the_runs_give(rows):
    busy = np.array(rows)
    [figures] = by_workload([cell(busy)], Hardware(50, power=POWER))
    mean, error = student(energy(POWER, busy, 50))
    assert figures.cluster.energy.value == pytest.approx(mean)
    assert figures.cluster.energy.standard_error == pytest.approx(error, abs=1e-9)
    mean, error = student(busy.mean(axis=1) / 50)
    assert figures.cluster.utilisation.value == pytest.approx(mean)
    assert figures.cluster.utilisation.standard_error == pytest.approx(error, abs=1e-12)
    for place, usage in enumerate(figures.each):
        mean, error = student(busy[:, place] / 50)
        assert usage.utilisation.value == pytest.approx(mean)
        assert usage.utilisation.standard_error == pytest.approx(error, abs=1e-12)
    total = sum(usage.energy.value for usage in figures.each)
    assert total == pytest.approx(figures.cluster.energy.value)


def test_energy_computed_by_hand():
    power = Power(idle=[100], busy=[200, 300], time_unit=2.0)
    [figures] = by_workload([cell([[4, 10, 0], [6, 10, 0]])], Hardware(10, power=power))
    assert [usage.energy.value for usage in figures.each] == [3000, 6000, 2000]
    assert figures.cluster.energy.value == 11000
    # am1 alone varies: 2800 and 3200 joules.
    assert figures.cluster.energy.standard_error == pytest.approx(200)
    assert figures.each[1].energy.half_width == 0
    assert figures.cluster.utilisation.value == pytest.approx(0.5)
    assert figures.cluster.energy.low >= 2 * 10 * 300
    assert figures.cluster.energy.high <= 2 * 10 * (200 + 300 + 200)


def test_intervals_stay_within_what_is_possible_even_if_idling_draws_more():
    power = Power(idle=[50], busy=[10])
    [figures] = by_workload([cell([[0], [10]])], Hardware(10, power=power))
    usage = figures.cluster
    assert (usage.energy.low, usage.energy.value, usage.energy.high) == (100, 300, 500)
    assert (usage.utilisation.low, usage.utilisation.high) == (0, 1)


def test_without_watts_there_is_no_energy_and_with_one_run_no_interval():
    [figures] = by_workload([cell([[5, 1]])], Hardware(10, speeds=(1.0, 0.5)))
    assert figures.cluster.energy is None
    assert all(usage.energy is None for usage in figures.each)
    assert [usage.utilisation.value for usage in figures.each] == [0.5, 0.1]
    assert figures.cluster.utilisation.low is None


def test_workloads_are_pooled_with_equal_weight_policies_and_sizes_are_not():
    cells = [
        cell([[2, 2], [4, 4]], "SJF"),
        cell([[10, 10]] * 8, "SJF", arrivals="uniform 2"),
        cell([[1], [1]], "SJF"),
        cell([[0], [0]], "EDF"),
    ]
    pooled = by_policy_and_size(cells, Hardware(10))
    assert [(each.policy, each.app_masters) for each in pooled] == [
        ("SJF", 1),
        ("SJF", 2),
        ("EDF", 1),
    ]
    two = pooled[1]
    assert (two.replications, len(two.workloads)) == (10, 2)
    assert two.cluster.utilisation.value == pytest.approx((0.3 + 1.0) / 2)
    assert [each.replications for each in by_workload(cells, Hardware(10))] == [2, 8, 2, 2]


def test_busy_times_must_have_been_counted():
    bare = CellMoments.from_columns(
        Cell.of("EDF", arrivals="a", lengths="l", app_masters=1),
        {"drops": np.array([1, 2])},
        {"time limit": 2},
    )
    with pytest.raises(KeyError, match="busy_am1"):
        by_workload([bare], Hardware(10))
