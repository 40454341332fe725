"""Small runs of DSS that have every pair of values of its options, the same to the last byte."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.clusters.yarn.dss_cases import written
from tests.program import in_this_process

RECORDED: dict[str, Any] = json.loads(
    lzma.decompress((Path(__file__).parents[2] / "data/dss/pairs.json.xz").read_bytes())
)
CASES: list[dict[str, Any]] = RECORDED["cases"]
IN_FULL = ("decision_stats.out", "job_stats.out")
"""Files of which the text is kept; of the others it is the SHA-256."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["command"]))
def test_every_file_is_that_of_dss(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(RECORDED["traces"][case["trace"]])
    (tmp_path / "topo").write_text(RECORDED["topologies"][case["topology"]])
    out = tmp_path / "out"
    done = in_this_process("dss", *case["command"], "--out", out, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = {
        name: text if name in IN_FULL else hashlib.sha256(text.encode()).hexdigest()
        for name, text in written(out).items()
    }
    assert found == case["files"]


def test_every_option_of_dss_is_there() -> None:
    used = {word for case in CASES for word in case["command"] if word.startswith("-")}
    assert used >= {
        *("-r", "-g", "--gaps-allow-ams", "--assign-multiple", "--meganode", "--ep", "-p"),
        *(f"--{of}-error{what}" for of in ("duration", "mem", "ib") for what in ("", "-type")),
        *(f"--{of}-error-mode" for of in ("duration", "mem", "ib")),
        *("--duration-error-only-elastic", "--race-metric"),
        *("--mem-overestimate-range", "--mem-overestimate-assume"),
        *("--occupancy-stats-interval", "--occupancy-stats-file"),
    }
