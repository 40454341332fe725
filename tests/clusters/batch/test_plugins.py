"""Batch policies of a user's own file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rebecsim.clusters import PluginError, load_plugin, unload_plugin
from rebecsim.clusters.batch import BATCH_POLICIES, run_schedule
from rebecsim.workloads import Workload

EXAMPLE = Path(__file__).parents[3] / "models/plugins/widest_first.py"
WORKLOAD = Workload.of(submit=[0, 1, 1, 1], run=[9, 5, 5, 5], processors=[4, 1, 3, 2], capacity=4)

TEXT = """\
from rebecsim.clusters import Plugin
from rebecsim.clusters.batch import BatchPolicy, BySubmission, NoBackfilling, QueueOrder


class Mine(QueueOrder):
    def key(self, job, now):
        return KEY


class Never(NoBackfilling):
    def schedule(self, now):
        return []


class Always(NoBackfilling):
    def submitted(self, job, now):
        self.waiting.add(job, 0)
        self.start(job, job.processors, now)
        return [job]


plugin = Plugin(batch_policies=(BatchPolicy("MINE", "Mine", "a test", ARGUMENTS),))
"""


@pytest.fixture
def example() -> Iterator[None]:
    record = load_plugin(EXAMPLE)
    yield
    unload_plugin(record)


@pytest.mark.usefixtures("example")
def test_an_order_of_ones_own_runs_with_and_without_backfilling() -> None:
    assert run_schedule(WORKLOAD, policy="WIDEST").start.tolist() == [0, 14, 9, 14]
    assert run_schedule(WORKLOAD, policy="WIDEST_EASY").start.tolist() == [0, 9, 9, 14]


def test_it_is_gone_when_it_is_unloaded() -> None:
    assert not any(name.startswith("WIDEST") for name in BATCH_POLICIES)


@pytest.mark.parametrize(
    ("arguments", "key", "message"),
    [
        (
            "Mine",
            "1 / 0",
            "mine.py:7: batch policy MINE: ZeroDivisionError: division by zero",
        ),
        ("Mine", "job.colour", "mine.py:7: batch policy MINE: AttributeError: .*colour"),
        ("BySubmission, Never", "0", "batch policy MINE: RuntimeError: .*never starts 6 jobs"),
        ("BySubmission, Always", "0", "RuntimeError: of six jobs on 4 processors, job 3 starts"),
        ("QueueOrder", "0", "policy MINE: QueueOrder does not define key"),
        ("int", "0", "policy MINE: the order <class 'int'> is not a subclass of QueueOrder"),
        ("Mine, Mine", "0", "the backfilling .* is not a subclass of Backfilling"),
    ],
)
def test_a_policy_is_tried_before_it_is_accepted(
    tmp_path: Path, arguments: str, key: str, message: str
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TEXT.replace("KEY", key).replace("ARGUMENTS", arguments))
    with pytest.raises(PluginError, match=message):
        load_plugin(file)
    assert "MINE" not in BATCH_POLICIES


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        TEXT.replace('"MINE"', '"EASY"').replace("ARGUMENTS", "Mine").replace("KEY", "0")
    )
    with pytest.raises(PluginError, match="batch policy EASY already exists"):
        load_plugin(file)
