"""Networks of flows: closed forms, max-min fairness, a naive simulator, and both kinds of loops."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.mapreduce import network, network_loops
from rebecsim.clusters.mapreduce.network import FlowNetwork, RackTopology

Path = tuple[int, ...]
Flow = tuple[int, Path, int]
"""When it begins, over which links, and how many bytes."""

LINKS = 5
paths = st.lists(st.integers(0, LINKS - 1), min_size=1, max_size=4, unique=True).map(tuple)
capacities = st.lists(st.integers(1, 9), min_size=LINKS, max_size=LINKS)
flows = st.lists(st.tuples(st.integers(0, 20), paths, st.integers(1, 40)), min_size=1, max_size=7)


def naive_rates(capacities: list[int], paths: list[Path]) -> list[Fraction]:
    """Fill links flow by flow, exactly."""
    rates: dict[int, Fraction] = {}
    while len(rates) < len(paths):
        shares = []
        for link, capacity in enumerate(capacities):
            over = [each for each, path in enumerate(paths) if link in path]
            free = [each for each in over if each not in rates]
            if free:
                used = sum((rates[each] for each in over if each in rates), Fraction(0))
                shares.append((Fraction(capacity) - used) / len(free))
        least = min(shares)
        for link, capacity in enumerate(capacities):
            over = [each for each, path in enumerate(paths) if link in path]
            free = [each for each in over if each not in rates]
            used = sum((rates[each] for each in over if each in rates), Fraction(0))
            if free and (Fraction(capacity) - used) / len(free) == least:
                rates |= dict.fromkeys(free, least)
    return [rates[each] for each in range(len(paths))]


def ends_of(network: FlowNetwork[int], wanted: list[Flow]) -> dict[int, int]:
    """Send flows, named by their places; give when each ends."""
    ends: dict[int, int] = {}
    waiting = sorted(range(len(wanted)), key=lambda place: wanted[place][0])
    while True:
        coming = network.next_completion()
        if waiting and (coming is None or wanted[waiting[0]][0] <= coming):
            place = waiting.pop(0)
            now, path, size = wanted[place]
            network.start(place, path, size, now)
        elif coming is None:
            return ends
        else:
            ends |= dict.fromkeys(network.advance(coming), coming)


def naive_ends(capacities: list[int], wanted: list[Flow]) -> dict[int, int]:
    """Do the same with what is left of each flow, from one event to the next."""
    ends: dict[int, int] = {}
    left: dict[int, Fraction] = {}
    now, waiting = 0, sorted(range(len(wanted)), key=lambda place: wanted[place][0])
    while waiting or left:
        rates = dict(
            zip(left, naive_rates(capacities, [wanted[each][1] for each in left]), strict=True)
        )
        times = [wanted[waiting[0]][0]] if waiting else []
        times += [now + ceil(some / rates[place]) for place, some in left.items()]
        elapsed, now = min(times) - now, min(times)
        left = {place: some - rates[place] * elapsed for place, some in left.items()}
        while waiting and wanted[waiting[0]][0] == now:
            place = waiting.pop(0)
            left[place] = Fraction(wanted[place][2])
        ends |= {place: now for place, some in left.items() if some <= 0}
        left = {place: some for place, some in left.items() if some > 0}
    return ends


def started(capacities: list[int], wanted: list[Path]) -> FlowNetwork[int]:
    network: FlowNetwork[int] = FlowNetwork(list(map(float, capacities)))
    for place, path in enumerate(wanted):
        network.start(place, path, 100.0, 0)
    return network


@pytest.mark.parametrize(
    ("capacities", "wanted", "rates"),
    [
        ([6], [(0,)], [6]),
        ([6], [(0,), (0,), (0,)], [2, 2, 2]),
        ([1, 2], [(0,), (0, 1), (1,)], [0.5, 0.5, 1.5]),
        ([10, 4], [(0, 1), (0, 1), (0,), (0,)], [2, 2, 3, 3]),
        ([3, 3, 3], [(0, 1, 2), (0,), (1,), (2,)], [1.5, 1.5, 1.5, 1.5]),
    ],
)
def test_closed_forms(capacities: list[int], wanted: list[Path], rates: list[float]) -> None:
    network = started(capacities, wanted)
    assert [network.rates()[path] for path in wanted] == rates


def test_equal_flows_share_a_link_and_leave_it_to_who_stays() -> None:
    network: FlowNetwork[str] = FlowNetwork([10.0])
    network.start("short", (0,), 100.0, 0)
    network.start("long", (0,), 300.0, 0)
    assert network.next_completion() == 20
    assert network.advance(20) == ["short"]
    assert network.next_completion() == 40
    assert network.advance(40) == ["long"]
    assert network.carried(40) == (400.0,)
    assert len(network) == 0


@given(capacities=capacities, wanted=st.lists(paths, min_size=1, max_size=8))
def test_rates_are_max_min_fair(capacities: list[int], wanted: list[Path]) -> None:
    network = started(capacities, wanted)
    rates = [network.rates()[path] for path in wanted]
    over = [
        [rate for rate, path in zip(rates, wanted, strict=True) if link in path]
        for link in range(LINKS)
    ]
    full = [
        sum(each) >= capacity * (1 - 1e-9) for each, capacity in zip(over, capacities, strict=True)
    ]
    assert all(
        sum(each) <= capacity * (1 + 1e-9) for each, capacity in zip(over, capacities, strict=True)
    )
    for rate, path in zip(rates, wanted, strict=True):  # each has a full link where nobody has more
        assert any(full[link] and rate >= max(over[link]) * (1 - 1e-9) for link in path)
    assert rates == pytest.approx([float(rate) for rate in naive_rates(capacities, wanted)])


@given(capacities=capacities, wanted=flows)
def test_ends_are_those_of_a_naive_simulator(capacities: list[int], wanted: list[Flow]) -> None:
    network: FlowNetwork[int] = FlowNetwork(list(map(float, capacities)))
    found, naive = ends_of(network, wanted), naive_ends(capacities, wanted)
    assert found.keys() == naive.keys()
    assert all(abs(end - naive[place]) <= 1 for place, end in found.items())


@given(capacities=capacities, wanted=flows, order=st.randoms())
def test_the_order_of_one_time_does_not_matter(
    capacities: list[int], wanted: list[Flow], order: object
) -> None:
    shuffled = list(range(len(wanted)))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    numbers = list(map(float, capacities))
    straight = ends_of(FlowNetwork(numbers), wanted)
    found = ends_of(FlowNetwork(numbers), [wanted[place] for place in shuffled])
    assert {shuffled[place]: end for place, end in found.items()} == straight


@given(capacities=capacities, wanted=flows)
def test_links_carry_what_is_sent(capacities: list[int], wanted: list[Flow]) -> None:
    network: FlowNetwork[int] = FlowNetwork(list(map(float, capacities)))
    ends = ends_of(network, wanted)
    for link, carried in enumerate(network.carried(max(ends.values()))):
        sent = sum(size for _, path, size in wanted if link in path)
        late = capacities[link] * len(set(ends.values()))  # each ends up to a microsecond late
        assert sent - 1e-6 <= carried <= sent + late


@given(capacities=capacities, wanted=flows, gone=st.integers(0, LINKS - 1))
def test_who_is_cut_off_takes_nothing_any_more(
    capacities: list[int], wanted: list[Flow], gone: int
) -> None:
    network = started(capacities, [path for _, path, _ in wanted])
    cut = network.cut([gone], 0)
    assert cut == [place for place, (_, path, _) in enumerate(wanted) if gone in path]
    kept = [path for _, path, _ in wanted if gone not in path]
    assert network.rates() == started(capacities, kept).rates()
    for place in range(len(wanted)):
        network.remove(place, 0)
    assert network.next_completion() is None
    assert network.flows() == {}


def test_arrays_hold_what_lists_do(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _many_ends()
    monkeypatch.setattr(network, "_loaded", [network_loops])
    assert _many_ends() == found


@pytest.mark.slow
def test_compiled_loops_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _many_ends()
    monkeypatch.setattr(network, "_loaded", [])
    monkeypatch.setattr(network, "_LOADS", 0)
    monkeypatch.setattr(network, "_COMPILES", 0)
    assert _many_ends() == found
    assert network._loaded


def _many_ends() -> dict[int, int]:
    """Send flows between all pairs of ten nodes, in two racks."""
    topology = RackTopology([0] * 5 + [1] * 5, 125.0, 4.0)
    pairs = [(one, other) for one in range(10) for other in range(10) if one != other]
    wanted = [
        (number * 7, topology.path(*pairs[number * 37 % 90]), 1000 * (number % 11 + 1))
        for number in range(150)
    ]
    return ends_of(FlowNetwork(topology.capacities), wanted)


def test_racks_have_links_of_their_own() -> None:
    topology = RackTopology([0, 0, 1, 1], 10.0, oversubscription=4.0)
    assert topology.path(1, 1) == ()
    assert [topology.name(link) for link in topology.path(0, 1)] == ["node 0 up", "node 1 down"]
    assert [topology.name(link) for link in topology.path(1, 2)] == [
        "node 1 up",
        "node 2 down",
        "rack 0 up",
        "rack 1 down",
    ]
    network: FlowNetwork[str] = FlowNetwork(topology.capacities)
    network.start("within", topology.path(0, 1), 1.0, 0)
    network.start("across", topology.path(1, 2), 1.0, 0)
    assert network.rates() == {topology.path(0, 1): 10.0, topology.path(1, 2): 5.0}


def test_a_path_has_links() -> None:
    with pytest.raises(ValueError, match="1 to 4 links, not 0"):
        FlowNetwork([1.0]).start("nowhere", (), 1.0, 0)
