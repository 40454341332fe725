"""Read slurm.conf, gres.conf and topology.conf: the cluster, and what each key does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from rebecsim.clusters.slurm.configuration import (
    Accounting,
    BackfillParameters,
    Cluster,
    MainParameters,
    Preemption,
    PriorityParameters,
    PriorityWeights,
    Selection,
    Switch,
)
from rebecsim.clusters.slurm.files.lines import Pair, SlurmFileError, read_pairs
from rebecsim.clusters.slurm.files.node_lines import (
    PREEMPT_MODES,
    NodeLines,
    PartitionLines,
    add_gres_lines,
    known_host,
    memory_limits,
)
from rebecsim.clusters.slurm.files.settings import TABLES, Setting, Table, find, find_word, reported
from rebecsim.clusters.slurm.files.values import Values
from rebecsim.wording import suggestion
from rebecsim.workloads.sacct import MINUTE, number

_ENFORCED = {
    "associations": ("associations",),
    "limits": ("limits", "associations"),
    "qos": ("qos", "associations"),
    "safe": ("safe", "limits", "associations"),
    "wckeys": ("associations",),
    "nojobs": (),
    "nosteps": (),
    "none": (),
    "0": (),
    "1": ("associations",),
    "all": ("associations", "limits", "qos", "safe"),
}
_LINES = {"nodename": TABLES["node"], "partitionname": TABLES["partition"]}
_OTHERS = {"nodeset": ("feature", "nodes"), "downnodes": ("reason", "state")}


@dataclass
class _Conf:
    """What has been read of slurm.conf."""

    nodes: NodeLines = field(default_factory=NodeLines)
    partitions: PartitionLines = field(default_factory=PartitionLines)
    pairs: list[Pair] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)

    def add(self, pairs: Sequence[Pair]) -> None:
        first = pairs[0].key.lower()
        if first in _LINES:
            self.settings += [
                reported(each, find(_LINES[first], each, "of a " + pairs[0].key)) for each in pairs
            ]
            (self.nodes if first == "nodename" else self.partitions).add(pairs)
        elif first in _OTHERS:
            for each in pairs[1:]:
                if each.key.lower() not in _OTHERS[first]:
                    raise each.wrong(f"there is no key {each.key} of a {pairs[0].key} line")
            note = "a name for nodes" if first == "nodeset" else "nodes that are down at the start"
            self.settings.append(Setting.of(pairs[0], "used", note))
            if first == "nodeset":
                self.partitions.sets[pairs[0].value] = Values(pairs[1:])
            else:
                self.nodes.add_down(pairs)
        elif first == "frontendname":
            raise pairs[0].wrong("front ends are not simulated; describe the compute nodes")
        else:
            for each in pairs:
                self.settings.append(reported(each, find(TABLES["global"], each, "of slurm.conf")))
            self.pairs += pairs


def read_cluster(
    conf: Path, gres: Path | None = None, topology: Path | None = None, lines: str = ""
) -> tuple[Cluster, tuple[Setting, ...]]:
    """Read a cluster; gres.conf and topology.conf stand beside slurm.conf unless they are named.

    `lines` are read after those of slurm.conf: of a key that stands twice, the last one counts.
    Each key comes back with what is done with it. Accounts and reservations are other files, so the
    cluster has none yet. Raises SlurmFileError, with file, line and key.
    """
    read = _Conf()
    for pairs in read_pairs(conf, lines):
        read.add(pairs)
    values = Values(read.pairs)
    nodes = read.nodes.made()
    if not nodes:
        raise SlurmFileError(
            f"{conf}: no node is described; add a NodeName line, or Include its file"
        )
    read.partitions.future = read.nodes.future
    gres = _beside(conf, gres, "gres.conf")
    if gres is not None:
        nodes = add_gres_lines(nodes, _gres_lines(gres, read.settings))
    partitions = read.partitions.made(nodes)
    if not partitions:
        raise SlurmFileError(f"{conf}: no partition is described; add a PartitionName line")
    words = _Words(values, read.settings)
    schedule = words.parameters("schedulerparameters", TABLES["scheduler"])
    switches = _switches(conf, topology, values, {each.name: None for each in nodes})
    params = [each.lower() for each in words.flags("topologyparam", TABLES["topology"])]
    backfilling, backfills = _backfilling(schedule)
    cluster = Cluster(
        nodes=nodes,
        partitions=partitions,
        backfill=values.one_of(
            "schedulertype", _plugins("sched", backfill=True, builtin=False), True
        )
        and backfills,
        main=MainParameters(**_as_named(schedule, MainParameters)),
        backfilling=backfilling,
        priority=_priority(values, words),
        preemption=_preemption(values, words, schedule),
        selection=_selection(values, words),
        accounting=Accounting(enforce=_enforced(values)),
        licenses=_licenses(values),
        switches=switches,
        topology_optional="topooptional" in params,
        memory=memory_limits(values),
        enforce_part_limits=values.one_of("enforcepartlimits", _PART_LIMITS, "NO"),
        over_time_limit=values.seconds("overtimelimit", 0),
        kill_wait=values.number("killwait", 30),
        complete_wait=values.number("completewait", 0),
        message_timeout=values.number("messagetimeout", 10),
        requeues=values.switch("jobrequeue", True),
        most_jobs=values.number("maxjobcount", 10_000),
        most_array=values.number("maxarraysize", 1001),
    )
    order = {str(conf): 0}
    kept = sorted(read.settings, key=lambda each: (order.get(each.file, 1), each.file, each.line))
    return cluster, tuple(kept)


_PART_LIMITS: Mapping[str, Literal["NO", "ANY", "ALL"]] = {
    "no": "NO",
    "any": "ANY",
    "yes": "ALL",
    "all": "ALL",
}


def _plugins(kind: str, **choices: bool) -> dict[str, bool]:
    """Name plug-ins as files do, with and without their kind."""
    return {text: value for name, value in choices.items() for text in (name, f"{kind}/{name}")}


class _Words:
    """Reads lists of words, and reports each of them."""

    def __init__(self, values: Values, found: list[Setting]) -> None:
        self.values, self.found = values, found

    def flags(self, key: str, table: Table) -> tuple[str, ...]:
        """Give the words of a list as the table writes them."""
        pair = self.values.pairs.get(key)
        names = []
        if pair is None:
            return ()
        for word in pair.words():
            known = find_word(table, pair, word)
            self.found.append(reported(pair, known, word, ""))
            names.append(known.name)
        return tuple(names)

    def parameters(self, key: str, table: Table) -> Values:
        """Give `name=value` words as values; a word alone is `yes`. Raises SlurmFileError."""
        pair = self.values.pairs.get(key)
        pairs = []
        for word in () if pair is None else pair.words():
            assert pair is not None
            name, _, value = word.partition("=")
            known = find_word(table, pair, name)
            self.found.append(reported(pair, known, name, value))
            pairs.append(replace(pair, key=known.name, value=value or "yes"))
        return Values(pairs)


def _as_named(given: Values, kind: type[MainParameters | BackfillParameters]) -> dict[str, Any]:
    """Read the parameters that have the names of attributes: whole numbers, and switches."""
    return {
        each.name: given.switch(each.name)
        if isinstance(each.default, bool)
        else given.number(each.name, 0)
        for each in fields(kind)
        if each.name in given
    }


def _backfilling(given: Values) -> tuple[BackfillParameters, bool]:
    """Read the `bf_...`, and whether backfill runs at all (an interval of -1 switches it off)."""
    off = given.text("bf_interval") == "-1"
    if off:
        del given.pairs["bf_interval"]
    found = _as_named(given, BackfillParameters)
    for key in ("bf_interval", "bf_resolution"):
        if found.get(key) == 0:
            raise given.pairs[key].wrong("1 or more is expected")
    if "bf_window" in found:
        found["bf_window"] *= MINUTE
    return BackfillParameters(**found), not off


_PERIODS = {
    each: each.upper()
    for each in ("none", "now", "daily", "weekly", "monthly", "quarterly", "yearly")
}


def _priority(values: Values, words: _Words) -> PriorityParameters:
    multifactor = values.one_of(
        "prioritytype", _plugins("priority", basic=False, multifactor=True), False
    )
    weights = PriorityWeights(
        tres=values.read("priorityweighttres", _tres_weights, _NO_WEIGHTS),
        **{
            each.name: values.number(f"priorityweight{each.name.replace('_', '')}", 0)
            for each in fields(PriorityWeights)
            if each.name != "tres"
        },
    )
    default = PriorityParameters()
    return PriorityParameters(
        type="multifactor" if multifactor else "basic",
        weights=weights,
        max_age=values.seconds("prioritymaxage", default.max_age),
        decay_half_life=values.seconds("prioritydecayhalflife", default.decay_half_life),
        calc_period=values.seconds("prioritycalcperiod", default.calc_period),
        favor_small=values.switch("priorityfavorsmall"),
        usage_reset=values.one_of("priorityusageresetperiod", _PERIODS, "NONE"),
        flags=frozenset(words.flags("priorityflags", TABLES["priority_flags"])),
        dampening=values.number("fairsharedampeningfactor", 1),
    )


_NO_WEIGHTS: dict[str, int] = {}


def _tres_weights(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        found[name.strip().lower()] = number(value)
    return found


def _preemption(values: Values, words: _Words, schedule: Values) -> Preemption:
    types: Mapping[str, Literal["none", "partition_prio", "qos"]] = {
        "preempt/none": "none",
        "preempt/partition_prio": "partition_prio",
        "preempt/qos": "qos",
    }
    pair = values.pairs.get("preemptmode")
    modes = [] if pair is None else [each.lower() for each in pair.words()]
    named = [each for each in modes if each not in ("gang", "within")]
    for each in named:
        if each not in PREEMPT_MODES:
            assert pair is not None
            raise pair.wrong(
                f"{each:.40} is not known; {suggestion(each, [*PREEMPT_MODES, 'gang', 'within'])}"
            )
    own = words.parameters("preemptparameters", TABLES["preempt"])
    both = Values(own.pairs.values(), schedule.pairs)
    count = own.number("reorder_count", schedule.number("preempt_reorder_count", 1))
    return Preemption(
        type=values.one_of("preempttype", types, "none"),
        mode=PREEMPT_MODES[named[0]] if named else "OFF",
        gang="gang" in modes,
        within="within" in modes,
        exempt_time=max(values.duration("preemptexempttime", 0) or 0, 0),
        time_slice=values.number("schedulertimeslice", 30),
        reorder_count=count,
        strict_order=both.switch("preempt_strict_order") or both.switch("strict_order"),
        youngest_first=both.switch("preempt_youngest_first") or both.switch("youngest_first"),
    )


def _selection(values: Values, words: _Words) -> Selection:
    types: Mapping[str, Literal["linear", "cons_tres"]] = {
        "select/linear": "linear",
        "select/cons_tres": "cons_tres",
        "select/cons_res": "cons_tres",
        "linear": "linear",
        "cons_tres": "cons_tres",
        "cons_res": "cons_tres",
    }
    flags = [each.upper() for each in words.flags("selecttypeparameters", TABLES["select"])]
    kind = values.one_of("selecttype", types, "linear")
    unit: Literal["CORE", "SOCKET", "CPU"] = "CPU" if kind == "linear" else "CORE"
    for each in flags:
        found = re.fullmatch(r"CR_(CPU|CORE|SOCKET)(_MEMORY)?", each)
        if found:
            unit = "CPU" if found[1] == "CPU" else "CORE" if found[1] == "CORE" else "SOCKET"
    return Selection(
        type=kind,
        unit=unit,
        memory=any(each.endswith("_MEMORY") for each in flags),
        lln="CR_LLN" in flags,
        pack_nodes="CR_PACK_NODES" in flags,
        block="CR_CORE_DEFAULT_DIST_BLOCK" in flags,
        one_task_per_core="CR_ONE_TASK_PER_CORE" in flags,
    )


def _enforced(values: Values) -> frozenset[str]:
    pair = values.pairs.get("accountingstorageenforce")
    found: set[str] = set()
    for word in () if pair is None else pair.words():
        if word.lower() not in _ENFORCED:
            assert pair is not None
            raise pair.wrong(f"{word:.40} is not known; {suggestion(word, list(_ENFORCED))}")
        found |= set(_ENFORCED[word.lower()])
    return frozenset(found)


def _licenses(values: Values) -> dict[str, int]:
    found = {}
    for word in values.words("licenses"):
        name, _, count = re.sub(r"@[^:=]*", "", word).replace("=", ":").partition(":")
        if count and not re.fullmatch(r"\d{1,9}", count, re.ASCII):
            raise values.pairs["licenses"].wrong(f"{word:.40} is not of the form name:count")
        found[name] = int(count) if count else 1
    return found


def _beside(conf: Path, named: Path | None, name: str) -> Path | None:
    if named is not None:
        return named
    beside = conf.parent / name
    return beside if beside.is_file() else None


_GRES_KEYS = ("name", "type", "nodename", "count", "file", "multiplefiles", "cores", "cpus")
_GRES_IDLE = ("links", "flags", "autodetect")
_GRES_SHOWN = [
    "Name", "Type", "NodeName", "Count", "File", "Cores", "Links", "Flags", "AutoDetect",
]  # fmt: skip


def _gres_lines(path: Path, found: list[Setting]) -> list[Values]:
    lines = []
    for pairs in read_pairs(path):
        for each in pairs:
            key = each.key.lower()
            if key not in _GRES_KEYS + _GRES_IDLE:
                hint = suggestion(each.key, _GRES_SHOWN)
                raise each.wrong(f"there is no key {each.key} of gres.conf; {hint}")
            if key == "autodetect" and each.value.lower() != "off":
                note = "devices are not looked for; slurm.conf's Gres counts"
                found.append(Setting.of(each, "not simulated", note))
            elif key in _GRES_IDLE:
                found.append(Setting.of(each, "no effect", "how devices talk to each other"))
            else:
                note = "types, counts and cores of generic resources"
                found.append(Setting.of(each, "used", note))
        lines.append(Values(pairs))
    return lines


def _switches(
    conf: Path, named: Path | None, values: Values, nodes: Mapping[str, None]
) -> tuple[Switch, ...]:
    plugin = values.text("topologyplugin").lower().removeprefix("topology/")
    if plugin not in ("", "none", "default", "tree", "flat"):
        raise values.pairs["topologyplugin"].wrong(
            "topology/tree and topology/none are simulated, others not yet"
        )
    if plugin != "tree":
        return ()
    path = _beside(conf, named, "topology.conf")
    if path is None:
        raise values.pairs["topologyplugin"].wrong(f"there is no {conf.parent / 'topology.conf'}")
    made: dict[str, Switch] = {}
    linked: list[tuple[Pair, str]] = []
    for pairs in read_pairs(path):
        line = Values(pairs)
        for each in pairs:
            if each.key.lower() not in ("switchname", "nodes", "switches", "linkspeed"):
                hint = suggestion(each.key, ["SwitchName", "Nodes", "Switches", "LinkSpeed"])
                raise each.wrong(f"there is no key {each.key} of topology.conf; {hint}")
        if "switchname" not in line or ("nodes" in line) == ("switches" in line):
            raise pairs[0].wrong("a switch has a SwitchName, and either Nodes or Switches")
        under = line.pairs["nodes"] if "nodes" in line else line.pairs["switches"]
        names = under.hosts()
        for name in names:
            if "nodes" in line:
                known_host(under, name, nodes)
        linked += [(under, name) for name in names if "switches" in line]
        for name in line.pairs["switchname"].hosts():
            given = {"nodes": names} if "nodes" in line else {"switches": names}
            made[name] = Switch(name=name, **given)
    for pair, name in linked:
        if name not in made:
            raise pair.wrong(
                f"there is no switch {name}; {suggestion(name, list(made), 'add its line')}"
            )
    return tuple(made.values())
