"""Small scenarios of the kind `yarn` for tests."""

from __future__ import annotations

from pathlib import Path

from rebecsim.clusters.scenarios import load
from rebecsim.studies.plan import Plan

TRACE = """\
{
  "am.type": "mapreduce", "job.start.ms": 0, "job.end.ms": 1, "job.queue.name": "q",
  "job.id": "job_0", "job.user": "default",
  "job.tasks": [
    {"c.host": "/r/n", "c.dur": 20000, "c.prio": 20, "c.mem": 3000, "c.type": "reduce", "c.nr": 4}
  ]
}
{
  "am.type": "mapreduce", "job.start.ms": 5000, "job.end.ms": 1, "job.queue.name": "q",
  "job.id": "job_1", "job.user": "default",
  "job.tasks": [
    {"c.host": "/r/n", "c.dur": 8000, "c.prio": 10, "c.mem": 1500, "c.type": "map", "c.nr": 3},
    {"c.host": "/r/n", "c.dur": 6000, "c.prio": 20, "c.mem": 2500, "c.type": "reduce", "c.nr": 1}
  ]
}
"""

SCENARIO = """\
kind = "yarn"
name = "small"
policies = ["REGULAR", "GREEDY"]

[workload]
trace = "jobs.json"

[cluster]
nodes = [{ count = 2, memory = 4000, cores = 4 }]
reservations = true
master_memory = 500

[elasticity]
penalty = { model = "STEP", bump = 1.5 }
"""

DRAWN = """\
kind = "yarn"
name = "drawn"
policies = ["REGULAR", "PEEK"]
replications = 3
error_percents = [10, 40]
load_factors = [1.0, 2.0]
metrics = ["mean_duration", "makespan"]

[workload.generate]
jobs = 8
start = { low = 0, high = 60 }
tasks = { shape = "exponential", low = 1, high = 12 }
duration = { low = 5, high = 40 }
memory = { low = 500, high = 3000 }

[cluster]
nodes = [{ count = 3, memory = 6000, cores = 8 }]
master_memory = 500
assign_multiple = true

[elasticity]
penalty = { model = "STEP", bump = 1.5 }

[errors]
memory = { sign = "POSITIVE" }
duration = { percent = 20 }
"""


def written(folder: Path, text: str = SCENARIO, trace: str = TRACE) -> Path:
    """Write a scenario and its trace; give the path of the scenario."""
    (folder / "jobs.json").write_text(trace)
    file = folder / "scenario.toml"
    file.write_text(text)
    return file


def plan_of(folder: Path, text: str = SCENARIO) -> Plan:
    """Lay out a scenario."""
    return load(written(folder, text)).plan()
