"""The native engine on large state spaces, beside the Python engine and, if it is there, SPIN.

`python benchmarks/native.py` explores the models of `models/benchmarks`, each in a process of its
own and with compiled code from the cache, and prints what the whole process took: processor
seconds and the most memory, from `wait4`; below the table, the wall time of the searches with one
worker and with two, and how many times faster two are. `--threads` measures only that, on a machine
that must be quiet. `--past-memory STATES` finds so many states of eight dining philosophers by hash
compaction, with `--max-memory 1000`: 50,000,000 take minutes, and a gigabyte of temporary files.
With `--python` the Python engine does the same, which takes minutes and gigabytes. SPIN searches
breadth first without partial-order reduction, in a process of its own; its time is without
generating and compiling the verifier.
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


def measure(command: list[str], directory: Path | None = None, expected: int = 0) -> Measured:
    """Run a program to its end, where it must give this exit code."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, cwd=directory)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != expected:
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


def compare_workers(times: int) -> None:
    """Print the wall time of the searches with one worker and with two, taken in turn."""
    for model, options in MODELS.items():
        file = FOLDER / f"{model}.rebeca"
        runs = [[wall_seconds(file, each, *options) for each in (1, 2)] for _ in range(times)]
        one, two = map(min, zip(*runs, strict=True))
        print(
            f"{model}: {one:.2f} s with one worker, {two:.2f} s with two: {one / two:.2f} times",
            file=sys.stderr,
        )


def philosophers(count: int) -> str:
    """Write the model `philosophers6` with so many of them."""
    before, _ = (FOLDER / "philosophers6.rebeca").read_text().split("main {")
    forks = [sorted((seat, seat % count + 1)) for seat in range(1, count + 1)]
    lines = [
        f"    Philosopher p{seat}(fork{first}, fork{second}):();"
        for seat, (first, second) in enumerate(forks, 1)
    ]
    lines += [f"    Fork fork{seat}():();" for seat in range(1, count + 1)]
    return before + "\n".join(["main {", *lines, "}", ""])


def search_past_memory(states: int, workers: int) -> None:
    """Find so many states by hash compaction, and print what that took."""
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "philosophers8.rebeca"
        model.write_text(philosophers(8))
        command = [sys.executable, "-m", "rebecsim", "explore", str(model), "--core", "--compact"]
        limits = ["--max-states", str(states), "--max-memory", "1000"]
        found = measure([*command, *limits, "--workers", str(workers), "--json"], expected=3)
    result = json.loads(found.output)
    print(
        f"{result['states']:,} states, {result['frontier']:,} of them waiting, "
        f"{result['transitions']:,} transitions: {found.seconds:.0f} s of processor time, "
        f"{found.megabytes:.0f} MB; a state was missed with a probability of at most "
        f"{result['omission']:.1g}. {result['message']}"
    )


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
    parser.add_argument("--threads", action="store_true", help="one worker and two, only")
    parser.add_argument("--past-memory", type=int, metavar="STATES", help="hash compaction, only")
    arguments = parser.parse_args()
    if arguments.threads:
        return compare_workers(arguments.times)
    if arguments.past_memory is not None:
        for workers in (1, 2):
            search_past_memory(arguments.past_memory, workers)
        return None
    print("| Model | Program | States | Transitions | CPU s | M states/s | MB | Bytes a state |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for model, options in MODELS.items():
        file = FOLDER / f"{model}.rebeca"
        for engine in ("native", "python") if arguments.python else ("native",):
            runs = [explore(file, engine, *options) for _ in range(arguments.times)]
            show(model, f"rebecsim, {engine}", min(runs, key=lambda run: run[3].seconds))
    compare_workers(arguments.times)
    peer = HERE / "philosophers6.pml"
    runs = [run for run in (spin(peer) for _ in range(arguments.times)) if run is not None]
    if runs:
        show("philosophers6", "SPIN", min(runs, key=lambda run: run[3].seconds))
    else:
        print("SPIN or a C compiler is not installed", file=sys.stderr)
    return None


if __name__ == "__main__":
    main()
