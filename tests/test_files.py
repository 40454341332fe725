"""Files are whole or not there."""

import os
from pathlib import Path

import pytest

from rebecsim.files import replacing, temporary_name, write_atomically, writer_of


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def full(self: Path, other: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_there_once_all_is_written(tmp_path):
    target = tmp_path / "data"
    target.write_bytes(b"old")
    with replacing(target) as file:
        file.write(b"ne")
        assert target.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) != [target]
        file.write(b"w")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_what_fails_half_way_leaves_the_old_file(tmp_path):
    target = tmp_path / "data"
    target.write_bytes(b"old")

    def fail():
        with replacing(target) as file:
            file.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_temporary_files_name_their_writer(tmp_path):
    assert writer_of(temporary_name(tmp_path / "data.csv")) == os.getpid()
    for name in ("data.csv", ".data.csv.tmp", "data.csv.12.tmp", ".data.csv.12"):
        assert writer_of(tmp_path / name) is None
