import csv
import io
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from rebecsim.clusters import Power
from rebecsim.clusters.dispatch.energy import Hardware, by_policy_and_size, by_workload
from rebecsim.clusters.dispatch.report.hardware import (
    UtilisationOverTime,
    app_master_table,
    energy_charts,
    overview,
    size_tables,
    utilisation_charts,
    utilisation_figure,
    window_width,
)
from rebecsim.clusters.dispatch.report.sections import energy_csv, hardware_sections
from rebecsim.report import FORMS, render_figure, report_view, write_report
from rebecsim.studies.cells import Cell, Condition
from rebecsim.studies.moments import CellMoments
from tests.report.conftest import AXIS

HARDWARE = Hardware(100, (1.0, 0.5), Power(idle=[90.0, 20.0], busy=[200.0, 60.0], time_unit=60.0))


def build_cell(policy, size, seed, arrivals="uniform 1"):
    rng = np.random.default_rng([seed, size])
    names = ("queue_misses", "update_misses", "completions", "drops")
    columns = {name: rng.poisson(10, 20) for name in names}
    columns |= {f"busy_am{k + 1}": rng.integers(10 * k, 40 + 10 * k, 20) for k in range(size)}
    where = Cell.of(policy, arrivals=arrivals, lengths="uniform 3", app_masters=size)
    return CellMoments.from_columns(where, columns, {"time limit": 20})


def over_time(app_masters=3, ticks=100, replications=20):
    shares = np.linspace(0, 1, app_masters * ticks).reshape(app_masters, ticks)
    return [UtilisationOverTime(policy, shares, replications) for policy in ("EDF", "SJF")]


def sections(cells, hardware=None, utilisation=(), told_apart=()):
    return tuple(hardware_sections("Against EDF", cells, hardware, utilisation, AXIS, told_apart))


@pytest.fixture
def report(make_report):
    cells = [
        build_cell(policy, size, seed, arrivals)
        for seed, policy in enumerate(("EDF", "SJF"))
        for arrivals in ("uniform 1", "uniform 2")
        for size in (1, 3)
    ]
    return make_report(cells, sections=sections(cells, HARDWARE, over_time()))


def test_tables_are_by_policy_and_cluster_size(report):
    figures = by_policy_and_size(report.moments, HARDWARE)
    energy, utilisation = size_tables(figures)
    assert energy.title == "Energy by number of AppMasters (MJ per run)"
    assert [heading for heading, _ in energy.rows] == ["EDF", "SJF"]
    assert [len(values) for _, values in utilisation.rows] == [2, 2]
    shown = float(energy.rows[1][1][1].partition(" ")[0])
    assert shown == pytest.approx(figures[3].cluster.energy.value / 1e6, abs=0.006)
    shown = utilisation.rows[0][1][0]
    assert shown.startswith(f"{100 * figures[0].cluster.utilisation.value:.1f} % ± ")


def test_energy_is_drawn_along_the_cluster_size_with_its_intervals(report):
    figures = by_policy_and_size(report.moments, HARDWARE)
    (chart,) = energy_charts({Condition(): figures}, 0.95, AXIS)
    assert (chart.name, chart.y_label, chart.places) == ("energy", "Energy (MJ per run)", (1, 3))
    assert [line.policy for line in chart.series] == ["EDF", "SJF"]
    shown = [
        line for each in chart.series for line in zip(each.low, each.values, each.high, strict=True)
    ]
    for (low, value, high), each in zip(shown, figures, strict=True):
        energy = each.cluster.energy
        wanted = (energy.low / 1e6, energy.value / 1e6, energy.high / 1e6)
        assert (low, value, high) == pytest.approx(wanted)


def test_energy_of_patterns_that_are_told_apart_is_drawn_apart(report):
    (section,) = sections(report.moments, HARDWARE, told_apart=["arrivals"])
    assert [picture.title for picture in section.pictures] == [
        "Energy, arrivals uniform 1",
        "Energy, arrivals uniform 2",
    ]
    assert [picture.name for picture in section.pictures] == ["energy", "energy_2"]
    titles = [table.title for table in section.tables]
    assert len(titles) == 6
    assert titles[2] == "Utilisation of each AppMaster, cluster of 3, arrivals uniform 1"
    assert all(title.endswith(", arrivals uniform 2") for title in titles[3:])
    alone = [each for each in report.moments if each.cell.condition["arrivals"] == "uniform 2"]
    (apart,) = sections(alone, HARDWARE)
    assert [table.rows for table in section.tables[3:]] == [table.rows for table in apart.tables]
    (section,) = sections(report.moments, Hardware(100, (1.0, 0.5)))
    assert section.pictures == ()


def test_each_app_master_of_the_largest_cluster_has_a_row(report):
    table = app_master_table(by_policy_and_size(report.moments, HARDWARE), HARDWARE)
    assert table.headings == ("AppMaster", "Speed", "Idle", "Busy", "EDF", "SJF")
    assert [heading for heading, _ in table.rows] == ["am1", "am2", "am3"]
    assert [values[:3] for _, values in table.rows] == [
        ("1", "90 W", "200 W"),
        ("0.5", "20 W", "60 W"),
        ("1", "90 W", "200 W"),
    ]
    sjf = by_policy_and_size(report.moments, HARDWARE)[3]
    assert table.rows[2][1][4].startswith(f"{100 * sjf.each[2].utilisation.value:.1f} %")


def test_the_terminal_shows_the_largest_cluster(report):
    table = overview(by_policy_and_size(report.moments, HARDWARE))
    assert table.headings == (
        "Policy",
        "Energy (MJ per run)",
        "Utilisation",
        "Least used",
        "Most used",
    )
    assert [values[2][:3] + values[3][:3] for _, values in table.rows] == ["am1am3"] * 2
    console = Console(width=120, file=io.StringIO())
    console.print(report_view(report))
    assert "Hardware, cluster of 3" in console.file.getvalue()


@pytest.mark.usefixtures("without_charts")
def test_without_watts_only_utilisation_is_shown(report, make_report, tmp_path):
    hardware = Hardware(100, (1.0, 0.5))
    bare = make_report(report.moments, sections=sections(report.moments, hardware))
    figures = by_policy_and_size(report.moments, hardware)
    assert [table.title[:11] for table in size_tables(figures)] == ["Utilisation"]
    assert overview(figures).headings[1] == "Utilisation"
    assert app_master_table(figures, hardware).headings == ("AppMaster", "Speed", "EDF", "SJF")
    page = write_report(bare, tmp_path).html.read_text("utf-8")
    assert "Utilisation is the time" in page
    assert "Energy is that of all" not in page
    rows = list(csv.DictReader(io.StringIO(energy_csv(by_workload(bare.moments, hardware)))))
    assert {row["energy"] for row in rows} == {""}


def test_the_file_has_every_cell_and_app_master_with_all_digits(report):
    cells = by_workload(report.moments, HARDWARE)
    rows = list(csv.DictReader(io.StringIO(energy_csv(cells))))
    assert len(rows) == 2 * 2 * (2 + 4)
    wanted = [(cell, usage) for cell in cells for usage in (cell.cluster, *cell.each)]
    for row, (cell, usage) in zip(rows, wanted, strict=True):
        assert (row["policy"], int(row["app_masters"])) == (cell.policy, cell.app_masters)
        assert ((row["arrivals"], row["lengths"]),) == cell.workloads
        for name, estimate in (("utilisation", usage.utilisation), ("energy", usage.energy)):
            assert float(row[name]) == estimate.value
            assert float(row[f"{name}_standard_error"]) == estimate.standard_error
            assert float(row[f"{name}_low"]) == estimate.low
            assert float(row[f"{name}_high"]) == estimate.high
    assert [row["app_master"] for row in rows[:6]] == ["", "am1", "", "am1", "am2", "am3"]


@pytest.mark.usefixtures("without_charts")
def test_the_report_has_the_section_the_file_and_the_pictures(report, make_report, tmp_path):
    written = write_report(report, tmp_path)
    page = written.html.read_text("utf-8")
    assert '<h2 id="hardware">Hardware</h2>' in page
    assert page.count('<img class="picture" src="data:image/svg+xml;base64,') == 3
    assert "Utilisation of each AppMaster over time under SJF" in page
    assert tmp_path / "energy.csv" in written.data
    names = ("energy", "utilisation_edf", "utilisation_sjf")
    pictures = {f"{name}.{form}" for name in names for form in ("png", "svg")}
    assert pictures <= {path.name for path in written.charts}
    assert all(path.exists() for path in (*written.charts, *written.data))

    again = write_report(make_report(report.moments), tmp_path)
    assert tmp_path / "energy.csv" not in again.data
    assert not (tmp_path / "energy.csv").exists()
    assert not list((tmp_path / "charts").glob("utilisation_*"))
    assert 'id="hardware"' not in again.html.read_text("utf-8")


@pytest.mark.usefixtures("without_charts")
def test_traces_alone_give_pictures_and_no_figures(make_report, tmp_path):
    written = write_report(make_report(sections=sections([], utilisation=over_time())), tmp_path)
    page = written.html.read_text("utf-8")
    assert page.count('<img class="picture"') == 2
    assert "Utilisation of each AppMaster, cluster" not in page
    assert tmp_path / "energy.csv" not in written.data


# --- over time ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ticks", "width"), [(1, 1), (50, 1), (51, 2), (100, 2), (101, 5), (500, 10), (501, 20)]
)
def test_windows_have_round_widths(ticks, width):
    assert window_width(ticks) == width


def test_a_chart_has_a_row_for_each_app_master_and_a_value_for_each_window():
    chart = utilisation_charts(over_time(ticks=101), HARDWARE)[0]
    assert chart.name == "utilisation_edf"
    assert chart.rows == ("am1 (speed 1)", "am2 (speed 0.5)", "am3 (speed 1)")
    assert (chart.edges[0], chart.edges[1], chart.edges[-2], chart.edges[-1]) == (0, 5, 100, 101)
    assert chart.percent.shape == (3, 21)
    assert chart.percent[2, 20] == pytest.approx(100)
    assert chart.caption == "Mean of 20 runs, in windows of 5 time units."
    mean = 100 * over_time(ticks=101)[0].shares[1].mean()
    assert f"am2 (speed 0.5) {mean:.1f} %" in chart.description


def test_equal_speeds_are_not_shown_and_one_run_is_no_mean():
    for hardware in (None, Hardware(100), Hardware(100, (2.0,))):
        chart = utilisation_charts(over_time(ticks=30, replications=1), hardware)[0]
        assert chart.rows == ("am1", "am2", "am3")
        assert chart.caption == "1 run, in windows of 1 time unit."


@pytest.mark.parametrize("app_masters", [1, 60])
def test_clusters_of_all_sizes_are_drawn(app_masters):
    assert b"</svg>" in rendered(app_masters, (".svg",))[".svg"]


def test_pictures_are_the_same_each_time():
    drawn = rendered(3, FORMS)
    assert drawn[".png"].startswith(b"\x89PNG")
    assert b"</svg>" in drawn[".svg"]
    assert drawn == rendered(3, FORMS)


def rendered(app_masters, forms):
    chart = utilisation_charts(over_time(app_masters), HARDWARE)[0]
    return render_figure(partial(utilisation_figure, chart, "$not$ mathematics"), forms)
