from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from rebecsim.actors import RandomScheduler, Streams
from rebecsim.clusters import (
    Configuration,
    Nondet,
    Power,
    UniformArrivals,
    UniformLengths,
    busy_time_variables,
    energy,
    rebeca_source,
    utilisation,
    windows,
)
from rebecsim.clusters.dispatch.configuration import cycled, speed_ratio
from rebecsim.clusters.dispatch.energy import busy_intervals
from rebecsim.clusters.dispatch.patterns import MAX_LENGTH
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import Tracer, simulate

SPEEDS = st.integers(1, 10_000).map(lambda hundredths: hundredths / 100)
TICKS = 40


def configuration(**changes) -> Configuration:
    values = {
        "policy": "EDF",
        "arrivals": UniformArrivals(count=1),
        "lengths": Nondet(minimum=1, maximum=6),
        "app_masters": 3,
        "queue_size": 6,
        "epsilon": 0.5,
    }
    return Configuration(**{**values, **changes})


def traced(config: Configuration, replication: int = 0):
    """Run a model once: its events, and the AppMasters' busy times if it counts them."""
    model = build_model(check_source(rebeca_source(config), "test.rebeca"))
    tracer = Tracer()
    scheduler = RandomScheduler(Streams((3, 4), replication), "fair")
    system = simulate(model, scheduler, until=TICKS - 1, tracer=tracer).system
    names = [f"am{number + 1}" for number in range(config.app_masters)]
    busy = [system.rebec(name).m_busy_time for name in names] if config.horizon else None
    return tracer.events, busy


# --- speeds ------------------------------------------------------------------------------------


def busy_time(length, speed):
    """How many time units a job occupies an AppMaster: ceil(length / speed), exactly."""
    return -(-length // speed_ratio(speed))


@settings(max_examples=200)
@given(st.integers(0, MAX_LENGTH), SPEEDS)
def test_busy_times_are_exact_ceilings(length, speed):
    units = busy_time(length, speed)
    exact = Fraction(Decimal(str(speed)))
    assert units * exact >= length > (units - 1) * exact or units == length == 0
    assert type(units) is int


@settings(max_examples=200)
@given(st.integers(0, MAX_LENGTH), SPEEDS)
def test_the_division_in_the_model_is_the_same_and_fits_32_bits(length, speed):
    ratio = speed_ratio(speed)
    dividend = length * ratio.denominator + ratio.numerator - 1
    assert dividend < 2**31
    assert dividend // ratio.numerator == busy_time(length, speed)


@pytest.mark.parametrize(
    ("length", "speed", "units"),
    [(6, 1.0, 6), (3, 2.0, 2), (1, 0.5, 2), (7, 1.1, 7), (21, 0.35, 60), (0, 0.5, 0)],
)
def test_busy_times_computed_by_hand(length, speed, units):
    assert math.ceil(21 / 0.35) == 61  # in floating point
    assert busy_time(length, speed) == units


def test_a_short_list_starts_again():
    assert cycled((1.0, 0.5), 5) == (1.0, 0.5, 1.0, 0.5, 1.0)
    assert cycled((1.0, 0.5), 1) == (1.0,)
    with pytest.raises(ValueError, match="cannot be cycled"):
        cycled((), 2)
    source = rebeca_source(configuration(speeds=(1.0, 0.25)))
    assert re.findall(r"AppMaster am\d\(rm\):\((.*)\);", source) == [
        "0, 1, 1",
        "1, 1, 4",
        "2, 1, 1",
    ]


@pytest.mark.parametrize(
    ("speeds", "message"),
    [
        ([0.0], "greater than or equal to 0.01"),
        ([100.5], "less than or equal to 100"),
        ([0.125], "at most 2 digits after the point, found 0.125"),
        (["1"], "valid number"),
        ([float("nan")], "finite"),
    ],
)
def test_speeds_that_make_no_sense_are_refused(speeds, message):
    with pytest.raises(ValidationError, match=message):
        configuration(speeds=speeds)


def test_only_described_hardware_is_in_the_model():
    plain = rebeca_source(configuration())
    for word in ("speed", "m_busy_time", "HORIZON"):
        assert word not in plain
    assert "m_busy_time" not in rebeca_source(configuration(speeds=(2.0,)))
    measured = rebeca_source(configuration(horizon=TICKS))
    assert "speed" not in measured
    assert f"env int HORIZON = {TICKS};" in measured
    check_source(measured, "model.rebeca")


def test_measuring_changes_no_run():
    plain, _ = traced(configuration())
    measured, _ = traced(configuration(horizon=TICKS))
    assert [(e.time, e.rebec, e.server, e.arguments) for e in plain] == [
        (e.time, e.rebec, e.server, e.arguments) for e in measured
    ]


@pytest.mark.parametrize(
    ("speed", "needed"), [(2.0, 2), (1.0, 3), (0.76, 4), (0.75, 4), (0.74, 5), (0.5, 6)]
)
def test_a_job_misses_when_its_busy_time_exceeds_the_time_it_has(speed, needed):
    # Length 3 and epsilon 0.4: 4 time units when it is dispatched, at time 1.
    events, _ = traced(
        configuration(lengths=UniformLengths(length=3), epsilon=0.4, speeds=(speed,), app_masters=1)
    )
    first = next(event for event in events if event.server == "update")
    assert first.arguments == (0, needed > 4)
    assert first.arrival == 1 + min(needed, 4)


# --- busy time, utilisation, energy ---------------------------------------------------------------


@pytest.mark.parametrize("speeds", [(), (1.0,), (0.5, 2.0), (0.3,)])
@pytest.mark.parametrize("replication", [0, 1, 2])
def test_the_busy_time_in_the_model_is_that_of_the_trace(speeds, replication):
    events, busy = traced(configuration(speeds=speeds, horizon=TICKS), replication)
    shares = utilisation([events], 3, TICKS)
    assert set(np.unique(shares)) <= {0.0, 1.0}
    assert shares.sum(axis=1).tolist() == busy
    assert max(busy) > 0


def test_a_run_that_goes_on_after_the_horizon_counts_nothing_more():
    _, whole = traced(configuration(horizon=10))
    shares = utilisation([traced(configuration())[0]], 3, TICKS)
    assert whole == shares[:, :10].sum(axis=1).tolist()


def test_busy_intervals_are_apart_and_cut_off_at_the_end():
    events, _ = traced(configuration())
    by_worker = {}
    for app_master, begin, end in busy_intervals(events, TICKS):
        assert 0 <= begin < end <= TICKS
        assert begin >= by_worker.get(app_master, 0)
        by_worker[app_master] = end
    assert set(by_worker) == {"am1", "am2", "am3"}
    assert any(end == TICKS for end in by_worker.values())


def test_utilisation_is_the_mean_over_runs():
    runs = [traced(configuration(), number)[0] for number in range(4)]
    single = [utilisation([events], 3, TICKS) for events in runs]
    assert utilisation(runs, 3, TICKS) == pytest.approx(np.mean(single, axis=0))
    with pytest.raises(ValueError, match="no runs"):
        utilisation([], 3, TICKS)
    with pytest.raises(KeyError):
        utilisation(runs, 2, TICKS)


def test_windows_are_means_and_the_last_may_be_shorter():
    shares = np.array([[1.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 1.0]])
    assert windows(shares, 2).tolist() == [[0.5, 1.0, 1.0], [0.0, 0.0, 1.0]]
    assert windows(shares, 5).tolist() == [[0.8], [0.2]]
    assert windows(shares, 9).tolist() == [[0.8], [0.2]]


def test_energy_computed_by_hand():
    power = Power(idle=[100], busy=[200, 300], time_unit=2.0)
    # am1: 4 at 200, 6 at 100; am2: 10 at 300; am3 like am1: 0 at 200, 10 at 100. Twice: seconds.
    joules = energy(power, np.array([[4, 10, 0], [0, 0, 0]]), ticks=10)
    assert joules.tolist() == [2 * (1400 + 3000 + 1000), 2 * 3000]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=5))
def test_energy_lies_between_idle_and_busy(busy_times):
    power = Power(idle=[90.0, 20.0], busy=[200.0, 70.0])
    everyone = np.array([busy_times])
    low, high = (energy(power, np.full_like(everyone, units), 50)[0] for units in (0, 50))
    assert low <= energy(power, everyone, 50)[0] <= high


def test_energy_needs_the_power_draw_and_busy_times_within_the_run():
    with pytest.raises(ValueError, match="not given"):
        energy(Power(), np.array([[1]]), 10)
    power = Power(idle=[1], busy=[2])
    for wrong in (-1, 11):
        with pytest.raises(ValueError, match="between 0 and 10"):
            energy(power, np.array([[wrong]]), 10)
    with pytest.raises(ValidationError, match="both idle and busy"):
        Power(idle=[1])
    with pytest.raises(ValidationError, match=r"greater than or equal to 0\.001"):
        Power(idle=[1], busy=[2], time_unit=0)


def test_the_variables_to_observe_are_those_of_the_app_masters():
    assert busy_time_variables(2) == ("am1.m_busy_time", "am2.m_busy_time")
