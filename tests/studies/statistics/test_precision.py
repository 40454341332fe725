import math

import numpy as np
import pytest

from rebecsim.errors import UserError
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell
from rebecsim.studies.estimates import estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.precision import (
    FIRST_BATCH,
    Precision,
    next_replications,
    parse_precision,
    parse_precisions,
    reached_by,
)

SHARE = Metric("share", "Share", "jobs", "higher", {"y": 1}, {"y": 1, "x": 1})
MEAN = Metric("mean", "Mean", "jobs", "lower", {"y": 1})
RATES, SHARES = (4, 30), (0.3, 0.8)


def cell(size: int, runs: np.ndarray, policy: str = "EDF") -> CellMoments:
    columns = {"y": runs[:, 0], "x": runs[:, 1]}
    return CellMoments.from_columns(
        Cell.of(policy, arrivals="a", lengths="l", app_masters=size), columns, {"end": len(runs)}
    )


def drawn(rng: np.random.Generator, size: int, runs: int) -> np.ndarray:
    total = rng.poisson(RATES[size - 1], runs)
    done = rng.binomial(total, SHARES[size - 1])
    return np.stack([done, total - done], axis=1)


def run_until(target: Precision, seed: int, cap: int = 100_000) -> tuple[list[CellMoments], int]:
    """Go on until the target says to stop; the moments and the number of looks at them."""
    rng = np.random.default_rng(seed)
    moments: list[CellMoments] = []
    done = looks = 0
    while more := next_replications({"EDF": moments}, target, done, cap):
        new = [cell(size, drawn(rng, size, more)) for size in (1, 2)]
        moments = [a.merged(b) for a, b in zip(moments, new, strict=True)] if moments else new
        done += more
        looks += 1
    return moments, looks


@pytest.mark.parametrize(
    ("metric", "text"), [(MEAN, "2%"), (MEAN, "0.7 %"), (SHARE, "1%"), (SHARE, "0.5pp")]
)
def test_runs_go_on_until_the_interval_is_as_narrow_as_asked(metric, text) -> None:
    target = parse_precision(text, metric)
    moments, looks = run_until(target, seed=1)
    found = estimate(metric, moments)
    allowed = target.half_width * (found.value if target.is_relative else 1)
    assert found.half_width <= allowed
    # Not much narrower either: that would be runs for nothing.
    assert found.half_width > 0.75 * allowed
    assert looks <= 12


def test_the_same_runs_give_the_same_decisions() -> None:
    target = parse_precision("2%", MEAN)
    assert run_until(target, seed=5) == run_until(target, seed=5)


def test_the_cap_holds() -> None:
    moments, _ = run_until(parse_precision("0.1%", MEAN), seed=1, cap=333)
    assert moments[0].replications == 333
    assert next_replications({"EDF": moments}, parse_precision("0.1%", MEAN), 333, 333) is None
    assert next_replications({}, parse_precision("1%", MEAN), 0, 20) == 20


def test_the_first_batch_is_not_small_and_batches_grow() -> None:
    target = parse_precision("0.1%", MEAN)
    assert next_replications({}, target, 0, 10**6) == FIRST_BATCH
    assert next_replications({}, target, 1, 10**6) == FIRST_BATCH - 1
    rng = np.random.default_rng(2)
    few = {"EDF": [cell(1, drawn(rng, 1, 50))]}
    # Far from the target: twice as many runs in all.
    assert next_replications(few, target, 50, 10**6) == 50
    # A trifle from the target: at least a quarter more.
    half_width = estimate(MEAN, few["EDF"]).half_width
    near = Precision(MEAN, half_width * 0.99, is_relative=False)
    assert next_replications(few, near, 50, 10**6) == 13


def test_the_least_precise_policy_decides() -> None:
    exact = [cell(1, np.array([[9, 1], [10, 1]] * 50), "EDF")]
    rough = [cell(1, np.array([[0, 1], [20, 1]] * 50), "MDF")]
    target = parse_precision("5%", MEAN)
    assert next_replications({"EDF": exact}, target, 100, 10**6) is None
    assert next_replications({"EDF": exact, "MDF": rough}, target, 100, 10**6) == 100


def test_counters_that_never_varied_are_not_taken_for_certain() -> None:
    nothing = {"EDF": [cell(1, np.zeros((50, 2), dtype=int))]}
    for metric in (MEAN, SHARE):
        assert next_replications(nothing, parse_precision("1%", metric), 50, 10**6) == 50
    constant = {"EDF": [cell(1, np.tile([1, 1], (50, 1)))]}
    assert next_replications(constant, parse_precision("1%", MEAN), 50, 10**6) == 50
    # A large figure that never varied is precise enough.
    large = {"EDF": [cell(1, np.tile([40, 1], (50, 1)))]}
    assert next_replications(large, parse_precision("1%", MEAN), 50, 10**6) is None


def test_a_figure_that_is_0_in_every_run_does_not_go_to_the_limit() -> None:
    target, done, looks = parse_precision("1%", MEAN), 0, []
    never: list[CellMoments] = []
    while more := next_replications({"EDF": never}, target, done, 10_000):
        done += more
        never = [cell(size, np.tile([0, 3], (done, 1))) for size in (1, 2)]
        looks.append(done)
    # Of n runs without a case one concludes that fewer than 3 / n have any: 299 runs for 1 %.
    assert looks == [50, 100, 149, 187]
    found = reached_by("EDF", never, target)
    assert (found.is_reached, found.without_case, found.runs) == (True, True, 374)
    assert found.half_width == pytest.approx(1 - 0.05 ** (1 / 374))


def test_what_was_reached_is_the_target_exactly_when_the_runs_stop() -> None:
    for text in ("0.5%", "2%", "10%"):
        target = parse_precision(text, MEAN)
        for runs in (50, 200, 800, 3200):
            rng = np.random.default_rng(runs)
            moments = [cell(size, drawn(rng, size, runs)) for size in (1, 2)]
            found = reached_by("EDF", moments, target)
            stops = next_replications({"EDF": moments}, target, runs, 10**9) is None
            assert found.is_reached == stops == (found.half_width <= target.half_width)
            assert (found.replications, found.runs) == (runs, 2 * runs)


@pytest.mark.parametrize(
    ("metric", "text", "truth"),
    [(MEAN, "5%", 12.6), (MEAN, "2%", 12.6), (SHARE, "1pp", 25.2 / 34)],
)
def test_stopping_early_hardly_hurts_the_coverage(metric, text, truth) -> None:
    target, trials = parse_precision(text, metric), 400
    hits = 0
    for seed in range(trials):
        found = estimate(metric, run_until(target, seed)[0])
        hits += found.low <= truth <= found.high
    # Two points for stopping where the spread looks small, three binomial standard errors.
    assert hits / trials >= 0.95 - 0.02 - 3 * math.sqrt(0.95 * 0.05 / trials)


def test_targets_are_read_as_they_are_written() -> None:
    assert parse_precision("1%", MEAN) == Precision(MEAN, 0.01)
    assert parse_precision(" .5 % ", SHARE) == Precision(SHARE, 0.005)
    assert parse_precision("0.5pp", SHARE) == Precision(SHARE, 0.005, is_relative=False)
    assert parse_precision("1%", MEAN).text == "1 % of Mean"
    assert parse_precision("0.5pp", SHARE).text == "0.5 percentage points of Share"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "write a share of the estimate such as 1%"),
        ("-1%", "write a share"),
        ("1e3%", "write a share"),
        ("nan%", "write a share"),
        ("0%", "more than 0 and less than 100"),
        ("100%", "more than 0 and less than 100"),
        ("1pp", "Mean is not a share, .*; write 1% for"),
    ],
)
def test_bad_targets_are_explained(text, message) -> None:
    with pytest.raises(UserError, match=message):
        parse_precision(text, MEAN)


def test_several_targets_are_read_by_names() -> None:
    assert parse_precisions(" mean = 5% , share=0.5pp ", [SHARE, MEAN]) == (
        Precision(MEAN, 0.05),
        Precision(SHARE, 0.005, is_relative=False),
    )
    assert parse_precisions("1%", [SHARE, MEAN]) == (Precision(SHARE, 0.01),)
    assert parse_precisions("mean=1%", [SHARE, MEAN]) == (Precision(MEAN, 0.01),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("late=1%", "there is no figure 'late'; there are share, mean"),
        ("mean=1%, mean=2%", "mean is given twice"),
        ("1%,2%", "write several as in late=10%,turnaround=5%"),
        ("mean=1%,", "write several as in"),
        ("mean=", "write several as in"),
        ("mean=1pp", "Mean is not a share"),
        ("share=no", "write a share of the estimate"),
    ],
)
def test_bad_sets_of_targets_are_explained(text, message) -> None:
    with pytest.raises(UserError, match=message):
        parse_precisions(text, [SHARE, MEAN])


def test_misuse_is_an_error() -> None:
    target = parse_precision("1%", MEAN)
    with pytest.raises(ValueError, match="at least 2 replications"):
        next_replications({}, target, 0, 1)
    with pytest.raises(ValueError, match=r"EDF: .* does not have 60 replications"):
        next_replications({"EDF": [cell(1, np.ones((50, 2), dtype=int))]}, target, 60, 100)
    with pytest.raises(ValueError, match="must be positive"):
        Precision(MEAN, 0)
