"""How long the published experiment takes, and how much memory.

The experiment is the built-in scenario `for_edf`: 4 policies x 6 cluster sizes x 100 runs x 99
ticks. It is measured end to end, as a user runs it: from the start of the program to the report on
disk; cold, with nothing on disk but Python's byte code, and warm, with compiled code on disk from a
run on the native engine that is not measured. Beside it, in the same session, a simulator of this
one cluster written by hand in plain Python (`tests/clusters/reference_dispatch.py`) does the same
number of runs. All are measured in turn, so that a busy moment of the machine meets all of them.

    python benchmarks/published_experiment.py            time, cold and warm
    python benchmarks/published_experiment.py --memory   memory for 100,000 runs of one cell
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.clusters.scenarios import load_scenario

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = "for_edf"
VARIANTS = ("--workers 1 --no-orders", "--workers 2 --no-orders", "--workers 2")
"""Options to measure, with and without the three other message orders."""

ORIGINAL_SECONDS = 705
"""What the original tool chain took for this experiment. Recorded on another day: RMC and ReGen,
23 s of Java, 112 s of g++, 562 s of runs and 8 s of reading traces."""

MEMORY_LIMIT_MB = 500
ONE_CELL = """
kind = "dispatch"
name = "one_cell"
policies = ["EDF"]
app_masters = [3]
queue_size = 12
epsilon = 2.0
ticks = 99
replications = 100

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 6
"""


@dataclass(frozen=True)
class Measurement:
    """One run of the program: wall seconds, and the peak of its largest process in MB."""

    seconds: float
    megabytes: float


def measure(arguments: list[str], cache: str | None = None) -> Measurement:
    """Run the program in a process of its own, `cache` being its cache directory if not the usual.

    Raises CalledProcessError when it fails.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "rebecsim", *arguments],
        stdout=subprocess.DEVNULL,
        env=os.environ | ({"REBECSIM_CACHE": cache} if cache else {}),
    )
    # The usage of one child and of its own children, where getrusage would add up all runs so far.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    unit = 1 if sys.platform == "darwin" else 1024
    return Measurement(seconds, usage.ru_maxrss * unit / 1e6)


@contextmanager
def output() -> Iterator[str]:
    """Give a directory for results that vanishes afterwards."""
    with tempfile.TemporaryDirectory(prefix="rebecsim-benchmark-") as directory:
        yield str(Path(directory) / "results")


def experiment(options: str, cache: str) -> Measurement:
    """Run the published experiment, report included."""
    with output() as directory:
        return measure(["compare", SCENARIO, "--out", directory, *options.split()], cache)


def cold(options: str) -> Measurement:
    """Run it with an empty cache directory."""
    with tempfile.TemporaryDirectory(prefix="rebecsim-benchmark-") as cache:
        return experiment(options, cache)


def reference_seconds(scenario: Scenario) -> float:
    """Do the runs of the scenario with the simulator written by hand, on one processor."""
    reference = _reference()
    generator = random.Random(scenario.seed)
    (lengths,) = scenario.lengths
    workload = reference.drawn_between(lengths.minimum, lengths.maximum)
    start = time.perf_counter()
    for configuration in scenario.configurations():
        cluster = reference.Cluster(
            configuration.policy,
            configuration.app_masters,
            reference.one_job,
            workload,
            scenario.epsilon,
            queue_size=scenario.queue_size,
            high_probability=scenario.high_priority.probability,
            high_length=scenario.high_priority.length,
            ticks=scenario.ticks,
        )
        for _ in range(scenario.replications):
            reference.simulate(cluster, reference.fair(generator), generator)
    return time.perf_counter() - start


def _reference() -> ModuleType:
    path = ROOT / "tests/clusters/reference_dispatch.py"
    spec = importlib.util.spec_from_file_location("reference_dispatch", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def report_times(repeats: int) -> None:
    """Print the time of the experiment beside those it is compared with."""
    scenario = load_scenario(SCENARIO)
    runs = scenario.configuration_count * scenario.replications
    print(f"{SCENARIO}: {runs} runs of {scenario.ticks} ticks, best of {repeats}")
    references: list[float] = []
    measured: dict[str, list[Measurement]] = {}
    with tempfile.TemporaryDirectory(prefix="rebecsim-benchmark-") as cache:
        start = time.perf_counter()
        experiment("--workers 2 --no-orders --engine native", cache)
        print(f"first run of the native engine: {time.perf_counter() - start:.1f} s")
        for _ in range(repeats):
            references.append(reference_seconds(scenario))
            for options in VARIANTS:
                measured.setdefault(f"{options}, cold", []).append(cold(options))
                measured.setdefault(f"{options}, warm", []).append(experiment(options, cache))
    reference = min(references)
    print(f"plain-Python reference, 1 process, without report: {reference:6.2f} s")
    for name, all_runs in measured.items():
        best = min(all_runs, key=lambda run: run.seconds)
        print(
            f"rebecsim compare {name + ':':<32} {best.seconds:6.2f} s"
            f"  ({best.seconds / reference:.2f} x the reference, "
            f"{ORIGINAL_SECONDS / best.seconds:.0f} times faster than the original tool chain; "
            f"largest process {best.megabytes:.0f} MB)"
        )
    print(f"The original tool chain took {ORIGINAL_SECONDS} s on another day, not side by side.")


def report_memory(replications: int) -> None:
    """Print the peak memory of many runs of one cell in one process. Exits with 1 above 500 MB."""
    with output() as directory, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one_cell.toml"
        file.write_text(ONE_CELL, "utf-8")
        options = ["--out", directory, "--workers", "1", "--replications", str(replications)]
        run = measure(["compare", str(file), *options])
    print(f"{replications:,} runs of one cell: {run.megabytes:.0f} MB, {run.seconds:.0f} s")
    if run.megabytes >= MEMORY_LIMIT_MB:
        sys.exit(f"more than {MEMORY_LIMIT_MB} MB")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--memory", action="store_true", help="measure the memory instead")
    parser.add_argument("--repeats", type=int, default=3, help="measure so often, take the best")
    parser.add_argument("--replications", type=int, default=100_000, help="runs for --memory")
    arguments = parser.parse_args()
    if arguments.memory:
        report_memory(arguments.replications)
    else:
        report_times(arguments.repeats)


if __name__ == "__main__":
    main()
