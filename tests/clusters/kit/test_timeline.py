"""Timelines: what runs where, how much is in use, and which part each has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.kit.measures import Lane, Timeline, overfull
from rebecsim.clusters.kit.report import Colours, colours_by_work, gantt_figure

LANES = Lane("a", 3), Lane("b", 2)


def timeline(rows, lanes=LANES, per_second: int = 1) -> Timeline:
    """Make a timeline of (owner, lane, begin, end, size); who ran is the number of the row."""
    owner, lane, begin, end, size = (np.array(each) for each in zip(*rows, strict=True))
    count = np.arange(len(rows))
    return Timeline(
        lanes, count, owner, lane, begin, end, size, count % 2 == 1, per_second=per_second
    )


stretches = st.tuples(
    st.sampled_from("xyz"), st.integers(0, 1), st.integers(0, 9), st.integers(0, 5)
)


@given(st.lists(stretches, min_size=1, max_size=20))
def test_slots_are_the_lowest_that_are_free(rows) -> None:
    rows = [(owner, lane, begin, begin + run, 1) for owner, lane, begin, run in rows]
    line = timeline(rows, (Lane("a"), Lane("b")))
    bars = line.placed()
    assert sorted(bars.stretch.tolist()) == np.flatnonzero(line.end > line.begin).tolist()
    places = dict(zip(bars.stretch.tolist(), bars.low.tolist(), strict=True))
    for at, slot in places.items():
        beside = {
            places[other]
            for other in places
            if line.lane[other] == line.lane[at]
            and (line.begin[other], other) < (line.begin[at], at)
            and line.end[other] > line.begin[at]
        }
        assert slot == next(each for each in range(len(rows)) if each not in beside)


def test_what_ends_makes_room_for_what_begins() -> None:
    line = timeline([("x", 1, 0, 4, 2), ("y", 1, 4, 6, 1), ("y", 1, 5, 6, 2)])
    stretch, used = overfull(line.lane, line.begin, line.end, line.size, line.rooms)
    assert (stretch.tolist(), used.tolist()) == ([2], [3])


def test_use_and_work_are_of_windows() -> None:
    line = timeline([("x", 0, 0, 4, 2), ("y", 1, 2, 6, 1)])
    assert line.in_use(np.array([0, 2, 4, 8])).tolist() == [2.0, 3.0, 0.5]
    assert line.work(1, 3) == {"x": 4.0, "y": 1.0}
    assert line.within(4, 8).who.tolist() == [1]


def test_a_row_may_have_several_lanes_and_a_bar_is_as_high_as_its_share() -> None:
    rows = [("x", 0, 0, 10, 1), ("y", 1, 5, 10, 1), ("z", 2, 5, 20, 2)]
    lanes = (Lane("node 0", 1), Lane("node 0", 3), Lane("node 1", 2))
    line = timeline(rows, lanes, per_second=10)
    colours = Colours(colours_by_work([line], (0, 10)), noun="queues", pale="odd")
    assert list(colours.of) == ["x", "z", "y"]
    due = {"one": [(0.5, "#c81e1e")]}
    figure = gantt_figure({"one": line}, colours, (0, 10), noun="node", due=due)
    (axes,) = figure.axes
    assert axes.get_title() == "one"
    assert [each.get_text() for each in axes.get_yticklabels()] == ["node 0", "node 1"]
    assert axes.lines[0].get_xdata()[0] == pytest.approx(0.5)
    boxes = [path.get_extents().bounds for path in axes.collections[0].get_paths()]
    assert boxes == pytest.approx(
        np.array([(0, -0.45, 1, 0.225), (0.5, -0.225, 0.5, 0.225), (0.5, 0.55, 0.5, 0.9)])
    )
    assert [each.get_text() for each in axes.texts] == ["2"]


def test_rows_and_owners_beyond_those_drawn_are_counted() -> None:
    rows = [(f"q{number}", number, 0, 5, 1) for number in range(24)]
    line = timeline(rows, tuple(Lane(f"n{number}", 1) for number in range(24)))
    figure = gantt_figure(
        {"one": line}, Colours(colours_by_work([line], (0, 5)), "queues"), (0, 5), noun="node"
    )
    assert figure.axes[0].get_title() == "one, the first 20 of 24 nodes"
    names = [each.get_text() for each in figure.legends[0].get_texts()]
    assert names[-2:] == ["13 other queues", "free"]
