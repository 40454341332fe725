"""With Numba as it comes, without what reaches into it, a model runs the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from models.teaching import ping_pong
from rebecsim.native import is_plain

MODEL = Path(ping_pong.__file__).with_suffix(".rebeca")


def simulated(plain, cache):
    """Give how a simulation ends and what it prints."""
    arguments = ["simulate", str(MODEL), "--engine", "native", "--until", "20", "--seed", "1"]
    finished = subprocess.run(
        [sys.executable, "-m", "rebecsim", *arguments],
        env=os.environ | {"REBECSIM_PLAIN_NUMBA": plain, "REBECSIM_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    return finished.returncode, finished.stdout, finished.stderr


@pytest.mark.slow
@pytest.mark.skipif(is_plain(), reason="nothing is compiled")
def test_a_model_runs_the_same_without_the_parts_inside_numba(tmp_path):
    usual = simulated("0", tmp_path / "usual")
    assert "time limit (7 messages served" in usual[1]
    assert simulated("1", tmp_path / "plain") == usual
    assert list((tmp_path / "usual").glob("*/*.native"))
    assert not list((tmp_path / "plain").glob("*/*.native"))
