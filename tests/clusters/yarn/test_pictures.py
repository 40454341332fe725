"""Pictures of runs: what is drawn where."""

from __future__ import annotations

import pytest

from rebecsim.clusters.yarn.report.sections import busiest_window, gantt_figure
from rebecsim.clusters.yarn.report.stored import read_shown
from rebecsim.studies import Results
from tests.clusters.yarn.scenarios import plan_of
from tests.plans import run_plan


@pytest.fixture
def shown(tmp_path):
    plan = plan_of(tmp_path)
    results = Results.create(tmp_path / "run", plan)
    run_plan(plan, results)
    return list(read_shown(plan, results).values())


def test_free_memory_is_drawn_over_the_whole_window_of_every_scheduler(shown):
    begin, end = window = busiest_window(shown)
    panels = gantt_figure(shown, window).axes
    assert [axes.get_title() for axes in panels] == ["REGULAR", "GREEDY"]
    for axes in panels:
        widths = {patch.get_width() for patch in axes.patches}
        assert widths == {axes.get_xlim()[1]}
        assert len(axes.patches) == 2
    assert begin <= 5000 < end


def test_a_run_that_takes_longer_than_the_first_is_seen_to_its_end(shown):
    ends = [int(each.jobs.column("end").to_numpy().max()) for each in shown]
    assert ends[0] != ends[1]
    for runs in (shown, shown[::-1]):
        assert busiest_window(runs) == (0, max(ends))


def test_every_container_of_the_window_is_a_bar(shown):
    window = (0, int(max(each.jobs.column("end").to_numpy().max() for each in shown)))
    for axes, each in zip(gantt_figure(shown, window).axes, shown, strict=True):
        (bars,) = axes.collections
        assert len(bars.get_paths()) == len(each.tasks) == 10
