"""`compare --exact`: what it prints and leaves, and that samples agree with it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Run

SCENARIO = """\
kind = "dispatch"
name = "small"
policies = ["EDF", "FIFO", "MDF", "PRIORITY", "LLF", "MLF", "SJF"]
app_masters = [1, 2]
queue_size = 4
epsilon = 0.5
ticks = 12
replications = 100

[high_priority]
probability = 30

[power]
idle = [100]
busy = [250]

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""

Row = dict[str, str]


@pytest.fixture(scope="module")
def compared(run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    place = tmp_path_factory.mktemp("exact")
    (place / "small.toml").write_text(SCENARIO)
    options = ("--exact", "--no-orders", "--workers", "1", "--engine", "python")
    code, shown, complaint = run("compare", "small.toml", "--out", "out", *options, cwd=place)
    assert code == 0, complaint
    return shown, place / "out"


def read(file: Path) -> Iterator[Row]:
    with file.open(newline="") as lines:
        yield from csv.DictReader(lines)


def test_each_figure_of_each_cell_is_there_least_first(compared):
    rows = list(read(compared[1] / "exact.csv"))
    assert len(rows) == 7 * 2 * 3
    for row in rows:
        assert row["minimum_low"] == row["minimum_high"]
        least, mean, most = (float(row[f"{g}_low"]) for g in ("minimum", "expected", "maximum"))
        assert least - 1e-9 <= mean <= most + 1e-9


def test_samples_agree_with_exact_values(compared, run):
    """The 95 % intervals of the samples have the expected values, but for one in twenty."""
    folder = compared[1]
    columns = "policy, app_masters, deadline_misses_low AS low, deadline_misses_high AS high"
    code, shown, complaint = run("query", f"SELECT {columns} FROM cells", folder, "--json")
    assert code == 0, complaint
    sampled = {(row["policy"], str(row["app_masters"])): row for row in json.loads(shown)}
    expected = {
        (row["policy"], row["app_masters"]): float(row["expected_low"])
        for row in read(folder / "exact.csv")
        if row["figure"] == "deadline_misses"
    }
    inside = [sampled[c]["low"] <= value <= sampled[c]["high"] for c, value in expected.items()]
    assert len(inside) == 14
    assert sum(inside) >= 12


CLAIMS = {
    "deadline_misses": "In no order of messages does {worse} miss fewer deadlines than {better} at",
    "completions": "In no order of messages does {worse} complete more jobs than {better} at",
    "energy": "In no order of messages does {worse} take less energy than {better} at",
}


@pytest.mark.parametrize("figure", CLAIMS)
def test_words_are_said_where_they_are_so_in_every_order(compared, figure):
    shown = " ".join(compared[0].split())
    values = {
        (row["policy"], row["app_masters"]): (float(row["minimum_low"]), float(row["maximum_high"]))
        for row in read(compared[1] / "exact.csv")
        if row["figure"] == figure
    }
    policies = {policy for policy, _ in values}
    said = 0
    for less in policies:
        for more in policies:
            worse, better = (less, more) if figure == "completions" else (more, less)
            is_said = CLAIMS[figure].format(worse=worse, better=better) in shown
            decided = [values[less, n][1] < values[more, n][0] - 1e-9 for n in ("1", "2")]
            assert is_said == any(decided), (less, more)
            said += sum(decided)
    named = figure.replace("_", " ").replace("completions", "completed jobs")
    assert re.search(rf"Of 42 comparisons of two policies.*: .*{said or 'none'} by {named}", shown)
    assert "(exact)" in shown
    assert "bounds" not in shown


def test_the_report_is_made_again_from_what_is_kept(compared, run, tmp_path):
    code, shown, complaint = run("report", compared[1], "--out", tmp_path / "again", "--explain")
    assert code == 0, complaint
    assert "over all orders" in shown
    assert (tmp_path / "again/exact.csv").read_text() == (compared[1] / "exact.csv").read_text()
    page = (tmp_path / "again/report.html").read_text()
    assert "All orders of messages" in page
    assert "Energy over all orders" in page


def test_runs_of_the_extremes_can_be_done_again(compared, run):
    folder = compared[1] / "exact"
    for name in ("least", "most"):
        (file,) = folder.glob(f"mdf_*_am1_{name}.json")
        model = folder / f"{file.stem.removesuffix(f'_{name}')}.rebeca"
        code, shown, complaint = run("simulate", "--replay", file, model)
        assert code == 0, complaint
        assert "time limit" in shown
        assert json.loads(file.read_text())["until"] == 11


def test_bounds_are_shown_where_not_all_is_known(run, tmp_path):
    text = SCENARIO.replace("app_masters = [1, 2]", "app_masters = [1]")
    text = text.replace("replications = 100", "replications = 2")
    (tmp_path / "small.toml").write_text(text)
    options = ("--exact", "--exact-states", "30", "--no-orders", "--workers", "1")
    code, shown, complaint = run("compare", "small.toml", "--out", "out", *options, cwd=tmp_path)
    assert code == 0, complaint
    assert ".." in shown
    rows = [row for row in read(tmp_path / "out/exact.csv") if row["ticks"] == "12"]
    assert any(float(row["expected_low"]) < float(row["expected_high"]) for row in rows)
    files = [*(tmp_path / "out/exact").glob("*.json")]
    assert files
    for file in files:
        model = file.with_name(f"{file.stem.rpartition('_')[0]}.rebeca")
        until = json.loads(file.read_text())["until"]
        assert until < 11
        code, shown, complaint = run("simulate", "--replay", file, model)
        assert code == 0, complaint
        assert re.search(rf"time limit .*the last one at time {until}\b", shown)


@pytest.mark.parametrize(
    ("scenario", "options", "complaint"),
    [
        ("capacity_or_fair", ["--exact"], "does not work for scenarios of"),
        ("for_edf", ["--exact-states", "9"], "works only with `--exact`"),
        ("for_edf", ["--exact", "--exact-states", "0"], "--exact-states"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_run(
    run, tmp_path, scenario, options, complaint
):
    code, _, said = run("compare", scenario, "--out", tmp_path / "out", *options)
    assert code == 2
    assert complaint in " ".join(said.split())
    assert not (tmp_path / "out").exists()


def test_damaged_values_are_found_out(compared, run, tmp_path):
    kept = compared[1] / "exact.json"
    text = kept.read_text()
    try:
        kept.write_text(text.replace('"ticks": 12', '"ticks": "many"'))
        code, _, said = run("report", compared[1], "--out", tmp_path / "again")
    finally:
        kept.write_text(text)
    assert code == 2
    assert "exact.json is damaged" in said
