"""Why jobs wait under capacities: the rule that refused them, and for how long."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebecsim.clusters.yarn import diary
from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.node import NodeSize
from rebecsim.clusters.yarn.report.waits import waited, waiting_job, waits_lines
from rebecsim.errors import UserError
from tests.clusters.yarn.queues.files import TWO_QUEUES, capacity, fair, job, nodes, run, tasks


def _reasons(found: Finished, number: int) -> list[str]:
    """Give why a job waited, each reason once, in order."""
    (mine,) = (each for each in found.applications if each.number == number)
    return list(dict.fromkeys(each.reason for each in found.diary.waits[mine]))


def test_a_job_is_stopped_by_its_queue_its_user_and_for_its_master() -> None:
    alone = {**TWO_QUEUES, "root.a.user-limit-factor": "0.5"}
    jobs = [job(n, "a", tasks(30, 20), at=n / 7, master_memory=1024) for n in (1, 2, 3, 4, 5)]
    found = run(capacity(alone), jobs, nodes(4), explains=True)
    assert diary.USER in _reasons(found, 1)
    assert _reasons(found, 3)[0] == diary.MASTERS_OF_USER
    free = {**TWO_QUEUES, "root.a.user-limit-factor": "-1"}
    found = run(capacity(free), jobs, nodes(4), explains=True)
    assert diary.QUEUE in _reasons(found, 1)
    (wait, *_) = (
        each for each in found.diary.waits[found.applications[0]] if each.reason == diary.QUEUE
    )
    assert wait.detail == "root.a has 24576 MB, and may have 24576 MB now"
    assert wait.node


def test_a_job_waits_for_a_near_node_a_larger_one_and_one_that_is_kept() -> None:
    rules = capacity({**TWO_QUEUES, "root.a.maximum-capacity": "100", "node-locality-delay": "40"})
    racks = [NodeSize(f"node{at}", at, 10_240, 16, rack=f"rack{at % 2}") for at in range(1, 5)]
    near = run(rules, [job(1, "a", tasks(4, 30, host="/rack1/node3"))], racks, explains=True)
    assert diary.LOCALITY in _reasons(near, 1)
    mixed = [NodeSize("small", 3, 2048, 8), *nodes(2, 10_240)]
    jobs = [job(1, "b", tasks(9, 30, 2048)), job(2, "a", tasks(1, 10, 8192), at=5.1)]
    found = run(rules, jobs, mixed, explains=True)
    assert diary.TOO_SMALL in _reasons(found, 2)
    assert diary.RESERVED in _reasons(found, 2)


def test_a_job_that_may_not_run_waits_for_others() -> None:
    rules = capacity({**TWO_QUEUES, "root.b.max-parallel-apps": "1"})
    jobs = [job(n, "b", tasks(1, 30), at=n) for n in (1, 2)]
    found = run(rules, jobs, nodes(4), explains=True)
    assert _reasons(found, 2)[0] == diary.PARALLEL


def test_waits_add_up_to_what_jobs_ask_in_vain() -> None:
    jobs = [job(n, "a", tasks(30, 20), at=n / 7, user=f"u{n}") for n in (1, 2, 3)]
    found = run(capacity(TWO_QUEUES), jobs, nodes(4), explains=True)
    for each in found.applications:
        waits = found.diary.waits[each]
        asked = sum(after.time - before.time for before, after in pairwise(waits) if before.reason)
        assert sum(found.diary.waited[each].values()) == asked > 0
        assert waits[-1].reason == ""
        first, *reasons = waits_lines(waited(found, "queues", each.job.name))
        assert first.startswith(f"{each.job.name} under queues, in root.")
        assert first.endswith(f": asked in vain for {asked / 1000:,.1f} s")
        assert len(reasons) == len(set(found.diary.waited[each]))


def test_nothing_is_noted_unless_it_is_asked_for() -> None:
    jobs = [job(1, "a", tasks(2, 10))]
    assert run(capacity(TWO_QUEUES), jobs, nodes(2)).diary is None
    assert run(fair("<allocations/>"), jobs, nodes(2), explains=True).diary is None
    assert waiting_job(jobs, "job_1") is waiting_job(jobs, "1") is jobs[0]
    with pytest.raises(
        UserError, match="--why ann: there is no such job in the trace; it has job_1"
    ):
        waiting_job(jobs, "ann")
