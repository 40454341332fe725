"""What is kept between runs is used only if nobody else can have written it."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.trust import distrust, kept_folder, read_kept, write_kept
from tests.examples import dear

MARK = b"a test\n"
SOMEBODY = 54321

as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)


@pytest.fixture
def directory(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("REBECSIM_CACHE", str(place))
    return place


def test_what_is_kept_is_found_again(directory):
    folder = kept_folder("things", make=True)
    write_kept(folder / "one", MARK, b"content")
    assert read_kept(folder / "one", MARK) == b"content"
    assert read_kept(folder / "one", b"another mark\n") is None
    assert read_kept(folder / "two", MARK) is None
    assert read_kept(None, MARK) is None
    assert list(folder.iterdir()) == [folder / "one"]


def test_it_is_private_whatever_the_umask(directory):
    before = os.umask(0)
    try:
        folder = kept_folder("things", make=True)
        write_kept(folder / "one", MARK, b"content")
    finally:
        os.umask(before)
    for path, mode in ((directory, 0o700), (folder, 0o700), (folder / "one", 0o600)):
        assert path.stat().st_mode & 0o777 == mode
    assert read_kept(folder / "one", MARK) == b"content"


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o720, 0o702])
@pytest.mark.parametrize("which", ["cache", "things"])
def test_a_directory_that_others_may_write_to_is_not_used(directory, mode, which):
    folder = kept_folder("things", make=True)
    changed = directory if which == "cache" else folder
    changed.chmod(mode)
    assert kept_folder("things") is None
    assert kept_folder("things", make=True) is None
    assert distrust(changed) == "others may write to it"


@as_root
@pytest.mark.parametrize("which", ["cache", "things"])
def test_a_directory_of_somebody_else_is_not_used(directory, which):
    folder = kept_folder("things", make=True)
    os.chown(directory if which == "cache" else folder, SOMEBODY, SOMEBODY)
    assert kept_folder("things", make=True) is None
    assert kept_folder("others", make=True) is None or which == "things"
    assert (directory / "others").exists() == (which == "things")


@as_root
def test_a_file_of_somebody_else_is_not_used(directory):
    file = kept_folder(make=True) / "one"
    write_kept(file, MARK, b"content")
    os.chown(file, SOMEBODY, SOMEBODY)
    assert read_kept(file, MARK) is None


def test_a_file_that_others_may_write_to_is_not_used(directory):
    file = kept_folder(make=True) / "one"
    write_kept(file, MARK, b"content")
    file.chmod(0o620)
    assert read_kept(file, MARK) is None


def test_what_is_no_file_is_not_waited_for(directory):
    folder = kept_folder(make=True)
    (folder / "one").mkdir()
    assert read_kept(folder / "one", MARK) is None


@settings(max_examples=dear(300))
@given(data=st.data())
def test_no_damage_goes_unnoticed(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "damaged"
    write_kept(file, MARK, bytes(range(256)))
    whole = file.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    kind = data.draw(st.sampled_from(["change", "cut", "insert", "append"]))
    byte = data.draw(st.binary(min_size=1, max_size=1))
    damaged = {
        "change": whole[:place] + byte + whole[place + 1 :],
        "cut": whole[:place],
        "insert": whole[:place] + byte + whole[place:],
        "append": whole + byte,
    }[kind]
    file.write_bytes(damaged)
    assert read_kept(file, MARK) == (bytes(range(256)) if damaged == whole else None)


class Planted:
    """Runs code when it is unpickled, as whatever reads it would."""

    def __reduce__(self):
        return open, ("stolen", "w")


def parse(directory: Path, cwd: Path) -> str:
    program = (
        "from rebecsim.lang import parse_model\n"
        "print(parse_model('reactiveclass A(1) { A() { } } main { A a():(); }').instances[0].name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "REBECSIM_CACHE": str(directory)},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_the_tables_of_the_parser_are_not_run_for_others(tmp_path):
    directory = tmp_path / "cache"
    assert parse(directory, tmp_path) == "a\n"
    (tables,) = directory.glob("grammar-*.tables")
    whole = tables.read_bytes()
    tables.write_bytes(whole.partition(b"\n")[0] + b"\n" + pickle.dumps(Planted()))
    assert parse(directory, tmp_path) == "a\n"
    assert len(tables.read_bytes()) > 0.9 * len(whole)  # made again
    # With mark and checksum as they should be, but where anybody could have put it:
    write_kept(tables, whole.partition(b"\n")[0] + b"\n", pickle.dumps(Planted()))
    directory.chmod(0o777)
    assert parse(directory, tmp_path) == "a\n"
    assert not (tmp_path / "stolen").exists()
