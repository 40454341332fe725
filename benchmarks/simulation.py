"""How long simulating takes on the native engine.

* The published experiment (scenario `for_edf`: 4 policies x 6 cluster sizes x 100 runs x 99 ticks),
  from the start of the program to the report on disk: with an empty cache of compiled code, with
  a warm one, and on the Python engine.
* A million replications of one of its cells, EDF with 3 AppMasters, on 2 processors.

    python benchmarks/simulation.py
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from published_experiment import ONE_CELL, SCENARIO, Measurement, measure, output


def experiment(engine: str, orders: bool) -> Measurement:
    """Run the published experiment, report included."""
    with output() as directory:
        options = ["--engine", engine, "--orders" if orders else "--no-orders"]
        return measure(["compare", SCENARIO, "--out", directory, *options])


def one_cell(replications: int) -> Measurement:
    """Run one cell often, report included."""
    with output() as directory, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one_cell.toml"
        file.write_text(ONE_CELL, "utf-8")
        options = ["--no-orders", "--workers", "2", "--replications", str(replications)]
        return measure(["compare", str(file), "--out", directory, *options])


def show(what: str, run: Measurement) -> None:
    """Print a line of the table."""
    load = os.getloadavg()[0]
    print(f"{what:<58} {run.seconds:7.2f} s  (load {load:.1f})", flush=True)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replications", type=int, default=1_000_000, help="of the one cell")
    arguments = parser.parse_args()
    start = time.strftime("%Y-%m-%d")
    print(f"{start}, Python {sys.version.split()[0]}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory(prefix="rebecsim-cache-") as cache:
        os.environ["REBECSIM_CACHE"] = cache
        show("published experiment, native, empty cache", experiment("native", orders=False))
        show("published experiment, native, warm cache", experiment("native", orders=False))
        show("the same with the other orders of messages", experiment("native", orders=True))
        show("published experiment, python", experiment("python", orders=False))
        one_cell(1_000)
        text = f"{arguments.replications:,} replications of EDF, 3 AppMasters, 2 workers"
        show(text, one_cell(arguments.replications))


if __name__ == "__main__":
    main()
