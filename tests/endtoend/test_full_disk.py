"""A file that a command writes is whole or not there, on a full disk too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rebecsim.cli import main
from rebecsim.errors import ExitCode
from tests.endtoend.test_cli import SCENARIO
from tests.program import files_of_at_most

resource = pytest.importorskip("resource")

ROOT = Path(__file__).resolve().parents[2]
TICKETS = ROOT / "models" / "ticket_service.rebeca"

FAILING = """\
reactiveclass A(4) {
    statevars { int n; }
    A() { self.go(); }
    msgsrv go() { n = n + 1; assertion(n < 6, "too many"); self.go() after(?(1, 2)); }
}
main { A a():(); }
"""

JOBS = "; MaxProcs: 4\n" + "".join(
    f"{job} {job} -1 10 4 -1 -1 4 12 100 1 1 1 -1 1 -1 -1 -1\n" for job in range(1, 60)
)

COMMANDS = {
    "export": ["explore", "failing.rebeca", "--export", "out.jsonl"],
    "save": ["explore", "failing.rebeca", "--save", "out.json"],
    "svg": ["explore", "failing.rebeca", "--svg", "out.svg"],
    "as-test": ["explore", "failing.rebeca", "--as-test", "out.py"],
    "draw": ["draw", "failing.rebeca", "--out", "out.svg"],
    "draw states": ["draw", "failing.rebeca", "--states", "--out", "out.svg"],
    "simulate": ["simulate", str(TICKETS), "--save", "out.json"],
    "live": ["live", str(TICKETS), "--speed", "0", "--quiet", "--log", "out.json"],
    "batch": ["batch", "jobs.swf", "--out", "out.swf"],
    "gzip": ["batch", "jobs.swf", "--out", "out.swf.gz"],
    "csv": ["workload", "convert", "jobs.swf", "--out", "out.csv"],
    "parquet": ["workload", "convert", "jobs.swf", "--out", "out.parquet"],
    "chart": ["workload", "info", "jobs.swf", "--chart", "out.png"],
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("failing.rebeca").write_text(FAILING)
    Path("jobs.swf").write_text(JOBS)
    return tmp_path


def ended(monkeypatch, arguments):
    monkeypatch.setattr(sys, "argv", ["rebecsim", *map(str, arguments)])
    try:
        main()
    except SystemExit as end:
        return end.code
    return 0


@pytest.mark.parametrize("name", COMMANDS)
def test_what_cannot_be_written_is_not_there(name, here, monkeypatch, capsys):
    command = COMMANDS[name]
    out = Path(command[-1])
    wrote = ended(monkeypatch, command)
    assert wrote in (0, ExitCode.VIOLATED)
    whole = out.read_bytes()
    assert len(whole) > 100
    for earlier in (None, b"earlier"):
        out.unlink() if earlier is None else out.write_bytes(earlier)
        before = sorted(here.iterdir())
        capsys.readouterr()
        with files_of_at_most(100):
            assert ended(monkeypatch, command) == ExitCode.NOT_WRITTEN
        complaint = capsys.readouterr().err.splitlines()[-1]
        assert complaint.startswith(f"{out}: File too large; it was not written.")
        assert sorted(here.iterdir()) == before
        assert earlier is None or out.read_bytes() == earlier


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_device_stays_a_device(here, monkeypatch, capsys):
    Path("full.swf").symlink_to("/dev/full")
    assert ended(monkeypatch, ["batch", "jobs.swf", "--out", "full.swf"]) == ExitCode.NOT_WRITTEN
    assert "full.swf: No space left on device" in capsys.readouterr().err
    assert Path("full.swf").is_symlink()
    assert Path("/dev/full").is_char_device()
    for path in ("/dev/full", "/dev/null"):
        ended(monkeypatch, ["batch", "jobs.swf", "--out", path])
        assert Path(path).is_char_device()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system of its own")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.usefixtures("without_charts")
def test_a_comparison_on_a_full_disk_goes_on_when_there_is_room(run, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        (tmp_path / "tiny.toml").write_text(SCENARIO)
        command = ("compare", "tiny.toml", "--out", disk / "out", "--no-orders")
        first = run(*command, cwd=tmp_path)
        assert first.returncode == ExitCode.NOT_WRITTEN, first.stderr
        (line,) = first.stderr.splitlines()
        assert "No space left on device" in line
        assert str(disk) in line
        assert not list(disk.rglob("*.tmp"))
        subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
        again = run(*command, "--resume", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
    finally:
        subprocess.run(["umount", disk], check=True)
