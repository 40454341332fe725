"""What the Fair Scheduler keeps up to date is what it would find anew."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import Phase, given, settings as budget, strategies as st

from rebecsim.clusters.yarn.queue_files.resources import Resources, total_of
from rebecsim.clusters.yarn.queues.fair.cluster import FairCluster
from rebecsim.clusters.yarn.queues.fair.policies import in_order
from rebecsim.clusters.yarn.queues.fair.state import FairQueueState
from tests.clusters.yarn.queues.files import fair, job, nodes, run, tasks
from tests.examples import dear

QUEUES = ("root.p.a", "root.p.b", "root.c", "root.made")


def wanted_in(cluster: FairCluster, queue: FairQueueState) -> Resources:
    """Add up what is asked for in a queue, and what is in use, by looking at everybody.

    Applications that may not run yet count.
    """
    below = [wanted_in(cluster, child) for child in queue.children]
    there = [each for each in cluster.states.values() if each.leaf is queue and not each.has_left]
    mine = [each.used.plus(each.asks.pending) for each in there]
    return total_of([*below, *mine]).least(queue.maximum)


def check(cluster: FairCluster) -> None:
    """Shares depend on demands and on who is there: found anew, they are the same."""
    for queue in cluster.root.below():
        assert queue.demand == wanted_in(cluster, queue)
        asking = [each for each in queue.applications if each.wants and each.demand != each.used]
        assert list(queue.line) == in_order(queue.settings.policy, asking, cluster.total)
        assert {each.requests for each in asking} == set(queue.line.requests)
        before = [each.share for each in queue.applications], [x.share for x in queue.children]
        queue.members_changed()
        queue.update_shares()
        assert before == (
            [each.share for each in queue.applications],
            [each.share for each in queue.children],
        )


@budget(max_examples=dear(40, share=10), phases=(Phase.generate,))
@given(st.data())
def test_demands_shares_and_order_are_as_if_found_anew(data: st.DataObject) -> None:
    policy = st.sampled_from(["fair", "fifo", "drf"])
    leaf = '<queue name="{}"><schedulingPolicy>{}</schedulingPolicy>{}</queue>'
    limits = st.sampled_from(["", "<maxResources>20000 mb, 9 vcores</maxResources>"])
    most = st.sampled_from(["", "<maxRunningApps>1</maxRunningApps>"])
    texts = [
        leaf.format(name, data.draw(policy), data.draw(limits) + data.draw(most)) for name in "abc"
    ]
    settings = fair(
        "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"
        "<defaultFairSharePreemptionTimeout>5</defaultFairSharePreemptionTimeout>"
        f'<queue name="p">{texts[0]}{texts[1]}</queue>{texts[2]}</allocations>',
        {
            "yarn.scheduler.fair.preemption": "true",
            "yarn.scheduler.fair.sizebasedweight": data.draw(st.sampled_from(["true", "false"])),
            "yarn.scheduler.fair.waitTimeBeforeKill": "1000",
        },
    )
    jobs = [
        job(
            number,
            data.draw(st.sampled_from(QUEUES)),
            tasks(data.draw(st.integers(1, 12)), data.draw(st.integers(1, 20))),
            tasks(data.draw(st.integers(1, 3)), 9, 3000),
            at=data.draw(st.integers(0, 20)),
        )
        for number in range(1, 5)
    ]
    update, looks = FairCluster.update, [0]

    def checked(cluster: FairCluster, now: int) -> None:
        fresh = cluster.next_update
        update(cluster, now)
        if cluster.next_update != fresh:
            looks[0] += 1
            check(cluster)

    with patch.object(FairCluster, "update", checked):
        run(settings, jobs, nodes(3))
    assert looks[0] > 10


def test_who_leaves_the_line_was_refused_as_often_as_everybody_was() -> None:
    settings = fair("<allocations><userMaxAppsDefault>9</userMaxAppsDefault></allocations>")
    jobs = [job(number, "q", tasks(9, 50)) for number in (1, 2)]
    found = run(settings, jobs, nodes(1))
    assert all(each.decisions.rejected > 0 for each in found.applications)
    assert found.applications[0].decisions.accepted == 10
