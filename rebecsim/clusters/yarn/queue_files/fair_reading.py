"""Reading fair-scheduler.xml: queues within queues, and what they have if they say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from rebecsim.arithmetic import float32
from rebecsim.clusters.kit.hadoop import UNLIMITED, HadoopProperties, number_of
from rebecsim.clusters.yarn.queue_files.amounts import Amount, Capacity
from rebecsim.clusters.yarn.queue_files.capacity_settings import Allocations
from rebecsim.clusters.yarn.queue_files.fair_settings import (
    FairPolicy,
    FairPreemption,
    FairQueueSettings,
    FairSettings,
    PlacementRule,
)
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queue_files.site import Site, maximum_allocation, minimum_allocation
from rebecsim.workloads.files import Element

_QUEUE = ("queue", "pool")
_FAIR = "yarn.scheduler.fair."
_WHOLE, _PART = r"(?<!\d)\d{1,15}", r"(?<!\d)\d{1,15}(?:\.\d+)?"
"""Numbers as resources have them; longer ones could not be reckoned with."""
_POLICIES: dict[str, FairPolicy] = {"fifo": "fifo", "fair": "fair", "drf": "drf"}
_POLICY_CLASSES: dict[str, FairPolicy] = {
    "FifoPolicy": "fifo",
    "FairSharePolicy": "fair",
    "DominantResourceFairnessPolicy": "drf",
}
_GROUPS = ("primaryGroup", "secondaryGroupExistingQueue", "nestedUserQueue")
_IDLE_ELEMENTS = {
    "aclSubmitApps": "rebecsim does not check permissions",
    "aclAdministerApps": "rebecsim does not check permissions",
    "aclAdministerReservations": "rebecsim does not check permissions",
    "aclListReservations": "rebecsim does not check permissions",
    "aclSubmitReservations": "rebecsim does not check permissions",
    "reservation": "planned reservations are not modelled",
    "reservation-agent": "planned reservations are not modelled",
    "reservation-policy": "planned reservations are not modelled",
    "reservation-planner": "planned reservations are not modelled",
    "maxChildResources": "queues that the file does not name have no maximum",
}
_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What queues have that say nothing else; timeouts and threshold are the parent's."""

    policy: FairPolicy = "fair"
    most_running: int | None = None
    master_share: float = 0.5
    maximum: Capacity | None = None
    minimum_timeout: int | None = None
    share_timeout: int | None = None
    threshold: float = 0.5
    preemptable: bool = True
    largest: Resources | None = None


def read_fair_settings(root: Element, yarn_site: HadoopProperties | None = None) -> FairSettings:
    """Read the queues of the Fair Scheduler, and what yarn-site.xml says of it.

    Raises XmlError, with file and line, for whatever Hadoop would not start with.
    """
    reader = _Allocations(root)
    site = Site((yarn_site or HadoopProperties(root.file, {}),), yarn_site is not None)
    rules, notes = _rules(root, site)
    settings = replace(reader.read(), rules=rules)
    settings = _with_site(settings, site)
    return replace(settings, idle=(*reader.idle, *notes, *_unused(yarn_site)))


def _with_site(settings: FairSettings, site: Site) -> FairSettings:
    minimum = minimum_allocation(site, least=0)
    step = Resources(
        _increment(site, "memory-mb", "mb", 1024), _increment(site, "vcores", "vcores", 1)
    )
    preemption = None
    update = site.whole(f"{_FAIR}update-interval-ms", 500, 1)
    if site.switch(f"{_FAIR}preemption", default=False):
        preemption = FairPreemption(
            site.number(f"{_FAIR}preemption.cluster-utilization-threshold", 0.8, 0),
            site.whole(f"{_FAIR}waitTimeBeforeKill", 15_000, 0),
            site.whole(f"{_FAIR}waitTimeBeforeNextStarvationCheck", 10_000, 0),
            update,
        )
    return replace(
        settings,
        allocations=Allocations(minimum, step, maximum_allocation(site, minimum)),
        multiple=site.switch(f"{_FAIR}assignmultiple", default=False),
        half=site.switch(f"{_FAIR}dynamic.max.assign", default=True),
        most_containers=site.whole(f"{_FAIR}max.assign", -1),
        node_threshold=site.number(f"{_FAIR}locality.threshold.node", -1.0, most=1),
        rack_threshold=site.number(f"{_FAIR}locality.threshold.rack", -1.0, most=1),
        by_size=site.switch(f"{_FAIR}sizebasedweight", default=False),
        reservable=site.number(f"{_FAIR}reservable-nodes", 0.05, 0, 1),
        update=update,
        preemption=preemption,
    )


def _increment(site: Site, name: str, older: str, default: int) -> int:
    before = site.whole(f"yarn.scheduler.increment-allocation-{older}", default, 1)
    return site.whole(f"yarn.resource-types.{name}.increment-allocation", before, 1)


def _unused(yarn_site: HadoopProperties | None) -> Iterator[str]:
    for each in () if yarn_site is None else yarn_site.unused():
        if each.name.startswith(_FAIR):
            yield f"{yarn_site and yarn_site.file}:{each.line}: {each.name} has no effect"


def _rules(root: Element, site: Site) -> tuple[tuple[PlacementRule, ...], list[str]]:
    """Read which queue a job gets; what needs groups of users has no effect."""
    creates = site.switch(f"{_FAIR}allow-undeclared-pools", default=True)
    by_user = site.switch(f"{_FAIR}user-as-default-queue", default=True)
    for element in root.of("queuePlacementPolicy"):
        found, notes = [], []
        for rule in element.of("rule"):
            name = rule.attributes.get("name", "")
            if name in _GROUPS:
                notes.append(
                    f"{rule.file}:{rule.line}: rule {name} has no effect: users have no groups"
                )
                continue
            if name not in ("specified", "user", "default", "reject"):
                raise rule.wrong(
                    f"unknown rule {name!r:.40}; use specified, user, default or reject"
                )
            create = rule.attributes.get("create", "true") == "true"
            queue = rule.attributes.get("queue", "root.default")
            found.append(PlacementRule(name, create, queue))  # type: ignore[arg-type]
        if not found:
            raise element.wrong("no rule can place a job; add specified, user or default")
        return tuple(found), notes
    named = PlacementRule("specified", creates)
    rest = [PlacementRule("user", creates)] if by_user else []
    return (named, *rest, PlacementRule("default")), []


class _Allocations:
    """Reads the elements of the file.

    Attributes:
        idle: warnings of what has no effect.
    """

    def __init__(self, root: Element) -> None:
        if root.tag != "allocations":
            raise root.wrong(f"the outermost element should be <allocations>, not <{root.tag}>")
        self._root = root
        self.idle: list[str] = []

    def read(self) -> FairSettings:
        root = self._root
        defaults = _Defaults(
            policy=self._default_policy(),
            most_running=self._whole(root, "queueMaxAppsDefault"),
            master_share=self._share(root, "queueMaxAMShareDefault", 0.5),
            maximum=self._resources(root, "queueMaxResourcesDefault"),
            minimum_timeout=self._seconds(root, "defaultMinSharePreemptionTimeout"),
            share_timeout=self._seconds(
                root, "defaultFairSharePreemptionTimeout", "fairSharePreemptionTimeout"
            ),
            threshold=self._part(root, "defaultFairSharePreemptionThreshold", 0.5),
        )
        tops = list(root.of(*_QUEUE))
        roots = [each for each in tops if self._name(each) == "root"]
        if roots and len(tops) > 1:
            raise roots[0].wrong("root stands beside other queues; put them into root")
        self._note_unknown(root)
        top = Element("queue", root.line, root.file, {"name": "root"}, "", tops)
        tree = self._queue(roots[0] if roots else top, "root", defaults)
        users = {each.attributes.get("name", ""): each for each in root.of("user")}
        by_user = {
            name: most
            for name, each in users.items()
            if (most := self._whole(each, "maxRunningApps")) is not None
        }
        undeclared = replace(
            self._queue(Element("queue", root.line, root.file, {}), "", defaults),
            minimum_timeout=tree.minimum_timeout,
            share_timeout=tree.share_timeout,
            threshold=tree.threshold,
        )
        return FairSettings(
            root.file,
            replace(tree, is_parent=True),
            undeclared=undeclared,
            most_of_user=self._whole(root, "userMaxAppsDefault"),
            most_by_user=by_user,
        )

    def _name(self, element: Element) -> str:
        name = element.attributes.get("name", "").strip()
        if not name or "." in name:
            raise element.wrong(f"a queue needs a name without dots, not {name!r:.60}")
        return name

    def _queue(self, element: Element, path: str, above: _Defaults) -> FairQueueSettings:
        children = list(element.of(*_QUEUE))
        is_parent = bool(children) or element.attributes.get("type") == "parent"
        names = [self._name(each) for each in children]
        seen: set[str] = set()
        for child, name in zip(children, names, strict=True):
            if name in seen:
                raise child.wrong(f"the queue {name} is defined twice; rename or remove one")
            seen.add(name)
        if is_parent and element.text_of("maxAMShare") is not None and path != "root":
            self._refuse(element, "maxAMShare", "only leaf queues may have it")
        if is_parent and element.text_of("reservation") is not None:
            self._refuse(element, "reservation", "only leaf queues may have it")
        policy = self._policy(element, above.policy, is_parent=is_parent)
        minimum, maximum = self._resources(element, "minResources"), above.maximum
        if element.text_of("maxResources") is not None:
            maximum = self._resources(element, "maxResources")
        mine = replace(
            above,
            minimum_timeout=self._seconds(element, "minSharePreemptionTimeout")
            or above.minimum_timeout,
            share_timeout=self._seconds(element, "fairSharePreemptionTimeout")
            or above.share_timeout,
            threshold=self._part(element, "fairSharePreemptionThreshold", above.threshold),
            preemptable=above.preemptable and self._switch(element, "allowPreemptionFrom"),
            largest=self._largest(element, above),
        )
        if path and element is not self._root:
            self._note_idle(element)
        found = FairQueueSettings(
            path=path,
            children=tuple(
                self._queue(each, f"{path}.{name}", mine)
                for each, name in zip(children, names, strict=True)
            ),
            is_parent=is_parent,
            weight=self._weight(element),
            minimum=self._minimum(element, minimum),
            maximum=maximum,
            most_running=self._whole(element, "maxRunningApps", above.most_running),
            master_share=self._share(element, "maxAMShare", above.master_share),
            policy=policy,
            minimum_timeout=mine.minimum_timeout,
            share_timeout=mine.share_timeout,
            threshold=mine.threshold,
            preemptable=mine.preemptable,
            largest=mine.largest,
        )
        self._require_policies(element, found)
        self._note_minimum(element, found)
        return found

    def _default_policy(self) -> FairPolicy:
        for tag in ("defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode"):
            text = self._root.text_of(tag)
            if text is not None:
                policy = _policy(text)
                if policy is None:
                    self._refuse(
                        self._root, tag, f"unknown policy {text!r:.80}; use fair, drf or fifo"
                    )
                if policy == "fifo":
                    self._refuse(
                        self._root, tag, "fifo cannot be the default; set it in leaf queues"
                    )
                return policy
        return "fair"

    def _policy(self, element: Element, default: FairPolicy, *, is_parent: bool) -> FairPolicy:
        for tag in ("schedulingPolicy", "schedulingMode"):
            text = element.text_of(tag)
            if text is not None:
                policy = _policy(text)
                if policy is None:
                    self._refuse(
                        element, tag, f"unknown policy {text!r:.80}; use fair, drf or fifo"
                    )
                if policy == "fifo" and is_parent:
                    self._refuse(element, tag, "fifo is for leaf queues only; use fair or drf")
                return policy
        return default

    def _require_policies(self, element: Element, queue: FairQueueSettings) -> None:
        for child in queue.children:
            if queue.policy == "fair" and child.policy == "drf":
                raise element.wrong(
                    f"{child.path} has drf, but its parent {queue.path} has fair; use one for both"
                )

    def _minimum(self, element: Element, given: Capacity | None) -> Resources:
        if given is None:
            return NONE
        amounts = (given.memory, given.cores)
        if any(each is not None and each.unit == "percent" for each in amounts):
            self._note(
                element,
                "minResources",
                "give memory and vcores, not percent",
            )
            return NONE
        said = [0 if each is None else int(each.value) for each in amounts]
        return Resources(*(0 if each >= UNLIMITED // 2 else each for each in said))

    def _note_minimum(self, element: Element, queue: FairQueueSettings) -> None:
        most = queue.maximum
        if most is None or queue.minimum == NONE:
            return
        if most.memory.unit == "absolute" and most.memory.value < queue.minimum.memory:
            self._note(element, "maxResources", "it is below minResources, which counts instead")

    def _largest(self, element: Element, above: _Defaults) -> Resources | None:
        given = self._resources(element, "maxContainerAllocation")
        if given is None:
            return above.largest
        return Resources(
            *(
                UNLIMITED if each is None else int(each.value)
                for each in (given.memory, given.cores)
            )
        )

    def _weight(self, element: Element) -> float:
        value = self._number(element, "weight", 1.0)
        if value < 0 or 0 < value < _LEAST_WEIGHT or value > 1 / _LEAST_WEIGHT:
            self._refuse(
                element, "weight", f"should be 0, or {_LEAST_WEIGHT:g} to 1e6, not {value:g}"
            )
        return float32(value)

    def _share(self, element: Element, tag: str, default: float) -> float:
        value = self._number(element, tag, default)
        if value < 0 and value != -1:
            self._refuse(element, tag, f"should be 0 to 1, or -1 for no limit, not {value:g}")
        return float32(min(value, 1.0))

    def _part(self, element: Element, tag: str, default: float) -> float:
        return float32(min(max(self._number(element, tag, default), 0.0), 1.0))

    def _seconds(self, element: Element, *tags: str) -> int | None:
        for tag in tags:
            found = self._whole(element, tag)
            if found is not None:
                return found * 1000
        return None

    def _switch(self, element: Element, tag: str) -> bool:
        text = element.text_of(tag)
        if text is not None and text.lower() not in ("true", "false"):
            self._refuse(element, tag, f"should be true or false, not {text!r:.40}")
        return text is None or text.lower() == "true"

    def _whole(self, element: Element, tag: str, default: int | None = None) -> int | None:
        text = element.text_of(tag)
        if text is None:
            return default
        if not re.fullmatch(r"\d{1,15}", text):
            self._refuse(element, tag, f"should be a whole number, 0 at least, not {text!r:.40}")
        return int(text)

    def _number(self, element: Element, tag: str, default: float) -> float:
        text = element.text_of(tag)
        if text is None:
            return default
        found = number_of(text)
        if found is None:
            self._refuse(element, tag, f"should be a number, not {text!r:.40}")
        return found

    def _resources(self, element: Element, tag: str) -> Capacity | None:
        text = element.text_of(tag)
        if text is None:
            return None
        try:
            return read_resources(text)
        except ValueError as error:
            self._refuse(element, tag, str(error))

    def _refuse(self, element: Element, tag: str, problem: str) -> NoReturn:
        where = next(iter(element.of(tag)), element)
        name = element.attributes.get("name")
        of_queue = f"queue {name}: " if name else ""
        raise where.wrong(f"{of_queue}{tag}: {problem}")

    def _note(self, element: Element, tag: str, why: str) -> None:
        where = next(iter(element.of(tag)), element)
        name = element.attributes.get("name")
        of_queue = f"{tag} of {name}" if name else tag
        self.idle.append(f"{where.file}:{where.line}: {of_queue} has no effect: {why}")

    def _note_idle(self, element: Element) -> None:
        for each in element.children:
            if each.tag in _IDLE_ELEMENTS:
                self._note(element, each.tag, _IDLE_ELEMENTS[each.tag])
            elif (
                each.tag not in _OF_QUEUES and each.tag not in _QUEUE and element is not self._root
            ):
                self._note(element, each.tag, "rebecsim does not know this element")

    def _note_unknown(self, root: Element) -> None:
        for each in root.children:
            if each.tag in _IDLE_ELEMENTS:
                self._note(root, each.tag, _IDLE_ELEMENTS[each.tag])
            elif each.tag not in _TOP and each.tag not in _QUEUE:
                self._note(root, each.tag, "rebecsim does not know this element")


_OF_QUEUES = (
    *("minResources", "maxResources", "maxContainerAllocation", "maxRunningApps", "maxAMShare"),
    *("weight", "schedulingPolicy", "schedulingMode", "minSharePreemptionTimeout"),
    *("fairSharePreemptionTimeout", "fairSharePreemptionThreshold", "allowPreemptionFrom"),
)
_TOP = (
    *("queueMaxAppsDefault", "userMaxAppsDefault", "user", "queueMaxAMShareDefault"),
    *("queueMaxResourcesDefault", "defaultMinSharePreemptionTimeout"),
    *("defaultFairSharePreemptionTimeout", "fairSharePreemptionTimeout"),
    *("defaultFairSharePreemptionThreshold", "defaultQueueSchedulingPolicy"),
    *("defaultQueueSchedulingMode", "queuePlacementPolicy"),
)


def _policy(text: str) -> FairPolicy | None:
    found = _POLICIES.get(text.lower())
    return found or _POLICY_CLASSES.get(text.rpartition(".")[2])


def read_resources(text: str) -> Capacity:
    """Read resources in one of three forms; raises ValueError, which says what is wrong.

    They are `memory-mb=X, vcores=Y`, each maybe in percent; `N%` or `N% memory, M% cpu`; and
    `N mb, M vcores`.
    """
    text = text.strip().lower()
    if "=" in text:
        return _named(text)
    if "%" in text:
        return _percents(text)
    memory = re.search(rf"(-?{_WHOLE})(?:\.\d*)?\s*mb", text)
    cores = re.search(rf"(-?{_WHOLE})(?:\.\d*)?\s*vcores?", text)
    if memory is None or cores is None:
        raise ValueError(f"{text!r:.60} should be N mb, M vcores, or N%, or memory-mb=N, vcores=M")
    return Capacity(_not_negative(memory[1], text), _not_negative(cores[1], text))


def _named(text: str) -> Capacity:
    found: dict[str, Amount] = {}
    for entry in text.split(","):
        name, _, value = (part.strip() for part in entry.partition("="))
        if name not in ("memory-mb", "vcores") or not re.fullmatch(rf"{_PART}%|{_WHOLE}", value):
            raise ValueError(f"{entry.strip()!r:.40} should be memory-mb=N or vcores=N, or N%")
        unit = "percent" if value.endswith("%") else "absolute"
        found[name] = Amount(unit, float(value.rstrip("%")))  # type: ignore[arg-type]
    if len({each.unit for each in found.values()}) > 1:
        raise ValueError(f"{text!r:.60} mixes percent and numbers; use one of them")
    memory = found.get("memory-mb", Amount("absolute", UNLIMITED))
    return Capacity(memory, found.get("vcores"))


def _percents(text: str) -> Capacity:
    one = re.fullmatch(rf"({_PART})\s*%", text)
    if one is not None:
        return Capacity(Amount("percent", float(one[1])), Amount("percent", float(one[1])))
    memory = re.search(rf"({_PART})\s*%\s*memory", text)
    cores = re.search(rf"({_PART})\s*%\s*cpu", text)
    if memory is None or cores is None:
        raise ValueError(f"{text!r:.60} should be N%, or N% memory, M% cpu")
    return Capacity(Amount("percent", float(memory[1])), Amount("percent", float(cores[1])))


def _not_negative(value: str, text: str) -> Amount:
    if int(value) < 0:
        raise ValueError(f"{text!r:.60} is negative; give 0 or more")
    return Amount("absolute", float(int(value)))
