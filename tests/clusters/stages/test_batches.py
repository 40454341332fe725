"""Standard errors of few runs by the means of batches of their jobs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.stages.reproduction.batches import (
    BATCHES,
    batch_errors,
    error_of_mean,
    error_of_share,
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
