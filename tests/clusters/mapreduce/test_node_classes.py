"""Classes of nodes: with slots, processors and disks of their own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler

MIXED = {
    "nodes": 4,
    "map_slots": 1,
    "reduce_slots": 1,
    "replication": 1,
    "classes": [
        {"count": 1, "map_slots": 3, "reduce_slots": 0, "clock": 5.0},
        {"count": 1, "map_slots": 0, "reduce_slots": 2, "disk_read": 560.0, "disk_write": 150.0},
    ],
}


def scenario(cluster: dict[str, object], **keys: object) -> MapReduceScenario:
    return MapReduceScenario.model_validate(
        {
            "name": "mixed",
            "replications": 1,
            "cluster": cluster,
            "workload": {"jobs": [{"family": "one", "count": 3, "maps": 20, "reduces": 3}]},
            "variants": [{"name": "fifo", "scheduler": "FIFO"}],
            "variation": {"jitter": 0.0, "reduce_jitter": 0.0},
            **keys,
        }
    )


def test_each_class_runs_no_more_than_its_slots() -> None:
    setup = RunSetup(scenario(MIXED), Path(), "fifo")
    assert setup.scenario.cluster.slots == (5, 4)
    assert setup.scenario.cluster.most_slots == (3, 2)
    run = setup.recorded(0)
    attempts = run.measured.attempts
    assert run.measured.slots == (5, 4)
    most: Counter[tuple[int, int]] = Counter()
    for node, kind, start in zip(attempts.node, attempts.kind, attempts.start, strict=True):
        here = (attempts.node == node) & (attempts.kind == kind)
        running = (attempts.start[here] <= start) & (start < attempts.end[here])
        most[int(node), int(kind)] = max(most[int(node), int(kind)], int(running.sum()))
    assert most == {(0, 0): 3, (1, 1): 2, (2, 0): 1, (3, 0): 1, (2, 1): 1, (3, 1): 1}


def test_a_class_has_processors_and_disks_of_its_own() -> None:
    alone = {"family": "one", "maps": 1, "reduces": 0}

    def execution(**of_class: float) -> float:
        cluster = {"nodes": 1, "replication": 1, "classes": [{"count": 1, **of_class}]}
        setup = RunSetup(scenario(cluster, workload={"jobs": [alone]}), Path(), "fifo")
        jobs = setup.jobs(0)
        run = run_mapreduce(jobs, setup.configuration, JobQueueTaskScheduler, 1)
        (attempt,) = run.attempts
        return (attempt.end - attempt.start) / 1e6

    # 4e9 cycles and 40 a byte at 2.5 GHz; 64 MiB read at 280 and written at 75 MiB/s.
    cycles = (4e9 + 40 * 64 * 2**20) / 2.5e9
    assert execution() == pytest.approx(cycles + 64 / 280 + 64 / 75, abs=1e-4)
    assert execution(clock=5.0) == pytest.approx(cycles / 2 + 64 / 280 + 64 / 75, abs=1e-4)
    assert execution(disk_write=150.0) == pytest.approx(cycles + 64 / 280 + 64 / 150, abs=1e-4)


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ([{"count": 5}], "classes have 5 nodes, more than nodes = 4"),
        ([{"count": 4, "map_slots": 0}], "no node has a map slot"),
    ],
)
def test_classes_that_cannot_be_are_refused(classes: list[dict[str, int]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        scenario({"nodes": 4, "classes": classes})


def test_a_class_that_says_nothing_changes_nothing() -> None:
    plain, classed = (
        RunSetup(scenario({"nodes": 4, "classes": classes}), Path(), "fifo").recorded(0)
        for classes in ([], [{"count": 3}])
    )
    assert (plain.measured.attempts.end == classed.measured.attempts.end).all()
