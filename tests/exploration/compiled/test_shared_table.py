"""States that are entered by halves of a table get the numbers that one thread gives them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.native import search_layout as at
from rebecsim.native.arrays import Integers
from rebecsim.native.codes import Reason
from rebecsim.native.loops.breadth_first import PropertyTables, store_found
from rebecsim.native.loops.shared_table import (
    CROSSING,
    NEW,
    Batch,
    batch_of,
    enter_half,
    number_new,
    sort_by_half,
)
from rebecsim.native.loops.successors import FOUND_BY_WIDTH, Successors
from rebecsim.native.loops.tables import States, find_states, move_states
from tests.examples import dear

pytestmark = [pytest.mark.large, pytest.mark.filterwarnings("ignore:overflow")]

PLACES = 32
NO_PROPERTIES = PropertyTables(np.zeros((0, 1), np.int64), np.zeros((16, 2), np.int64))


def empty() -> tuple[Integers, States]:
    control = np.zeros(at.LENGTH, np.int64)
    control[at.WORDS] = 1
    control[at.MOST] = control[at.CAPACITY] = PLACES - 1
    order, parents, ordinals = (np.zeros(PLACES, np.uint32) for _ in range(3))
    table, queue = np.zeros((PLACES, 1), np.int64), np.zeros((1, 1), np.int64)
    layout = np.zeros((1, 3), np.int64)
    return control, States(layout, table, order, parents, ordinals, queue)


def batch(states: list[int], source: int) -> Batch:
    rows = max(len(states), 1)
    targets = np.array(states or [0], np.int64).reshape(-1, 1)
    found_by = np.full((rows, FOUND_BY_WIDTH), source, np.int64)
    found_by[:, 1] = range(rows)
    return batch_of(Successors(targets, np.zeros((1, 1), np.int64), targets, found_by))


def numbered(control: Integers, states: States) -> list[tuple[int, int, int]]:
    count = control[at.STATES]
    words = states.table[states.order[:count], 0]
    columns = (words, states.parents[:count], states.ordinals[:count])
    return list(zip(*(each.tolist() for each in columns), strict=True))


@settings(max_examples=dear(300))
@given(
    rounds=st.lists(
        st.tuples(st.lists(st.integers(1, 30), max_size=20), st.lists(st.integers(1, 30))),
        max_size=5,
    ),
    one_is_first=st.booleans(),
)
def test_numbers_are_those_of_one_thread(
    rounds: list[tuple[list[int], list[int]]], one_is_first: bool
) -> None:
    control, states = empty()
    expected, alone = empty()
    for number, (left, right) in enumerate(rounds):
        both = batch(left, number), batch(right, number + 1)
        for found, each in zip((left, right), both, strict=True):
            expected[at.FOUND], expected[at.STORED] = len(found), 0
            assert store_found(expected, alone, each.successors, NO_PROPERTIES) == Reason.FINISHED
            sort_by_half(states, each, len(found))
        for half in (1, 0) if one_is_first else (0, 1):
            enter_half(states, *both, half)
        for found, each in zip((left, right), both, strict=True):
            control[at.FOUND], control[at.STORED] = len(found), 0
            before = int(control[at.STATES])
            assert number_new(control, states, each, NO_PROPERTIES) == Reason.FINISHED
            if not each.shares.used[:, CROSSING].any() and not control[at.PROPERTIES]:
                new = int(each.shares.used[:, NEW].sum())
                crossed = sum(other.shares.used[:, CROSSING].sum() for other in both)
                assert crossed or control[at.STATES] - before == new
        assert numbered(control, states) == numbered(expected, alone)
    assert control[at.TRANSITIONS] == expected[at.TRANSITIONS]
    count = int(control[at.STATES])
    wanted, places = np.arange(1, 31).reshape(-1, 1), np.zeros(30, np.int64)
    find_states(states.table, wanted, places, 30, 1)
    assert np.count_nonzero(places >= 0) == count == np.count_nonzero(states.table)


@settings(max_examples=dear(200))
@given(found=st.sets(st.integers(1, 1 << 40), max_size=22), begin=st.integers(0, PLACES - 1))
def test_parts_of_a_table_move_to_places_apart(found: set[int], begin: int) -> None:
    """Two parts that begin where places are free can move in any order, or at once."""
    control, states = empty()
    each = batch(sorted(found), 0)
    control[at.FOUND] = len(found)
    store_found(control, states, each.successors, NO_PROPERTIES)
    free = np.flatnonzero(states.table[:, 0] == 0)
    first, second = sorted((int(free[0]), int(free[begin % len(free)])))
    parts = [(first, second), (second, first + PLACES)]
    tables = []
    for order in (parts, parts[::-1]):
        old, table = states.table.copy(), np.zeros((4 * PLACES, 1), np.int64)
        for part in order:
            move_states(old, table, *part)
        moved = old[states.order[: len(found)], 0]
        assert table[moved, 0].tolist() == sorted(found)
        tables.append(table)
    assert (tables[0] == tables[1]).all()
