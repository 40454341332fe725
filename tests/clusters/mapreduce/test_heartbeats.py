"""Heartbeats of nodes, and of their slots: none comes too late, and each slot keeps its times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.cluster_state import SlotBeats
from rebecsim.clusters.mapreduce.configuration import HeartbeatSender, MapReduceConfiguration
from rebecsim.clusters.mapreduce.job import SlotKind
from tests.clusters.mapreduce.simple import MAP, REDUCE, FirstComeFirstServed, cluster, job

PERIOD = 100
FIRSTS = st.lists(st.integers(0, 3 * PERIOD), min_size=2, max_size=6)


@given(FIRSTS, st.integers(0, 10 * PERIOD))
def test_the_next_heartbeat_is_the_first_that_any_free_slot_sends(
    firsts: list[int], now: int
) -> None:
    beats = SlotBeats(PERIOD, (1, len(firsts) - 1), iter(firsts))
    sent = {first + turn * PERIOD for first in firsts[1:] for turn in range(20)}
    reduces = beats.until_next(now, [REDUCE])
    assert reduces == min(each for each in sent if each > now) - now
    maps = beats.until_next(now, [MAP])
    assert maps is not None
    assert beats.until_next(now, SlotKind) == min(maps, reduces)


@given(FIRSTS)
def test_the_slot_that_sends_a_heartbeat_is_filled_and_is_silent_then(firsts: list[int]) -> None:
    beats = SlotBeats(PERIOD, (len(firsts), 0), iter(firsts))
    after = beats.until_next(max(firsts), [MAP])
    assert after is not None
    now = max(firsts) + after
    filled = beats.fill(MAP, now)
    assert (now - filled) % PERIOD == 0
    left = sorted(firsts)
    left.remove(filled)
    assert sorted(beats.fill(MAP, now) for _ in left) == left
    assert beats.until_next(now, [MAP]) is None
    assert beats.until_next(now, [], [filled]) == PERIOD
    beats.empty(MAP, filled)
    assert beats.fill(MAP, now + 1) == filled


def told(sender: HeartbeatSender) -> MapReduceConfiguration:
    return cluster(nodes=2, heartbeats_of=sender, reports="at_once")


def starts_by_slot(sender: HeartbeatSender) -> Mapping[tuple[int, int], Sequence[tuple[int, int]]]:
    """Run maps of which there are always more; give starts and ends by node and phase."""
    configuration = told(sender)
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for each in run_mapreduce([job(1, 60, 0)], configuration, FirstComeFirstServed, 1).attempts:
        phase = each.start % configuration.cluster.beat
        found[each.node, phase].append((each.start, each.end))
    return found


@pytest.mark.parametrize(("sender", "phases"), [("node", 1), ("slot", 4)])
def test_maps_begin_at_the_heartbeats_of_their_node_or_slot(
    sender: HeartbeatSender, phases: int
) -> None:
    nodes = [node for node, _ in starts_by_slot(sender)]
    assert sorted(nodes) == [0] * phases + [1] * phases


def test_a_slot_gets_a_map_at_its_first_heartbeat_after_it_has_become_free() -> None:
    period = told("slot").cluster.beat
    for runs in starts_by_slot("slot").values():
        assert len(runs) > 1
        for (_, end), (start, _) in pairwise(sorted(runs)):
            assert 0 < start - end <= period
