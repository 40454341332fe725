"""What holds for all queues and jobs, checked on what was recorded."""

from __future__ import annotations

from hypothesis import Phase, given, reject, settings as budget, strategies as st

from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.workloads.container_jobs import ContainerJob
from tests.clusters.yarn.queues.checker import (
    Tree,
    check_guarantees,
    check_masters,
    check_maxima,
    check_nothing_lost,
    check_users,
    check_work_conserved,
)
from tests.clusters.yarn.queues.files import (
    MONITOR,
    PREEMPTION,
    capacity,
    fair,
    job,
    nodes,
    tasks,
)
from tests.examples import dear

NODES, MEMORY = 4, 10_240
TOTAL = NODES * MEMORY
FEW = budget(max_examples=dear(1000, share=125), phases=(Phase.generate,))


@st.composite
def trees(draw: st.DrawFn, *, generous: bool = False) -> Tree:
    """Draw nested queues with percent; generous ones limit neither users nor AppMasters."""
    tree = Tree(capacity={"root": TOTAL}, maximum={"root": TOTAL})
    if generous:
        tree.values = {"user-limit-factor": "-1", "maximum-am-resource-percent": "1"}
    exact = {"root": (1.0, 1.0)}

    def grow(path: str, depth: int) -> None:
        names = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
        tree.values[f"{path}.queues"] = ",".join(names)
        left, least = 100, 0 if generous else 5
        for place, name in enumerate(names):
            child = f"{path}.{name}"
            last = place == len(names) - 1
            rest = len(names) - place - 1
            part = left if last else draw(st.integers(least, left - least * rest))
            left -= part
            most = draw(st.integers(max(part, 1), 100))
            tree.values[f"{child}.capacity"] = str(part)
            tree.values[f"{child}.maximum-capacity"] = str(most)
            tree.values[f"{child}.maximum-applications"] = "100"
            share, limit = exact[path]
            exact[child] = share * part / 100, limit * most / 100
            tree.capacity[child] = int(TOTAL * exact[child][0] + 1e-6)
            tree.maximum[child] = int(TOTAL * exact[child][1] + 1e-6)
            if part and depth < 2 and draw(st.booleans()):
                grow(child, depth + 1)
            else:
                tree.leaves.append(child)

    grow("root", 1)
    return tree


@st.composite
def workloads(draw: st.DrawFn, queues: list[str], *, alike: bool) -> list[ContainerJob]:
    """Draw some jobs for queues; their containers may be all alike."""
    sizes = st.just(1024) if alike else st.sampled_from([512, 1024, 2048, 3000])
    return [
        job(
            number,
            draw(st.sampled_from(queues)),
            tasks(draw(st.integers(1, 25)), draw(st.integers(1, 60)), draw(sizes)),
            at=draw(st.integers(0, 60)),
            user=draw(st.sampled_from(["ann", "bob"])),
            master_memory=1024,
        )
        for number in range(1, draw(st.integers(2, 9)))
    ]


def usable(tree: Tree) -> list[str]:
    """Give the leaves in which any job fits, with its AppMaster."""
    return [path for path in tree.leaves if tree.maximum[path] >= 4096]


def _run(queues: QueueSettings, jobs: list[ContainerJob]) -> Finished:
    """Run jobs, if they can end: in a small queue AppMasters may leave no room for any task."""
    try:
        run = run_cluster(jobs, nodes(NODES, MEMORY), YarnConfiguration(queues=queues))
    except StuckError:
        reject()
    if run.stuck is not None:
        reject()
    return run


@FEW
@given(st.data())
def test_no_limit_of_a_queue_a_user_or_application_masters_is_passed(data: st.DataObject) -> None:
    tree = data.draw(trees())
    factor = data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    share = data.draw(st.sampled_from([0.1, 0.5]))
    killing = data.draw(st.booleans())
    tree.values |= {
        "user-limit-factor": f"{factor}",
        "maximum-am-resource-percent": f"{share}",
        "minimum-user-limit-percent": data.draw(st.sampled_from(["25", "50", "100"])),
    }
    if killing:
        tree.values |= {**MONITOR, f"{PREEMPTION}natural_termination_factor": "1"}
    if not usable(tree):
        return
    jobs = data.draw(workloads(usable(tree), alike=False))
    found = _run(capacity(tree.values), jobs)
    check_nothing_lost(found)
    check_maxima(found, tree.maximum)
    check_guarantees(found, tree.capacity)
    step = 1024
    hard = {
        path: -(-int(max(tree.capacity[path], step) * factor) // step) * step
        if tree.capacity[path]
        else tree.maximum[path]
        for path in tree.leaves
    }
    check_users(found, hard, largest=3072)
    masters = {path: -(-int(tree.maximum[path] * share + 1) // step) * step for path in tree.leaves}
    check_masters(found, masters)


@FEW
@given(st.data())
def test_under_capacities_nobody_waits_who_could_run(data: st.DataObject) -> None:
    tree = data.draw(trees(generous=True))
    if not usable(tree):
        return
    jobs = data.draw(workloads(usable(tree), alike=True))
    found = _run(capacity(tree.values), jobs)
    check_nothing_lost(found)
    check_maxima(found, tree.maximum)
    check_work_conserved(found, tree.maximum, slack=len(tree.maximum))


_POLICIES = st.sampled_from(["fair", "fifo", "drf"])


@st.composite
def fair_files(draw: st.DrawFn) -> tuple[str, dict[str, int]]:
    """Draw a fair-scheduler.xml with two leaves below a parent, and one beside it."""
    maximum = {"root": TOTAL, "root.p": draw(st.integers(8, 40)) * 1024}
    policies = {name: draw(_POLICIES) for name in ("a", "b", "c")}
    texts = {}
    for name, path in (("a", "root.p.a"), ("b", "root.p.b"), ("c", "root.c")):
        maximum[path] = draw(st.integers(4, 40)) * 1024
        texts[name] = (
            f'<queue name="{name}"><maxResources>{maximum[path]} mb, 1000 vcores</maxResources>'
            f"<weight>{draw(st.sampled_from([0, 1, 2.5]))}</weight>"
            f"<schedulingPolicy>{policies[name]}</schedulingPolicy>"
            "<maxAMShare>-1</maxAMShare></queue>"
        )
    text = (
        "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"
        f'<queue name="p"><maxResources>{maximum["root.p"]} mb, 1000 vcores</maxResources>'
        f"{texts['a']}{texts['b']}</queue>{texts['c']}</allocations>"
    )
    return text, maximum


@FEW
@given(fair_files(), st.data(), st.booleans())
def test_under_fair_shares_nobody_waits_who_could_run(
    file: tuple[str, dict[str, int]], data: st.DataObject, killing: bool
) -> None:
    text, maximum = file
    site = {"yarn.scheduler.fair.preemption": "true"} if killing else {}
    jobs = data.draw(workloads(["root.p.a", "root.p.b", "root.c"], alike=True))
    found = _run(fair(text, site), jobs)
    check_nothing_lost(found)
    check_maxima(found, maximum)
    if not found.killed:
        check_work_conserved(found, maximum)
