"""Why jobs wait under capacities: the rule that refused them, and for how long."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebecsim.clusters.yarn import records
from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.containers import NodeSize
from rebecsim.clusters.yarn.report.waits import waited, waiting_job, waits_lines
from rebecsim.errors import UserError
from tests.clusters.yarn.queues.files import TWO_QUEUES, capacity, fair, job, nodes, run, tasks


def _reasons(found: Finished, number: int) -> list[str]:
    """Give why a job waited, each reason once, in order."""
    (mine,) = (each for each in found.applications if each.number == number)
    return list(dict.fromkeys(each.reason for each in found.wait_log.waits[mine]))


def test_a_job_is_stopped_by_its_queue_its_user_and_for_its_master() -> None:
    alone = {**TWO_QUEUES, "root.a.user-limit-factor": "0.5"}
    jobs = [job(n, "a", tasks(30, 20), at=n / 7, master_memory=1024) for n in (1, 2, 3, 4, 5)]
    found = run(capacity(alone), jobs, nodes(4), explains=True)
    assert records.USER in _reasons(found, 1)
    assert _reasons(found, 3)[0] == records.MASTERS_OF_USER
    free = {**TWO_QUEUES, "root.a.user-limit-factor": "-1"}
    found = run(capacity(free), jobs, nodes(4), explains=True)
    assert records.QUEUE in _reasons(found, 1)
    (wait, *_) = (
        each for each in found.wait_log.waits[found.applications[0]] if each.reason == records.QUEUE
    )
    assert wait.detail == "root.a has 24576 MB, and may have 24576 MB now"
    assert wait.node


def test_a_job_waits_for_a_near_node_a_larger_one_and_one_that_is_kept() -> None:
    rules = capacity({**TWO_QUEUES, "root.a.maximum-capacity": "100", "node-locality-delay": "40"})
    racks = [NodeSize(f"node{at}", at, 10_240, 16, rack=f"rack{at % 2}") for at in range(1, 5)]
    near = run(rules, [job(1, "a", tasks(4, 30, host="/rack1/node3"))], racks, explains=True)
    assert records.LOCALITY in _reasons(near, 1)
    mixed = [NodeSize("small", 3, 2048, 8), *nodes(2, 10_240)]
    jobs = [job(1, "b", tasks(9, 30, 2048)), job(2, "a", tasks(1, 10, 8192), at=5.1)]
    found = run(rules, jobs, mixed, explains=True)
    assert records.TOO_SMALL in _reasons(found, 2)
    assert records.RESERVED in _reasons(found, 2)


def test_a_job_that_may_not_run_waits_for_others() -> None:
    rules = capacity({**TWO_QUEUES, "root.b.max-parallel-apps": "1"})
    jobs = [job(n, "b", tasks(1, 30), at=n) for n in (1, 2)]
    found = run(rules, jobs, nodes(4), explains=True)
    assert _reasons(found, 2)[0] == records.PARALLEL


def test_waits_add_up_to_what_jobs_ask_in_vain() -> None:
    jobs = [job(n, "a", tasks(30, 20), at=n / 7, user=f"u{n}") for n in (1, 2, 3)]
    found = run(capacity(TWO_QUEUES), jobs, nodes(4), explains=True)
    for each in found.applications:
        waits = found.wait_log.waits[each]
        asked = sum(after.time - before.time for before, after in pairwise(waits) if before.reason)
        assert sum(found.wait_log.waited[each].values()) == asked > 0
        assert waits[-1].reason == ""
        first, *reasons = waits_lines(waited(found, "queues", each.job.name))
        assert first.startswith(f"{each.job.name} under queues, in root.")
        assert first.endswith(f": asked in vain for {asked / 1000:,.1f} s")
        assert len(reasons) == len(set(found.wait_log.waited[each]))


def test_nothing_is_noted_unless_it_is_asked_for() -> None:
    jobs = [job(1, "a", tasks(2, 10))]
    assert run(capacity(TWO_QUEUES), jobs, nodes(2)).wait_log is None
    assert run(fair("<allocations/>"), jobs, nodes(2)).wait_log is None
    assert waiting_job(jobs, "job_1") is waiting_job(jobs, "1") is jobs[0]
    with pytest.raises(
        UserError, match="--why ann: there is no such job in the trace; it has job_1"
    ):
        waiting_job(jobs, "ann")


TWO_FAIR = '<allocations><queue name="a">{}</queue><queue name="b">{}</queue></allocations>'


def _fair_waits(found: Finished, number: int, reason: str) -> list[tuple[int, str, str]]:
    """Give when, on which node and how a job was refused for some reason."""
    (mine,) = (each for each in found.applications if each.number == number)
    waits = found.wait_log.waits[mine]
    return [(each.time, each.node, each.detail) for each in waits if each.reason == reason]


def test_other_queues_go_first_for_their_fair_share_or_their_minimum() -> None:
    jobs = [job(1, "a", tasks(40, 7)), job(2, "b", tasks(30, 20), at=3)]
    found = run(fair(TWO_FAIR.format("", "")), jobs, nodes(1), explains=True)
    first = "root.b had 0 MB of its share of 5120 MB, and root.a 3072 MB of 5120 MB"
    (time, node, detail), *_ = _fair_waits(found, 1, records.SHARE)
    assert (time, node, detail) == (3000, "node1", first)
    least = "<minResources>8192 mb, 4 vcores</minResources>"
    found = run(fair(TWO_FAIR.format("", least)), jobs, nodes(1), explains=True)
    (_, _, detail), *_ = _fair_waits(found, 1, records.MINIMUM)
    assert detail == "root.b had 0 MB of its minimum of 8192 MB"


def test_a_queue_has_all_that_it_may_and_an_application_master_too() -> None:
    most = "<maxResources>4096 mb, 4 vcores</maxResources>"
    found = run(
        fair(TWO_FAIR.format(most, "")), [job(1, "a", tasks(9, 20))], nodes(2), explains=True
    )
    have = "4096 MB and 4 cores"
    assert _fair_waits(found, 1, records.QUEUE)[:1] == [
        (2500, "node2", f"root.a has {have}, and may have {have}")
    ]
    share = "<maxAMShare>0.1</maxAMShare>"
    jobs = [job(n, "a", tasks(9, 20), at=n, master_memory=2048) for n in (1, 2)]
    found = run(fair(TWO_FAIR.format(share, "")), jobs, nodes(2), explains=True)
    (_, _, detail), *_ = _fair_waits(found, 2, records.MASTERS)
    assert detail == "AppMasters have 2048 MB and 1 core, and may have 2049 MB and 4 cores"


def test_a_fair_job_waits_for_a_near_node_a_larger_one_and_one_that_is_kept() -> None:
    threshold = "yarn.scheduler.fair.locality.threshold."
    rules = fair("<allocations/>", {f"{threshold}{level}": "1" for level in ("node", "rack")})
    racks = [NodeSize(f"n{at}", at, 4096, 4, rack=f"r{at % 2}") for at in range(1, 5)]
    near = run(rules, [job(1, "a", tasks(4, 20, host="/r1/n3"))], racks, explains=True)
    assert _fair_waits(near, 1, records.LOCALITY)[0] == (1000, "n1", "")
    mixed = [NodeSize("small", 3, 2048, 8), *nodes(2, 10_240)]
    jobs = [
        job(1, "a", tasks(9, 30, 2048)),
        job(2, "b", tasks(1, 10, 8192), at=5.1),
        job(3, "b", tasks(4, 10, 1024), at=6.1),
    ]
    found = run(fair(TWO_FAIR.format("", "")), jobs, mixed, explains=True)
    assert _fair_waits(found, 2, records.TOO_SMALL)[0] == (
        7000,
        "small",
        "it asks for 8192 MB and 1 core",
    )
    assert _fair_waits(found, 2, records.RESERVED)[0] == (7333, "node1", "")
    small = "it is not reserved for less than twice the increment"
    assert _fair_waits(found, 3, records.NO_ROOM)[0][1:] == ("node2", small)
    assert _fair_waits(found, 3, records.KEPT)[0][1:] == ("node1", "for job_2")


def test_a_fair_job_may_not_run_or_comes_after_an_earlier_one() -> None:
    one = "<maxRunningApps>1</maxRunningApps>"
    jobs = [job(1, "a", tasks(40, 9)), job(2, "a", tasks(20, 5), at=1.1)]
    found = run(fair(TWO_FAIR.format(one, "")), jobs, nodes(1), explains=True)
    assert _reasons(found, 2)[0] == records.PARALLEL
    fifo = "<schedulingPolicy>fifo</schedulingPolicy>"
    found = run(fair(TWO_FAIR.format(fifo, "")), jobs, nodes(1), explains=True)
    assert "job_1 was submitted earlier" in {
        detail for _, _, detail in _fair_waits(found, 2, records.TURN)
    }


def test_in_a_fair_order_who_has_less_goes_first() -> None:
    rules = capacity({**TWO_QUEUES, "root.b.ordering-policy": "fair"})
    jobs = [job(n, "b", tasks(30, 20), at=n / 7) for n in (1, 2)]
    found = run(rules, jobs, nodes(2), explains=True)
    assert _fair_waits(found, 1, records.ORDER)[0][2] == "job_2 does"


@pytest.mark.parametrize("policy", ["fair", "drf", "fifo"])
def test_noting_reasons_changes_nothing(policy: str) -> None:
    text = f"<schedulingPolicy>{policy}</schedulingPolicy><maxAMShare>0.4</maxAMShare>"
    rules = fair(
        "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"
        f'<queue name="a">{text}</queue><queue name="b">{text}</queue></allocations>'
    )
    jobs = [
        job(n, "ab"[n % 2], tasks(7, 3 * n, 1024 * n), tasks(5, 9, 2048), at=n / 7)
        for n in range(1, 8)
    ]
    plain, noted = (run(rules, jobs, nodes(3), explains=each) for each in (False, True))
    for one, other in zip(plain.applications, noted.applications, strict=True):
        assert [(each.scheduled, each.node.size) for each in one.containers] == [
            (each.scheduled, each.node.size) for each in other.containers
        ]
