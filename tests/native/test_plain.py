"""Without Numba's compiler the native engine is plain Python, and right all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rebecsim.native.cache import is_plain

FOLDER = Path(__file__).parent


@pytest.mark.large
@pytest.mark.skipif(is_plain(), reason="everything is plain Python already")
def test_the_engine_passes_its_tests_as_plain_python():
    finished = subprocess.run(
        [
            sys.executable,
            *("-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-cov"),
            str(FOLDER / "test_simulation.py"),
            str(FOLDER / "test_random_words.py"),
        ],
        cwd=FOLDER.parents[1],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-3000:]
