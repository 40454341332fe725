"""A kind of cluster as a plug-in: Kubernetes, with the pods and nodes of your own cluster.

    kubectl get pods -A -o json > pods.json; kubectl get nodes -o json > nodes.json
    rebecsim kubernetes pods.json --nodes nodes.json --plugin kubernetes.py

It follows the scheduler of Kubernetes 1.32 in its default configuration, whose parts docstrings
name. `docs/guides/new-kind.md` says what is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    RebecNamed,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.clusters import Plugin, RebecStudy, read_entries, scenario_command
from rebecsim.metrics import Metric
from rebecsim.studies import StudyScenario

Json = Mapping[str, Any]
Bound = list[list[str]]
Waiting = tuple[str, int, int, int]  # pod, when it came, failures, when it came or failed last
UNITS = {name: Fraction(1000) ** power for power, name in enumerate("num kMGTPE", -3)}
UNITS |= {f"{name}i": Fraction(1024) ** power for power, name in enumerate("KMGTPE", 1)}
UNSAID = {"cpu": "100m", "memory": "200Mi"}  # for scores, of a container that requests nothing
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: value is not None and int(value) > int(values[0]),
    "Lt": lambda value, values: value is not None and int(value) < int(values[0]),
}


def amounts(table: Json) -> Counter[str]:
    """Read quantities such as 500m or 1Gi, by resource; cpu in thousandths."""
    found = Counter[str]()
    for resource, text in table.items():
        number = text.rstrip("numkKMGTPEi")
        scale = UNITS[text.removeprefix(number) or " "] * (1000 if resource == "cpu" else 1)
        found[resource] = math.ceil(Fraction(number) * scale)
    return found


def rules_of(selector: Json, **labels: str) -> list[Json]:
    """Give the conditions of a selector or term, and that these labels are there."""
    same = {**selector.get("matchLabels", {}), **labels}
    plain = [{"key": key, "operator": "In", "values": [value]} for key, value in same.items()]
    return [*plain, *selector.get("matchExpressions", ()), *selector.get("matchFields", ())]


def meets(labels: Json, rules: Iterable[Json]) -> bool:
    """Whether labels fulfil conditions."""
    return all(OPERATORS[r["operator"]](labels.get(r["key"]), r.get("values")) for r in rules)


class Node:
    """A node, as kubectl gives it."""

    def __init__(self, item: Json) -> None:
        self.name, spec = item["metadata"]["name"], item["spec"]
        self.labels = {**item["metadata"].get("labels", {}), "metadata.name": self.name}
        self.room = amounts(item["status"]["allocatable"])
        self.taints: list[Json] = [*spec.get("taints", ())]
        if spec.get("unschedulable"):
            self.taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})

    def has(self, constraints: Iterable[Json]) -> bool:
        """Whether it has the labels by which constraints spread."""
        return all(each["topologyKey"] in self.labels for each in constraints)


class Pod:
    """A pod, as kubectl gives it. It runs for some `seconds`, or on and on if that is None."""

    def __init__(self, item: Json) -> None:
        meta, spec = item["metadata"], item["spec"]
        self.name = f"{meta['namespace']}/{meta['name']}"
        self.created = int(datetime.fromisoformat(meta["creationTimestamp"]).timestamp())
        self.priority: int = spec.get("priority", 0)
        self.preempts = spec.get("preemptionPolicy") != "Never"
        self.grace: int = spec.get("terminationGracePeriodSeconds", 30)
        self.owners = [each["kind"] for each in meta.get("ownerReferences", ())]
        space = {"metadata.namespace": meta["namespace"]}
        self.labels = {**meta.get("labels", {}), **space}
        states = [each["state"] for each in item["status"].get("containerStatuses", ())]
        ends = [each["terminated"] for each in states if "terminated" in each]
        self.seconds: int | None = None
        if ends and len(ends) == len(states):
            first = min(datetime.fromisoformat(each["startedAt"]) for each in ends)
            last = max(datetime.fromisoformat(each["finishedAt"]) for each in ends)
            self.seconds = int((last - first).total_seconds())
        asked = [each.get("resources", {}).get("requests", {}) for each in spec["containers"]]
        self.requests = sum(map(amounts, asked), Counter(pods=1))
        self.scored = sum((amounts({**UNSAID, **each}) for each in asked), Counter[str]())
        self.tolerations = spec.get("tolerations", [])
        needed = spec.get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED)
        terms = [each for each in needed["nodeSelectorTerms"] if rules_of(each)] if needed else [{}]
        self.places = [rules_of(each, **spec.get("nodeSelector", {})) for each in terms]
        if "Node" in self.owners:  # a part of its node, about which no scheduler is asked
            self.places = [rules_of({}, **{"metadata.name": spec["nodeName"]})]
            self.tolerations = [{"operator": "Exists"}]
        given = spec.get("topologySpreadConstraints", ())
        spreads = [{**each, "rules": rules_of(each["labelSelector"], **space)} for each in given]
        self.strict = [each for each in spreads if each["whenUnsatisfiable"] == "DoNotSchedule"]
        self.soft = [each for each in spreads if each not in self.strict]

    def may_use(self, node: Node) -> bool:
        """Whether node selector and required affinity admit a node (`NodeAffinity`)."""
        return any(meets(node.labels, rules) for rules in self.places)

    def bears(self, taint: Json) -> bool:
        """Whether a taint does not keep it off (`TaintToleration`, `NodeUnschedulable`)."""
        return taint["effect"] == "PreferNoSchedule" or any(
            each.get("key") in (None, taint["key"])
            and each.get("effect") in (None, taint["effect"])
            and (each.get("operator") == "Exists" or each.get("value") == taint.get("value"))
            for each in self.tolerations
        )


class Kubelet(Rebec, queue_size=2**31 - 1):
    """Runs the pods of a node."""

    pods: Mapping[str, Pod]
    scheduler: Scheduler = known_rebec()

    @message_server(priority=1, global_priority=1)
    def run(self, pod: str) -> None:
        """Begin a pod."""
        if (seconds := self.pods[pod].seconds) is not None:
            self.scheduler.ended(pod, self.now, False, after=seconds)

    @message_server(priority=1, global_priority=1)
    def evict(self, pod: str, started: int) -> None:
        """End a pod."""
        self.scheduler.ended(pod, started, True, after=self.pods[pod].grace)


class Scheduler(Rebec, queue_size=2**31 - 1):
    """Binds pods to nodes. Pods are known by their names, nodes by their numbers."""

    pods: Mapping[str, Pod]
    nodes: Sequence[Node]
    strategy: str
    preemption: bool
    binds: int = state_variable(Int)  # which conditions may be about, as `evictions`
    evictions: int = state_variable(Int)

    def __init__(self, *kubelets: Kubelet) -> None:
        self.kubelets = kubelets
        self.active: list[Waiting] = []  # where there are any, `schedule` is under way
        self.failed: list[Waiting] = []
        self.bound: Bound = [[] for _ in kubelets]
        self.started: list[tuple[str, int]] = []
        self.leaving: list[str] = []
        self.nominated: list[tuple[str, int]] = []  # with the node that others leave for it
        self.waited = self.binds = self.high_waited = self.high = 0  # high: of priority 1 or more
        self.created = self.evictions = 0
        self.create(0)

    @message_server(priority=2, global_priority=2)
    def create(self, number: int) -> None:
        """Take a new pod, and the next one when it is its time."""
        names = list(self.pods)
        self.add(names[number], self.now, 0, self.now)
        for name in names[number + 1 : number + 2]:
            last = self.pods[names[number]]
            self.create(number + 1, after=self.pods[name].created - last.created)

    @message_server(priority=2, global_priority=2)
    def add(self, pod: str, came: int, failures: int, since: int) -> None:
        """Put a pod into the active queue: a new one, or one whose back-off is over."""
        self.created += not failures
        if not self.active:
            self.schedule()
        self.active.append((pod, came, failures, since))

    @message_server(priority=2, global_priority=2)
    def ended(self, pod: str, started: int, evicted: bool) -> None:
        """Free what a pod had, unless it has ended before."""
        if (pod, started) in self.started:
            self.started.remove((pod, started))
            self.bound[self.kubelets.index(self.sender)].remove(pod)
            self.leaving = [each for each in self.leaving if each != pod]
            if evicted and self.pods[pod].owners:
                self.add(pod, self.now, 0, self.now)
            self.wake(self.failed)

    @message_server(priority=3, global_priority=3)
    def schedule(self) -> None:
        """Try to bind the first active pod: by priority, then by time (`PrioritySort`)."""
        first = min(self.active, key=lambda each: (-self.pods[each[0]].priority, each[3], each[0]))
        self.active.remove(first)
        pod, came, failures, _ = first
        nodes = [node for node in range(len(self.nodes)) if self.fits(pod, node)]
        own = dict(self.nominated).get(pod)
        if nodes:
            best = [own] if own in nodes else self.best(pod, nodes)
            self.bind(pod, self.choose(*best), self.now - came)
        else:
            self.failed.append((pod, came, failures + 1, self.now))
            if self.preemption and self.pods[pod].preempts:
                self.preempt(pod, own)
        if self.active:
            self.schedule()

    def bind(self, pod: str, node: int, waited: int) -> None:
        """Give a pod to a node; one more pod there may let others keep their constraints."""
        self.bound[node].append(pod)
        self.started.append((pod, self.now))
        self.nominate(pod)
        self.waited, self.binds = self.waited + waited, self.binds + 1
        if self.pods[pod].priority > 0:
            self.high_waited, self.high = self.high_waited + waited, self.high + 1
        self.kubelets[node].run(pod)
        self.wake(each for each in self.failed if self.pods[each[0]].strict)

    def nominate(self, pod: str, *nodes: int) -> None:
        """Note the node that is kept for a pod, or none."""
        others = [each for each in self.nominated if each[0] != pod]
        self.nominated = [*others, *((pod, each) for each in nodes)]

    def wake(self, waiting: Iterable[Waiting]) -> None:
        """Let pods try again that have failed, each once its back-off of 1 to 10 s is over."""
        for pod, came, failures, since in list(waiting):
            self.failed.remove((pod, came, failures, since))
            ready = since + min(2 ** (failures - 1), 10)
            self.add(pod, came, failures, since, after=max(ready - self.now, 0))

    def fits(self, pod: str, node: int, without: Sequence[str] = ()) -> bool:
        """Whether a node takes a pod beside nominated ones, once others have left."""
        wants, place = self.pods[pod], self.nodes[node]
        if not (all(map(wants.bears, place.taints)) and wants.may_use(place)):
            return False
        staying = [each for each in self.bound[node] if each not in without]
        kept = [each for each, own in self.nominated if own == node and each != pod]
        there = staying + [each for each in kept if self.pods[each].priority >= wants.priority]
        bound = [*self.bound[:node], there, *self.bound[node + 1 :]]
        return self.has_room(pod, node, there) and self.is_even(pod, place, bound)

    def total(self, requests: str, resource: str, pods: Iterable[str]) -> int:
        """Add up what pods request."""
        return sum(getattr(self.pods[each], requests)[resource] for each in pods)

    def has_room(self, pod: str, node: int, there: Sequence[str]) -> bool:
        """Whether the requests of a pod fit beside those of others (`NodeResourcesFit`)."""
        room, wanted = self.nodes[node].room, self.pods[pod].requests
        return all(self.total("requests", each, [*there, pod]) <= room[each] for each in wanted)

    def is_even(self, pod: str, place: Node, bound: Bound) -> bool:
        """Whether a pod keeps its constraints on a node (`PodTopologySpread`, `DoNotSchedule`)."""
        strict = self.pods[pod].strict
        for each in strict if place.has(strict) else ():
            counts = self.domains(pod, each, strict, bound)
            least = min(counts.values()) if len(counts) >= each.get("minDomains", 1) else 0
            own = meets(self.pods[pod].labels, each["rules"])
            if counts[place.labels[each["topologyKey"]]] + own - least > each["maxSkew"]:
                return False
        return place.has(strict)

    def domains(self, pod: str, one: Json, alike: Sequence[Json], bound: Bound) -> Counter[str]:
        """Count the pods that one of several constraints is about, by domain."""
        counts = Counter[str]()
        for place, there in zip(self.nodes, bound, strict=True):
            if place.has(alike) and self.pods[pod].may_use(place):
                found = [self.pods[each].labels for each in there if each not in self.leaving]
                domain = place.labels[one["topologyKey"]]
                counts[domain] += sum(meets(each, one["rules"]) for each in found)
        return counts

    def best(self, pod: str, nodes: Sequence[int]) -> list[int]:
        """Give the nodes with the highest score, of which one is drawn."""
        spreading = zip(nodes, self.spreading(pod, nodes), strict=True)
        scores = {node: self.resources(pod, node) + 2 * each for node, each in spreading}
        return [node for node in nodes if scores[node] == max(scores.values())]

    def resources(self, pod: str, node: int) -> int:
        """Score what is requested (`NodeResourcesFit`, `NodeResourcesBalancedAllocation`)."""
        scores, shares, there = [], [], [*self.bound[node], pod]
        for resource in ("cpu", "memory"):
            room = self.nodes[node].room[resource]
            taken = min(self.total("scored", resource, there), room)
            part = taken if self.strategy == "MostAllocated" else room - taken
            scores.append(part * 100 // room)
            shares.append(self.total("requests", resource, there) / room)
        return sum(scores) // 2 + int((1 - abs(shares[0] - shares[1]) / 2) * 100)

    def spreading(self, pod: str, nodes: Sequence[int]) -> list[int]:
        """Score how few pods of its sort there are (`PodTopologySpread`, `ScheduleAnyway`)."""
        soft, places = self.pods[pod].soft, self.nodes
        raw = {node: 0.0 for node in nodes if soft and places[node].has(soft)}
        for each in soft:
            domain = {node: places[node].labels[each["topologyKey"]] for node in raw}
            counts = self.domains(pod, each, soft, self.bound)
            weight = math.log(len({*domain.values()}) + 2)
            for node in raw:
                raw[node] += counts[domain[node]] * weight + each["maxSkew"] - 1
        found = {node: math.floor(each + 0.5) for node, each in raw.items()}
        high, low = max(found.values(), default=0), min(found.values(), default=0)
        if not high:
            return [100 * (node in found) for node in nodes]
        return [100 * (high + low - found.get(node, high + low)) // high for node in nodes]

    def preempt(self, pod: str, own: int | None) -> None:
        """Have pods of lower priority leave a node (`DefaultPreemption`)."""
        if own is not None and {*self.leaving}.intersection(self.lower(pod, self.bound[own])):
            return  # they are still leaving for it
        self.nominate(pod)
        found = {node: self.victims(pod, node) for node in range(len(self.nodes))}
        costs = {node: self.cost(victims) for node, victims in found.items() if victims}
        if not costs:
            return
        node = self.choose(*(each for each in costs if costs[each] == min(costs.values())), site=1)
        for each in self.lower(pod, [each for each, where in self.nominated if where == node]):
            self.nominate(each)  # it may not fit any more
            self.wake(waiting for waiting in self.failed if waiting[0] == each)
        self.nominate(pod, node)
        for each in found[node]:
            if each not in self.leaving:
                self.leaving.append(each)
                self.evictions += 1
                self.kubelets[node].evict(each, dict(self.started)[each])

    def lower(self, pod: str, pods: Iterable[str]) -> list[str]:
        """Give those of some pods that have a lower priority than a pod."""
        return [each for each in pods if self.pods[each].priority < self.pods[pod].priority]

    def victims(self, pod: str, node: int) -> list[str]:
        """Give who has to leave a node, most important first; who is important stays if it can."""
        started, there = dict(self.started), self.lower(pod, self.bound[node])
        victims = sorted(there, key=lambda each: (-self.pods[each].priority, started[each], each))
        if not self.fits(pod, node, victims):
            return []
        for each in tuple(victims):
            fewer = [other for other in victims if other != each]
            victims = fewer if self.fits(pod, node, fewer) else victims
        return victims

    def cost(self, victims: Sequence[str]) -> tuple[int, ...]:
        """Give what nodes are compared by (`pickOneNodeForPreemption`)."""
        priorities = [self.pods[each].priority + 2**31 for each in victims]
        return priorities[0], sum(priorities), len(victims), -dict(self.started)[victims[0]]


def cluster_model(pods: list[Pod], nodes: list[Node], strategy: str, preemption: bool) -> Model:
    """Make the model of a cluster; its rebecs are of classes that know it."""
    named = {each.name: each for each in sorted(pods, key=lambda each: each.created)}
    given = {"pods": named, "nodes": nodes, "strategy": strategy, "preemption": preemption}
    kubelet, scheduler = (type(each.__name__, (each,), given) for each in (Kubelet, Scheduler))
    kubelets = [Instance(each.name, kubelet, ["scheduler"]) for each in nodes]
    known = [RebecNamed(each.name) for each in nodes]
    return Model("kubernetes", (*kubelets, Instance("scheduler", scheduler, (), known)))


class Pods(StudyScenario):
    """What is compared."""

    kind: Literal["kubernetes"] = "kubernetes"
    policies: tuple[Literal["LeastAllocated", "MostAllocated"], ...] = Field(
        ("LeastAllocated", "MostAllocated"), strict=False, description="strategies of scoring"
    )
    pods: str = Field(description="file of `kubectl get pods -A -o json`")
    nodes: str = Field(description="file of `kubectl get nodes -o json`")
    speed: float = Field(1.0, gt=0, description="how many times as fast pods are created")
    preemption: bool = Field(True, description="whether pods evict others of lower priority")


class Kubernetes(RebecStudy):
    """Strategies of the scheduler of Kubernetes, compared on the pods of a cluster."""

    kind = "kubernetes"
    scenario = Pods
    paths = ("pods", "nodes")
    counted = "scheduler"
    figures = (
        Metric("wait", "Wait", "s", "lower", {"waited": 1}, {"binds": 1}),
        Metric("high_wait", "Wait, priority 1+", "s", "lower", {"high_waited": 1}, {"high": 1}),
        Metric("unbound", "Pods on no node", "pods", "lower", {"created": 1, "binds": -1}),
        Metric("evictions", "Evictions", "pods", "lower", {"evictions": 1}),
    )

    def model(self, scenario: Pods, folder: Path, policy: str) -> Model:
        """Make the cluster. Raises UserError and OSError."""
        nodes = read_entries(folder / scenario.nodes, "items", Node)
        pods = read_entries(folder / scenario.pods, "items", Pod)
        for each in pods:
            each.created = round(each.created / scenario.speed)
        return cluster_model(pods, nodes, policy, scenario.preemption)


command = scenario_command(Kubernetes(), "pods", "kubernetes pods.json --nodes nodes.json")
plugin = Plugin(kinds=(Kubernetes(),), commands=(command,))
