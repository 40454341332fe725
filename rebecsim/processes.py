"""Start Python processes that import the same rebecsim, and give them files.

A task names files as the machine does that sent it. A worker on another machine has copies under
other names; on the same machine, a file is at its own path.

A new Python process looks for modules in the working directory first. That may hold the user's own
`statistics.py`, or the sources of another rebecsim.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_places: dict[str, Path] = {}


def carried(path: Path) -> Path:
    """Give the place of a file: what was sent under this name, else the file itself."""
    return _places.get(str(path), path)


def version_of(path: Path) -> tuple[str, int, int]:
    """Say which content of a file this is, for what is kept of it: place, time and size.

    Raises OSError when it cannot be read.
    """
    found = path.stat()
    return str(path.resolve()), found.st_mtime_ns, found.st_size


def carry(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder, from now on the only ones that are `carried`.

    The names of the same content are the same, and of other content others, so that what was read
    of an earlier file is not taken for what is in this one. Raises OSError.
    """
    drop_carried()
    for name, content in files.items():
        place = folder / hashlib.blake2b(content, digest_size=16).hexdigest() / Path(name).name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        _places[name] = place


def drop_carried() -> None:
    """Remove the files that were sent."""
    for place in _places.values():
        shutil.rmtree(place.parent, ignore_errors=True)
    _places.clear()


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
