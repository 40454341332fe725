"""What the numbers in `rebecsim/native/engines.py` are made of.

For the search, for message servers in it and for simulating: how much the Python engine does in a
second (states, messages, time units), and how much it would have done in the processor time that
compiled code takes to load from disk and to compile: the loop, which is compiled once on every
machine, and the step of a model.

    python benchmarks/thresholds.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODELS = Path(__file__).resolve().parent.parent / "models" / "benchmarks"
SEARCHED = MODELS / "yarn_fifo4.rebeca"
SERVED = MODELS / "resource_manager_edf3.rebeca"
STATES = 20_000
RUNS, UNITS = 100, 99


def _processor_seconds(work: Callable[[], Any]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def _model(file: Path) -> tuple[Any, Any]:
    from rebecsim.generate import build_model
    from rebecsim.lang import check_file

    checked = check_file(file)
    return build_model(checked, file.stem), checked


def search() -> list[float]:
    """Measure the search: Python's states in a second, the seconds until its loop is ready."""
    from rebecsim.exploration import Limits, explore

    model, _ = _model(SEARCHED)
    limits = Limits(states=STATES)
    python = _processor_seconds(lambda: explore(model, engine="python", limits=limits))

    def loop() -> None:
        from rebecsim.exploration.compiled.compiled_search import load_compiled_code

        load_compiled_code()

    return [STATES / python, _processor_seconds(loop)]


def serving() -> list[float]:
    """Measure message servers in a search, whose own loop is loaded before."""
    from rebecsim.exploration import BreadthFirst, Limits, Problem, Search, TransitionSystem
    from rebecsim.exploration.compiled.compiled_search import load_compiled_code
    from rebecsim.native.cache import prepare
    from rebecsim.native.layout import native_model
    from rebecsim.native.loops.serving import expand_and_serve

    model, checked = _model(SERVED)
    made = Search(Problem(TransitionSystem(model)), limits=Limits(states=STATES))

    def expand() -> None:
        with made.expanding():
            BreadthFirst().run(made)

    python = _processor_seconds(expand)
    load_compiled_code()
    return [
        made.system.runner.runs / python,
        _processor_seconds(lambda: prepare(expand_and_serve)),
        _processor_seconds(lambda: prepare(native_model(model, checked).step)),
    ]


def simulation() -> list[float]:
    """Measure simulating: Python's time units in a second, the seconds until loop and step are."""
    from rebecsim.simulation import Observation, Runs, python_batch

    model, checked = _model(SERVED)
    runs = Runs(Observation("manager", ("missed",)), (0, 0), range(RUNS), UNITS)

    def python() -> None:
        python_batch(model, runs)

    def loop() -> None:
        from rebecsim.native.cache import prepare
        from rebecsim.native.loops.simulation import run_replications

        prepare(run_replications)

    def step() -> None:
        from rebecsim.native.layout import native_model
        from rebecsim.simulation.native import require_compiled

        require_compiled(native_model(model, checked))

    pace = RUNS * UNITS / _processor_seconds(python)
    return [pace, _processor_seconds(loop), _processor_seconds(step)]


PARTS = {"search": search, "serving": serving, "simulation": simulation}


def _measured(part: str, cache: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, __file__, part],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"REBECSIM_CACHE": cache},
    )
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table; each part in processes of its own, with an empty cache and a warm one."""
    if len(sys.argv) > 1:
        print(json.dumps(PARTS[sys.argv[1]]()))
        return
    with tempfile.TemporaryDirectory(prefix="rebecsim-cache-") as cache:
        for part in PARTS:
            found = {"compiled": _measured(part, cache), "loaded": _measured(part, cache)}
            print(f"{part}: Python does {found['loaded'][0]:,.0f} in a second")
            for how, (pace, *seconds) in found.items():
                for what, each in zip(("the loop", "a step"), seconds, strict=False):
                    print(f"  {what} {how}: {each:5.2f} s, worth {each * pace:9,.0f}", flush=True)


if __name__ == "__main__":
    main()
