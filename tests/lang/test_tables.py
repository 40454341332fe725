"""The tables of the parser that are kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from rebecsim.lang import parse_model
from rebecsim.lang.reading import parser

MODEL = "reactiveclass A(1) { A() { } } main { A a():(); }"
PROGRAM = f"""
from rebecsim.lang import parse_model
print(parse_model({MODEL!r}, "a.rebeca").instances[0].name)
"""

Parse = Callable[[Path], None]


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Parse with what a directory keeps, as a process does that has not parsed yet."""
    machine = parser._machine.__wrapped__

    def parsed(directory: Path) -> None:
        monkeypatch.setenv("REBECSIM_CACHE", str(directory))
        monkeypatch.setattr(parser, "_machine", cache(machine))
        assert parse_model(MODEL, "a.rebeca").instances[0].name == "a"

    return parsed


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """Name and content of the file that holds the tables."""
    directory = tmp_path_factory.mktemp("kept")
    assert _parse(directory) == "a\n"
    (tables,) = directory.glob("grammar-*.tables")
    return tables.name, tables.read_bytes()


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
def test_damaged_ones_are_made_anew(
    parse: Parse, kept: tuple[str, bytes], tmp_path: Path, content: bytes
) -> None:
    name, whole = kept
    tables = tmp_path / name
    damaged = content or whole[: len(whole) // 2]
    tables.write_bytes(damaged)
    parse(tmp_path)
    assert tables.read_bytes() != damaged
    assert tables.stat().st_size > 0.9 * len(whole)


def test_without_a_place_for_them(parse: Parse, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    parse(tmp_path / "file" / "cache")
