"""The Capacity Scheduler on examples worked out by hand: memory only, steps of 1024 MB, 100 GB."""

from __future__ import annotations

from collections import Counter

import pytest

from rebecsim.clusters.yarn.containers import NodeSize
from rebecsim.clusters.yarn.queue_files.resources import MEMORY, Resources
from rebecsim.clusters.yarn.queues.capacity.ideal import Ideal, IdealQueue
from rebecsim.clusters.yarn.queues.capacity.user_limits import (
    UserRules,
    UserShares,
    user_limit,
    weighted,
)
from tests.clusters.yarn.queues.files import (
    MONITOR,
    PREEMPTION,
    TWO_QUEUES,
    capacity,
    job,
    most_memory,
    nodes,
    run,
    tasks,
)


def _mb(memory: int) -> Resources:
    return Resources(memory, 0)


TOTAL, STEP = _mb(102_400), Resources(1024, 0)


def _rules(minimum: int, maximum: int, percent: float, factor: float = 1) -> UserRules:
    return UserRules(MEMORY, TOTAL, STEP, _mb(minimum), _mb(maximum), percent, factor)


@pytest.mark.parametrize(
    ("factor", "most"),
    [("1", 41_984), ("1.5", 61_440), ("-1", 61_440)],
)
def test_one_user_has_one_container_more_than_his_limit(factor: str, most: int) -> None:
    settings = capacity({**TWO_QUEUES, "root.a.user-limit-factor": factor})
    found = run(settings, [job(1, "a", tasks(80, 60))], nodes(10))
    assert most_memory(found, "a") == most


def _shares(*of_each: tuple[int, float]) -> UserShares:
    """Give the shares of active users, by what they have and their weights."""
    used = sum(memory for memory, _ in of_each)
    return UserShares(used / TOTAL.memory, _mb(used), sum(weight for _, weight in of_each))


def test_limits_of_three_users() -> None:
    rules = _rules(40_960, 61_440, percent=25)
    shares = _shares((20_480, 1), (10_240, 1), (0, 1))
    assert user_limit(rules, shares) == _mb(11_264)


def test_a_heavier_user_may_have_more() -> None:
    rules = _rules(40_960, 61_440, percent=25)
    limit = user_limit(rules, _shares((20_480, 2), (10_240, 1), (0, 1)))
    assert limit == _mb(10_240)
    assert weighted(rules, limit, 2.0) == _mb(20_480)


def test_two_users_fill_a_queue() -> None:
    rules = _rules(40_960, 61_440, percent=25)
    assert user_limit(rules, _shares((20_480, 1), (20_480, 1))) == _mb(21_504)


@pytest.mark.parametrize(("users", "let_in"), [(1, 4), (2, 6)])
def test_so_many_application_masters_are_let_in(users: int, let_in: int) -> None:
    jobs = [job(n, "a", tasks(1, 600), user=f"user{n % users}") for n in range(1, 11)]
    found = run(capacity(TWO_QUEUES), jobs, nodes(10))
    starts = sorted(each.own.scheduled for each in found.applications if each.own is not None)
    assert sum(start < 600_000 for start in starts) == let_in


def _queues(
    guaranteed: list[int], used: list[int], pending: list[int]
) -> tuple[IdealQueue, list[IdealQueue]]:
    leaves = [
        IdealQueue(f"root.{name}", _mb(g), TOTAL, _mb(u), _mb(p))
        for name, g, u, p in zip("abc", guaranteed, used, pending, strict=False)
    ]
    return IdealQueue("root", TOTAL, TOTAL, TOTAL, _mb(sum(pending)), children=leaves), leaves


@pytest.mark.parametrize(
    ("guaranteed", "used", "pending", "ideal", "to_take"),
    [
        (
            [51_200, 51_200],
            [81_920, 20_480],
            [0, 61_440],
            [51_200, 51_200],
            [10_240, 0],
        ),
        (
            [30_720, 30_720, 40_960],
            [61_440, 20_480, 20_480],
            [0, 40_960, 0],
            [51_200, 30_720, 20_480],
            [10_240, 0, 0],
        ),
    ],
)
def test_ideal_shares(
    guaranteed: list[int],
    used: list[int],
    pending: list[int],
    ideal: list[int],
    to_take: list[int],
) -> None:
    root, leaves = _queues(guaranteed, used, pending)
    Ideal(MEMORY, TOTAL, _mb(10_240), balances=False).compute(root)
    assert [each.ideal.memory for each in leaves] == ideal
    assert [each.to_take.memory for each in leaves] == to_take


def test_a_queue_that_has_its_capacity_gets_more_only_by_balancing() -> None:
    root, leaves = _queues([30_720, 30_720, 40_960], [61_440, 20_480, 20_480], [0, 40_960, 0])
    Ideal(MEMORY, TOTAL, _mb(102_400), balances=True).compute(root)
    assert leaves[1].ideal.memory > 30_720


def test_what_may_not_be_taken_stays() -> None:
    root, leaves = _queues([51_200, 51_200], [81_920, 20_480], [0, 61_440])
    leaves[0].preemptable = False
    Ideal(MEMORY, TOTAL, _mb(10_240), balances=False).compute(root)
    assert [each.ideal.memory for each in leaves] == [81_920, 20_480]
    assert leaves[0].to_take.memory == 0


_HALVES = {
    "root.queues": "a,b",
    "root.a.capacity": "50",
    "root.b.capacity": "50",
    "root.a.user-limit-factor": "10",
}


def test_two_containers_are_killed_in_a_round() -> None:
    jobs = [
        job(1, "a", tasks(79, 900)),
        job(2, "b", tasks(19, 900)),
        job(3, "b", tasks(60, 900), at=100),
    ]
    found = run(capacity({**_HALVES, **MONITOR}), jobs, nodes(10))
    by_time = Counter(each.killed for each in found.killed)
    assert list(by_time.values())[:3] == [1, 2, 2]  # the first for an AppMaster
    waits = {each.killed - each.chosen for each in found.killed}
    assert min(waits) == 15_000
    assert {each.container.application.job.queue for each in found.killed} == {"a"}
    assert not any(each.container.task.is_master for each in found.killed)


def test_what_was_killed_runs_again() -> None:
    jobs = [job(1, "a", tasks(90, 600)), job(2, "b", tasks(60, 600), at=100)]
    found = run(capacity({**_HALVES, **MONITOR}), jobs, nodes(10))
    assert found.killed
    for application in found.applications:
        whole = [
            each for each in application.containers if not each.killed and not each.task.is_master
        ]
        assert len(whole) == application.job.classes[0].count
        assert all(each.finished - each.launched == 600_000 for each in whole)


def test_observed_only_nothing_is_killed() -> None:
    jobs = [job(1, "a", tasks(90, 600)), job(2, "b", tasks(60, 600), at=100)]
    rules = {**_HALVES, **MONITOR, f"{PREEMPTION}observe_only": "true"}
    assert not run(capacity(rules), jobs, nodes(10)).killed


def test_a_killed_application_master_starts_its_job_over() -> None:
    values = {
        **_HALVES,
        **MONITOR,
        "root.a.maximum-am-resource-percent": "1",
        "root.b.maximum-am-resource-percent": "1",
        f"{PREEMPTION}natural_termination_factor": "1",
        f"{PREEMPTION}total_preemption_per_round": "1",
        f"{PREEMPTION}max_ignored_over_capacity": "0",
    }
    settings = capacity({**values, "root.a.maximum-am-resource-percent": "0.05"})
    jobs = [job(n, "a", tasks(1, 600), user=f"u{n}") for n in range(1, 5)]
    jobs.append(job(9, "b", tasks(1, 300, 5120), at=50))
    assert all(each.end for each in run(settings, jobs, nodes(1, 8192)).applications)
    masters_only = capacity({**values, "root.a.user-limit-factor": "-1"})
    many = [job(n, "a", tasks(1, 600), user=f"u{n}", master_memory=2048) for n in range(1, 4)]
    many.append(job(9, "b", tasks(1, 300, 3072), at=50))
    found = run(masters_only, many, nodes(1, 8192))
    assert all(each.end for each in found.applications)


def test_a_user_over_the_limit_loses_containers_to_others() -> None:
    values = {
        **MONITOR,
        "root.queues": "a",
        "root.a.capacity": "100",
        "root.a.minimum-user-limit-percent": "50",
        f"{PREEMPTION}intra-queue-preemption.enabled": "true",
    }
    jobs = [
        job(1, "a", tasks(99, 900), user="first"),
        job(2, "a", tasks(60, 900), user="second", at=100),
    ]
    found = run(capacity(values), jobs, nodes(10))
    assert {each.reason for each in found.killed} == {"user"}
    assert {each.container.application.job.user for each in found.killed} == {"first"}
    without = run(capacity({k: v for k, v in values.items() if "intra" not in k}), jobs, nodes(10))
    assert not without.killed
    waits = [each.applications[1].own.scheduled for each in (found, without)]
    assert waits[0] < 130_000 < 900_000 < waits[1]


def test_what_runs_on_lent_nodes_is_killed_first() -> None:
    values = {
        **_HALVES,
        **MONITOR,
        "root.accessible-node-labels.x.capacity": "100",
        "maximum-am-resource-percent": "1",
        "user-limit-factor": "-1",
        f"{PREEMPTION}natural_termination_factor": "1",
        f"{PREEMPTION}total_preemption_per_round": "1",
    }
    for queue in ("root.a", "root.b"):
        values[f"{queue}.accessible-node-labels"] = "x"
        values[f"{queue}.accessible-node-labels.x.capacity"] = "50"
    jobs = [
        job(1, "a", tasks(4, 300), master_memory=1024),
        job(2, "a", tasks(14, 300), at=9, label="x", master_memory=1024),
        job(3, "b", tasks(8, 50), at=30, label="x", master_memory=1024),
    ]
    found = run(capacity(values), jobs, [NodeSize("plain", 9, 2048, 8), *nodes(2, label="x")])
    first = [each.container.application.number for each in found.killed[:4]]
    assert first == [1, 1, 1, 2]
    assert [each.container.number for each in found.killed[:3]] == [5, 4, 3]
