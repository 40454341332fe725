import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

from rebecsim.studies.cells import Cell
from rebecsim.studies.moments import CellMoments

CELL = Cell.of("EDF", arrivals="uniform 1", lengths="nondet 1..6", app_masters=3)
COUNTERS = ("completions", "misses")
BATCHES = st.lists(
    npst.arrays(
        np.int32,
        st.tuples(st.integers(0, 6), st.just(len(COUNTERS))),
        elements=st.integers(-(2**31), 2**31 - 1),
    ),
    min_size=1,
    max_size=5,
)


def moments(batch: np.ndarray) -> CellMoments:
    columns = dict(zip(COUNTERS, batch.T, strict=True))
    return CellMoments.from_columns(CELL, columns, {"time limit": len(batch)})


def merge(parts: list[CellMoments]) -> CellMoments:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merged(part)
    return whole


@settings(max_examples=60)
@given(batches=BATCHES, randomness=st.randoms(use_true_random=False))
def test_neither_batches_nor_their_order_change_anything(batches, randomness) -> None:
    whole = moments(np.concatenate(batches))
    shuffled = randomness.sample(batches, len(batches))
    assert merge([moments(batch) for batch in shuffled]) == whole
    # Grouped from the right as well.
    right = moments(shuffled[-1])
    for batch in shuffled[-2::-1]:
        right = moments(batch).merged(right)
    assert right == whole


def test_means_and_variances_are_those_of_numpy() -> None:
    raw = np.random.default_rng(3).integers(0, 100, size=(50, 2))
    summary = moments(raw)
    combined = raw @ [2, -3]
    weights = {"completions": 2, "misses": -3}
    assert float(summary.mean_of(weights)) == pytest.approx(combined.mean(), rel=1e-14)
    assert float(summary.variance_of(weights)) == pytest.approx(combined.var(ddof=1), rel=1e-12)


def test_a_tiny_spread_on_a_huge_level_is_exact() -> None:
    raw = np.array([[10**9, 1], [10**9 + 1, 1]], dtype=np.int64)
    assert moments(raw).variance_of({"completions": 1}) == Fraction(1, 2)
    assert moments(raw).variance_of({"misses": 1}) == 0


def test_sums_beyond_64_bits_are_exact() -> None:
    largest = 2**63 - 1
    raw = np.array([[largest, -(2**63)]] * 3, dtype=np.int64)
    summary = moments(raw)
    assert summary.sums == (3 * largest, -3 * 2**63)
    assert summary.products[0][1] == -3 * largest * 2**63
    unsigned = {"completions": np.array([2**64 - 1], dtype=np.uint64)}
    assert CellMoments.from_columns(CELL, unsigned, {"time limit": 1}).sums == (2**64 - 1,)


def test_outcomes_add_up_and_are_read_only() -> None:
    one = CellMoments.from_columns(CELL, {"a": np.array([1, 2])}, {"time limit": 1, "deadlock": 1})
    both = one.merged(CellMoments.from_columns(CELL, {"a": np.array([3])}, {"deadlock": 1}))
    assert both.outcomes == {"deadlock": 2, "time limit": 1}
    with pytest.raises(TypeError):
        both.outcomes["deadlock"] = 0  # type: ignore[index]
    assert pickle.loads(pickle.dumps(both)) == both


@pytest.mark.parametrize(
    ("columns", "outcomes", "message"),
    [
        ({}, {}, "arrays of one shape"),
        ({"a": np.zeros((2, 2), int)}, {"end": 2}, "arrays of one shape"),
        ({"a": np.zeros(2, int), "b": np.zeros(3, int)}, {"end": 2}, "arrays of one shape"),
        ({"a": np.array([1.0, np.nan])}, {"end": 2}, "counter a is not of finite numbers"),
        ({"a": np.zeros(2, int)}, {"end": 1}, "2 runs but outcomes of 1"),
    ],
)
def test_bad_columns_are_refused(columns, outcomes, message) -> None:
    with pytest.raises(ValueError, match=message):
        CellMoments.from_columns(CELL, columns, outcomes)


def test_moments_of_different_cells_or_counters_do_not_merge() -> None:
    here = CellMoments.from_columns(CELL, {"a": np.array([1])}, {"end": 1})
    other_cell = Cell.of("FIFO", arrivals="uniform 1", lengths="nondet 1..6", app_masters=3)
    for cell, counter in ((other_cell, "a"), (CELL, "b")):
        there = CellMoments.from_columns(cell, {counter: np.array([1])}, {"end": 1})
        with pytest.raises(ValueError, match="cannot merge"):
            here.merged(there)


def test_ill_formed_moments_are_refused() -> None:
    with pytest.raises(ValueError, match="named twice"):
        CellMoments(CELL, ("a", "a"), 0, (0, 0), ((0, 0), (0, 0)), {})
    with pytest.raises(ValueError, match="1 counters need 1 sums"):
        CellMoments(CELL, ("a",), 0, (0,), ((0, 0),), {})


def test_too_few_runs_and_unknown_counters_are_errors() -> None:
    nothing = moments(np.zeros((0, 2), dtype=np.int32))
    one = moments(np.zeros((1, 2), dtype=np.int32))
    with pytest.raises(ValueError, match=r"a mean needs at least 1 run\(s\)"):
        nothing.mean_of({"misses": 1})
    with pytest.raises(ValueError, match=r"a variance needs at least 2 run\(s\)"):
        one.variance_of({"misses": 1})
    with pytest.raises(KeyError, match="no counter drops; recorded are completions, misses"):
        one.mean_of({"drops": 1})
