from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.batch.policies.orders import Usage


@given(
    charges=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 1000)), max_size=20),
    half_life=st.none() | st.integers(1, 30),
    window=st.none() | st.integers(1, 40),
    origin=st.integers(-20, 0),
)
def test_usage_is_the_sum_of_what_is_left_of_every_charge(
    charges: list[tuple[int, int]], half_life: int | None, window: int | None, origin: int
) -> None:
    usage = Usage(half_life, window)
    usage.origin = origin
    now, made = 0, []
    for gap, amount in charges:
        now += gap
        usage.charge(1, amount, now)
        made.append((now, amount))
        expected = 0.0
        for time, each in made:
            if window is not None and time <= now - window:
                continue
            halvings = (
                (now - origin) // half_life - (time - origin) // half_life if half_life else 0
            )
            expected += each * 0.5**halvings
        assert usage.of(1, now) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert usage.of(2, now) == 0


@given(
    changes=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=12),
    half_life=st.none() | st.integers(1, 12),
    window=st.none() | st.integers(1, 40),
    origin=st.integers(-20, 0),
)
def test_usage_accrues_second_by_second(
    changes: list[tuple[int, int]], half_life: int | None, window: int | None, origin: int
) -> None:
    """Each change comes some seconds after the one before: how many processors are held."""
    usage = Usage(half_life, window)
    usage.origin = origin
    now, held = 0, 0
    seconds: list[tuple[int, int]] = []  # when each began, and the processors held in it
    for gap, width in changes:
        seconds += [(now + second, held) for second in range(gap)]
        now += gap
        usage.hold(1, width - held, now)
        held = width
        expected = 0.0
        for time, each in seconds:
            if window is not None and time < now - window:
                continue
            halvings = (
                (now - origin) // half_life - (time - origin) // half_life if half_life else 0
            )
            expected += each * 0.5**halvings
        assert usage.of(1, now) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_forgotten_user_is_as_good_as_new() -> None:
    usage = Usage(half_life=3, window=10)
    for time in range(5):
        usage.charge(1, 7, time)
    assert usage.of(1, 100) == 0
