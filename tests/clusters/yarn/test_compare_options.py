"""Files of Hadoop's schedulers on the command line of `compare`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.clusters.scenarios import load
from rebecsim.clusters.yarn.compare_options import ComparedFiles
from rebecsim.errors import UserError

FILE = "<allocations><queue name='a'/></allocations>"
JOBS = '{"job.queue.name": "a", "job.tasks": [{"duration.ms": 1000}]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "new").mkdir()
    for name in ("queues.xml", "new/queues.xml"):
        (tmp_path / name).write_text(FILE)
    (tmp_path / "jobs.json").write_text(JOBS)
    return tmp_path


def test_each_file_is_a_scheduler_of_one_scenario(folder: Path) -> None:
    given = [folder / "queues.xml", folder / "new" / "queues.xml"]
    text = ComparedFiles(queues=given, nodes=["3:memory=4096,cores=4"]).scenario(
        str(folder / "jobs.json")
    )
    assert text is not None
    scenario = load(text).scenario
    assert [each.queues for each in scenario.schedulers] == [str(each) for each in given]
    assert [each.name for each in scenario.schedulers] == [f"{folder.name}_queues", "new_queues"]
    assert [each.count for each in scenario.cluster.nodes] == [3]


def test_without_files_it_is_a_scenario_that_is_compared() -> None:
    assert ComparedFiles().scenario("for_edf") is None


@pytest.mark.parametrize(
    ("files", "nodes", "trace", "problem"),
    [
        (["queues.xml"], [], "jobs.json", "give the nodes of the cluster"),
        (["queues.xml"], ["3"], "jobs.json", "--nodes 3: write it as 80:"),
        (["none.xml"], ["3:memory=1,cores=1"], "jobs.json", "none.xml: there is no such file"),
        (["queues.xml"], ["3:memory=1,cores=1"], "none.json", "give a trace of jobs"),
        (["queues.xml"], ["3:memory=1,cores=1"], "x.toml", "a scenario names its own queue files"),
        ([], ["3:memory=1,cores=1"], "jobs.json", "are for --queues"),
    ],
)
def test_what_is_missing_is_said(
    folder: Path, files: list[str], nodes: list[str], trace: str, problem: str
) -> None:
    given = ComparedFiles(queues=[folder / each for each in files], nodes=nodes)
    with pytest.raises(UserError) as raised:
        given.scenario(str(folder / trace))
    assert problem in str(raised.value)
