"""Who leads where: never against what the differences show."""

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.metrics import Metric
from rebecsim.report import answer_sentence
from rebecsim.studies.cells import Cell
from rebecsim.studies.differences import differences_apart, pairwise_differences
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.summary import Answer, answer_of
from tests.studies.statistics.paired_cells import paired

LESS = Metric("y", "Y", "", "lower", {"y": 1}, best="has the least")
MORE = Metric("rate", "Rate", "", "higher", {"y": 1}, {"x": 1})


def answered(
    metric: Metric, *conditions: dict[str, object], baseline: str | None = None, drawn: bool = True
) -> Answer:
    """The answer for one condition per mapping from policy to runs (y, x)."""
    pairs = paired(*conditions)
    moments = []
    for each, by_policy in zip(pairs, conditions, strict=True):
        for policy, runs in by_policy.items():
            y, x = np.array(runs, dtype=np.int64).reshape(-1, 2).T
            cell = Cell(policy, each.condition)
            outcomes = {"time limit": len(y)}
            found = CellMoments.from_columns(cell, {"y": y, "x": x}, outcomes)
            moments.append(found if drawn else _certain(found))
    return answer_of(metric, moments, pairs, ["app_masters"], baseline=baseline)


def _certain(moments: CellMoments) -> CellMoments:
    from dataclasses import replace

    return replace(moments, is_random=False)


FEW = [(1, 4), (2, 4), (1, 4), (2, 4), (1, 4), (2, 4), (1, 4), (2, 4)]
MANY = [(11, 20), (10, 20), (11, 20), (12, 20), (13, 20), (12, 20), (11, 20), (10, 20)]


def test_the_best_figure_leads_where_less_and_where_more_is_better() -> None:
    less = answered(LESS, {"A": FEW, "B": MANY}, {"A": MANY, "B": FEW})
    assert [each.leaders for each in less.standings] == [("A",), ("B",)]
    assert all(each.is_shown for each in less.standings)
    assert less.champions == ()
    assert less.varies
    more = answered(MORE, {"A": FEW, "B": MANY})
    assert more.standings[0].leaders == ("B",)
    assert more.champions == ("B",)
    assert not more.varies


def test_equal_figures_lead_together_and_nothing_is_shown() -> None:
    (only,) = answered(LESS, {"A": FEW, "B": FEW, "C": MANY}).standings
    assert only.leaders == ("A", "B")
    assert only.others == only.behind == ("C",)
    (same,) = answered(LESS, {"A": FEW, "B": FEW}).standings
    assert same.others == ()
    assert not same.is_shown


def test_what_is_not_tested_is_not_shown() -> None:
    (one_run,) = answered(LESS, {"A": FEW[:1], "B": MANY[:1]}).standings
    assert one_run.leaders == ("A",)
    assert not one_run.tested
    (exact,) = answered(LESS, {"A": FEW[:1], "B": MANY[:1]}, drawn=False).standings
    assert exact.behind == ("B",)
    answer = answered(LESS, {"A": FEW, "B": MANY, "C": MANY}, baseline="C")
    assert answer.standings[0].tested == ("C",)


def test_pairs_of_all_conditions_are_tested_together() -> None:
    pairs = paired({"A": FEW, "B": MANY}, {"A": MANY, "B": FEW})
    apart = differences_apart(LESS, [([each], True) for each in pairs])
    alone = [pairwise_differences([LESS], [each]) for each in pairs]
    for (together,), (single,) in zip(apart, alone, strict=True):
        assert together.p_value == single.p_value
        assert together.compared == 2
        assert together.adjusted_p_value >= single.adjusted_p_value
    worst = max(each.p_value for (each,) in alone)
    assert max(each.adjusted_p_value for (each,) in apart) == pytest.approx(
        max(worst, 2 * min(each.p_value for (each,) in alone))
    )


@st.composite
def _conditions(draw: st.DrawFn) -> list[dict[str, list[tuple[int, int]]]]:
    policies = "ABCD"[: draw(st.integers(1, 4))]
    runs = draw(st.integers(2, 6))
    numbers = st.tuples(st.integers(0, 3), st.integers(0, 3))
    shifts = st.sampled_from([0, 0, 20, 40])

    def cell() -> list[tuple[int, int]]:
        shift = draw(shifts)
        return [(shift + y, shift + x) for y, x in draw(_rows(numbers, runs))]

    return [{policy: cell() for policy in policies} for _ in range(draw(st.integers(1, 4)))]


def _rows(numbers: st.SearchStrategy, runs: int) -> st.SearchStrategy:
    return st.lists(numbers, min_size=runs, max_size=runs)


@given(_conditions(), st.sampled_from([LESS, MORE]), st.booleans())
def test_nobody_is_said_to_be_best_against_a_difference_that_is_shown(
    conditions, metric, with_baseline
) -> None:
    answer = answered(metric, *conditions, baseline="A" if with_baseline else None)
    sentence = answer_sentence(answer)
    for standing in answer.standings:
        shown = [pair for pair in standing.differences if pair.is_shown]
        worse = {({pair.first, pair.second} - {pair.better}).pop() for pair in shown}
        assert not worse & set(standing.leaders)
        # What is said to be shown of all is shown of all that was tested.
        if "Every difference is significant" in sentence or "Every lead" in sentence:
            assert standing.behind == standing.tested
    if found := re.match(r"([A-D]) has the least(?: at every app masters)?[;.]", sentence):
        assert all(found[1] in each.leaders for each in answer.standings)
    if not any(pair.is_shown for each in answer.standings for pair in each.differences):
        assert " is significant" not in sentence
