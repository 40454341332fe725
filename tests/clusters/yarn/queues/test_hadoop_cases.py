"""Containers as the schedulers of Hadoop 3.4.1 gave them; see `tests/data/hadoop`."""

from __future__ import annotations

import csv
from itertools import zip_longest
from pathlib import Path

import pytest

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.inputs import node_sizes
from rebecsim.clusters.yarn.queue_files.reading import read_queues
from rebecsim.workloads.container_jobs import read_sls_topology
from rebecsim.workloads.sls import read_sls_jobs

FOLDER = Path(__file__).parents[3] / "data" / "hadoop"
CASES = sorted(path.parent for path in FOLDER.glob("*/*/expected.csv"))

Given = tuple[int, str, int, str]
"""A container: when it was given (ms), on which node, to which job, for what."""


def recorded(case: Path) -> list[Given]:
    """Give what Hadoop did."""
    with (case / "expected.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return sorted((int(row["time"]), row["node"], int(row["job"]), row["kind"]) for row in rows)


def simulated(case: Path) -> list[Given]:
    """Give what we do."""
    (queues,) = case.glob("*-scheduler.xml")
    run = run_cluster(
        read_sls_jobs(case / "jobs.json"),
        node_sizes(read_sls_topology(case / "topology.json"), 0, 0),
        YarnConfiguration(queues=read_queues(queues, case / "yarn-site.xml")),
    )
    return sorted(
        (each.scheduled, each.node.size.name, job.number, each.task.kind)
        for job in run.applications
        for each in job.containers
    )


def side_by_side(want: list[Given], have: list[Given]) -> str:
    """Show both, with a mark from the first difference on."""
    lines, mark = [f"  {'Hadoop':32}rebecsim"], " "
    for one, other in zip_longest(want, have):
        mark = ">" if one != other else mark
        left, right = (" ".join(map(str, each)) if each else "-" for each in (one, other))
        lines.append(f"{mark} {left:32}{right}")
    return "\n".join(lines)


def test_there_are_cases_of_both_schedulers() -> None:
    names = [case.name.partition("_")[0] for case in CASES]
    assert names.count("capacity") >= 99
    assert names.count("fair") >= 70


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_containers_are_given_as_hadoop_gives_them(case: Path) -> None:
    want, have = recorded(case), simulated(case)
    if have != want:
        pytest.fail(f"{case.name}:\n{side_by_side(want, have)}", pytrace=False)


def test_both_are_shown_from_the_first_difference_on() -> None:
    first: Given = (1, "n1", 0, "master")
    shown = side_by_side(
        [first, (2, "n1", 0, "map")], [first, (3, "n2", 0, "map"), (4, "n1", 1, "map")]
    )
    assert [line[0] for line in shown.splitlines()] == [" ", " ", ">", ">"]
    assert shown.splitlines()[3].split() == [">", "-", "4", "n1", "1", "map"]
