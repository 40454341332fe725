"""Runs of DSS, reproduced to the last byte of every file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clusters.yarn.dss_cases import expected, run_case, unpacked, written

COMPLETED = (
    *("el_greedy_ep50", "el_greedy_gaps", "el_greedy_null", "el_greedy_power1"),
    *("el_greedy_sparkwc", "el_greedy_squareroot", "el_greedy_step_r", "el_smartg_occ"),
    *("el_smartg_power2", "el_smartg_sawtooth_r", "el_smartg_step", "err_dur_const_neg"),
    *("err_dur_const_pos", "err_dur_only_elastic", "err_dur_rand_mixed", "err_dur_rand_pos"),
    *("err_ib_const_pos", "err_mem_const_neg", "err_mem_const_pos", "multi_greedy", "multi_reg_r"),
    *("overest_1-2", "peek_err", "peek_step_gaps", "peek_step_r", "peek_step_timeline"),
    *("reg_1500nodes_phase_ties", "reg_am", "reg_bigAM", "reg_hb3000_am700", "reg_hb500_am2000"),
    *("reg_mega", "reg_mega_am", "reg_occ7_am", "reg_plain", "reg_r", "reg_r_am", "reg_r_gaps"),
    *("reg_r_gaps_am", "reg_r_seed2", "reg_r_seed3_expmem", "srtf", "tiny_one_node_r_log"),
    *("tiny_reg_log", "tiny_reg_r_log", "tiny_smartg_log", "tiny_srtf_log"),
    *("race_lockstep_unmaintained",),
)
DEAR = (
    *("el_greedy_sawtooth", "el_greedy_step", "el_smartg_null", "el_smartg_power1"),
    *("el_smartg_sawtooth", "el_smartg_sparkwc", "err_mem_const_pos_smartg", "peek_sawtooth_r"),
    *("peek_sparkwc_r", "peek_step_plain", "reg_occ10", "srtf_r", "srtf_seed2", "peek_100j_step"),
)
"""Others with the same schedulers, penalties and errors, in other pairs; and one that is large."""
WITHOUT_BUMP = ("null", "power1", "power2", "squareroot")


@pytest.fixture(scope="module")
def cases(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(shared_data / "dss/cases.tar.xz", tmp_path_factory.mktemp("dss"))


@pytest.mark.parametrize(
    "name", [*COMPLETED, *(pytest.param(name, marks=pytest.mark.slow) for name in DEAR)]
)
def test_every_file_is_the_same(cases: Path, tmp_path: Path, name: str) -> None:
    done = run_case(cases / name, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert written(tmp_path) == expected(cases / name)


@pytest.mark.parametrize("penalty", WITHOUT_BUMP)
def test_peek_says_which_penalties_it_cannot_do_with(
    cases: Path, tmp_path: Path, penalty: str
) -> None:
    done = run_case(cases / f"peek_{penalty}_FAILS", tmp_path)
    assert done.returncode == 2
    assert re.search(r"trace:1: job_0, task 1: PEEK .* give it a penalty with a bump", done.stderr)
    assert not list(tmp_path.iterdir())


def test_a_run_that_never_ends_is_an_error(cases: Path, tmp_path: Path) -> None:
    done = run_case(cases / "livelock_am_TIMEOUT", tmp_path)
    assert done.returncode == 2
    assert "wait for containers, and never get them" in done.stderr
    assert not list(tmp_path.iterdir())


def test_all_cases_are_looked_at(cases: Path) -> None:
    known = {
        *COMPLETED,
        *DEAR,
        *(f"peek_{penalty}_FAILS" for penalty in WITHOUT_BUMP),
        "livelock_am_TIMEOUT",
    }
    assert {path.name for path in cases.iterdir() if path.is_dir()} == known
