"""Small scenarios of the kind `batch` for tests."""

from __future__ import annotations

from pathlib import Path

from rebecsim.clusters.scenarios import load
from rebecsim.studies.plan import Plan

LOG = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
3  2 -1  8 1 -1 -1 1  9 100 1 1 1 -1 1 -1 -1 -1
4  3 -1 30 1 -1 -1 1 30 100 1 3 1 -1 1 -1 -1 -1
5  4 -1  6 2 -1 -1 2 15 100 1 2 1 -1 1 -1 -1 -1
"""

SCENARIO = """\
kind = "batch"
name = "small"
policies = ["FCFS", "EASY"]
share = 2

[workload]
log = "small.swf"
"""

DRAWN = """\
kind = "batch"
name = "drawn"
policies = ["FCFS", "FAIR_FCFS"]
estimates = ["exact"]
estimate_errors = [2.5]
load_factors = [1.0, 1.5]
share = 4
replications = 3

[workload]
generate = { jobs = 60, processors = 16, users = 4 }
load = 0.7
"""


def written(folder: Path, text: str = SCENARIO, log: str = LOG) -> Path:
    """Write a scenario and its log; give the path of the scenario."""
    (folder / "small.swf").write_text(log)
    file = folder / "scenario.toml"
    file.write_text(text)
    return file


def plan_of(folder: Path, text: str = SCENARIO) -> Plan:
    """Lay out a scenario."""
    return load(written(folder, text)).plan()
