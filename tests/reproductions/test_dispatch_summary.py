import math

import pytest

from rebecsim.clusters.dispatch.measures import DEADLINE_MISSES, JOB_REQUEST_SUCCESS
from rebecsim.metrics import Metric
from rebecsim.studies.estimates import student_estimate
from reproductions.dispatch.comparison import ReproductionRow
from reproductions.dispatch.page import best_policies, mean_figures


def row(
    policy: str,
    published: float,
    ours: float,
    *,
    scenario: str = "for EDF",
    metric: Metric = DEADLINE_MISSES,
    error: float = 0.1,
    fair: float = 0.0,
    remeasured: float = 0.0,
) -> ReproductionRow:
    def estimated(value: float):
        return student_estimate(value, error, 99)

    return ReproductionRow(
        table="4.3",
        scenario=scenario,
        policy=policy,
        metric=metric,
        published=published,
        published_error=error,
        ours=estimated(ours),
        difference_in_standard_errors=0.0,
        remeasured=remeasured,
        fair=estimated(fair),
    )


def test_the_lowest_misses_and_the_highest_rate_are_best():
    rows = [
        row("EDF", 20, 20.1),
        row("EDF", 0.7, 0.7, metric=JOB_REQUEST_SUCCESS, error=0.001),
        row("MDF", 30, 30.1),
        row("MDF", 0.8, 0.8, metric=JOB_REQUEST_SUCCESS, error=0.001),
    ]
    misses, success = best_policies(rows)
    assert (misses.metric, misses.published, misses.ours) == (DEADLINE_MISSES, ("EDF",), ("EDF",))
    assert (success.published, success.ours) == (("MDF",), ("MDF",))
    assert misses.agreement == success.agreement == "yes"


def test_policies_that_cannot_be_told_apart_are_both_best():
    # Three standard errors of the difference are 3 * 0.1 * sqrt(2) = 0.42.
    (best,) = best_policies([row("EDF", 20.4, 20.5), row("MDF", 20, 20), row("FIFO", 21, 21)])
    assert best.published == ("EDF", "MDF")
    assert best.ours == ("MDF",)
    assert best.agreement == "partly"


def test_policies_may_disagree_and_laws_too():
    (best,) = best_policies([row("EDF", 10, 30, fair=5), row("MDF", 20, 20, fair=6)])
    assert (best.published, best.ours, best.fair) == (("EDF",), ("MDF",), ("EDF",))
    assert best.agreement == "no"


def test_an_undefined_figure_is_never_best():
    (best,) = best_policies([row("EDF", 10, math.nan), row("MDF", 20, 20)])
    assert best.ours == ("MDF",)
    (none,) = best_policies([row("EDF", 10, math.nan)])
    assert none.ours == ()


def test_scenarios_stay_apart_and_in_order():
    rows = [row("EDF", 1, 1), row("MDF", 5, 5)]
    rows += [row("EDF", 5, 5, scenario="a"), row("MDF", 1, 1, scenario="a")]
    found = [(each.scenario, each.published) for each in best_policies(rows)]
    assert found == [("for EDF", ("EDF",)), ("a", ("MDF",))]


def test_means_are_over_scenarios_with_the_same_weight():
    rows = [
        row("EDF", 10, 12, fair=14, remeasured=11),
        row("EDF", 20, 22, fair=24, remeasured=21, scenario="another"),
        row("MDF", 1, 2),
        row("MDF", 3, 4, scenario="another"),
    ]
    edf, mdf = mean_figures(rows)
    figures = (edf.published, edf.remeasured, edf.ours, edf.fair)
    assert figures == pytest.approx((15, 16, 17, 19))
    assert (mdf.policy, mdf.published, mdf.ours) == ("MDF", 2, 3)
