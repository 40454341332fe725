"""Start Python processes that import the same rebecsim as this one.

A new Python process looks for modules in the working directory first. That may hold the user's own
`statistics.py`, or the sources of another rebecsim.
"""

from __future__ import annotations

import os
import site
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_ROOT = str(Path(__file__).parents[1])
_LONGEST_LINE = 500


def worker_variables() -> dict[str, str]:
    """Give the environment variables that make Python import what this process does.

    The folder of this package is named only where Python would not find it by itself.
    """
    variables = {"PYTHONSAFEPATH": "1"}
    known = (os.environ.get("PYTHONPATH") or "").split(os.pathsep)
    installed = [*site.getsitepackages(), site.getusersitepackages(), *known]
    on_path = {os.path.abspath(each) for each in sys.path}  # noqa: PTH100 - of "", where we are
    if _ROOT in on_path and _ROOT not in installed:
        variables["PYTHONPATH"] = os.pathsep.join([_ROOT, *filter(None, known)])
    return variables


@contextmanager
def importing_as_here() -> Iterator[None]:
    """Have processes that Python starts by itself import what this one does."""
    variables = worker_variables()
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def start_module(module: str, *arguments: str, **how: Any) -> subprocess.Popen[Any]:
    """Start Python with a module of this package; `how` is as for Popen. Raises OSError.

    The process has a session of its own: Ctrl-C is for this one, which ends it.
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, **worker_variables()},
        start_new_session=True,
        **how,
    )


def last_words(errors: IO[bytes]) -> str:
    """Give the last line that a process has written to its standard error, or nothing."""
    errors.seek(0)
    lines = errors.read().decode("utf-8", "replace").split("\n")
    return next((line.strip()[:_LONGEST_LINE] for line in reversed(lines) if line.strip()), "")
