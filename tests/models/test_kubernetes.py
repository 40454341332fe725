"""The plug-in about Kubernetes: filters and scores by hand, and laws that hold in any cluster."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, strategies as st

from models.plugins.kubernetes import Node, Pod, Scheduler, amounts, cluster_model
from rebecsim.actors import Model, RandomScheduler, Streams, key_of
from rebecsim.exploration import Checks, explore
from rebecsim.simulation import simulate
from tests.every_order import ends_of_every_order, explored_ends

GI = 2**30
ZONE = "topology.kubernetes.io/zone"


def node(name: str, cpu: str = "4", memory: str = "8Gi", zone: str = "", **spec: Any) -> Node:
    labels = {"zone": zone, ZONE: zone} if zone else {}
    room = {"cpu": cpu, "memory": memory, "pods": "10"}
    meta = {"name": name, "labels": labels}
    return Node({"metadata": meta, "spec": spec, "status": {"allocatable": room}})


def pod(
    name: str,
    cpu: str = "1",
    memory: str = "1Gi",
    *,
    at: int = 0,
    seconds: int | None = None,
    owner: str = "",
    app: str = "",
    **spec: Any,
) -> Pod:
    def time(second: int) -> str:
        return f"2026-03-02T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"

    asked = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    meta: dict[str, Any] = {"name": name, "namespace": "n", "creationTimestamp": time(at)}
    if app:
        meta["labels"] = {"app": app}
    if owner:
        meta["ownerReferences"] = [{"kind": owner, "controller": True}]
    ended = {"terminated": {"startedAt": time(at), "finishedAt": time(at + (seconds or 0))}}
    status = {} if seconds is None else {"containerStatuses": [{"state": ended}]}
    containers = [{"resources": {"requests": asked}}]
    return Pod({"metadata": meta, "spec": {"containers": containers, **spec}, "status": status})


def even(
    when: str = "DoNotSchedule", skew: int = 1, app: str = "web", **more: Any
) -> dict[str, Any]:
    about = {"labelSelector": {"matchLabels": {"app": app}}, "whenUnsatisfiable": when}
    return {"topologyKey": ZONE, "maxSkew": skew, **about, **more}


def scheduler(
    pods: list[Pod], nodes: list[Node], *bound: str, strategy: str = "LeastAllocated"
) -> Scheduler:
    """Give the scheduler of a cluster that begins with the named pods on its nodes, by node."""
    model = cluster_model(pods, nodes, strategy, True)
    found = model.start().rebec("scheduler")
    assert isinstance(found, Scheduler)
    found.bound = [[f"n/{each}" for each in names.split()] for names in bound] or found.bound
    found.started = [(each, place) for place, each in enumerate(chain(*found.bound))]
    return found


def run(pods: list[Pod], nodes: list[Node], **how: Any) -> Scheduler:
    """Give the scheduler as a run leaves it."""
    model = cluster_model(pods, nodes, "LeastAllocated", how.get("preemption", True))
    result = simulate(model, how.get("order") or RandomScheduler(Streams(key_of(1), 0)))
    assert result.outcome == "ended", result.detail
    assert result.system is not None
    found = result.system.rebec("scheduler")
    assert isinstance(found, Scheduler)
    return found


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cpu", "memory"),
    [("500m", 500, 1), ("2", 2000, 2), ("1.5", 1500, 2), ("1Gi", GI * 1000, GI)],
)
def test_quantities(text: str, cpu: int, memory: int) -> None:
    assert amounts({"cpu": text, "memory": text}) == {"cpu": cpu, "memory": memory}


def test_larger_units() -> None:
    assert amounts({"memory": "1500M"}) == {"memory": 1_500_000_000}
    assert amounts({"memory": "15147904Ki"}) == {"memory": 15147904 * 1024}
    with pytest.raises(ValueError, match="Invalid literal"):
        amounts({"cpu": "many"})


def test_a_pod_runs_as_long_as_its_containers_did() -> None:
    assert pod("job", seconds=90).seconds == 90
    assert pod("server").seconds is None


# --- filters -------------------------------------------------------------------------------------


def test_requests_must_fit_beside_those_of_others() -> None:
    pods = [pod("a", "3"), pod("b", "1"), pod("c", "1001m"), pod("d", "0", "8Gi")]
    found = scheduler(pods, [node("n1")], "a")
    assert found.fits("n/b", 0)
    assert not found.fits("n/c", 0)
    assert not found.fits("n/d", 0)
    assert found.fits("n/d", 0, ["n/a"])


def test_a_node_takes_no_more_pods_than_it_says() -> None:
    names = [f"p{number}" for number in range(11)]
    pods = [pod(name, "", "") for name in names]
    found = scheduler(pods, [node("n1")], " ".join(names[:10]))
    assert not found.fits("n/p10", 0)


def test_resources_that_a_node_lacks() -> None:
    wanted = [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]
    assert not scheduler([pod("a", containers=wanted)], [node("n1")]).fits("n/a", 0)


@pytest.mark.parametrize(
    ("toleration", "taint", "fits"),
    [
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, "v", True),
        ({"key": "k", "value": "v"}, "v", True),
        ({"key": "k", "value": "w"}, "v", False),
        ({"key": "other", "operator": "Exists"}, "v", False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, "v", False),
        ({"operator": "Exists"}, "v", True),
    ],
)
def test_taints(toleration: dict[str, str], taint: str, fits: bool) -> None:
    tainted = node("n1", taints=[{"key": "k", "value": taint, "effect": "NoSchedule"}])
    pods = [pod("a", tolerations=[toleration]), pod("b")]
    found = scheduler(pods, [tainted])
    assert found.fits("n/a", 0) == fits
    assert not found.fits("n/b", 0)


def test_taints_that_are_only_to_be_avoided_keep_nobody_off() -> None:
    avoided = node("n1", taints=[{"key": "k", "effect": "PreferNoSchedule"}])
    assert scheduler([pod("a")], [avoided]).fits("n/a", 0)


def test_a_cordoned_node_takes_only_who_tolerates_it() -> None:
    key = "node.kubernetes.io/unschedulable"
    pods = [pod("a"), pod("b", tolerations=[{"key": key, "operator": "Exists"}])]
    found = scheduler(pods, [node("n1", unschedulable=True)])
    assert not found.fits("n/a", 0)
    assert found.fits("n/b", 0)


def term(operator: str, *values: str, key: str = "zone", fields: bool = False) -> dict[str, Any]:
    rule = {"key": key, "operator": operator, "values": list(values)}
    return {"matchFields" if fields else "matchExpressions": [rule]}


@pytest.mark.parametrize(
    ("terms", "nodes"),
    [
        ([term("In", "a", "c")], [0]),
        ([term("NotIn", "a")], [1, 2]),
        ([term("Exists")], [0, 1]),
        ([term("DoesNotExist")], [2]),
        ([term("In", "a"), term("In", "b")], [0, 1]),
        ([term("In", "n3", key="metadata.name", fields=True)], [2]),
        ([{}], []),
    ],
)
def test_required_affinity(terms: list[dict[str, Any]], nodes: list[int]) -> None:
    needed = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    found = scheduler(
        [pod("a", affinity={"nodeAffinity": needed})],
        [node("n1", zone="a"), node("n2", zone="b"), node("n3")],
    )
    assert [each for each in range(3) if found.fits("n/a", each)] == nodes


def test_node_selectors_and_numbers() -> None:
    nodes = [node("n1", zone="3"), node("n2", zone="12")]
    needed = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term("Gt", "5")]}
    }
    pods = [pod("a", nodeSelector={"zone": "3"}), pod("b", affinity={"nodeAffinity": needed})]
    found = scheduler(pods, nodes)
    assert [[found.fits(f"n/{name}", each) for each in (0, 1)] for name in "ab"] == [
        [True, False],
        [False, True],
    ]


def test_strict_spread() -> None:
    """Zone a has two pods and zone b one: with a skew of 1, only b takes another one."""
    web = {"app": "web", "topologySpreadConstraints": [even()]}
    pods = [pod(name, "100m", **web) for name in ("w1", "w2", "w3", "w4")]
    nodes = [node("n1", zone="a"), node("n2", zone="b"), node("n3")]
    found = scheduler(pods, nodes, "w1 w2", "w3", "")
    assert [found.fits("n/w4", each) for each in range(3)] == [False, True, False]
    found.leaving = ["n/w2"]  # pods that leave do not count
    assert [found.fits("n/w4", each) for each in range(3)] == [True, True, False]


def test_the_fewest_domains_count() -> None:
    web = {"app": "web", "topologySpreadConstraints": [even(minDomains=3)]}
    pods = [pod(name, "100m", **web) for name in ("w1", "w2", "w3")]
    found = scheduler(pods, [node("n1", zone="a"), node("n2", zone="b")], "w1", "w2")
    assert [found.fits("n/w3", each) for each in range(2)] == [False, False]


def test_only_nodes_that_a_pod_may_use_are_domains() -> None:
    web = {"app": "web", "topologySpreadConstraints": [even()], "nodeSelector": {"zone": "a"}}
    pods = [pod(name, "100m", **web) for name in ("w1", "w2", "w3")]
    found = scheduler(pods, [node("n1", zone="a"), node("n2", zone="b")], "w1 w2", "")
    assert found.fits("n/w3", 0)


# --- scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "cpu", "memory", "score"),
    [
        ("LeastAllocated", "1", "2Gi", (75 + 75) // 2 + 100),
        ("LeastAllocated", "3", "2Gi", (25 + 75) // 2 + 75),
        ("MostAllocated", "3", "2Gi", (75 + 25) // 2 + 75),
        ("LeastAllocated", "1", "1Gi", (75 + 87) // 2 + 93),  # 87.5, and 1 - 0.125 / 2
        ("LeastAllocated", "", "", (97 + 97) // 2 + 100),  # as 100m and 200Mi, and as nothing
    ],
)
def test_scores_of_resources(strategy: str, cpu: str, memory: str, score: int) -> None:
    found = scheduler([pod("a", cpu, memory)], [node("n1")], strategy=strategy)
    assert found.resources("n/a", 0) == score


def test_pods_that_are_there_count() -> None:
    found = scheduler([pod("a", "1", "2Gi"), pod("b", "1", "2Gi")], [node("n1")], "b")
    assert found.resources("n/a", 0) == 50 + 100


def test_scores_of_spread() -> None:
    """Two zones weigh ln 4: zone a has 2 pods, 2 ln 4 = 2.77, rounded 3; zone b has none."""
    web = {"app": "web", "topologySpreadConstraints": [even("ScheduleAnyway")]}
    pods = [pod(name, "100m", **web) for name in ("w1", "w2", "w3")]
    nodes = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), node("n4")]
    found = scheduler(pods, nodes, "w1", "w2", "", "")
    assert found.spreading("n/w3", [0, 1, 2, 3]) == [0, 0, 100, 0]
    assert found.spreading("n/w3", [0, 1, 3]) == [100, 100, 0]  # both have 2 ln 3, rounded 2
    assert found.best("n/w3", [0, 1, 2, 3]) == [2]


def test_a_skew_waters_differences_down() -> None:
    """Zone a has 2 ln 4 + 4 = 6.77, so 7; zone b has 4."""
    web = {"app": "web", "topologySpreadConstraints": [even("ScheduleAnyway", 5)]}
    pods = [pod(name, "100m", **web) for name in ("w1", "w2", "w3")]
    found = scheduler(pods, [node("n1", zone="a"), node("n2", zone="b")], "w1 w2", "")
    assert found.spreading("n/w3", [0, 1]) == [100 * (7 + 4 - 7) // 7, 100 * (7 + 4 - 4) // 7]


def test_of_equal_nodes_any_may_be_drawn() -> None:
    assert scheduler([pod("a")], [node("n1"), node("n2")]).best("n/a", [0, 1]) == [0, 1]


# --- the queue -----------------------------------------------------------------------------------


def test_the_highest_priority_goes_first_and_then_who_came_first() -> None:
    pods = [pod("a", "4", seconds=10), pod("b", "4", seconds=10), pod("c", "4", priority=1)]
    found = run(pods, [node("n1")], preemption=False)
    assert found.bound == [["n/c"]]
    assert [each[0] for each in found.failed] == ["n/a", "n/b"]
    found = run([pod("late", "4", at=1), pod("early", "4", seconds=5)], [node("n1")])
    assert dict(found.started) == {"n/late": found.waited + 1}


def test_who_does_not_fit_waits_longer_after_each_failure() -> None:
    """The node is free at 3, 6, 9 and 12; failures at 0, 3, 6, 10 back off until 1, 5, 10, 18."""
    short = [pod(f"s{each}", "4", at=3 * each, seconds=3, priority=1) for each in range(4)]
    found = run([*short, pod("z", "4")], [node("n1")], preemption=False)
    assert found.bound == [["n/z"]]
    assert dict(found.started)["n/z"] == 18


# --- preemption ----------------------------------------------------------------------------------


def test_as_few_pods_leave_as_can_be() -> None:
    """Three cpus are wanted and one is free: those that may stay are the most important ones."""
    there = [pod("a", "1", priority=3), pod("b", "1", priority=1), pod("c", "1", priority=2)]
    found = scheduler([*there, pod("x", "3", priority=9)], [node("n1")], "a b c")
    assert found.victims("n/x", 0) == ["n/c", "n/b"]
    assert (
        scheduler([*there, pod("x", "4", priority=2)], [node("n1")], "a b c").victims("n/x", 0)
        == []
    )


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        ((5,), (1, 1), 1),  # the lowest of the highest priorities
        ((3, 1), (3,), 1),  # the smallest sum, of which each pod adds 2^31
        ((-9, -9), (-9,), 1),
        ((2,), (2,), 1),  # who began last
    ],
)
def test_where_pods_leave(first: tuple[int, ...], second: tuple[int, ...], chosen: int) -> None:
    there = [
        [
            pod(f"{place}{number}", str(4 // len(each)), priority=rank)
            for number, rank in enumerate(each)
        ]
        for place, each in (("a", first), ("b", second))
    ]
    names = (" ".join(each.name[2:] for each in pods) for pods in there)
    pods = [*there[0], *there[1], pod("x", "4", priority=9)]
    found = scheduler(pods, [node("n1"), node("n2")], *names)
    costs = [found.cost(found.victims("n/x", each)) for each in range(2)]
    assert costs.index(min(costs)) == chosen


def test_an_evicted_pod_comes_again_if_a_controller_owns_it() -> None:
    """It ends 30 s after the other one came, which waits so long; it has room again at 90."""
    pods = [
        pod("low", "4", seconds=500, owner="Job"),
        pod("high", "4", at=40, seconds=20, priority=1),
    ]
    found = run(pods, [node("n1")])
    assert (found.evictions, found.created, found.binds) == (1, 3, 3)
    assert (found.high_waited, found.waited) == (30, 30 + 20)  # from 40 to 70; from 70 to 90
    found = run([pod("bare", "4"), pods[1]], [node("n1")])
    assert (found.evictions, found.created, found.binds) == (1, 2, 2)


def test_nobody_of_lower_priority_takes_what_others_leave() -> None:
    pods = [
        pod("low", "4", owner="Job"),
        pod("high", "2", at=10, priority=2),
        pod("small", "3", at=11, priority=1),
    ]
    found = run(pods, [node("n1")])
    assert found.bound == [["n/high"]]
    assert sorted(each[0] for each in found.failed) == ["n/low", "n/small"]


def test_who_never_preempts_waits() -> None:
    pods = [pod("low", "4"), pod("high", "4", at=1, priority=1, preemptionPolicy="Never")]
    assert run(pods, [node("n1")]).evictions == 0
    assert (
        run([pods[0], pod("x", "4", at=1, priority=1)], [node("n1")], preemption=False).evictions
        == 0
    )


# --- laws ----------------------------------------------------------------------------------------


class Watching(RandomScheduler):
    """Picks as others do, and looks at the cluster before each message."""

    def __init__(self, seed: int) -> None:
        super().__init__(Streams(key_of(seed), 0))
        self.binds = 0

    def pick(self, rebecs: Any) -> Any:
        found = rebecs[0]._system.rebec("scheduler")
        for place, there in zip(found.nodes, found.bound, strict=True):
            pods = [found.pods[each] for each in there]
            taken = sum((each.requests for each in pods), Counter())
            assert all(amount <= place.room[name] for name, amount in taken.items())
            for each in pods:
                assert each.may_use(place)
                assert all(map(each.bears, place.taints))
        if found.binds > self.binds and self.binds + 1 == found.binds:
            self.look_at_spread(found, found.started[-1][0])
        self.binds = found.binds
        return super().pick(rebecs)

    def look_at_spread(self, found: Scheduler, pod: str) -> None:
        """Count the pods of its sort by zone once it is bound: they differ by the skew at most."""
        for each in found.pods[pod].strict:
            counts = Counter[str]()
            for place, there in zip(found.nodes, found.bound, strict=True):
                if ZONE in place.labels and found.pods[pod].may_use(place):
                    alike = [one for one in there if one not in found.leaving]
                    counts[place.labels[ZONE]] += sum(
                        found.pods[one].labels.get("app") == "web" for one in alike
                    )
            own = next(
                place.labels[ZONE]
                for place, there in zip(found.nodes, found.bound, strict=True)
                if pod in there
            )
            assert counts[own] - min(counts.values()) <= each["maxSkew"]


PODS = st.builds(
    lambda cpu, memory, at, seconds, rank, owner, spread, tolerates, zone: {
        "cpu": f"{cpu}00m",
        "memory": f"{memory}Mi",
        "at": at,
        "seconds": seconds,
        "priority": rank,
        "owner": owner,
        "app": "web",
        "topologySpreadConstraints": [even(kind) for kind in spread],
        "tolerations": [{"operator": "Exists"}] if tolerates else [],
        "nodeSelector": {"zone": zone} if zone else {},
    },
    st.integers(0, 30),
    st.integers(0, 6000),
    st.integers(0, 100),
    st.none() | st.integers(0, 60),
    st.integers(-1, 2),
    st.sampled_from(["", "Job"]),
    st.sampled_from([(), ("DoNotSchedule",), ("ScheduleAnyway",)]),
    st.booleans(),
    st.sampled_from(["", "", "a"]),
)
NODES = st.builds(
    lambda cpu, zone, taints: {
        "cpu": str(cpu),
        "zone": zone,
        "taints": [{"key": "k", "effect": "NoSchedule"}] if taints else [],
    },
    st.integers(1, 4),
    st.sampled_from(["", "a", "b"]),
    st.booleans(),
)


@given(
    st.lists(PODS, min_size=1, max_size=12),
    st.lists(NODES, min_size=1, max_size=4),
    st.booleans(),
    st.integers(0, 9),
)
def test_laws_of_any_cluster(
    pods: list[dict[str, Any]], nodes: list[dict[str, Any]], preemption: bool, seed: int
) -> None:
    """No node has more than it can give, no filter is broken, and nobody waits without a reason."""
    found = run(
        [pod(f"p{number}", **each) for number, each in enumerate(pods)],
        [node(f"n{number}", **each) for number, each in enumerate(nodes)],
        preemption=preemption,
        order=Watching(seed),
    )
    assert not found.active
    assert found.created - found.binds == len(found.failed)
    assert not found.leaving
    for waiting, *_ in found.failed:
        for place in range(len(nodes)):
            assert not found.fits(waiting, place)
            assert not preemption or not found.victims(waiting, place)


# --- explored ------------------------------------------------------------------------------------


def crowded() -> Model:
    """Three pods that come at once to two nodes, each of which has room for one of them."""
    pods = [pod(name, cpu="3", seconds=1 + place) for place, name in enumerate("abc")]
    return cluster_model(pods, [node("one"), node("two")], "LeastAllocated", False)


ALL_BOUND = Checks(terminal=("scheduler.binds == 3",))


def test_every_pod_is_bound_in_any_order_and_brute_force_finds_the_same_waits() -> None:
    model = crowded()
    assert explore(model, checks=ALL_BOUND).verdict == "satisfied"
    found = explored_ends(model, "scheduler.waited")
    assert found == {1}  # whichever node is drawn for the first, the third waits for its end
    assert found == set(ends_of_every_order(model, "scheduler.waited"))


def test_a_scheduler_that_forgets_whom_it_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scheduler, "wake", lambda self, waiting: None)
    assert explore(crowded(), checks=ALL_BOUND).verdict == "deadlock"
