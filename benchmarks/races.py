"""What finding the races of a model costs beside searching it: `ticket3` of the conformance suite.

`python benchmarks/races.py DIRECTORY` searches the model and finds its races in turn, `--times`
rounds: as whole commands, and in one process, where Python and the compiler have been started and
the compiled code has been loaded before. Given are the least seconds of the processor, and the
peak of memory of the command. Commands begin in Python and go on in compiled code; in one process
there is also compiled code from the first state on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rebecsim.exploration import Mode
    from rebecsim.native.engines import Engine

MODES: tuple[Mode, ...] = ("FTTS", "TTS")
ENGINES: dict[Engine, str] = {"auto": "without starting", "native": "compiled throughout"}


class Cost(NamedTuple):
    """Seconds of the processor; bytes at most, 0 if that was not measured."""

    seconds: float
    memory: int


def of_command(name: str, file: Path, mode: Mode) -> Cost:
    """Run a command on a model as a process of its own."""
    command = [sys.executable, "-m", "rebecsim", name, str(file)]
    process = subprocess.Popen(
        [*command, "--tts"] if mode == "TTS" else command,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: there are harmful races
        raise SystemExit(f"{name} {file} ended with exit code {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def of_call(call: Callable[[], object]) -> Cost:
    """Call something in this process."""
    began = time.process_time()
    call()
    return Cost(time.process_time() - began, 0)


def within(file: Path, mode: Mode, engine: Engine) -> dict[str, Callable[[], object]]:
    """Give the search, and finding races, as calls."""
    from rebecsim.exploration import explore, find_races
    from rebecsim.generate.module import load_checked

    model, checked = load_checked(file, "timed")
    return {
        "explore": lambda: explore(model, mode=mode, checked=checked, engine=engine),
        "races": lambda: find_races(model, mode=mode, checked=checked, engine=engine),
    }


def least(costs: list[Cost]) -> Cost:
    """Give the least of both."""
    return Cost(min(each.seconds for each in costs), min(each.memory for each in costs))


def main() -> None:
    """Print a table, a row for each mode and way of measuring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="the directory of the conformance suite")
    parser.add_argument("--times", type=int, default=5, help="rounds")
    arguments = parser.parse_args()
    file = arguments.path / "ticket3.rebeca"
    print("| Mode | | Search, CPU s | Races, CPU s | Ratio | Search, MB | Races, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    # Commands first: the peak of a process counts that of the one that has started it.
    for mode in MODES:
        costs: dict[str, list[Cost]] = {"explore": [], "races": []}
        for _ in range(arguments.times):
            for name, found in costs.items():
                found.append(of_command(name, file, mode))
        show(mode, "whole commands", *map(least, costs.values()))
    for mode, engine in product(MODES, ENGINES):
        calls = within(file, mode, engine)
        for call in calls.values():
            call()
        costs = {name: [] for name in calls}
        for _ in range(arguments.times):
            for name, call in calls.items():
                costs[name].append(of_call(call))
        show(mode, ENGINES[engine], *map(least, costs.values()))


def show(mode: Mode, how: str, search: Cost, races: Cost) -> None:
    """Print a row."""
    both = search, races
    columns = [
        mode,
        how,
        *(f"{each.seconds:.2f}" for each in both),
        f"{races.seconds / search.seconds:.2f}",
        *(f"{each.memory / 1e6:.0f}" if each.memory else "" for each in both),
    ]
    print(f"| {' | '.join(columns)} |")


if __name__ == "__main__":
    main()
