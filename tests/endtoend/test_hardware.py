"""A scenario with AppMasters of different speeds and power draws, from the file to the report."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from rebecsim.clusters import Power, energy
from rebecsim.clusters.dispatch.configuration import cycled

SCENARIO = """\
kind = "dispatch"
name = "fleet"
title = "A small fleet"
policies = ["EDF", "SJF"]
app_masters = [1, 3]
queue_size = 4
epsilon = 0.5
speeds = [1.0, 0.5]
replications = 6
ticks = 30

[power]
idle = [90.0]
busy = [200.0, 120.5]
time_unit = 60.0

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""
POWER = Power(idle=[90.0], busy=[200.0, 120.5], time_unit=60.0)


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    place = tmp_path_factory.mktemp("fleet")
    (place / "fleet.toml").write_text(SCENARIO)
    command = ("compare", "fleet.toml", "--out", "out", "--trace", "--no-orders")
    done = run(*command, cwd=place, columns=150)
    assert done.returncode == 0, done.stderr
    return place / "out", done.stdout


def test_the_terminal_shows_energy_and_utilisation(made):
    _, shown = made
    assert "Hardware, cluster of 3" in shown
    assert "Energy (kJ per run)" in shown or "Energy (MJ per run)" in shown
    assert "energy.csv" in shown


def test_the_file_agrees_with_every_single_run(made):
    out, _ = made
    rows = list(csv.DictReader((out / "energy.csv").read_text().splitlines()))
    assert len(rows) == 2 * (2 + 4)
    for policy in ("EDF", "SJF"):
        for size in (1, 3):
            stem = f"{policy.lower()}_uniform1_nondet1to4_am{size}"
            part = pq.read_table(out / f"parts/{stem}.parquet")
            names = [f"busy_am{number}" for number in range(1, size + 1)]
            busy = np.column_stack([part[name].to_numpy() for name in names])
            mine = [r for r in rows if (r["policy"], r["app_masters"]) == (policy, str(size))]
            joules = energy(POWER, busy, 30).mean()
            assert float(mine[0]["energy"]) == pytest.approx(joules)
            assert float(mine[0]["utilisation"]) == pytest.approx(busy.mean() / 30)
            for place, row in enumerate(mine[1:]):
                assert row["app_master"] == f"am{place + 1}"
                assert float(row["utilisation"]) == pytest.approx(busy[:, place].mean() / 30)
                alone = Power(
                    idle=cycled(POWER.idle, size)[place : place + 1],
                    busy=cycled(POWER.busy, size)[place : place + 1],
                    time_unit=60.0,
                )
                joules = energy(alone, busy[:, place : place + 1], 30).mean()
                assert float(row["energy"]) == pytest.approx(joules)


def test_the_page_and_the_pictures_show_the_largest_cluster(made):
    out, _ = made
    page = (out / "report.html").read_text("utf-8")
    for text in (
        '<h2 id="hardware">Hardware</h2>',
        "Utilisation of each AppMaster, cluster of 3",
        "120.5 W",
        "Utilisation of each AppMaster over time under SJF",
    ):
        assert text in page
    for policy in ("edf", "sjf"):
        for form in ("png", "svg"):
            assert (out / f"charts/utilisation_{policy}.{form}").stat().st_size > 1000


def test_the_report_is_drawn_again_from_what_is_stored(run, made, tmp_path):
    out, _ = made
    done = run("report", out, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("energy.csv", "charts/utilisation_edf.svg", "charts/utilisation_sjf.png"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()
