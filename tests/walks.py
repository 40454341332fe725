"""Count the files of the package through which a command passes.

    python -m tests.walks explore models/ticket_service.rebeca

prints the files whose functions are called, in the order of their first calls, with how many of
each are called, and then their number. What runs while a module is imported is not counted, and
neither are templates: their code is Jinja's.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rebecsim"

EXPLORE = ("explore", "models/ticket_service.rebeca", "--engine", "python")
"""The way of a model of 66 lines to its verdict."""

COMPARE = (
    *("compare", "models/scenarios/fifo_or_fair.toml", "--replications", "1", "--workers", "1"),
    *("--out",),
)
"""The way of a scenario to its report; the directory for results is to follow."""


class Walk:
    """Notes which functions of the package are called, in all threads.

    Attributes:
        files: file, from the folder of the package -> its functions that were called.
    """

    def __init__(self) -> None:
        self.files: defaultdict[str, set[str]] = defaultdict(set)
        self._known: set[CodeType] = set()
        self._thread = threading.local()  # `imports`: how many modules are being imported

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Take what `sys.setprofile` tells."""
        code = frame.f_code
        if code.co_name == "<module>":
            now = getattr(self._thread, "imports", 0)
            self._thread.imports = now + {"call": 1, "return": -1}.get(event, 0)
            return
        if event != "call" or code in self._known or getattr(self._thread, "imports", 0):
            return
        self._known.add(code)
        if code.co_filename.startswith(f"{PACKAGE}/") and code.co_filename.endswith(".py"):
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            self.files[file].add(code.co_qualname)


def walk(arguments: list[str]) -> dict[str, int]:
    """Run the program in this process, and count the functions called in each file."""
    from rebecsim.cli import main

    noted = Walk()
    before, sys.argv = sys.argv, ["rebecsim", *arguments]
    threading.setprofile(noted.note)
    sys.setprofile(noted.note)
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        sys.argv = before
    return {file: len(functions) for file, functions in noted.files.items()}


def files_of(*arguments: str) -> tuple[str, ...]:
    """Give the files through which a command passes that succeeds, in a process of its own."""
    command = [sys.executable, "-m", "tests.walks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return tuple(line.split()[0] for line in done.stderr.splitlines() if line.endswith(" called"))


if __name__ == "__main__":
    counts = walk(sys.argv[1:])
    for name, number in counts.items():
        print(f"{name:<48} {number:>3} called", file=sys.stderr)
    print(f"{len(counts)} files, {sum(counts.values())} functions", file=sys.stderr)
