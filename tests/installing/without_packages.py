"""Programs in which packages are missing, as where less is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable

_PROGRAM = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

import importlib.util
usual = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name.partition(".")[0] in MISSING else usual(name, package))
sys.meta_path.insert(0, Missing())
"""

_COMMAND = """
from rebecsim.cli import main
main()
"""


def without(
    missing: Iterable[str], *arguments: object, program: str = _COMMAND
) -> subprocess.CompletedProcess[str]:
    """Run the program, or another one, where packages with these names cannot be imported."""
    text = f"MISSING = {set(missing)!r}\n{_PROGRAM}{program}"
    return subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
