"""Nodes and partitions of slurm.conf, and generic resources of gres.conf."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rebecsim.clusters.slurm.configuration import (
    Gres,
    MemoryLimits,
    NodeSpec,
    NodeState,
    Partition,
    PreemptMode,
    Sharing,
)
from rebecsim.clusters.slurm.files.hostlists import HostListError, expand, natural
from rebecsim.clusters.slurm.files.lines import Pair
from rebecsim.clusters.slurm.files.values import Values
from rebecsim.wording import suggestion
from rebecsim.workloads.sacct import number, weights

_STATES: Mapping[str, NodeState | None] = {
    **dict.fromkeys(("unknown", "up", "idle", "cloud", "resume"), "UP"),
    **dict.fromkeys(("down", "fail", "failing", "no_respond"), "DOWN"),
    **dict.fromkeys(("drain", "draining", "drained"), "DRAIN"),
    "future": None,
}
PREEMPT_MODES: Mapping[str, PreemptMode] = {
    "off": "OFF",
    "cancel": "CANCEL",
    "requeue": "REQUEUE",
    "suspend": "SUSPEND",
}
_PARTITION_STATES: Mapping[str, Literal["UP", "DOWN", "DRAIN", "INACTIVE"]] = {
    "up": "UP",
    "down": "DOWN",
    "drain": "DRAIN",
    "inactive": "INACTIVE",
}
_GRES = re.compile(
    r"([^:()]+?)(?::(no_consume))?(?::([^:()]*[^:()\d][^:()]*))?(?::(\d+[kmgtKMGT]?))?(?:\(.*\))?"
)
_ROWS = 4
"""Jobs that share a core where OverSubscribe=YES or FORCE says no number."""


@dataclass
class NodeLines:
    """Collects the nodes of a file: defaults count for the lines after them.

    Attributes:
        future: names of nodes that do not exist yet.
    """

    defaults: dict[str, Pair] = field(default_factory=dict)
    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    down: list[tuple[Pair, Values]] = field(default_factory=list)
    future: set[str] = field(default_factory=set)

    def add(self, pairs: Sequence[Pair]) -> None:
        """Read a line that begins with NodeName. Raises SlurmFileError."""
        if pairs[0].value.upper() == "DEFAULT":
            self.defaults.update((each.key.lower(), each) for each in pairs[1:])
            return
        values = Values(pairs, self.defaults)
        state = values.one_of("state", _STATES, "UP") if "state" in values else "UP"
        made = _node(values, state or "UP")
        for name in pairs[0].hosts():
            if name in self.nodes:
                raise pairs[0].wrong(f"node {name} is in the file twice; remove it from one line")
            if state is None:
                self.future.add(name)
            else:
                self.nodes[name] = replace(made, name=name)

    def add_down(self, pairs: Sequence[Pair]) -> None:
        """Keep a line that begins with DownNodes."""
        self.down.append((pairs[0], Values(pairs[1:])))

    def made(self) -> tuple[NodeSpec, ...]:
        """Give the nodes in natural order of their names. Raises SlurmFileError."""
        for pair, values in self.down:
            state = values.one_of("state", _STATES, "DOWN") or "DOWN"
            for name in pair.hosts():
                known_host(pair, name, self.nodes)
                self.nodes[name] = replace(self.nodes[name], state=state)
        return tuple(sorted(self.nodes.values(), key=lambda each: natural(each.name)))


def known_host(pair: Pair, name: str, nodes: Mapping[str, object]) -> None:
    """Raise SlurmFileError for the name of a node that does not exist."""
    if name not in nodes:
        raise pair.wrong(
            f"there is no node {name}; {suggestion(name, list(nodes), 'add a NodeName line')}"
        )


def _node(values: Values, state: NodeState) -> NodeSpec:
    cores, threads = values.number("corespersocket", 1), values.number("threadspercore", 1)
    asked = values.number("cpus", values.number("procs", 0))
    boards = values.number("boards", 1)
    if "sockets" in values:
        sockets = values.number("sockets", 1)
    elif "socketsperboard" in values:
        sockets = boards * values.number("socketsperboard", 1)
    else:
        sockets = max(asked // max(cores * threads, 1), 1)
    total = sockets * cores * threads
    if asked and asked not in (total, sockets * cores):
        pair = values.pairs.get("cpus") or values.pairs["procs"]
        said = f"{sockets} sockets of {cores} cores of {threads} threads"
        raise pair.wrong(f"{said} are {total} CPUs; make them agree, or leave CPUs out")
    listed = values.words("cpuspeclist")
    return NodeSpec(
        name="",
        sockets=sockets,
        cores=cores,
        threads=threads,
        cpus=asked or total,
        memory=max(values.memory("realmemory") or 1, 1),
        reserved_memory=values.memory("memspeclimit") or 0,
        reserved_cores=values.number("corespeccount", 0) or len(listed),
        features=values.words("features") or values.words("feature"),
        gres=_gres(values.pairs.get("gres")),
        weight=values.number("weight", 1),
        state=state,
    )


def _gres(pair: Pair | None) -> tuple[Gres, ...]:
    if pair is None:
        return ()
    found = []
    for word in re.split(r",(?![^()]*\))", pair.value):
        match = _GRES.fullmatch(word.strip())
        if match is None:
            if word.strip():
                raise pair.wrong(f"{word:.40} is not of the form gpu:2 or gpu:a100:2")
            continue
        name, _, kind, count = match.groups()
        found.append(Gres(name=name, type=kind or "", count=number(count) if count else 1))
    return tuple(found)


def add_gres_lines(nodes: Sequence[NodeSpec], lines: Iterable[Values]) -> tuple[NodeSpec, ...]:
    """Put what gres.conf says of types and cores into the nodes. Raises SlurmFileError.

    A line without NodeName is about all nodes whose Gres names the resource. Lines without a count
    of the same type add up. What slurm.conf alone says stays.
    """
    by_node: dict[str, list[Gres]] = {}
    having = {each.name: {gres.name for gres in each.gres} for each in nodes}
    for values in lines:
        name = values.text("name")
        if not name:
            continue
        where: Iterable[str] = [node for node, names in having.items() if name in names]
        if "nodename" in values:
            where = values.pairs["nodename"].hosts()
            for each in where:
                known_host(values.pairs["nodename"], each, having)
            where = [each for each in where if name in having[each]]
        files = values.text("file") or values.text("multiplefiles")
        count = values.read("file", lambda text: len(_expanded(text)), 0) if files else 0
        count = values.number("count", count or 1)
        if files and "multiplefiles" in values:
            count = len(_expanded(files))
        gres = Gres(name=name, type=values.text("type"), count=count, cores=_cores(values))
        for each in where:
            by_node.setdefault(each, []).append(gres)
    return tuple(_with(node, by_node.get(node.name, [])) for node in nodes)


def _with(node: NodeSpec, lines: Sequence[Gres]) -> NodeSpec:
    """Replace the resources of a node by the lines about them, as far as they agree in number."""
    made: list[Gres] = []
    for gres in node.gres:
        about = [each for each in lines if each.name == gres.name and gres.type in ("", each.type)]
        left = gres.count
        for each in about:
            taken = min(each.count, left)
            left -= taken
            if taken:
                made.append(replace(each, count=taken))
        if left:
            made.append(replace(gres, count=left))
    return replace(node, gres=tuple(made))


def _expanded(text: str) -> tuple[str, ...]:
    try:
        return expand(text)
    except HostListError as error:
        raise ValueError(str(error)) from None


def _cores(values: Values) -> tuple[int, ...]:
    text = values.text("cores") or values.text("cpus")
    if not text:
        return ()
    key = "cores" if "cores" in values else "cpus"
    return values.read(key, lambda said: tuple(int(each) for each in _expanded(f"[{said}]")), ())


@dataclass
class PartitionLines:
    """Collects the partitions of a file, and its sets of nodes.

    Attributes:
        future: names of nodes that do not exist yet.
    """

    future: set[str] = field(default_factory=set)
    defaults: dict[str, Pair] = field(default_factory=dict)
    partitions: dict[str, Values] = field(default_factory=dict)
    sets: dict[str, Values] = field(default_factory=dict)

    def add(self, pairs: Sequence[Pair]) -> None:
        """Read a line that begins with PartitionName."""
        if pairs[0].value.upper() == "DEFAULT":
            self.defaults.update((each.key.lower(), each) for each in pairs[1:])
            return
        for name in pairs[0].words():
            before = self.partitions.get(name)
            self.partitions[name] = Values(pairs, before.pairs if before else self.defaults)

    def made(self, nodes: Sequence[NodeSpec]) -> tuple[Partition, ...]:
        """Give the partitions in the order of the file. Raises SlurmFileError."""
        return tuple(
            self._partition(name, values, nodes) for name, values in self.partitions.items()
        )

    def _nodes(self, values: Values, nodes: Sequence[NodeSpec]) -> tuple[str, ...]:
        pair = values.pairs.get("nodes")
        if pair is None or not pair.value:
            return ()
        everything = {each.name: each for each in nodes}
        found: set[str] = set()
        for name in pair.hosts():
            if name.upper() == "ALL":
                found |= set(everything)
            elif name in self.sets:
                found |= self._of_set(self.sets[name], nodes)
            else:
                if name not in self.future:
                    known_host(pair, name, everything | dict.fromkeys(self.sets))
                found |= {name} & set(everything)
        return tuple(sorted(found, key=natural))

    @staticmethod
    def _of_set(values: Values, nodes: Sequence[NodeSpec]) -> set[str]:
        listed = set(values.pairs["nodes"].hosts()) if "nodes" in values else set()
        features = set(values.words("feature"))
        return {e.name for e in nodes if e.name in listed or features & set(e.features)}

    def _partition(self, name: str, values: Values, nodes: Sequence[NodeSpec]) -> Partition:
        sharing, rows = _sharing(values)
        jobs = Values(_defaults_of_jobs(values))
        both = values.number("priority", 1)
        per_gpu = values.memory("defmempergpu") or jobs.memory("defmempergpu")
        cpus = values.limit("defcpupergpu") or jobs.limit("defcpupergpu")
        return Partition(
            name=name,
            nodes=self._nodes(values, nodes),
            is_default=values.switch("default"),
            state=values.one_of("state", _PARTITION_STATES, "UP"),
            time_limit=values.duration("maxtime"),
            default_time=values.duration("defaulttime"),
            min_nodes=values.number("minnodes", 1),
            max_nodes=values.limit("maxnodes"),
            max_cpus_per_node=values.limit("maxcpuspernode"),
            priority_tier=values.number("prioritytier", both),
            priority_job_factor=values.number("priorityjobfactor", both),
            sharing=sharing,
            rows=rows,
            preempt_mode=_preempt_mode(values),
            grace_time=values.number("gracetime", 0),
            qos="" if values.text("qos").lower() == "n/a" else values.text("qos"),
            allow_qos=_allowed(values, "allowqos"),
            deny_qos=values.words("denyqos"),
            allow_accounts=_allowed(values, "allowaccounts"),
            deny_accounts=values.words("denyaccounts"),
            lln=values.switch("lln"),
            memory=replace(memory_limits(values), default_per_gpu=per_gpu),
            billing_weights=values.read("tresbillingweights", weights, {}),
            cpus_per_gpu=cpus,
            over_time_limit=values.duration("overtimelimit"),
            exclusive_user=values.switch("exclusiveuser"),
            needs_reservation=values.switch("reqresv"),
        )


def memory_limits(values: Values) -> MemoryLimits:
    """Read DefMemPer... and MaxMemPer... of a partition or the cluster. Raises SlurmFileError."""
    return MemoryLimits(
        default_per_node=values.memory("defmempernode"),
        default_per_cpu=values.memory("defmempercpu"),
        default_per_gpu=values.memory("defmempergpu"),
        most_per_node=values.memory("maxmempernode"),
        most_per_cpu=values.memory("maxmempercpu"),
    )


def _allowed(values: Values, key: str) -> tuple[str, ...] | None:
    words = values.words(key)
    return None if not words or "all" in (each.lower() for each in words) else words


def _sharing(values: Values) -> tuple[Sharing, int]:
    pair = values.pairs.get("oversubscribe") or values.pairs.get("shared")
    if pair is None:
        return "NO", 1
    word, _, count = pair.value.partition(":")
    name = word.strip().upper()
    if name in ("YES", "FORCE"):
        if count and not re.fullmatch(r"\d{1,6}", count, re.ASCII):
            raise pair.wrong(f"a number is expected after the colon, not {count:.40}")
        rows = int(count) if count else _ROWS
        return ("YES", rows) if name == "YES" else ("FORCE", rows)
    if name in ("NO", "EXCLUSIVE"):
        return ("NO", 1) if name == "NO" else ("EXCLUSIVE", 1)
    raise pair.wrong("NO, YES, YES:2, FORCE, FORCE:2 or EXCLUSIVE is expected")


def _preempt_mode(values: Values) -> PreemptMode | None:
    pair = values.pairs.get("preemptmode")
    if pair is None:
        return None
    words = [
        each.lower() for each in pair.words() if each.lower() not in ("gang", "within", "priority")
    ]
    if not words:
        return None
    if words[0] not in PREEMPT_MODES:
        raise pair.wrong(
            f"{words[0]:.40} is not known; {suggestion(words[0], list(PREEMPT_MODES))}"
        )
    return PREEMPT_MODES[words[0]]


def _defaults_of_jobs(values: Values) -> list[Pair]:
    pair = values.pairs.get("jobdefaults")
    if pair is None:
        return []
    found = []
    for word in pair.words():
        key, _, value = word.partition("=")
        if key.lower() not in ("defcpupergpu", "defmempergpu"):
            raise pair.wrong(f"{key:.40} is not known; DefCpuPerGPU and DefMemPerGPU are")
        found.append(replace(pair, key=key, value=value))
    return found
