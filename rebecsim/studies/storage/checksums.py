"""The checksums of the files of a cell.

Each cell has a file `checksums/CELL.b2` in the format of b2sum, with paths from the results
directory, so that `b2sum --check checksums/*.b2` verifies a run without this package. A digest of
the whole file finds damage anywhere in it, the footer with its offsets and statistics included,
and a part that took the place of another; the page checksums of Parquet cover only the data. One
small file for each cell, rather than one list for the run, keeps the cost of a cell the same
however many there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rebecsim.files import write_atomically

_LINE = re.compile(r"([0-9a-f]{128})  (.+)")


def read_checksums(path: Path) -> dict[str, str]:
    """Read a checksum file: path -> digest. Lines that are none are left out, as is a file that
    is not there: what has no checksum is not known to be whole.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found = (_LINE.fullmatch(line) for line in lines)
    return {match[2]: match[1] for match in found if match}


def write_checksums(path: Path, digests: Mapping[str, str]) -> None:
    """Write a checksum file, atomically; entries for other paths stay. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = {**read_checksums(path), **digests}
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(entries.items()))
    write_atomically(path, text.encode())
