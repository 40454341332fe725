from __future__ import annotations

import numpy as np
from rich.console import Console

from rebecsim.clusters.batch.report.text import (
    batch_table,
    group_table,
    skipped_lines,
    user_quartile_table,
    user_table,
    workload_view,
)
from rebecsim.metrics import batch_metrics, batch_metrics_by, user_metrics
from rebecsim.workloads import Schedule, Workload, generate, summarise
from rebecsim.workloads.logs import labels_of

WORKLOAD = Workload.of([0, 2, 10], [5, 20, 4], [1, 2, 4], capacity=4, user=[1, 2, 1])
SCHEDULE = Schedule(WORKLOAD, np.array([0, 5, 30]))
USERS = user_metrics(SCHEDULE.end, np.array([5, 25, 20]), WORKLOAD.user, WORKLOAD.processors)


def printed(view) -> str:
    console = Console(width=100, record=True, file=None, quiet=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def test_skipped_rows():
    assert skipped_lines({"a": 1, "b": 2000}) == ["1 row skipped: a", "2,000 rows skipped: b"]


def test_a_workload_fits_the_terminal():
    text = printed(workload_view("[bold]log.swf", summarise(generate(2000, 64, seed=1))))
    assert text.startswith("[bold]log.swf\n")  # a name is no markup
    assert "jobs              2,000" in text
    assert "requested times   not in the log" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_schedules_stand_side_by_side():
    rows = [("one", batch_metrics(SCHEDULE)), ("[two]", batch_metrics(SCHEDULE, processors=8))]
    lines = {
        line.split("│")[1].strip(): line for line in printed(batch_table(rows)).splitlines()[3:-1]
    }
    assert lines["wait: mean"].split("│")[2:4] == ["    7.67 ", "    7.67 "]
    assert "44.85 %" in lines["utilisation"]
    assert "22.43 %" in lines["utilisation"]


def test_users_one_by_one():
    labels = labels_of(WORKLOAD.with_columns(header={"User": "2 bob"}), "user")
    assert labels == {1: "1", 2: "bob"}
    text = printed(group_table("User", batch_metrics_by(SCHEDULE, WORKLOAD.user), labels))
    assert "│    1 │    2 │        10 │" in text
    text = printed(user_table(USERS, labels))
    assert "│    1 │    2 │        1 │ 50.0 % │    0.0 │" in text
    assert "│  bob │    1 │        0 │  0.0 % │      – │" in text  # noqa: RUF001


def test_quartiles_over_users():
    text = printed(user_quartile_table([("EASY", USERS)]))
    assert "│ VEET of users: median               │ 25.0 % │" in text
    assert "│ jobs that ended later than expected │      1 │" in text
