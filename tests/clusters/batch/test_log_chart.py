from __future__ import annotations

import struct
from xml.etree import ElementTree

import numpy as np
import pytest

from rebecsim.clusters.batch.report.text import workload_figure, write_workload_chart
from rebecsim.errors import UserError
from rebecsim.workloads import Workload, generate, read_swf


def panels(workload: Workload):
    return {axes.get_title().split(",")[0]: axes for axes in workload_figure(workload, "x").axes}


@pytest.fixture(scope="module")
def workload() -> Workload:
    return generate(3000, 64, seed=1, users=9)


@pytest.fixture(scope="module")
def charts(workload):
    return panels(workload)


def test_the_picture_has_six_charts(charts):
    assert list(charts) == [
        "Run times",
        "Sizes",
        "Arrivals over the day",
        "Offered load over time",
        "Users",
        "Estimates",
    ]


def test_bars_are_shares_of_jobs_and_of_work(workload, charts):
    bars = charts["Sizes"].containers
    heights = [[bar.get_height() for bar in container] for container in bars]
    assert [sum(each) for each in heights] == pytest.approx([100, 100])
    assert heights[0][0] == pytest.approx(100 * (workload.processors == 1).mean())
    three_or_four = np.isin(workload.processors, (3, 4))
    assert heights[0][2] == pytest.approx(100 * three_or_four.mean())
    names = [text.get_text() for text in charts["Sizes"].get_xticklabels()]
    assert names == ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64"]


def test_run_times_reach_all_jobs(workload, charts):
    (line,) = charts["Run times"].lines
    assert line.get_ydata()[0] == 0
    assert line.get_ydata()[-1] == pytest.approx(100)
    places, shares = line.get_data()
    median = places[np.searchsorted(shares, 50)]
    assert median == pytest.approx(np.median(workload.run), rel=0.01)


def test_windows_of_load_add_up_to_the_work(workload, charts):
    data = charts["Offered load over time"].patches[0].get_data()
    lengths = np.diff(data.edges) * 86_400 * workload.capacity
    assert (data.values * lengths).sum() == pytest.approx(workload.area.sum())


def test_what_a_log_does_not_tell_is_said():
    bare = panels(Workload.of([0, 5], [3, 4], [1, 1]))
    assert bare["Users"].texts[0].get_text() == "the log does not name users"
    assert bare["Estimates"].texts[0].get_text() == "the log has no requested times"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "odd",
    [
        Workload.of([3], [5], [1], user=[4], requested_time=[1]),
        Workload.of([3, 3], [5, 5], [7, 1]),
        Workload.of([0, 10**9], [10**7, 1], [5000, 5000], user=[1, 2]),
    ],
    ids=["one job", "at once", "thirty years"],
)
def test_odd_workloads_can_be_drawn(odd, tmp_path):
    write_workload_chart(odd, tmp_path / "w.png", "A $heading that is _no_ mathematics$")
    assert (tmp_path / "w.png").stat().st_size > 10_000


def test_png_and_svg_are_the_same_each_time(workload, tmp_path):
    for form in ("png", "svg"):
        for name in ("a", "b"):
            write_workload_chart(workload, tmp_path / f"{name}.{form}", "x")
        assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()
    width, height = struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24])
    assert (width, height) == (1875, 1080)
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")


def test_another_name_is_refused(workload, tmp_path):
    with pytest.raises(UserError, match=r"should be named \.png or \.svg"):
        write_workload_chart(workload, tmp_path / "w.jpg", "x")
    with pytest.raises(UserError, match="there is no directory"):
        write_workload_chart(workload, tmp_path / "no" / "w.png", "x")


def test_the_estimates_of_a_real_log(shared_data):
    log = read_swf(shared_data / "swf" / "hpc2n.swf")
    bars = [bar.get_height() for bar in panels(log)["Estimates"].containers[0]]
    assert sum(bars) == pytest.approx(100)
    assert bars[-1] == pytest.approx(100 * (log.run >= log.requested_time).mean())
