"""States per second and memory of exploring, on models of the conformance suite.

`python benchmarks/exploration.py DIRECTORY` explores each model several times, each time in a
process of its own, and prints the best time; memory is the growth of that process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MODELS = [
    ("philosophers4.rebeca", "core"),
    ("ticket3.rebeca", "FTTS"),
    ("ticket3.rebeca", "TTS"),
    ("resource_manager_edf.rebeca", "FTTS"),
]


def explore_once(file: Path, mode: str) -> dict[str, Any]:
    """Explore a model in this process, without the time to load it."""
    from rebecsim.explore import Checks, explore
    from rebecsim.generate.load import load_checked

    model, checked = load_checked(file, "core" if mode == "core" else "timed")
    checks = Checks(deadlock=False)
    return explore(model, mode=mode, checked=checked, checks=checks).to_json()


def measure(file: Path, mode: str, times: int) -> dict[str, Any]:
    """Give the quickest of several explorations."""
    command = [sys.executable, __file__, str(file), "--once", mode]
    results = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(times)
    ]
    return min(results, key=lambda result: result["seconds"])


def main() -> None:
    """Print a table, a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="the directory of the conformance suite")
    parser.add_argument("--times", type=int, default=3, help="explorations of each model")
    parser.add_argument("--once", metavar="MODE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        print(json.dumps(explore_once(arguments.path, arguments.once)))
        return
    print("| Model | Mode | States | Transitions | Seconds | States/s | Bytes a state |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, mode in MODELS:
        found = measure(arguments.path / name, mode, arguments.times)
        states, seconds = found["states"], found["seconds"]
        print(
            f"| `{Path(name).stem}` | {mode} | {states:,} | {found['transitions']:,} "
            f"| {seconds:.3f} | {states / seconds:,.0f} | {found['memory_per_state']:,.0f} |"
        )


if __name__ == "__main__":
    main()
