"""How long it takes to sum up ten million replications of one cell, and how much memory.

    python benchmarks/summarise.py
    python benchmarks/summarise.py --replications 1000000

The replications are drawn, not simulated: what is measured is writing a part, verifying its
checksum and summing it up, as `rebecsim report` does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rebecsim.clusters.scenarios import load_scenario, open_run, plan_scenario
from rebecsim.simulation import OUTCOMES
from rebecsim.studies import Plan, Results, Rows
from rebecsim.studies.cells import Coded

BATCH = 1_000  # as many as a task of a comparison


def write_run(directory: Path, replications: int, seed: int = 1) -> Plan:
    """Write a complete run of one cell with drawn counters."""
    scenario = load_scenario("for_edf").replace(
        policies=["EDF"], app_masters=[3], replications=replications
    )
    plan = plan_scenario(scenario)
    Results.create(directory, plan).write(plan.cells[0], _rows(plan, replications, seed))
    return plan


def _rows(plan: Plan, replications: int, seed: int) -> Iterator[Rows]:
    random = np.random.default_rng(seed)
    for first in range(0, replications, BATCH):
        count = min(BATCH, replications - first)
        columns = {
            name: random.poisson(20, count).astype(np.int32)
            for name in plan.columns
            if name != "outcome"
        }
        yield Rows({**columns, "outcome": Coded(np.zeros(count, np.uint8), tuple(OUTCOMES))})


def bytes_per_row(plan: Plan) -> int:
    """Give how many bytes a replication takes in memory: its number, four a counter, one a word."""
    return 8 + sum(4 if kind == "int32" else 1 for kind in plan.columns.values())


def peak_memory() -> int:
    """Give the largest memory of this process so far, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def sum_up(directory: Path) -> tuple[int, float]:
    """Sum up a stored run: by how many bytes memory grew, and seconds."""
    run = open_run(directory)
    before, start = peak_memory(), time.perf_counter()
    run.results.moments(run.cells)
    return peak_memory() - before, time.perf_counter() - start


def main() -> None:
    """Do what the command line asks for and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=10_000_000)
    parser.add_argument("--run", type=Path, help="sum up this run; the other steps use it")
    options = parser.parse_args()
    if options.run:
        grown, seconds = sum_up(options.run)
        print(f"summing up: {seconds:.1f} s, {grown / 1e6:.0f} MB")
        return
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "run"
        start = time.perf_counter()
        plan = write_run(directory, options.replications)
        part = Results(directory).part(plan.cells[0])
        print(f"{options.replications:,} replications, {part.stat().st_size / 1e6:.0f} MB on disk,")
        print(f"{options.replications * bytes_per_row(plan) / 1e6:.0f} MB as a table in memory")
        print(f"writing: {time.perf_counter() - start:.1f} s")
        # In a process of its own, whose memory is that of summing up alone.
        subprocess.run([sys.executable, __file__, "--run", directory], check=True)


if __name__ == "__main__":
    main()
