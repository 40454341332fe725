"""Jobs of a history of Hadoop, as Rumen writes it, on slots."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.job import JobPriority
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.hadoop_history import read_history
from tests.conftest import Run

ORIGIN = 1_400_000_000_000
MIB = 2**20


def task(start: int, finish: int, read: int = -1, written: int = -1, **attempt: object):
    times = {"result": "SUCCESS", "startTime": ORIGIN + start, "finishTime": ORIGIN + finish}
    return {"inputBytes": read, "outputBytes": written, "attempts": [{**times, **attempt}]}


SORT = {
    "jobID": "job_201305_0001",
    "submitTime": ORIGIN + 1000,
    "user": "ann",
    "queue": "etl",
    "priority": "HIGH",
    "outcome": "SUCCESS",
    "mapTasks": [
        task(2000, 12_000, 64 * MIB, 32 * MIB),
        task(2000, 8_000, 32 * MIB, hdfsBytesRead=1, mapOutputBytes=16 * MIB),
    ],
    "reduceTasks": [
        task(
            4000,
            30_000,
            written=96 * MIB,
            reduceShuffleBytes=48 * MIB,
            shuffleFinished=ORIGIN + 14_000,
        )
    ],
    "otherTasks": [],
}
FILTER = {
    "jobID": "job_201305_0002",
    "submitTime": ORIGIN,
    "mapTasks": [task(500, 2500, written=8 * MIB)],
    "reduceTasks": [],
}


def write(path: Path, *jobs: object) -> Path:
    text = "\n".join(map(json.dumps, jobs)).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def setup(path: Path, **keys: object) -> RunSetup:
    scenario = MapReduceScenario.model_validate(
        {
            "name": "history",
            "replications": 1,
            "cluster": {"nodes": 3, "map_slots": 1, "reduce_slots": 1, "reports": "at_once"},
            "workload": {"rumen": {"trace": path.name, **keys}},
            "variation": {"jitter": 0.0, "reduce_jitter": 0.0},
            "variants": [{"name": "fifo", "scheduler": "FIFO"}],
        }
    )
    return RunSetup(scenario, path.parent, "fifo")


@pytest.mark.parametrize("name", ["history.json", "history.json.gz"])
def test_a_history_is_read_with_its_bytes_and_times(tmp_path: Path, name: str) -> None:
    sort, only_maps = read_history(write(tmp_path / name, SORT, FILTER))
    assert (sort.submit, sort.user, sort.queue, sort.priority) == (1000, "ann", "etl", "high")
    assert sort.inputs == (64 * MIB, 32 * MIB)
    assert (sort.shuffle, sort.output, sort.reduces) == (48 * MIB, 96 * MIB, 1)
    assert (sort.map_time, sort.reduce_time) == (8000, 16_000)
    assert (only_maps.inputs, only_maps.shuffle, only_maps.output) == ((None,), 0, 8 * MIB)


def test_jobs_have_splits_ratios_and_owners_of_the_history(tmp_path: Path) -> None:
    first, second = setup(write(tmp_path / "h.json", SORT, FILTER), speed=2.0).jobs(0)
    assert (first.family, first.reduces, first.submit) == ("1 map", 0, 0)
    assert first.splits == (64 * MIB,)  # a block, as the history does not say
    assert first.costs.map_ratio == pytest.approx(1 / 8)
    assert (second.user, second.queue, second.submit) == ("ann", "etl", 500_000)
    assert second.priority is JobPriority.HIGH
    assert (second.costs.map_ratio, second.costs.reduce_ratio) == (0.5, 2.0)


def test_tasks_alone_take_as_long_as_in_the_history(tmp_path: Path) -> None:
    recorded = setup(write(tmp_path / "h.json", SORT)).recorded(0)
    attempts = recorded.measured.attempts
    times = (attempts.end - attempts.start) / 1e6
    maps = times[attempts.kind == 0]
    assert maps.mean() == pytest.approx(8.0, rel=0.08)  # one may read from another node
    shuffled = recorded.measured.jobs.maps_end[0]
    (reduce,) = attempts.end[attempts.kind == 1]
    assert (reduce - shuffled) / 1e6 == pytest.approx(16.0, abs=1.5)  # with its last fetch


def test_a_program_has_costs_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "h.json", SORT)
    (fitted,), (counted,) = setup(path).jobs(0), setup(path, program="wordcount").jobs(0)
    assert (counted.costs.map, counted.costs.map_ratio) == (200, 0.5)
    assert fitted.costs.map != 200


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        ([{"job.id": "job_1"}], "h.json:1: object 1: a job of Rumen should have 'jobID'"),
        ([SORT, SORT], "job_201305_0001"),
        ([{**SORT, "mapTasks": []}], "no job of the history has maps"),
        ([{**SORT, "priority": "URGENT"}], "'priority' should be one of VERY_LOW"),
        (
            [{**SORT, "mapTasks": [task(5, 5)]}],
            "map task 1, attempt 1: 'finishTime' should be after the start",
        ),
    ],
)
def test_what_is_no_history_is_refused(tmp_path: Path, jobs: list[object], said: str) -> None:
    with pytest.raises(WorkloadError) as error:
        read_history(write(tmp_path / "h.json", *jobs))
    assert said in str(error.value)


def test_the_command_runs_a_history(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path / "h.json.gz", SORT, FILTER)
    done = run("mapreduce", str(path), "--nodes", "3")
    assert done.returncode == 0
    assert "2-10 maps" in done.stdout
