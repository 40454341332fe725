"""Files are whole or not there."""

import errno
import os
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from rebecsim.files import (
    LimitError,
    inside,
    parsed_json,
    read_more_than,
    read_plain,
    replacing,
    temporary_name,
    write_atomically,
    writer_of,
)


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


@pytest.mark.skipif(sys.platform == "win32", reason="there are no symbolic links to rely on")
def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "data", tmp_path / "link"
    link.symlink_to("elsewhere/data")
    for content in (b"first", b"second"):  # where the link leads nowhere, and where it does
        write_atomically(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["data", "elsewhere", "link"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_fifo_is_written_into(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(fifo.read_bytes)
        write_atomically(fifo, b"through")
        assert read.result(10) == b"through"
    assert fifo.is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_device_is_written_into_and_named_when_it_is_full(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    for path in (Path("/dev/full"), link):
        with pytest.raises(OSError, match="No space left on device") as found:
            write_atomically(path, b"data")
        assert (found.value.errno, found.value.filename) == (errno.ENOSPC, str(path))
    assert Path("/dev/full").is_char_device()
    write_atomically(Path("/dev/null"), b"data")
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there is no /dev/fd here")
def test_an_open_file_is_written_into(tmp_path):
    with (tmp_path / "data").open("wb") as file:
        before = os.fstat(file.fileno()).st_ino
        write_atomically(Path(f"/dev/fd/{file.fileno()}"), b"data")
    assert (tmp_path / "data").read_bytes() == b"data"
    assert (tmp_path / "data").stat().st_ino == before


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError) as found:
        write_atomically(tmp_path, b"data")
    assert found.value.filename == str(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
def test_a_file_keeps_its_permissions(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(b"old")
    file.chmod(0o600)
    write_atomically(file, b"new")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="there are no symbolic links to rely on")
def test_the_temporary_file_is_no_link_that_lies_in_wait(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    temporary_name(tmp_path / "data").symlink_to(other)
    write_atomically(tmp_path / "data", b"new")
    assert other.read_bytes() == b"mine"
    assert not (tmp_path / "data").is_symlink()


def test_a_long_name_is_possible(tmp_path):
    write_atomically(tmp_path / ("x" * 250), b"data")
    assert writer_of(temporary_name(tmp_path / ("x" * 250))) == os.getpid()


def test_an_error_names_the_file_and_not_its_temporary_name(tmp_path):
    missing = tmp_path / "nowhere" / "data"
    with pytest.raises(FileNotFoundError) as found:
        write_atomically(missing, b"data")
    assert found.value.filename == str(missing)


# --- of strangers ---------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_file_inside_a_directory_is_not_led_out_of_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "charts").mkdir(parents=True)
    (tmp_path / "named").symlink_to(run)
    assert inside(tmp_path / "named", "charts/one.svg") == tmp_path / "named/charts/one.svg"
    (run / "link").symlink_to(tmp_path)
    (run / "table.csv").symlink_to("nowhere")
    for name in ("../victim", "link/victim", "table.csv", str(tmp_path / "victim"), "a/../../b"):
        with pytest.raises(OSError, match="leads out of"):
            inside(run, name)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_only_plain_files_of_some_size_are_read(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"12345")
    assert read_plain(plain, 5) == b"12345"
    with pytest.raises(ValueError, match="larger than 4 bytes"):
        read_plain(plain, 4)
    (tmp_path / "link").symlink_to(plain)
    with pytest.raises(OSError, match="it is a symbolic link"):
        read_plain(tmp_path / "link", 5)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="it is not a regular file"):
        read_plain(tmp_path / "fifo", 5)


def test_a_small_file_takes_little_memory_whatever_is_allowed(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.write_bytes(b"12345")
    tracemalloc.start()
    try:
        assert read_plain(small, 1 << 30) == b"12345"
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_what_has_no_size_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"12345")
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert read_more_than(file, 100) == b"12345"


@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_nesting_is_bounded(opened: str) -> None:
    closed = "]" if opened == "[" else "}"

    def nested(depth: int) -> bytes:
        return (opened * depth + "1" + closed * depth).encode()

    assert parsed_json(nested(200), "x")
    for depth in (201, 900, 1_100, 100_000):
        with pytest.raises(LimitError, match=r"^x: .* levels; the limit is 200"):
            parsed_json(nested(depth), "x")
    for text in (b"", b"[", b"\xff", b"[1] 2"):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever Python says
            parsed_json(text, "x")
    assert parsed_json(b"7", "x") == 7


def test_what_is_replaced_is_given_up_once_the_new_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    before = Path.replace
    monkeypatch.setattr(os, "fsync", lambda _: done.append("synced"))
    monkeypatch.setattr(Path, "replace", lambda *paths: [done.append("named"), before(*paths)])
    write_atomically(tmp_path / "file", b"one")
    write_atomically(tmp_path / "file", b"two")
    assert done == ["named", "synced", "named"]


def test_two_threads_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"

    def write(number: int) -> None:
        with replacing(path) as file:
            file.write(str(number).encode())
            both.wait(timeout=60)

    both = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(2)))
    assert path.read_text() in ("0", "1")
    assert list(tmp_path.iterdir()) == [path]
