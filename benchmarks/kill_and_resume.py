"""Kill comparisons at random moments, resume them, and see whether the results are the same.

    python benchmarks/kill_and_resume.py               20 kills
    python benchmarks/kill_and_resume.py --kills 100

A comparison is started, killed (SIGKILL, the program alone: its workers must notice) at a random
moment of its work and resumed, until it has been killed that often. When it has computed all cells
its results are compared with those of an undisturbed one, and it is begun anew.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCENARIO = """\
kind = "dispatch"
name = "killed"
policies = ["EDF", "FIFO", "MDF"]
app_masters = [1, 2, 3, 4]
queue_size = 4
epsilon = 0.5
replications = 60
ticks = 50

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""


class DifferentResultsError(Exception):
    """A resumed run is not what an undisturbed one is."""


def kill_and_resume(place: Path, kills: int, chance: random.Random) -> list[int]:
    """Kill and resume comparisons in an empty directory; give the finished cells at each kill.

    Raises DifferentResultsError when a resumed run has other results than an undisturbed one, or
    a part that was finished was computed again.
    """
    (place / "killed.toml").write_text(SCENARIO)
    if _start(place, "whole").wait() != 0:
        raise DifferentResultsError("the undisturbed run failed")
    whole, broken = place / "whole", place / "broken"
    seconds = _seconds_of_work(whole)
    finished: list[int] = []
    while len(finished) < kills:
        kept = _parts(broken)
        if _is_killed(place, broken, chance.uniform(0, seconds)):
            _require_kept(kept, broken)
            finished.append(len(_parts(broken)))
        if len(_parts(broken)) == len(_parts(whole)):
            _finish(place, whole, broken)
            shutil.rmtree(broken)
    _finish(place, whole, broken)
    return finished


def _finish(place: Path, whole: Path, broken: Path) -> None:
    kept = _parts(broken)
    if _start(place, broken.name).wait() != 0:
        raise DifferentResultsError("the last resumption failed")
    _require_kept(kept, broken)
    _require_same(whole, broken)


def _start(place: Path, name: str) -> subprocess.Popen[bytes]:
    resume = ["--resume"] if (place / name / "run.json").exists() else []
    command = [sys.executable, "-m", "rebecsim", "compare", "killed.toml", "--out", name]
    return subprocess.Popen(
        [*command, "--workers", "2", *resume], cwd=place, stdout=subprocess.DEVNULL
    )


def _is_killed(place: Path, run: Path, seconds: float) -> bool:
    """Start or resume the run and kill it that long after it has begun to work.

    False when it ended before; raises DifferentResultsError when it failed.
    """
    process = _start(place, run.name)
    while process.poll() is None and not _works(run, process.pid):
        time.sleep(0.005)
    time.sleep(seconds)
    process.kill()
    if (code := process.wait()) > 0:
        raise DifferentResultsError(f"a resumption failed with exit code {code}")
    return code < 0


def _seconds_of_work(run: Path) -> float:
    """From the lock to the last part; the rest of a run is starting and drawing charts."""
    return (max(_parts(run).values()) - (run / ".lock").stat().st_mtime_ns) / 1e9


def _works(run: Path, process: int) -> bool:
    lock = run / ".lock"
    return lock.exists() and lock.read_text().startswith(f"process {process} ")


def _parts(run: Path) -> dict[str, int]:
    parts = (run / "parts").glob("[!.]*.parquet")
    return {part.name: part.stat().st_mtime_ns for part in parts}


def _require_kept(before: dict[str, int], run: Path) -> None:
    after = _parts(run)
    for name, written in before.items():
        if after.get(name) != written:
            raise DifferentResultsError(f"{name} was finished and computed again")


def _require_same(whole: Path, broken: Path) -> None:
    ours, theirs = (
        {
            path.relative_to(run).as_posix(): path.read_bytes()
            for folder in ("parts", "checksums")
            for path in (run / folder).iterdir()
        }
        for run in (whole, broken)
    )
    if ours != theirs:
        names = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
        raise DifferentResultsError(f"not as in an undisturbed run: {', '.join(names)}")
    if left := [path.name for path in broken.rglob(".*.tmp")]:
        raise DifferentResultsError(f"temporary files are left: {', '.join(left)}")


def main() -> None:
    """Do what the command line asks for, and say at which cells the kills fell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=os.getpid(), help="of the moments")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        finished = kill_and_resume(Path(place), options.kills, random.Random(options.seed))
    print(f"{len(finished)} kills, with so many of 12 cells finished: {finished}")
    print("all results as in an undisturbed run")


if __name__ == "__main__":
    main()
