from __future__ import annotations

import numpy as np
import pytest

from rebecsim.clusters.batch.report.schedule_charts import (
    overdue_figure,
    user_boxes_figure,
    write_overdue_chart,
    write_user_boxes,
)
from rebecsim.metrics import expected_ends, overdue_map, user_metrics, window_edges
from rebecsim.workloads import Schedule, generate


@pytest.fixture(scope="module")
def schedules() -> list[Schedule]:
    """The same jobs after two lengths of waiting."""
    jobs = generate(600, 32, seed=2, users=40, load=0.8)
    jobs = jobs.with_columns(requested_memory=1000 * jobs.user)
    delay = np.random.default_rng(1).integers(0, 40_000, len(jobs))
    return [
        Schedule(jobs, jobs.submit + delay // 10, policy="quick"),
        Schedule(jobs, jobs.submit + delay, policy="slow"),
    ]


@pytest.fixture(scope="module")
def metrics(schedules):
    return [
        (
            each.policy,
            user_metrics(
                each.end, expected_ends(each, 4), each.workload.user, each.workload.processors
            ),
        )
        for each in schedules
    ]


@pytest.fixture(scope="module")
def maps(schedules):
    edges = window_edges(0, max(int(each.end.max()) for each in schedules), 200)
    return [overdue_map(each, expected_ends(each, 4), edges) for each in schedules]


def test_boxes_have_the_quartiles_of_the_users(metrics):
    shares, tardiness = user_boxes_figure(metrics).axes
    medians = [line.get_ydata()[0] for line in shares.lines if line.get_color() == "#D55E00"]
    assert medians == pytest.approx([np.median(each.veet) for _, each in metrics])
    hours = [line.get_ydata()[0] for line in tardiness.lines if line.get_color() == "#D55E00"]
    assert hours == pytest.approx(
        [np.median(each.weighted_tardiness) / 3600 for _, each in metrics]
    )
    assert tardiness.get_yscale() == "symlog"
    users = len(metrics[0][1].user)
    assert shares.get_xticklabels()[0].get_text() == f"quick\n({users} users)"


@pytest.mark.filterwarnings("error")
def test_users_without_tardiness_have_a_place_on_the_axis(schedules, tmp_path):
    jobs = schedules[0].workload
    in_time = user_metrics(jobs.submit, jobs.submit, jobs.user, jobs.processors)
    write_user_boxes([("none late", in_time)], tmp_path / "b.png")
    assert (tmp_path / "b.png").stat().st_size > 5000


def test_each_heat_map_has_its_strips_below_it(maps):
    axes = overdue_figure(maps, "x").axes
    titles = [each.get_title() for each in axes if each.get_title()]
    assert titles == ["quick", "slow"]
    assert [each.get_ylabel() for each in axes[:6]] == ["User", "CPU\n(%)", "RAM\n(GB)"] * 2


def test_heat_maps_share_their_colours_and_their_time(maps):
    figure = overdue_figure(maps)
    meshes = [each.collections[0] for each in (figure.axes[0], figure.axes[3])]
    assert meshes[0].norm is meshes[1].norm
    assert meshes[1].norm.vmax == pytest.approx(max(each.overdue.max() for each in maps))
    assert figure.axes[0].get_xlim() == figure.axes[3].get_xlim()
    shown = meshes[1].get_array()
    assert shown.mask.reshape(maps[1].overdue.shape)[maps[1].overdue == 0].all()


def test_of_many_users_some_are_named(maps):
    labels = [text.get_text() for text in overdue_figure(maps).axes[0].get_yticklabels()]
    assert labels[0] == "1"
    assert len(labels) <= 30


def test_maps_of_different_windows_are_not_compared(schedules, maps):
    other = overdue_map(schedules[0], expected_ends(schedules[0], 4), window_edges(0, 600, 5))
    with pytest.raises(ValueError, match="same windows"):
        overdue_figure([maps[0], other])
    with pytest.raises(ValueError, match="same windows"):
        overdue_figure([])


@pytest.mark.filterwarnings("error")
def test_pictures_are_the_same_each_time(maps, metrics, tmp_path):
    for name in ("a.svg", "b.svg"):
        write_overdue_chart(maps[:1], tmp_path / f"map_{name}")
        write_user_boxes(metrics[:1], tmp_path / f"box_{name}")
    for kind in ("map", "box"):
        one, other = (tmp_path / f"{kind}_{name}.svg" for name in "ab")
        assert one.read_bytes() == other.read_bytes()
