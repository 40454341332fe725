from __future__ import annotations

from pathlib import Path

import pytest

ROW = "{job} {submit} 5 {run} 4 3.5 100 {procs} {estimate} -1 1 7 8 9 2 3 -1 -1"


@pytest.fixture
def row():
    """Give a row of a log, with some fields as asked."""

    def make(job: int = 1, submit: int = 0, run: int = 10, procs: int = 4, estimate: int = 20):
        return ROW.format(job=job, submit=submit, run=run, procs=procs, estimate=estimate)

    return make


@pytest.fixture
def log(tmp_path):
    """Write a log and give its path."""

    def write(*lines: str, name: str = "log.swf") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write
