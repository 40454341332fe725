"""Replications have random streams of their own."""

import numpy as np
import pytest

from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import FIFO, OUTCOMES, RANDOM, MessageOrder, Observation
from tests.batches import run_batch

TEXT = """
reactiveclass Dice(4) {
    statevars { int sum; int rolls; }
    Dice() { self.roll(); }
    msgsrv roll() {
        sum += ?(1, 2, 3, 4, 5, 6);
        rolls++;
        assertion(sum < 60, "too much");
        self.roll() after(1);
    }
}
main { Dice dice():(); }
"""
MODEL = build_model(check_source(TEXT, "dice.rebeca"))
SEEN = Observation("dice", ("sum", "rolls"))


def batch(replications, **options):
    return run_batch(
        MODEL, SEEN, key=(3, 4), replications=replications, until=options.pop("until", 9), **options
    )


def test_results_do_not_depend_on_the_batch():
    whole = batch(range(100))
    parts = [batch(range(70, 100)), batch(range(70))]
    for name in SEEN.variables:
        joined = np.concatenate([parts[1].columns[name], parts[0].columns[name]])
        assert np.array_equal(whole.columns[name], joined)
    assert whole.columns["sum"].dtype == np.int32
    assert np.all(whole.columns["rolls"] == 10)
    assert len(set(whole.columns["sum"].tolist())) > 10


@pytest.mark.parametrize(("law", "mean"), [("fair", 3.5), ("rmc", 27 / 7)])
def test_the_choice_law_shows_in_the_mean(law, mean):
    sums = batch(range(2_000), choice_law=law).columns["sum"]
    error = np.std(sums, ddof=1) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - 10 * mean) < 4 * error


def test_outcomes_are_kept():
    outcomes = batch(range(50), until=40).outcomes
    assert {OUTCOMES[code] for code in outcomes} == {"assertion failed"}


def test_traces_on_request():
    traced = batch(range(5, 8), trace=True)
    assert [len(events) for events in traced.events] == [10, 10, 10]
    totals = [sum(event.choices[0] + 1 for event in events) for events in traced.events]
    assert totals == traced.columns["sum"].tolist()


def test_what_is_not_there_cannot_be_observed():
    with pytest.raises(KeyError):
        run_batch(MODEL, Observation("nobody", ()), key=(1, 1), replications=range(1), until=1)
    with pytest.raises(AttributeError):
        run_batch(MODEL, Observation("dice", ("x",)), key=(1, 1), replications=range(1), until=1)


RACE = """
reactiveclass Clock(9) {
    statevars { int unlucky; int lucky; int free; }
    Clock() { free = 1; self.tick(); self.update() after(1); self.update() after(2); }
    msgsrv tick() {
        if (free == 1) { lucky++; } else { unlucky++; }
        free = 0;
        self.tick() after(1);
    }
    msgsrv update() { free = 1; }
}
main { Clock clock():(); }
"""


@pytest.mark.parametrize(
    ("order", "expected"),
    [(MessageOrder(last="tick"), {3}), (MessageOrder(first="tick"), {2}), (RANDOM, {2, 3})],
)
def test_orders_decide_races_with_the_tick(order, expected):
    """At 1 and 2 an update and a tick meet; the tick is lucky when it comes second."""
    model = build_model(check_source(RACE, "race.rebeca"))
    batch = run_batch(
        model,
        Observation("clock", ("lucky",)),
        key=(1, 1),
        replications=range(60),
        until=2,
        order=order,
    )
    seen = set(batch.columns["lucky"].tolist())
    assert seen == expected


def test_the_fifo_order_is_that_of_sending():
    model = build_model(check_source(RACE, "race.rebeca"))
    seen = run_batch(
        model,
        Observation("clock", ("lucky",)),
        key=(1, 1),
        replications=range(5),
        until=2,
        order=FIFO,
    ).columns["lucky"]
    assert seen.tolist() == [3] * 5  # the updates were sent by the constructor, before the ticks
