"""Servers with equal shares: closed forms, a naive simulator, and what is conserved."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.mapreduce.shared_server import SharedServer

Arrival = tuple[int, int]
"""When, and how much."""

arrivals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), min_size=1, max_size=8)


def ends_of(server: SharedServer[int], demands: list[Arrival]) -> dict[int, int]:
    """Serve demands, named by their places; give when each is done."""
    ends: dict[int, int] = {}
    waiting = sorted(range(len(demands)), key=lambda place: demands[place][0])
    while True:
        coming = server.next_completion()
        if waiting and (coming is None or demands[waiting[0]][0] <= coming):
            place = waiting.pop(0)
            now, size = demands[place]
            server.add(place, size, now)
        elif coming is None:
            return ends
        else:
            ends |= dict.fromkeys(server.advance(coming), coming)


def naive_ends(servers: int, rate: int, demands: list[Arrival]) -> dict[int, int]:
    """Do the same with what is left of each demand, from one event to the next."""
    ends: dict[int, int] = {}
    left: dict[int, Fraction] = {}
    now, waiting = 0, sorted(range(len(demands)), key=lambda place: demands[place][0])
    while waiting or left:
        each = Fraction(rate * min(servers, len(left)), len(left)) if left else Fraction(0)
        times = [demands[waiting[0]][0]] if waiting else []
        times += [now + ceil(some / each) for some in left.values()]
        elapsed, now = min(times) - now, min(times)
        left = {place: some - each * elapsed for place, some in left.items()}
        while waiting and demands[waiting[0]][0] == now:
            place = waiting.pop(0)
            left[place] = Fraction(demands[place][1])
        ends |= {place: now for place, some in left.items() if some <= 0}
        left = {place: some for place, some in left.items() if some > 0}
    return ends


@pytest.mark.parametrize(
    ("servers", "demands", "ends"),
    [
        (1, [(0, 100)], [100]),
        (1, [(0, 100), (0, 100)], [200, 200]),
        (1, [(0, 100), (80, 100)], [120, 200]),
        (1, [(0, 100), (0, 50)], [150, 100]),
        (2, [(0, 100), (0, 100)], [100, 100]),
        (2, [(0, 100), (0, 100), (0, 100)], [150, 150, 150]),
        (8, [(0, 100), (3, 5), (3, 7)], [100, 8, 10]),
    ],
)
def test_closed_forms(servers: int, demands: list[Arrival], ends: list[int]) -> None:
    assert ends_of(SharedServer(servers, 1.0), demands) == dict(enumerate(ends))


@given(servers=st.integers(1, 3), rate=st.integers(1, 3), demands=arrivals)
def test_ends_are_those_of_a_naive_simulator(
    servers: int, rate: int, demands: list[Arrival]
) -> None:
    found = ends_of(SharedServer(servers, float(rate)), demands)
    assert found == naive_ends(servers, rate, demands)


@given(demands=arrivals, order=st.randoms())
def test_the_order_of_one_time_does_not_matter(demands: list[Arrival], order: object) -> None:
    shuffled = list(range(len(demands)))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    found = ends_of(SharedServer(2, 1.0), [demands[place] for place in shuffled])
    straight = ends_of(SharedServer(2, 1.0), demands)
    assert {shuffled[place]: end for place, end in found.items()} == straight


@given(demands=arrivals, servers=st.integers(1, 3))
def test_servers_are_busy_for_what_they_do(demands: list[Arrival], servers: int) -> None:
    server: SharedServer[int] = SharedServer(servers, 1.0)
    ends = ends_of(server, demands)
    work = sum(size for _, size in demands)
    assert work - 1e-6 <= server.busy <= work + servers * len(set(ends.values())) + 1e-6


@given(demands=arrivals.filter(lambda each: len(each) > 1))
def test_what_is_removed_delays_nobody_any_more(demands: list[Arrival]) -> None:
    last = max(now for now, _ in demands)
    server: SharedServer[int] = SharedServer(1, 1.0)
    other: SharedServer[int] = SharedServer(1, 1.0)
    for place, (_, size) in enumerate(demands):
        server.add(place, size + 1, 0)
        if place:
            other.add(place, size + 1, 0)
    server.remove(0, 0)
    assert server.advance(last) == other.advance(last)
    assert server.clear(last) == other.clear(last)
    assert len(server) == 0
    assert server.next_completion() is None
