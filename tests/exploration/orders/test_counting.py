"""Counters are no part of a state where nothing depends on them."""

from __future__ import annotations

import pytest

from rebecsim.exploration.analysis.footprints import counters_of
from rebecsim.exploration.orders import GOALS, Quantity, exact_orders
from rebecsim.exploration.orders.quantities import counted_of
from rebecsim.generate import build_model
from rebecsim.lang import check_source

MODEL = """
reactiveclass Base(5) {
    statevars { int n; int m; boolean b; }
    void also() { %s }
}
reactiveclass Clock extends Base(5) {
    knownrebecs { Clock other; }
    Clock(int first) { n = first; m = n; self.tick(1); }
    msgsrv tick(int k) { %s self.tick(k) after(1); }
}
main { Clock a(b):(1); Clock b(a):(2); }
"""


def checked_model(statement: str, also: str = ""):
    return check_source(MODEL % (also, statement), "clocks.rebeca")


@pytest.mark.parametrize(
    "statement",
    [
        "n++;",
        "--n;",
        "n += k;",
        "n -= ?(1, 2);",
        "n = n + m;",
        "n = n - k + m * 2;",
        "if (b) { n = n - k; }",
        "",
    ],
)
def test_what_is_only_added_to_is_a_counter(statement):
    assert "n" in counters_of(checked_model(statement))[0]


@pytest.mark.parametrize(
    "statement",
    [
        "n = k;",
        "n = n * 2;",
        "n += n;",
        "n = n + (n + 1);",
        "n = k + n;",
        "n = n - (k - n);",
        "n = n * 2 + k;",
        "m += n;",
        "k = n++;",
        "if (n > 3) { b = true; }",
        "self.tick(n) after(2);",
        "assertion(n < 9);",
        "for (int i = 0; i < 2; n++) { i++; }",
        "{ int n = m; self.n = n + 1; }",
        "delay(n);",
    ],
)
def test_what_is_read_is_none(statement):
    for there in ((statement, ""), ("", statement)):
        if "k" in statement and there[1]:
            continue  # only the message server has it
        assert all("n" not in each for each in counters_of(checked_model(*there)))


def test_only_integers_count():
    assert counters_of(checked_model("b = true;"))[0] == {"n", "m"}


@pytest.mark.parametrize(
    ("asked", "counters", "is_sum"),
    [
        ([Quantity("final", "a.n")], 4, [True]),
        ([Quantity("increase", "-(a.n * 3 - b.n) + 2 * b.m")], 4, [True]),
        ([Quantity("final", "a.n * -2.5 + 3 * b.n")], 4, [True]),
        ([Quantity("final", "a.n * 2.5f")], 3, [False]),
        ([Quantity("final", "a.n + 1")], 3, [False]),
        ([Quantity("final", "a.n * b.n")], 2, [False]),
        ([Quantity("reached", "a.n == 3")], 3, [False]),
        ([Quantity("goes wrong")], 4, [False]),
        ([Quantity("final", "a.n + b.n"), Quantity("final", "b.n + b.m"),
          Quantity("reached", "a.n > 1")], 1, [False, False, False]),
    ],
)  # fmt: skip
def test_a_quantity_is_added_up_or_reads_states(asked, counters, is_sum):
    counted = counted_of(checked_model("n++;"), asked)
    assert len(counted.counters) == counters
    assert [each is not None for each in counted.sums] == is_sum


def test_states_do_not_grow_with_what_is_counted():
    checked = checked_model("n += ?(1, 2);")
    model = build_model(checked, "clocks")
    found = exact_orders(model, [Quantity("final", "a.n + b.n")], 9, checked=checked)
    assert found.figures["states"] == 31  # three for each time, and the first of the time behind
    assert [found.values[0][goal] for goal in GOALS] == pytest.approx([33, 33, 33])


def test_numbers_that_may_wrap_are_not_added_up():
    """The models's own arithmetic is kept where a sum could become larger than an int."""
    checked = checked_model("n += 2147483600;")
    model = build_model(checked, "clocks")
    found = exact_orders(model, [Quantity("final", "a.n")], 1, checked=checked)
    assert [found.values[0][goal] for goal in GOALS] == [2 * 2147483600 + 1 - 2**32] * 3
