"""Gantt charts: where the jobs of a schedule are put, and which time is shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.batch import run_schedule
from rebecsim.clusters.batch.report.schedule_charts import (
    busiest_time,
    gantt_figure,
    timeline_of,
)
from rebecsim.report.figures import render_figure
from rebecsim.workloads import Schedule, Workload

DAY = 86_400


def schedule_of(rows, capacity: int, policy: str = "EASY") -> Schedule:
    """Run jobs of (time since the one before, run time, processors)."""
    gaps, runs, sizes = (np.array(column) for column in zip(*rows, strict=True))
    users = np.arange(len(rows)) % 3
    jobs = Workload.of(np.cumsum(gaps), runs, sizes, capacity=capacity, user=users)
    return run_schedule(jobs, policy=policy)


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 12), st.integers(1, 6)), min_size=1, max_size=25
    ),
    policy=st.sampled_from(["FCFS", "EASY", "FAIR_EASY"]),
)
def test_no_two_jobs_are_on_one_processor_and_each_has_all_of_its_own(rows, policy) -> None:
    line = timeline_of(schedule_of(rows, 6, policy))
    bars = line.placed()
    heights = np.bincount(bars.stretch, weights=bars.size, minlength=len(line))
    assert heights.tolist() == line.size.tolist()
    assert bars.low.min() >= 0
    assert (bars.low + bars.size).max() <= 6
    for moment in np.unique(line.begin).tolist():
        now = (line.begin[bars.stretch] <= moment) & (line.end[bars.stretch] > moment)
        parts = zip(bars.low[now], bars.size[now], strict=True)
        processors = [each for low, size in parts for each in range(low, low + size)]
        assert len(processors) == len(set(processors))


def test_only_jobs_of_the_window_are_placed() -> None:
    line = timeline_of(schedule_of([(0, 10, 1), (20, 10, 2), (20, 10, 1)], 4))
    assert line.within(9, 21).who.tolist() == [1, 2]
    assert line.within(10, 20).who.tolist() == []
    assert line.within(49, 60).who.tolist() == [3]


def test_a_job_without_a_gap_is_cut_into_parts() -> None:
    # Jobs 1 to 3 side by side; when 1 and 3 have ended, job 4 needs both gaps.
    schedule = schedule_of([(0, 5, 1), (0, 9, 1), (0, 5, 1), (0, 3, 2)], 3)
    bars = timeline_of(schedule).placed()
    assert bars.stretch.tolist() == [0, 1, 2, 3, 3]
    assert bars.low.tolist() == [0, 1, 2, 0, 2]


def test_a_schedule_beyond_the_machine_is_refused() -> None:
    jobs = Workload.of([0, 0], [5, 5], [2, 2], capacity=3)
    line = timeline_of(Schedule(jobs, np.array([0, 4])))
    with pytest.raises(ValueError, match="2 begins at 4 when less than 2 of 3 is free"):
        line.placed()


def test_the_busiest_day_is_the_one_with_most_jobs_waiting() -> None:
    quiet = [(DAY, 100, 1)] * 3
    schedule = schedule_of([*quiet, *[(10, 3600, 4)] * 5, *quiet], 4)
    begin, end = busiest_time(schedule)
    assert end - begin == DAY
    assert begin <= schedule.workload.submit[5] < end


def test_without_waiting_the_fullest_day_is_shown_and_a_short_schedule_whole() -> None:
    assert busiest_time(schedule_of([(5, 10, 1), (10, 10, 1)], 4)) == (5, 25)
    schedule = schedule_of([(0, 100, 1), (DAY, 100, 1), (DAY, 50_000, 3), (DAY, 100, 1)], 4)
    assert busiest_time(schedule) == (2 * DAY, 3 * DAY)


def test_the_same_schedules_give_the_same_picture() -> None:
    schedule = schedule_of([(0, 10, 2), (5, 10, 2), (0, 3, 1)], 4)
    pictures = {
        render_figure(lambda: gantt_figure([schedule, schedule], 0, 20, "$a$ & <b>"))[".svg"]
        for _ in range(2)
    }
    assert len(pictures) == 1
    assert pictures.pop().startswith(b"<?xml")


def test_users_beyond_the_colours_are_others() -> None:
    jobs = Workload.of(np.zeros(12, int), np.arange(1, 13), np.ones(12, int), user=np.arange(12))
    jobs = jobs.with_columns(capacity=12)
    figure = gantt_figure([run_schedule(jobs)], 0, 12)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[0] == "user 11"
    assert names[-2:] == ["5 other users", "free"]
