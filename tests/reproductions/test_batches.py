"""Standard errors of few runs by the means of batches of their jobs, and of evenly spread runs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reproductions.workflows.running import (
    BATCHES,
    batch_errors,
    error_of_mean,
    error_of_neighbours,
    error_of_share,
    spread_errors,
)


@pytest.mark.parametrize("runs", [1, 3])
def test_independent_values_have_the_error_that_is_known(runs: int) -> None:
    errors = []
    for seed in range(200):
        values = np.random.default_rng(seed).normal(5, 2, size=runs * BATCHES * 30)
        errors.append(error_of_mean(values, runs))
    assert np.mean(np.square(errors)) == pytest.approx(4 / (runs * BATCHES * 30), rel=0.1)


def test_values_that_hang_together_have_a_larger_error() -> None:
    draws = np.random.default_rng(1).normal(size=BATCHES * 500)
    walk = np.zeros_like(draws)
    for place, draw in enumerate(draws[1:], 1):
        walk[place] = 0.9 * walk[place - 1] + draw
    naive = walk.std() / math.sqrt(len(walk))
    known = 1 / (1 - 0.9) / math.sqrt(len(walk))  # of the mean of an autoregressive process
    found = error_of_mean(walk, 1)
    assert found > 2 * naive
    assert found == pytest.approx(known, rel=0.4)


def test_runs_that_differ_from_one_another_do_not_count_as_batches_that_do() -> None:
    batch = np.arange(2.0)
    first = np.tile(batch, BATCHES)
    assert error_of_mean(np.concatenate([first, first + 100]), 2) == 0


def test_batches_are_of_jobs_that_may_start_one_behind_the_other(tmp_path: Path) -> None:
    count = BATCHES * 10
    rng = np.random.default_rng(3)
    start = np.arange(count) * 1000
    late = np.arange(count) >= count // 2  # all of the second half
    end = start + np.where(late, 3000, 1000)
    order = rng.permutation(count)
    table = pa.table(
        {
            "replication": np.zeros(count, dtype=np.int32),
            "start": start[order],
            "deadline": (start + 2000)[order],
            "end": end[order],
        }
    )
    pq.write_table(table, tmp_path / "jobs.parquet")
    errors = batch_errors(tmp_path / "jobs.parquet")
    half = math.sqrt(0.25 * BATCHES / (BATCHES - 1) / BATCHES)
    assert errors == pytest.approx({"late": 100 * half, "turnaround": 2 * half})


def test_no_late_job_at_all_is_no_certainty(tmp_path: Path) -> None:
    count = 2_500
    start = np.arange(count) * 1000
    columns = {"replication": start * 0, "start": start, "deadline": start + 9, "end": start + 5}
    pq.write_table(pa.table(columns), tmp_path / "jobs.parquet")
    error = batch_errors(tmp_path / "jobs.parquet")["late"]
    assert error == 100 * error_of_share(0, count)
    assert error == pytest.approx(0.0565, abs=0.0005)  # %; a share of 0.17 % would be three off


@pytest.mark.parametrize("share", [0.002, 0.02, 0.2])
def test_the_error_of_a_share_covers_it(share: float) -> None:
    counts = np.random.default_rng(7).binomial(2_500, share, size=2_000)
    apart = [abs(each / 2_500 - share) / error_of_share(int(each), 2_500) for each in counts]
    assert np.mean(np.array(apart) <= 1.96) == pytest.approx(0.95, abs=0.02)


def test_evenly_spread_runs_are_as_sure_as_neighbours_are_alike() -> None:
    """Systematic samples of a line and of white noise, whose errors are known."""
    starts = np.random.default_rng(6).random(4000)
    means = np.array([np.mean((start + np.arange(8)) / 8 % 1) for start in starts])
    line = error_of_neighbours(np.arange(8) / 8)
    assert line == pytest.approx(1 / 8 / 4)  # step / sqrt(2 n)
    assert 0.7 * means.std() < line < 1.3 * means.std()
    noise = np.random.default_rng(7).normal(size=(4000, 8))
    squares = [error_of_neighbours(each) ** 2 for each in noise]
    assert np.mean(squares) == pytest.approx(1 / 8, rel=0.05)


def test_runs_are_neighbours_by_their_places(tmp_path: Path) -> None:
    turnaround = np.array([4000, 1000, 3000, 2000]).repeat(1000)  # ms, the third one late
    columns = {
        "replication": np.arange(4).repeat(1000),
        "start": turnaround * 0,
        "deadline": np.full(4000, 2500) + 1000 * (turnaround == 4000),
        "end": turnaround,
    }
    pq.write_table(pa.table(columns), tmp_path / "jobs.parquet")
    places = {0: 0.9, 1: 0.0, 2: 0.6, 3: 0.3}
    errors = spread_errors(tmp_path / "jobs.parquet", places.__getitem__)
    assert errors["turnaround"] == pytest.approx(math.sqrt(3 * 1.0 / (2 * 3 * 4)))
    swapped = spread_errors(tmp_path / "jobs.parquet", {**places, 1: 0.5, 3: 0.4}.__getitem__)
    assert swapped["turnaround"] == pytest.approx(math.sqrt((1 + 4 + 1) / (2 * 3 * 4)))
    assert errors["late"] > 100 * error_of_share(2000, 4000)
