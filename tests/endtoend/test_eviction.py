"""Eviction scenarios, message orders and precision, as a user runs them."""

import csv
import json

import pytest

from tests.endtoend.test_cli import SCENARIO, names

EVICTION = SCENARIO.replace('["EDF", "FIFO"]', '["MDF", "MLF"]').replace(
    "[[arrivals]]", "[eviction]\ncheckpoint_overhead = 1\n\n[[arrivals]]"
)


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(EVICTION)
    return path


@pytest.mark.usefixtures("without_charts")
def test_eviction_is_compared_like_dispatch(run, scenario, tmp_path):
    done = run("compare", scenario, "--out", "out", "--explain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in (
        "MDF",
        "MLF",
        "What became of the jobs",
        "Queue, research",
        "Completed, production",
        "ticks-first",
    ):
        assert text in done.stdout
    out = tmp_path / "out"
    for chart in ("checkpoints", "job_request_success", "success_of_all_requests"):
        assert (out / "charts" / f"{chart}.png").exists()
    with (out / "breakdown.csv").open() as file:
        assert [row["policy"] for row in csv.DictReader(file)] == ["MDF", "MLF"]
    assert {path.name for path in (out / "orders").iterdir()} == {
        "updates-first",
        "ticks-first",
        "fifo",
    }
    again = run("report", "out", "--explain", cwd=tmp_path)
    table = done.stdout.partition("report  ")[0]
    assert again.stdout.startswith(table)
    generated = run("generate", scenario, "--out", tmp_path / "models")
    assert generated.returncode == 0
    assert run("check", *(tmp_path / "models").iterdir()).returncode == 0


def test_both_variants_of_the_model_are_generated(run, scenario, tmp_path):
    published = tmp_path / "published.toml"
    published.write_text(EVICTION.replace("[eviction]", "[eviction]\nas_published = true"))
    for path, directory in ((scenario, "fixed"), (published, "published")):
        assert run("generate", path, "--out", tmp_path / directory).returncode == 0
    for fixed in sorted((tmp_path / "fixed").iterdir()):
        assert fixed.read_text() != (tmp_path / "published" / fixed.name).read_text()


@pytest.mark.usefixtures("without_charts")
def test_precision_decides_the_number_of_runs(run, tmp_path):
    scenario = tmp_path / "tiny.toml"
    scenario.write_text(SCENARIO)
    done = run(
        "compare", scenario, "--out", "out", "--precision", "5%", "--no-orders", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "table.csv").open() as file:
        for row in csv.DictReader(file):
            value, low = (float(row[f"deadline_misses{part}"]) for part in ("", "_low"))
            assert value - low <= 0.05 * value
    assert "orders" not in names(tmp_path / "out")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["scenario"]["precision"] == "5%"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--precision", "1%", "--replications", "5"], "--replications"),
        (["--max-replications", "5"], "works only with `--precision`"),
        (["--precision", "lots"], "lots"),
        (["--order", "sideways"], "sideways"),
    ],
)
def test_options_that_do_not_fit(run, options, text, scenario, tmp_path):
    before = names(tmp_path)
    done = run("compare", scenario, "--out", tmp_path / "out", *options)
    assert done.returncode == 2
    assert text in done.stderr
    assert names(tmp_path) == before
