"""Files that were sent to a worker with its task.

A task names files as the machine does that sent it. A worker on another machine has copies under
other names; on the same machine, a file is at its own path.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

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
