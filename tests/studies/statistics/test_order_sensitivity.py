import numpy as np
import pytest

from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell
from rebecsim.studies.estimates import estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.summary import order_envelopes

MEAN = Metric("mean", "Mean", "jobs", "lower", {"y": 1})
SHARE = Metric("share", "Share", "jobs", "higher", {"y": 1}, {"y": 1, "x": 1})


def cells(**y: list[int]) -> list[CellMoments]:
    return [
        CellMoments.from_columns(
            Cell.of(policy, arrivals="a", lengths="l", app_masters=1),
            {"y": np.array(runs), "x": np.ones(len(runs), dtype=int)},
            {"end": len(runs)},
        )
        for policy, runs in y.items()
    ]


def test_the_envelope_goes_from_the_lowest_to_the_highest_order() -> None:
    orders = {
        "random": cells(EDF=[24, 26], MDF=[10, 10]),
        "updates-first": cells(EDF=[20, 20], MDF=[10, 10]),
        "ticks-first": cells(EDF=[29, 31], MDF=[9, 10]),
    }
    found = order_envelopes(orders, [MEAN, SHARE])
    assert [(e.metric, e.policy) for e in found] == [
        (m, p) for m in (MEAN, SHARE) for p in ("EDF", "MDF")
    ]
    edf, mdf, *_ = found
    assert (edf.lowest, edf.highest, edf.width) == ("updates-first", "ticks-first", 10)
    assert (mdf.lowest, mdf.highest, mdf.width) == ("ticks-first", "random", 0.5)
    assert edf.reference == estimate(MEAN, orders["random"][:1])
    assert edf.by_order["ticks-first"] == estimate(MEAN, orders["ticks-first"][:1])


def test_undefined_figures_are_no_ends() -> None:
    nothing = CellMoments.from_columns(
        Cell.of("EDF", arrivals="a", lengths="l", app_masters=1),
        {"y": np.zeros(2, int), "x": np.zeros(2, int)},
        {"end": 2},
    )
    (some,) = order_envelopes({"random": [nothing], "fifo": cells(EDF=[1, 1])}, [SHARE])
    assert some.lowest == some.highest == "fifo"
    (none,) = order_envelopes({"random": [nothing]}, [SHARE])
    assert none.lowest is none.highest is None
    assert none.width == 0


def test_orders_must_be_comparable() -> None:
    assert order_envelopes({}, [MEAN]) == ()
    with pytest.raises(ValueError, match="in random order as well"):
        order_envelopes({"fifo": cells(EDF=[1, 2])}, [MEAN])
    with pytest.raises(ValueError, match="different cells"):
        order_envelopes({"random": cells(EDF=[1, 2]), "fifo": cells(MDF=[1, 2])}, [MEAN])
