"""What exact orders say in words: only what is so in every order, with digits that show it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.dispatch.orders.results import Bounds, ClusterValues, Counted, Worth
from rebecsim.clusters.dispatch.report.exact import answers_in_words
from rebecsim.studies.cells import Cell, Condition

Span = tuple[float, float]

TWO = Condition.of(app_masters=2)
NAMES = {TWO: "at 2 AppMasters"}
TICKS = 99


def worth(span: Span, counted: Counted = "deadline_misses", slack: float = 0.0) -> Worth:
    """Say what all orders come to, the least and the most known up to a slack."""
    low, high = span
    middle = (low + high) / 2
    goals = {
        "minimum": Bounds(low, low + slack),
        "expected": Bounds(middle, middle),
        "maximum": Bounds(high - slack, high),
    }
    return {counted: goals}


def values(worth: Worth, by_ticks: dict[int, Worth] | None = None) -> ClusterValues:
    return ClusterValues(TICKS, worth, by_ticks or {}, {})


def said(edf: ClusterValues, fifo: ClusterValues) -> tuple[str, ...]:
    return answers_in_words({Cell("EDF", TWO): edf, Cell("FIFO", TWO): fifo}, NAMES)


def test_the_better_policy_is_named_with_what_both_come_to():
    assert said(values(worth((48.12, 53.04))), values(worth((55.9, 64.23)))) == (
        "In no order of messages does FIFO miss fewer deadlines than EDF at 2 AppMasters: EDF 48.1 "
        "to 53.0, FIFO 55.9 to 64.2 (exact).",
        "So all comparisons of two policies are decided, whatever the order.",
    )


@pytest.mark.parametrize(
    ("counted", "sentence"),
    [
        ("deadline_misses", "does FIFO miss fewer deadlines than EDF at 2 AppMasters: EDF 1.0"),
        ("completions", "does EDF complete more jobs than FIFO at 2 AppMasters: FIFO 3.0"),
        ("energy", "does FIFO take less energy than EDF at 2 AppMasters: EDF 1.0 to 2.0 J, FIFO"),
    ],
)
def test_each_figure_has_its_own_better_side(counted, sentence):
    found = said(values(worth((1, 2), counted)), values(worth((3, 4), counted)))
    assert sentence in found[0]


def test_bounds_are_called_bounds():
    found = said(values(worth((1, 2), slack=0.3)), values(worth((3, 4))))
    assert found[0].endswith("EDF 1.0 to 2.0, FIFO 3.0 to 4.0 (up to bounds).")


def test_what_is_decided_for_the_first_ticks_only_says_for_how_many():
    known = {4: worth((0, 0)), 5: worth((1, 1.5))}, {4: worth((1, 1)), 5: worth((2, 2.5))}
    wide = worth((0, 90), slack=80)
    found = said(values(wide, known[0]), values(wide, known[1]))
    assert (
        "at 2 AppMasters in the first 5 ticks: EDF 1.0 to 1.5, FIFO 2.0 to 2.5 (exact)." in found[0]
    )


def test_as_many_digits_are_shown_as_tell_policies_apart():
    found = said(values(worth((48.1, 53.04))), values(worth((53.044, 64.2))))
    assert "EDF 48.100 to 53.040, FIFO 53.044 to 64.200" in found[0]


def test_errors_of_rounding_decide_nothing():
    (rest,) = said(values(worth((1.0, 1.0))), values(worth((1 + 1e-12, 2))))
    assert rest == (
        "Of 1 comparison of two policies, these are decided whatever the order: none by deadline "
        "misses. In the others some order may favour either, both come to the same, or too little "
        "is known."
    )


def test_one_policy_is_compared_with_nothing():
    assert answers_in_words({Cell("EDF", TWO): values(worth((1, 2)))}, NAMES) == ()


SPANS = st.tuples(
    st.integers(0, 10**7).map(lambda n: n / 10**4), st.integers(0, 10**4).map(lambda n: n / 10**4)
).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(SPANS, SPANS)
def test_a_sentence_is_said_where_spans_have_nothing_in_common(edf, fifo):
    sentence = said(values(worth(edf)), values(worth(fifo)))[0]
    is_apart = edf[1] < fifo[0] - 1e-6 or fifo[1] < edf[0] - 1e-6
    assert sentence.startswith("In no order") == is_apart
    if is_apart:
        numbers = [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*\.\d+", sentence)]
        places = re.findall(r"(EDF|FIFO) ([\d.,]+)(?: to ([\d.,]+))?", sentence.split(":")[1])
        (_, low, high), (_, other_low, _) = places
        assert float((high or low).replace(",", "")) < float(other_low.replace(",", ""))
        assert numbers == sorted(numbers)
