"""Cases of DSS: how it was called, what it wrote, and what we write."""

from __future__ import annotations

import re
import shlex
import tarfile
from pathlib import Path

from tests.program import Ended, in_this_process

RUN_DURATION = "<RUN_DURATION>"


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the cases into a folder."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


def run_case(case: Path, out: Path) -> Ended:
    """Run a case as its command says; what DSS would write here goes to another folder."""
    arguments = shlex.split((case / "cmd.txt").read_text())[2:]
    return in_this_process("dss", *arguments, "--out", out, cwd=case)


def written(out: Path) -> dict[str, str]:
    """Give the files of a run by name; what the run took is left out."""
    files = {path.name: path.read_text() for path in out.glob("*.out")}
    misc = "misc_stats.out"
    files[misc] = re.sub(r"^[0-9.]+(?=\t)", RUN_DURATION, files[misc], flags=re.MULTILINE)
    return files


def expected(case: Path) -> dict[str, str]:
    """Give the files that DSS wrote, by name."""
    return {path.name: path.read_text() for path in case.glob("*.out")}
