import csv
import io
import itertools
import math

import numpy as np
import pytest

from rebecsim.clusters.dispatch.measures import DEADLINE_MISSES, JOB_REQUEST_SUCCESS
from rebecsim.metrics import Metric
from rebecsim.report import (
    extreme_tables,
    no_orders_note,
    order_sentences,
    order_tables,
    orders_csv,
    pair_sentence,
    render_html,
)
from rebecsim.studies.cells import Cell
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.summary import OrderEnvelope


def estimate(value: float, half: float | None) -> Estimate:
    if half is None or math.isnan(value):
        return Estimate(value, None, None, None, 0.95, None)
    # Infinitely many degrees of freedom: the quantile is the normal one.
    return Estimate(value, half / 1.959963984540054, value - half, value + half, 0.95, math.inf)


def envelope(
    policy: str,
    random: float,
    updates: float,
    ticks: float,
    metric: Metric = DEADLINE_MISSES,
    half: float | None = 0.1,
) -> OrderEnvelope:
    values = {"random": random, "updates-first": updates, "ticks-first": ticks}
    return OrderEnvelope(metric, policy, {o: estimate(v, half) for o, v in values.items()})


def compared(
    envelopes: list[OrderEnvelope], shown: float | None
) -> dict[str, list[PairDifference]]:
    """All pairs under each order; shown to differ by more than `shown`, not compared if None."""
    if shown is None:
        return {order: [] for order in envelopes[0].by_order}
    found: dict[str, list[PairDifference]] = {}
    for order in envelopes[0].by_order:
        for one, other in itertools.combinations(envelopes, 2):
            apart = one.by_order[order].value - other.by_order[order].value
            p = 0.001 if abs(apart) > shown else 0.5
            pair = PairDifference(
                one.metric, one.policy, other.policy, 30, estimate(apart, 0.01), p, p, 1
            )
            found.setdefault(order, []).append(pair)
    return found


EDF = envelope("EDF", 24.7, 19.8, 29.2)
MDF = envelope("MDF", 22.8, 22.5, 23.0)


def test_the_table_names_the_orders_of_the_ends() -> None:
    (table,) = extreme_tables([EDF, MDF])
    assert table.rows[0] == (
        "EDF",
        ("24.70 ± 0.10", "19.80 ± 0.10 (updates-first)", "29.20 ± 0.10 (ticks-first)"),
    )
    (table,) = order_tables([EDF, MDF])
    headings = ("Policy", "Lowest to highest", "random", "updates-first", "ticks-first")
    assert table.headings == headings
    edf, mdf = table.rows
    assert edf[1][0] == "19.80 to 29.20"
    assert mdf == ("MDF", ("22.50 to 23.00", "22.80 ± 0.10", "22.50 ± 0.10", "23.00 ± 0.10"))


@pytest.mark.parametrize(
    ("envelopes", "shown", "sentence"),
    [
        (
            [EDF, MDF],
            0.2,
            "Deadline misses: the order of messages changes this figure by up to 9.40 jobs per "
            "run (EDF), the choice of policy by up to 1.90 jobs per run in random order; which "
            "policy is best depends on the order: MDF under random and ticks-first; EDF under "
            "updates-first.",
        ),
        (
            # A different policy is ahead, but not shown to be: that may be chance.
            [envelope("EDF", 24.7, 24.7, 24.7, half=2.0), envelope("MDF", 24, 25, 20, half=2.0)],
            2.0,
            "Deadline misses: the order of messages changes this figure by up to 5.00 jobs per "
            "run (MDF), the choice of policy by up to 0.70 jobs per run in random order; MDF may "
            "be best under every order.",
        ),
        (
            # Intervals overlap, but run by run one is better: that is what counts.
            [envelope("EDF", 24, 25, 24, half=2.0), envelope("FIFO", 24.7, 25.7, 24.7, half=2.0)],
            0.5,
            "Deadline misses: the order of messages changes this figure by up to 1.00 jobs per "
            "run (EDF), the choice of policy by up to 0.70 jobs per run in random order; EDF is "
            "best under every order.",
        ),
        (
            [envelope("EDF", 24, 25, 24, half=None), envelope("MDF", 25, 24, 25, half=None)],
            None,
            "Deadline misses: the order of messages changes this figure by up to 1.00 jobs per "
            "run (EDF), the choice of policy by up to 1.00 jobs per run in random order; which "
            "policy is best cannot be told from one run of each cell.",
        ),
        (
            [envelope("EDF", 30, 30, 30), envelope("FIFO", 30, 30, 30)],
            0.0,
            "Deadline misses: the order of messages changes this figure by up to 0.00 jobs per "
            "run, the choice of policy by up to 0.00 jobs per run in random order; EDF or FIFO may "
            "be best under every order.",
        ),
        (
            [
                envelope("EDF", 0.5, 0.52, 0.5, JOB_REQUEST_SUCCESS, 0.01),
                envelope("MDF", 0.7, 0.7, 0.71, JOB_REQUEST_SUCCESS, 0.01),
            ],
            0.02,
            "Job request success: the order of messages changes this figure by up to 2.0 "
            "percentage points (EDF), the choice of policy by up to 20.0 percentage points in "
            "random order; MDF is best under every order.",
        ),
        (
            [EDF],
            None,
            "Deadline misses: the order of messages changes this figure by up to 9.40 jobs per "
            "run.",
        ),
    ],
)
def test_a_sentence_says_what_is_the_policy_and_what_the_race(envelopes, shown, sentence) -> None:
    assert order_sentences(envelopes, compared(envelopes, shown)) == [sentence]


def test_the_best_policies_never_contradict_the_differences() -> None:
    # FIFO is ahead of nobody; its interval reaches that of EDF all the same.
    envelopes = [
        envelope("EDF", 24.0, 24.0, 24.0, half=1.0),
        envelope("LLF", 24.1, 24.1, 24.1, half=1.0),
        envelope("FIFO", 24.7, 24.7, 24.7, half=1.0),
    ]
    differences = compared(envelopes, 0.5)
    (sentence,) = order_sentences(envelopes, differences)
    assert sentence.endswith("EDF or LLF may be best under every order.")
    worse = next(each for each in differences["random"] if each.second == "FIFO")
    assert "EDF misses 0.70 fewer deadlines than FIFO" in pair_sentence(worse)


def test_a_run_in_another_order_says_why_no_orders_are_compared() -> None:
    assert no_orders_note("random") is None
    assert "served in the order ticks-first alone" in (no_orders_note("ticks-first") or "")


def test_undefined_figures_are_dashes() -> None:
    nothing = envelope("EDF", math.nan, math.nan, math.nan, JOB_REQUEST_SUCCESS)
    (table,) = order_tables([nothing])
    assert set(table.rows[0][1]) == {"\u2013"}
    (table,) = extreme_tables([nothing])
    assert set(table.rows[0][1]) == {"\u2013"}
    assert order_sentences([], {}) == order_tables([]) == []


def test_orders_are_compared_apart_for_patterns_that_are_told_apart(make_report) -> None:
    def cells(shift: int) -> list[CellMoments]:
        return [
            CellMoments.from_columns(
                Cell.of(policy, arrivals=arrivals, lengths="uniform 3", app_masters=1),
                {
                    "queue_misses": np.array([misses, misses + 2]) + shift,
                    "update_misses": np.array([0, 0]),
                    "completions": np.array([9, 8]),
                },
                {"time limit": 2},
            )
            for arrivals, misses in (("uniform 1", 10), ("uniform 2", 90))
            for policy in ("EDF", "FIFO")
        ]

    orders = {"random": cells(0), "fifo": cells(3)}
    report = make_report(orders["random"], separate=("arrivals",), orders=orders)
    few, many = report.comparisons.values()
    assert [each.reference.value for each in few.envelopes[:2]] == [11, 11]
    assert [each.reference.value for each in many.envelopes[:2]] == [91, 91]
    rows = list(csv.DictReader(io.StringIO(orders_csv(report.comparisons))))
    assert [(row["arrivals"], row["fifo"]) for row in rows[:1] + rows[len(rows) // 2 :][:1]] == [
        ("uniform 1", "14.0"),
        ("uniform 2", "94.0"),
    ]
    page = render_html(report, [], [], {})
    for arrivals in ("uniform 1", "uniform 2"):
        assert f"Deadline misses by order of messages, arrivals {arrivals}" in page
        assert (
            f"Deadline misses, arrivals {arrivals}: the order of messages changes this figure"
            in page
        )
