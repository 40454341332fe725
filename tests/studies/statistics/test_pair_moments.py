import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.moments import Condition, PairedMoments, RunBatch, UnpairedRunsError, pair_up

HERE = Condition.of(arrivals="uniform 1", lengths="uniform 3", app_masters=2)
CUTS = st.lists(st.integers(0, 30), max_size=6)


def runs(n: int, seed: int) -> RunBatch:
    rng = np.random.default_rng(seed)
    return {REPLICATION: np.arange(n), "y": rng.integers(0, 99, n), "x": rng.integers(0, 99, n)}


def cut(batch: RunBatch, places: list[int]) -> list[RunBatch]:
    ends = [0, *sorted(places), len(batch[REPLICATION])]
    return [
        {name: column[first:end] for name, column in batch.items()}
        for first, end in itertools.pairwise(ends)
    ]


@settings(max_examples=60)
@given(edf=CUTS, fifo=CUTS, mdf=CUTS)
def test_however_the_runs_are_cut_the_moments_are_the_same(edf, fifo, mdf) -> None:
    whole = {"EDF": runs(30, 1), "FIFO": runs(30, 2), "MDF": runs(30, 3)}
    in_one = pair_up(HERE, {policy: [batch] for policy, batch in whole.items()})
    cuts = zip(whole.items(), (edf, fifo, mdf), strict=True)
    assert pair_up(HERE, {p: iter(cut(batch, places)) for (p, batch), places in cuts}) == in_one


def test_the_variance_reaches_across_policies() -> None:
    edf, fifo = runs(40, 1), runs(40, 2)
    moments = pair_up(HERE, {"EDF": [edf], "FIFO": [fifo]})
    weights = {**moments.of_policy("EDF", {"y": 1}), **moments.of_policy("FIFO", {"y": -2})}
    combined = edf["y"] - 2 * fifo["y"]
    assert float(moments.mean_of(weights)) == pytest.approx(combined.mean(), rel=1e-14)
    assert float(moments.variance_of(weights)) == pytest.approx(combined.var(ddof=1), rel=1e-12)
    assert isinstance(moments.variance_of(weights), Fraction)


def test_other_replications_or_another_number_of_them_cannot_be_paired() -> None:
    shifted = {**runs(30, 2), REPLICATION: np.arange(1, 31)}
    with pytest.raises(UnpairedRunsError, match="EDF and FIFO do not have the same replications"):
        pair_up(HERE, {"EDF": [runs(30, 1)], "FIFO": [shifted]})
    with pytest.raises(UnpairedRunsError, match="FIFO: fewer runs than EDF"):
        pair_up(HERE, {"EDF": [runs(30, 1)], "FIFO": cut(runs(20, 2), [5])})
    with pytest.raises(UnpairedRunsError, match="no runs"):
        pair_up(HERE, {"EDF": [], "FIFO": [runs(0, 1)]})


def test_moments_of_different_conditions_or_policies_do_not_merge() -> None:
    columns = {"EDF": {"y": np.array([1])}, "FIFO": {"y": np.array([2])}}
    here = PairedMoments.from_columns(HERE, columns)
    there = PairedMoments.from_columns(
        Condition.of(arrivals="uniform 1", lengths="uniform 3", app_masters=3), columns
    )
    others = PairedMoments.from_columns(HERE, {"EDF": columns["EDF"], "MDF": columns["FIFO"]})
    for other in (there, others):
        with pytest.raises(ValueError, match="cannot merge"):
            here.merged(other)


def test_an_unknown_policy_is_an_error() -> None:
    moments = pair_up(HERE, {"EDF": [runs(3, 1)], "FIFO": [runs(3, 2)]})
    with pytest.raises(KeyError, match="no counter MDF:y"):
        moments.mean_of(moments.of_policy("MDF", {"y": 1}))
