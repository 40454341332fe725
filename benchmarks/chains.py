"""Chains: state spaces in which each state has one successor, with a value never seen before.

`python benchmarks/chains.py` explores each of them up to a number of states with each engine, each
time in a process of its own and with compiled code from the cache, and prints the processor
seconds of the process; the last column says how `auto` compares with `python`. A chain is the worst
case for the compiled engine: it has to ask Python for nearly each state.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = """reactiveclass A(4) {{
    statevars {{ int t; int[8] cells; float f; }}
    A() {{ self.tick(); }}
    msgsrv tick() {{ {body} }}
}}
main {{ A a():(); }}
"""
BODIES = {
    "stores `now`": "t = now; self.tick() after(1);",
    "tests `now`": "if (now % 7 == 0) { t = 0; } self.tick() after(1);",
    "counter": "t++; self.tick() after(1);",
    "counter in a float": "f = f + 1; self.tick() after(1);",
    "counter, `--tts`": "t++; delay(1); self.tick();",
}


def seconds(model: Path, engine: str, *options: str) -> float:
    """Explore a model and give the processor seconds."""
    command = [sys.executable, "-m", "rebecsim", "explore", str(model), *options]
    with subprocess.Popen([*command, "--engine", engine], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 3, "the chain has no end"
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a table, a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=200_000, help="where to stop")
    parser.add_argument("--times", type=int, default=3, help="runs of each; the best counts")
    arguments = parser.parse_args()
    engines = ("python", "auto", "native")
    print(f"| {arguments.states:,} states | python | auto | native | auto / python |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, body in BODIES.items():
            file = Path(folder) / "chain.rebeca"
            file.write_text(MODEL.format(body=body), encoding="utf-8")
            options = ["--max-states", str(arguments.states), *name.split("`")[1::2]]
            options = [each for each in options if each.startswith("--") or each.isdigit()]
            found = [
                min(seconds(file, engine, *options) for _ in range(arguments.times))
                for engine in engines
            ]
            shown = " | ".join(f"{each:.1f}" for each in found)
            print(f"| {name} | {shown} | {found[1] / found[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
