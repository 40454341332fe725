"""Processor seconds that commands take on a model of five states, beside Python that does nothing.

What a command does to so small a model takes milliseconds; the rest is starting: Python itself,
imports, the tables of the parser. Commands are run in turn, so that a busy moment of the machine
meets all of them, as processes of their own: `--times` rounds behind one that does not count. It
leaves byte code and the tables of the parser, as any first run does; the tables go to a temporary
directory.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

MODEL = """\
reactiveclass Lamp(2) {
    statevars { int level; }
    Lamp() { level = 0; self.brighten(); }
    msgsrv brighten() { level = (level + 1) % 5; self.brighten() after(1); }
}
main { Lamp lamp():(); }
"""
FOUND = "5 states, 6 transitions"


def commands(model: Path) -> dict[str, list[str]]:
    """Give what is measured, by the name it has in the table."""
    program = [sys.executable, "-m", "rebecsim"]
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import rebecsim": [sys.executable, "-c", "import rebecsim"],
        "rebecsim --version": [*program, "--version"],
        "rebecsim --help": [*program, "--help"],
        "rebecsim scenarios": [*program, "scenarios"],
        "rebecsim check": [*program, "check", str(model)],
        "rebecsim explore": [*program, "explore", str(model)],
        "rebecsim draw": [*program, "draw", str(model), "--out", str(model.with_suffix(".svg"))],
    }


def seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command, which must succeed; give the processor seconds of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(times: int) -> dict[str, list[float]]:
    """Measure all commands in turn, so many times."""
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory, "lamp.rebeca")
        model.write_text(MODEL, encoding="utf-8")
        environment = {**os.environ, "REBECSIM_CACHE": str(Path(directory, "cache"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        measured = commands(model)
        for command in measured.values():
            seconds(command, environment)
        explored = measured["rebecsim explore"]
        shown = subprocess.run(explored, env=environment, capture_output=True, text=True).stdout
        if FOUND not in shown:
            raise SystemExit(f"this is not the model of {FOUND}:\n{shown}")
        found: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(times):
            for name, command in measured.items():
                found[name].append(seconds(command, environment))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=20, help="how often each command is run")
    arguments = parser.parse_args()
    print(f"{'command':<18} {'best':>8} {'median':>8}")
    for name, found in measure(arguments.times).items():
        print(f"{name:<18} {min(found):>6.3f} s {statistics.median(found):>6.3f} s")


if __name__ == "__main__":
    main()
