"""The tables of the parser that are kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from rebecsim.lang import parse_model
model = parse_model("reactiveclass A(1) { A() { } } main { A a():(); }", "a.rebeca")
print(model.instances[0].name)
"""


def _parse(directory: Path) -> str:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "REBECSIM_CACHE": str(directory)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stderr == ""
    return found.stdout


def test_they_are_kept_and_used_again(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "cache"
    assert _parse(directory) == "a\n"
    (tables,) = directory.glob("grammar-*.tables")
    before = tables.stat().st_mtime_ns
    assert _parse(directory) == "a\n"
    assert tables.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x80\x04", b"0" * 200_000])
def test_damaged_ones_are_made_anew(tmp_path: Path, content: bytes) -> None:
    _parse(tmp_path)
    (tables,) = tmp_path.glob("grammar-*.tables")
    whole = tables.read_bytes()
    damaged = content or whole[: len(whole) // 2]
    tables.write_bytes(damaged)
    assert _parse(tmp_path) == "a\n"
    assert tables.read_bytes() != damaged
    assert tables.stat().st_size > 0.9 * len(whole)


def test_without_a_place_for_them(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    assert _parse(tmp_path / "file" / "cache") == "a\n"
