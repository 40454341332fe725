"""The generator against the published sample of the authors' own program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy  # loads its parts when they are used

from rebecsim.workloads import (
    LublinModel,
    Workload,
    WorkloadError,
    generate,
    offered_load,
    read_swf,
)
from rebecsim.workloads.workload import COLUMNS


@pytest.fixture(scope="module")
def drawn() -> Workload:
    return generate(20_000, 256, seed=1)


@pytest.fixture
def sample(shared_data) -> Workload:
    return read_swf(shared_data / "swf" / "lublin_256.swf.gz")


@pytest.mark.parametrize("column", ["run", "processors"])
def test_run_times_and_sizes_are_distributed_as_in_the_sample(drawn, sample, column):
    test = scipy.stats.ks_2samp(getattr(drawn, column), getattr(sample, column))
    assert test.pvalue > 0.01


def test_times_between_arrivals_are_distributed_as_in_the_sample(drawn, sample):
    assert scipy.stats.ks_2samp(np.diff(drawn.submit), np.diff(sample.submit)).pvalue > 0.01


def test_the_day_is_that_of_the_sample(drawn, sample):
    """The authors' program loses half a second per job, which the comparison puts back."""
    mended = sample.submit + np.arange(len(sample)) // 2
    ours, theirs = (
        np.bincount(submit % 86_400 // 7200, minlength=12) for submit in (drawn.submit, mended)
    )
    shares = np.array([ours / ours.sum(), theirs / theirs.sum()])
    assert np.abs(shares[0] - shares[1]).max() < 0.015
    # The check is sharp enough to see an hour's shift.
    shifted = np.bincount((drawn.submit + 3600) % 86_400 // 7200, minlength=12) / len(drawn)
    assert np.abs(shifted - shares[1]).max() > 0.03


def test_run_times_depend_on_sizes(drawn):
    """Of large jobs fewer are short: the correlation that the model is known for."""
    logs = np.log(drawn.run)
    small, large = (logs[drawn.processors <= 4].mean(), logs[drawn.processors >= 64].mean())
    assert large > small + 1


def test_the_shares_of_sizes_are_those_of_the_model(drawn):
    assert (drawn.processors == 1).mean() == pytest.approx(LublinModel().serial, abs=0.01)
    powers = (drawn.processors > 1) & (drawn.processors & (drawn.processors - 1) == 0)
    assert powers.mean() > LublinModel().power_of_two - 0.01
    assert int(drawn.processors.max()) == 256


def test_longest_run_and_gap(drawn):
    assert int(drawn.run.max()) <= np.exp(12)
    short = generate(500, 8, seed=1, model=replace(LublinModel(), most_log_run=3.0))
    assert int(short.run.max()) <= np.exp(3)
    assert int(short.run.min()) >= 1


@pytest.mark.parametrize("processors", [2, 3, 5, 100])
def test_machines_of_any_size(processors):
    workload = generate(400, processors, seed=2)
    assert workload.capacity == processors
    assert int(workload.processors.max()) <= processors
    assert int(workload.processors.min()) == 1


def same(one: Workload, other: Workload) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


def test_a_seed_gives_the_same_workload_and_another_seed_another():
    once = generate(300, 64, seed=5, users=7, load=0.6)
    assert same(once, generate(300, 64, seed=5, users=7, load=0.6))
    assert same(once, generate(300, 64, seed=np.random.SeedSequence(5), users=7, load=0.6))
    assert not same(once, generate(300, 64, seed=6, users=7, load=0.6))


def test_users_and_load_do_not_change_the_jobs():
    plain, other = generate(300, 64, seed=5), generate(300, 64, seed=5, users=9, load=2)
    for name in ("run", "processors"):
        assert np.array_equal(getattr(plain, name), getattr(other, name))


def test_the_load_is_as_asked_for():
    assert offered_load(generate(5000, 64, seed=3, load=0.7)) == pytest.approx(0.7, rel=1e-4)


def test_users_have_zipf_shares():
    counts = np.bincount(generate(20_000, 64, seed=3, users=4).user)[1:]
    wanted = np.array([1, 1 / 2, 1 / 3, 1 / 4])
    assert counts / counts.sum() == pytest.approx(wanted / wanted.sum(), abs=0.015)


@pytest.mark.parametrize(("jobs", "processors", "users"), [(1, 4, 1), (9, 1, 1), (9, 4, 0)])
def test_too_little_to_draw_from(jobs, processors, users):
    with pytest.raises(WorkloadError, match="2 processors, 2 jobs and 1 user"):
        generate(jobs, processors, seed=1, users=users)
