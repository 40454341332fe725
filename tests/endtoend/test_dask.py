"""Comparisons on Dask clusters: the results of one process, whatever is killed meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import held
from tests.conftest import Run
from tests.dask_cluster import Cluster
from tests.program import Ended, undrawn, without_progress
from tests.waiting import PATIENCE, wait_for

ROOT = Path(__file__).resolve().parents[2]

LONGEST = """\
kind = "dispatch"
name = "longest"
policies = ["EDF", "FIFO", "LJF"]
app_masters = [1, 2]
queue_size = 4
epsilon = 0.5
replications = 10
ticks = 50

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""

LOG = """\
kind = "batch"
name = "logged"
policies = ["FCFS", "EASY"]

[workload]
log = "log.swf"
"""

JOBS = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
3  2 -1  8 1 -1 -1 1  9 100 1 1 1 -1 1 -1 -1 -1
"""

MODEL = """\
kind = "model"
name = "bridge"
model = "lights.py"
until = 30
replications = 20

[sweep]
"lamp.period" = [2, 3]

[[observe]]
value = "lamp.flips"
"""

LIGHTS = """\
from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable


class Lamp(Rebec, queue_size=3):
    flips: int = state_variable(Int)

    def __init__(self, period: int) -> None:
        self.flip(period)

    @message_server
    def flip(self, period: int) -> None:
        self.flips += 1
        self.flip(period, after=self.choose(period, period + 1))


model = Model("lights", (Instance("lamp", Lamp, (), (2,)),))
"""

FILES = {
    "longest.toml": LONGEST,
    "logged.toml": LOG,
    "log.swf": JOBS,
    "bridge.toml": MODEL,
    "lights.py": LIGHTS,
}
PLUGIN = "longest_job_first.py"


def fill(place: Path) -> None:
    for name, text in FILES.items():
        (place / name).write_text(text)
    held.fill(place)
    shutil.copy(ROOT / "models/plugins" / PLUGIN, place)


@pytest.fixture(scope="module")
def whole(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the scenarios; and in `held`, the results of one process."""
    place = tmp_path_factory.mktemp("whole")
    fill(place)
    with undrawn():
        done = run(*held.COMMAND, "--workers", 1, cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def place(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster whose processes work in another directory than the program."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def content(run: Path) -> dict[str, bytes]:
    """All results of a run, and the tables that were written of them."""
    folders = ("parts", "checksums", "jobs", "curves", "orders")
    files = [file for folder in folders for file in (run / folder).rglob("[!.]*.*")]
    files += run.glob("*.csv")
    return {
        file.relative_to(run).as_posix(): file.read_bytes()
        for file in files
        if file.name != "run.json"  # which says when it was
    }


# --- the same results ----------------------------------------------------------------------------


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize(
    "arguments",
    [
        ["longest.toml", "--plugin", PLUGIN],
        ["logged.toml"],
        ["bridge.toml", "--trust"],
    ],
    ids=["plug-in", "log", "model in Python"],
)
def test_results_are_those_of_one_process(
    run: Run, cluster: Cluster, place: Path, arguments: list[str]
) -> None:
    for out, options in (("here", ["--workers", 1]), ("there", ["--dask", cluster.address])):
        done = run("compare", *arguments, "--out", out, *options, cwd=place)
        assert done.returncode == 0, done.stderr
    assert f"dask: {cluster.address}, " in done.stderr
    assert len(list((place / "here/parts").glob("*.parquet"))) > 1
    assert content(place / "here") == content(place / "there")


def test_python_takes_the_same_address(
    cluster: Cluster, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import rebecsim as rs

    scenario = place / "bridge.toml"
    rs.compare(scenario, out=place / "here", progress=False, trust=True)
    rs.compare(scenario, out=place / "there", dask=cluster.address, trust=True)
    assert f"dask: {cluster.address}" in capsys.readouterr().out
    assert content(place / "here") == content(place / "there")


# --- kills ---------------------------------------------------------------------------------------


def finished(process: subprocess.Popen[str]) -> Ended:
    printed, complaint = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, printed, complaint)


def wait_for_parts(place: Path, process: subprocess.Popen[str], count: int) -> None:
    """Wait until so many cells are on disk."""
    wait_for(lambda: len(held.parts(place)) >= count or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def resumed(run: Run, place: Path) -> None:
    with undrawn():
        done = run(*held.COMMAND, "--resume", "--workers", 1, cwd=place)
    assert done.returncode == 0, done.stderr


def children(process: subprocess.Popen[str]) -> list[int]:
    """The worker processes of a local cluster."""
    try:
        found = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [each.pid for each in found if "spawn_main" in command_of(each)]


def command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return ""


def have_ended(workers: list[int]) -> bool:
    """Whether none of these processes does anything any more; who reaps them is not our concern."""
    return not any(map(does_something, workers))


def does_something(worker: int) -> bool:
    try:
        return bool(psutil.Process(worker).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


SEEDS = [
    pytest.param(0, id="once"),
    *(pytest.param(seed, id=f"{seed}", marks=pytest.mark.slow) for seed in range(1, 5)),
]
"""Of the moments: five kills of each kind; the first one comes when a cell is done."""


def moment(seed: int) -> tuple[int, float]:
    """Draw after how many cells, and how much later in seconds, something is killed."""
    chance = random.Random(seed)
    return (chance.randrange(held.FREE), chance.uniform(0, 0.5)) if seed else (1, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_worker_is_replaced(whole: Path, place: Path, seed: int) -> None:
    """And no worker process, the new one neither, imports from the working directory."""
    (place / "random.py").write_text("raise SystemExit('random.py was imported')")
    cells, later = moment(seed)
    workers = 2 if seed else 1
    process = held.start(place, "--dask", "--workers", workers)
    wait_for(lambda: process.poll() is not None or len(children(process)) == workers)
    wait_for_parts(place, process, cells)
    time.sleep(later)
    os.kill(random.Random(seed).choice(children(process)), signal.SIGKILL)
    held.release(place)
    done = finished(process)
    assert done.returncode == 0, done.stderr
    said = without_progress(done.stderr)
    counted = f"{workers} worker{'s' * (workers > 1)}"
    assert said == [f"dask: {counted} on this machine, which only this program can use"]
    assert content(place / "held") == content(whole / "held")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_scheduler_leaves_a_run_that_resumes(
    run: Run, whole: Path, place: Path, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    cells, later = moment(seed)
    environment = held.gate(place)
    with Cluster(tmp_path_factory.mktemp("own"), 1, environment) as own:
        process = held.start(place, "--dask", own.address)
        wait_for_parts(place, process, cells)
        time.sleep(later)
        own.scheduler.kill()
        done = finished(process)
    if (place / "held/run.json").exists():
        assert done.returncode == 75
        assert without_progress(done.stderr)[1:] == [
            f"the Dask scheduler {own.address} no longer answers; finished cells are kept: "
            "held: continue with --resume"
        ]
    else:  # it was killed before it had answered
        assert done.returncode in (2, 75), done.stderr
    resumed(run, place)
    assert content(place / "held") == content(whole / "held")


def test_ctrl_c_ends_the_workers_and_leaves_a_run_that_resumes(
    run: Run, whole: Path, place: Path
) -> None:
    process = held.start(place, "--dask", "--workers", 1)
    wait_for_parts(place, process, 1)
    workers = children(process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
    done = finished(process)
    assert done.returncode == 130, done.stderr
    assert without_progress(done.stderr)[1:] == [
        "interrupted; finished cells are in held: continue with --resume"
    ]
    wait_for(lambda: have_ended(workers))
    resumed(run, place)
    assert content(place / "held") == content(whole / "held")


def test_no_worker_outlives_a_program_that_is_killed(place: Path) -> None:
    process = held.start(place, "--dask", "--workers", 1)
    wait_for_parts(place, process, 1)
    workers = children(process)
    assert len(workers) == 1
    process.kill()
    finished(process)
    wait_for(lambda: have_ended(workers))
