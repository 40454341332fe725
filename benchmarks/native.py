"""The native engine on large state spaces, beside the Python engine and, if it is there, SPIN.

`python benchmarks/native.py` explores the models of `models/benchmarks`, each in a process of its
own and with compiled code from the cache, and prints what the whole process took: processor
seconds and the most memory, from `wait4`; below the table, the wall time of the searches with one
worker and with two. With `--python` the Python engine does the same, which
takes minutes and gigabytes. SPIN searches breadth first without partial-order reduction, in a
process of its own; its time is without generating and compiling the verifier.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "models" / "benchmarks"
MODELS: dict[str, tuple[str, ...]] = {
    "yarn_fifo4": (),
    "resource_manager_edf3": (),
    "philosophers6": ("--core",),
}
"""The models, and the options for them."""


@dataclass(frozen=True)
class Measured:
    """What a process took: processor seconds, and the most memory in megabytes."""

    output: str
    seconds: float
    megabytes: float


def measure(command: list[str], directory: Path | None = None) -> Measured:
    """Run a program to its end."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, cwd=directory)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        output.seek(0)
        text = output.read()
    return Measured(text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def explore(model: Path, engine: str, *options: str) -> tuple[int, int, float, Measured]:
    """Explore a model: states, transitions, bytes a state, and what the process took."""
    command = [sys.executable, "-m", "rebecsim", "explore", str(model), "--json", *options]
    found = measure([*command, "--engine", engine])
    result = json.loads(found.output)
    assert result["verdict"] == "satisfied", result["message"]
    return result["states"], result["transitions"], result["memory_per_state"], found


def wall_seconds(model: Path, workers: int, *options: str) -> float:
    """Explore a model with so many workers; gives the seconds of the search."""
    command = [sys.executable, "-m", "rebecsim", "explore", str(model), "--json", *options]
    found = measure([*command, "--engine", "native", "--workers", str(workers)])
    seconds: float = json.loads(found.output)["seconds"]
    return seconds


def spin(model: Path) -> tuple[int, int, float, Measured] | None:
    """Let SPIN search the same state space; None where there is no SPIN or no C compiler."""
    if not (shutil.which("spin") and shutil.which("gcc")):
        return None
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        subprocess.run(["spin", "-a", model], cwd=place, check=True, capture_output=True)
        options = ["-O2", "-w", "-DBFS", "-DNOREDUCE", "-DSAFETY"]
        subprocess.run(["gcc", *options, "-o", "pan", "pan.c"], cwd=place, check=True)
        found = measure(["./pan", "-m100000"], place)
    words = found.output.split()
    states = int(words[words.index("stored") - 2].rstrip(","))
    transitions = int(words[words.index("transitions") - 1])
    return states, transitions, found.megabytes * 1e6 / states, found


def show(model: str, program: str, found: tuple[int, int, float, Measured]) -> None:
    """Print a row of the table."""
    states, transitions, memory, process = found
    print(
        f"| `{model}` | {program} | {states:,} | {transitions:,} | {process.seconds:.1f} "
        f"| {states / process.seconds / 1e6:.2f} | {process.megabytes:.0f} | {memory:.0f} |",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--python", action="store_true", help="the Python engine, too")
    parser.add_argument("--times", type=int, default=2, help="runs of each; the best counts")
    arguments = parser.parse_args()
    print("| Model | Program | States | Transitions | CPU s | M states/s | MB | Bytes a state |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for model, options in MODELS.items():
        file = FOLDER / f"{model}.rebeca"
        for engine in ("native", "python") if arguments.python else ("native",):
            runs = [explore(file, engine, *options) for _ in range(arguments.times)]
            show(model, f"rebecsim, {engine}", min(runs, key=lambda run: run[3].seconds))
        one, two = (
            min(wall_seconds(file, workers, *options) for _ in range(arguments.times))
            for workers in (1, 2)
        )
        print(f"{model}: {one:.2f} s with one worker, {two:.2f} s with two", file=sys.stderr)
    peer = HERE / "philosophers6.pml"
    runs = [run for run in (spin(peer) for _ in range(arguments.times)) if run is not None]
    if runs:
        show("philosophers6", "SPIN", min(runs, key=lambda run: run[3].seconds))
    else:
        print("SPIN or a C compiler is not installed", file=sys.stderr)


if __name__ == "__main__":
    main()
