"""States per second and memory of exploring, on models of the conformance suite.

`python benchmarks/exploration.py DIRECTORY` explores each model several times, each time in a
process of its own, and prints the best time; memory is the growth of that process. The last row
is for all models of the suite with at most 1,000 states together, in every mode; of so few states
the time of one model is mostly that of building its transition system, which is counted here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebecsim.exploration import Limits, Mode

MODELS: list[tuple[str, Mode]] = [
    ("philosophers4.rebeca", "core"),
    ("ticket3.rebeca", "FTTS"),
    ("ticket3.rebeca", "TTS"),
    ("resource_manager_edf.rebeca", "FTTS"),
]
SMALL = 1_000  # states


def explore_once(file: Path, mode: Mode, limits: Limits | None = None) -> dict[str, Any]:
    """Explore a model in this process by the Python engine, without the time to load it."""
    from rebecsim.exploration import Checks, explore
    from rebecsim.generate.module import load_checked

    model, checked = load_checked(file, "core" if mode == "core" else "timed")
    found = explore(
        model,
        mode=mode,
        checked=checked,
        checks=Checks(deadlock=False),
        limits=limits,
        engine="python",
    )
    return found.to_json()


def explore_small(directory: Path, times: int) -> list[dict[str, Any]]:
    """Explore every small model of the suite in this process, in every mode; gives the quickest.

    Models that are not small or cannot be explored are left out.
    """
    from rebecsim.errors import UserError
    from rebecsim.exploration import Limits
    from rebecsim.lang import RebecaError

    found = []
    for entry in json.loads((directory / "manifest.json").read_text())["models"]:
        file = directory / entry["file"]
        modes: tuple[Mode, ...] = ("core",) if entry["language"] == "core" else ("FTTS", "TTS")
        for mode in modes:
            limits = Limits(states=SMALL)
            try:
                results = [explore_once(file, mode, limits) for _ in range(times)]
            except (RebecaError, UserError):
                continue
            if not any(result["verdict"] == "out of bounds" for result in results):
                found.append(min(results, key=lambda result: result["seconds"]))
    return found


def measure(file: Path, mode: Mode, times: int) -> dict[str, Any]:
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
        memory = f"{found['memory_per_state']:,.0f}"
        print(row(f"`{Path(name).stem}`", mode, [found], memory))
    small = explore_small(arguments.path, arguments.times)
    print(row(f"{len(small)} small ones", "all", small, ""))


def row(name: str, mode: str, found: list[dict[str, Any]], memory: str) -> str:
    """Give the row of one exploration, or of several together."""
    states, transitions, seconds = (
        sum(each[key] for each in found) for key in ("states", "transitions", "seconds")
    )
    return (
        f"| {name} | {mode} | {states:,} | {transitions:,} | {seconds:.3f} "
        f"| {states / seconds:,.0f} | {memory} |"
    )


if __name__ == "__main__":
    main()
