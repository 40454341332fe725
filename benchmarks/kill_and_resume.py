"""Kill comparisons at random moments, resume them, and see whether the results are the same.

    python benchmarks/kill_and_resume.py               10 kills of each kind
    python benchmarks/kill_and_resume.py --kills 100 --kind dispatch

A comparison of a scenario of each kind is started, killed (SIGKILL, the program alone: its workers
must notice) at a random moment of its work and resumed, until it has been killed that often. When
it has computed all cells, its files are compared with those of an undisturbed one, byte for byte,
and it is begun anew.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.cli import main as main_of_program
from rebecsim.report.figures import DRAWING_MODULES
from rebecsim.studies.executors import simulation_modules

if TYPE_CHECKING:  # Windows has none
    from multiprocessing.context import ForkServerContext

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


SCENARIOS = {
    "dispatch": ("killed.toml", 60),
    "model": ("fresh_readings", 300),
    "batch": ("backfilling_or_fairshare", 2),
    "yarn": ("fifo_or_fair", 2),
    "mapreduce": ("user_limit", 2),
    "stages": ("slots_by_deadlines", 2),
}
"""Of each kind: a scenario, and how many replications take a second or two."""


@dataclass(frozen=True)
class Comparison:
    """A comparison of some kind of scenario, in directories of a place."""

    place: Path
    kind: str = "dispatch"

    def start(self, name: str) -> BaseProcess:
        """Begin it, or go on with it, in a directory of this name."""
        scenario, replications = SCENARIOS[self.kind]
        resume = ["--resume"] if (self.place / name / "run.json").exists() else []
        command = ["compare", scenario, "--out", name, "--replications", str(replications)]
        workers = "2" if self.kind == "dispatch" else "1"
        process = _processes().Process(
            target=_program, args=(self.place, [*command, "--workers", workers, *resume])
        )
        process.start()
        return process


@cache
def _processes() -> ForkServerContext:
    """Give what starts processes in which most of the program is loaded already."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["rebecsim.cli", *simulation_modules("auto"), *DRAWING_MODULES])
    return context


def _program(place: Path, arguments: list[str]) -> None:
    os.chdir(place)
    sys.argv = ["rebecsim", *arguments]
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        main_of_program()


class DifferentResultsError(Exception):
    """A resumed run is not what an undisturbed one is."""


def kill_and_resume(
    place: Path, kills: int, chance: random.Random, kind: str = "dispatch"
) -> list[int]:
    """Kill and resume comparisons in an empty directory; give the finished cells at each kill.

    Raises DifferentResultsError when a resumed run has other results than an undisturbed one, or
    a part that was finished was computed again.
    """
    (place / "killed.toml").write_text(SCENARIO)
    comparison = Comparison(place, kind)
    if _ended(comparison.start("whole")) != 0:
        raise DifferentResultsError("the undisturbed run failed")
    whole, broken = place / "whole", place / "broken"
    seconds = _seconds_of_work(whole)
    finished: list[int] = []
    while len(finished) < kills:
        kept = _parts(broken)
        if _is_killed(comparison, broken, chance.uniform(0, seconds)):
            _require_kept(kept, broken)
            finished.append(len(_parts(broken)))
        if len(_parts(broken)) == len(_parts(whole)):
            _finish(comparison, whole, broken)
            shutil.rmtree(broken)
    _finish(comparison, whole, broken)
    return finished


def _finish(comparison: Comparison, whole: Path, broken: Path) -> None:
    kept = _parts(broken)
    if _ended(comparison.start(broken.name)) != 0:
        raise DifferentResultsError("the last resumption failed")
    _require_kept(kept, broken)
    _require_same(whole, broken)


def _is_killed(comparison: Comparison, run: Path, seconds: float) -> bool:
    """Start or resume the run and kill it that long after it has begun to work.

    False when it ended before; raises DifferentResultsError when it failed.
    """
    process = comparison.start(run.name)
    while process.is_alive() and not _works(run, process.pid):
        time.sleep(0.005)
    time.sleep(seconds)
    process.kill()
    if (code := _ended(process)) > 0:
        raise DifferentResultsError(f"a resumption failed with exit code {code}")
    return code < 0


def _ended(process: BaseProcess) -> int:
    """Wait for a process, and give its exit code, of a killed one less than 0."""
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _seconds_of_work(run: Path) -> float:
    """From the lock to the last part; the rest of a run is starting and drawing charts."""
    return (max(_parts(run).values()) - (run / ".lock").stat().st_mtime_ns) / 1e9


def _works(run: Path, process: int | None) -> bool:
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
    ours, theirs = (dict(_contents(run)) for run in (whole, broken))
    if ours != theirs:
        names = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
        raise DifferentResultsError(f"not as in an undisturbed run: {', '.join(names)}")
    if left := [path.name for path in broken.rglob(".*.tmp")]:
        raise DifferentResultsError(f"temporary files are left: {', '.join(left)}")


def _contents(run: Path) -> Iterator[tuple[str, bytes]]:
    """Give every file of a run but the report, and who wrote when."""
    for path in run.rglob("*"):
        if path.suffix in (".parquet", ".b2", ".csv"):
            yield path.relative_to(run).as_posix(), path.read_bytes()
        elif path.name == "run.json":
            record = json.loads(path.read_bytes()) | {"started": None}
            yield path.relative_to(run).as_posix(), json.dumps(record).encode()


def main() -> None:
    """Do what the command line asks for, and say at which cells the kills fell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=10, help="of each kind")
    parser.add_argument("--kind", choices=SCENARIOS, help="one kind, instead of all")
    parser.add_argument("--seed", type=int, default=os.getpid(), help="of the moments")
    options = parser.parse_args()
    for kind in [options.kind] if options.kind else SCENARIOS:
        with tempfile.TemporaryDirectory() as place:
            chance = random.Random(options.seed)
            finished = kill_and_resume(Path(place), options.kills, chance, kind)
        print(f"{kind}: {len(finished)} kills, with so many cells finished: {finished}")
        print("all results as in an undisturbed run", flush=True)


if __name__ == "__main__":
    main()
