import math

import numpy as np
import pytest
import scipy  # loads its parts when they are used

from rebecsim.metrics import Metric
from rebecsim.studies.differences import detectable_difference, pairwise_differences, runs_to_show
from tests.studies.statistics.paired_cells import paired

MEAN = Metric("mean", "Mean", "jobs", "lower", {"y": 1})


def power_of(difference: float, spread: float, runs: int, significance: float) -> float:
    """Exact power of the paired t-test, from the noncentral t distribution."""
    shift = abs(difference) * math.sqrt(runs) / spread
    critical = scipy.stats.t.ppf(1 - significance / 2, runs - 1)
    return float(
        scipy.stats.nct.sf(critical, runs - 1, shift)
        + scipy.stats.nct.cdf(-critical, runs - 1, shift)
    )


@pytest.mark.parametrize("difference", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("significance", [0.05, 0.05 / 6])
def test_the_number_of_runs_has_the_wanted_power(difference, significance) -> None:
    runs = runs_to_show(difference, spread=1, strata=1, significance=significance)
    assert power_of(difference, 1, runs, significance) == pytest.approx(0.8, abs=0.03)
    assert power_of(difference, 1, runs - 2, significance) < 0.8


def test_a_textbook_case() -> None:
    # Normal theory: (1.960 + 0.842)^2 / 0.5^2 = 31.4; Student's quantiles add about two.
    assert runs_to_show(0.5, 1, 1, 0.05) == 34


def test_what_is_detectable_is_what_so_many_runs_show() -> None:
    for runs in (5, 30, 400):
        found = detectable_difference(2 / math.sqrt(runs), runs - 1, 0.05)
        assert runs_to_show(found * 1.0001, spread=2, strata=1, significance=0.05) == runs
        assert runs_to_show(found * 0.9999, spread=2, strata=1, significance=0.05) == runs + 1


def test_no_number_of_runs_shows_nothing() -> None:
    assert runs_to_show(0, 1, 1, 0.05) is None
    assert runs_to_show(1e-9, 1, 1, 0.05) is None
    assert runs_to_show(100, 1, 1, 0.05) == 2


@pytest.mark.parametrize(("significance", "power"), [(0, 0.8), (1, 0.8), (0.05, 0.4), (0.05, 1)])
def test_impossible_demands_are_refused(significance, power) -> None:
    with pytest.raises(ValueError, match="must be"):
        detectable_difference(1, 10, significance, power)


def test_so_many_runs_do_show_it_in_four_cases_of_five() -> None:
    rng = np.random.default_rng(11)

    def runs(n: int) -> dict[str, np.ndarray]:
        common = rng.poisson(20, size=(n, 1))
        return {p: common + rng.poisson(r, size=(n, 2)) for p, r in (("A", 10), ("B", 11))}

    # The true difference is 1 and its variance 21.
    needed = runs_to_show(1, math.sqrt(21), 1, 0.05)
    trials = 300
    shown = sum(
        pairwise_differences([MEAN], paired(runs(needed)))[0].is_shown for _ in range(trials)
    )
    assert shown / trials == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / trials))
