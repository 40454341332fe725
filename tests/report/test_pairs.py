import math

import pytest

from rebecsim.clusters.dispatch.measures import AM_JOB_SUCCESS, DEADLINE_MISSES, JOB_REQUEST_SUCCESS
from rebecsim.metrics import Metric
from rebecsim.report import by_metric, method_notes, pair_notes, pair_sentence, power_sentence
from rebecsim.studies.differences import PairDifference, StatisticalPower, pairwise_differences
from rebecsim.studies.estimates import Estimate

CHECKPOINTS = Metric("checkpoints", "Checkpoints", "checkpoints per run", "lower", {"c": 1})
SPEED = Metric("speed", "Speed", "jobs per unit", "higher", {"c": 1}, {"t": 1})


def pair(
    metric: Metric = DEADLINE_MISSES,
    value: float = 3.1,
    half: float = 0.9,
    p: float = 0.001,
    power: StatisticalPower | None = None,
    **changes: object,
) -> PairDifference:
    # Infinitely many degrees of freedom: the quantile is the normal one.
    error = half / 1.959963984540054
    estimate = Estimate(value, error, value - half, value + half, 0.95, math.inf)
    settings = {"compared": 6, "power": power, **changes}
    return PairDifference(metric, "EDF", "MDF", 100, estimate, p, p, **settings)


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [
        (pair(), "MDF misses 3.1 fewer deadlines than EDF per run, 95 % interval 2.2 to 4.0."),
        (
            pair(value=-3.1),
            "EDF misses 3.1 fewer deadlines than MDF per run, 95 % interval 2.2 to 4.0.",
        ),
        (
            pair(JOB_REQUEST_SUCCESS, 0.0233, 0.0031),
            "EDF completes 2.3 percentage points more of its decided jobs than MDF, "
            "95 % interval 2.0 to 2.6.",
        ),
        (
            pair(AM_JOB_SUCCESS, -0.0233, 0.0031),
            "MDF completes 2.3 percentage points more of the jobs its AppMasters run than EDF, "
            "95 % interval 2.0 to 2.6.",
        ),
        (
            pair(CHECKPOINTS),
            "Checkpoints: lower with MDF than with EDF by 3.1 checkpoints per run, "
            "95 % interval 2.2 to 4.0.",
        ),
        (
            pair(SPEED),
            "Speed: higher with EDF than with MDF by 3.1 jobs per unit, 95 % interval 2.2 to 4.0.",
        ),
        # As many digits as the interval needs, and an end near zero does not read as zero.
        (
            pair(value=0.0312, half=0.009),
            "MDF misses 0.031 fewer deadlines than EDF per run, 95 % interval 0.022 to 0.040.",
        ),
        (
            pair(value=0.94, half=0.9),
            "MDF misses 0.94 fewer deadlines than EDF per run, 95 % interval 0.04 to 1.84.",
        ),
        (
            pair(value=2, half=0),
            "MDF misses 2.0 fewer deadlines than EDF per run, in all 100 runs of each cell alike.",
        ),
        (
            pair(value=0.3, p=0.4),
            "No significant difference was found between EDF and MDF "
            "(EDF minus MDF: 0.3, 95 % interval -0.6 to 1.2).",
        ),
        (
            pair(JOB_REQUEST_SUCCESS, -0.003, 0.006, 0.4),
            "No significant difference was found between EDF and MDF "
            "(EDF minus MDF: -0.3 percentage points, 95 % interval -0.9 to 0.3).",
        ),
        # Its own interval leaves out zero, but with the other pairs it may be chance.
        (
            pair(value=1.0, p=0.06),
            "No significant difference was found between EDF and MDF "
            "(EDF minus MDF: 1.0, 95 % interval 0.1 to 1.9).",
        ),
        (
            pair(value=0, half=0, p=1, is_identical=True),
            "No significant difference was found between EDF and MDF: all 100 runs of each cell "
            "gave the "
            "same figures.",
        ),
        (
            pair(value=2, half=0, p=0.5),
            "No significant difference was found between EDF and MDF: all 100 runs of each cell "
            "gave the "
            "same difference (EDF minus MDF: 2.0), but they are too few.",
        ),
        (
            pair(value=0, half=0, p=1),
            "No significant difference was found between EDF and MDF: in each cell all 100 runs "
            "gave the "
            "same difference, and these cancel out.",
        ),
        (
            PairDifference(
                SPEED, "EDF", "MDF", 9, Estimate(math.nan, None, None, None, 0.95, None)
            ),
            "EDF and MDF cannot be compared: a figure is undefined.",
        ),
    ],
)
def test_one_plain_sentence_per_pair(difference, sentence) -> None:
    assert pair_sentence(difference) == sentence


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [
        (
            pair(value=0.3, p=0.4, power=StatisticalPower(1234, 1.31, 0.05)),
            "100 runs per cell detect a difference of 1.3 in 80 % of cases; one as large as the "
            "observed 0.3 would need about 1,300.",
        ),
        (
            pair(JOB_REQUEST_SUCCESS, -0.003, 0.006, 0.4, StatisticalPower(97, 0.0123, 0.05)),
            "100 runs per cell detect a difference of 1.2 percentage points in 80 % of cases; "
            "one as "
            "large as the observed 0.3 percentage points would need about 97.",
        ),
        (
            pair(value=0.0021, p=1, power=StatisticalPower(10**7 + 1, 1.31, 0.05)),
            "100 runs per cell detect a difference of 1.3 in 80 % of cases; one as large as the "
            "observed 0.002 would need about 11,000,000.",
        ),
        (
            pair(value=1e-9, p=1, power=StatisticalPower(None, 1.31, 0.05)),
            "100 runs per cell detect a difference of 1.3 in 80 % of cases; for one as small as "
            "the "
            "observed, 1,000,000,000 would not do.",
        ),
        (
            pair(value=0, p=1, power=StatisticalPower(None, 1.31, 0.05)),
            "100 runs per cell detect a difference of 1.3 in 80 % of cases.",
        ),
        (pair(), None),
    ],
)
def test_an_undecided_pair_has_a_power_note(difference, sentence) -> None:
    assert power_sentence(difference) == sentence


def test_notes_say_what_interval_and_verdict_are_for() -> None:
    first, second = pair_notes([pair(), pair()])
    assert "Each 95 % interval is for its own pair." in first
    assert "decided for all 6 pairs of a figure together (Holm's procedure)" in second
    assert "the risk of any false claim is at most 5 %" in second
    assert len(pair_notes([pair(compared=1)])) == 1
    assert "Numbers of runs are rough" in pair_notes([pair(power=StatisticalPower(9, 1, 0.05))])[-1]
    assert pair_notes([]) == method_notes([]) == []
    methods = " ".join(method_notes([pair()]))
    for source in ("Law", "Holm", "Lachin", "do not hold jointly"):
        assert source in methods


def test_differences_are_grouped_by_metric() -> None:
    differences = [pair(), pair(CHECKPOINTS), pair(CHECKPOINTS)]
    groups = [(metric, len(pairs)) for metric, pairs in by_metric(differences)]
    assert groups == [(DEADLINE_MISSES, 1), (CHECKPOINTS, 2)]


def test_every_pair_of_real_runs_has_its_sentence(make_pairs) -> None:
    moments = make_pairs({"EDF": 20, "FIFO": 20, "MDF": 60})
    found = pairwise_differences([DEADLINE_MISSES], moments)
    sentences = [pair_sentence(each) for each in found]
    assert sentences[0].startswith(
        "No significant difference was found between EDF and FIFO: all 20 runs"
    )
    assert sentences[1].startswith("EDF misses ")
    assert "fewer deadlines than MDF per run, 95 % interval" in sentences[1]
