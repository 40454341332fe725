"""Limits of QOS and associations: which one keeps a job from starting, and why.

For each limit the first of partition QOS, job QOS and association that sets it counts; with the
flag OverPartQOS the job's QOS comes first. Limits of groups hold at every level of associations,
those of single jobs at the lowest one, which has what its parents set. Some are looked at before
nodes are chosen and some after it, by what the job would really have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import MINUTE, Partition, Qos, ResourceLimits, Tres
from rebecsim.clusters.slurm.reasons import Kind, limit_reason
from rebecsim.clusters.slurm.records import Record
from rebecsim.clusters.slurm.usage import PastUsage


class Group(StatePart):
    """What the running jobs of an association or a QOS have together.

    Attributes:
        jobs, submitted, aging: how many run, run or wait, and wait and age.
        tres: what they have.
        ends: their TRES times their planned ends, for TRES seconds that are still to run.
        late: TRES times seconds from the last period to the starts of jobs after it.
        nodes: how many of them are on each node.
        users, accounts: the same for each user or account, by name.
    """

    def __init__(self) -> None:
        self.jobs = self.submitted = self.aging = 0
        self.tres: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.late_of = 0
        self.nodes: Counter[int] = Counter()
        self.users: dict[str, Group] = {}
        self.accounts: dict[str, Group] = {}


class Bound(NamedTuple):
    """A limit of a TRES: of which group, how much, and the reason that jobs have."""

    kind: Kind
    tres: str
    most: float
    reason: str
    qos: int = -1
    association: int = -1


Who = Literal["grp", "user", "account", "any"]
"""Whose jobs count: those of a group, or of one user or account in it; of a job, `any`."""


class Count(NamedTuple):
    """A limit that is no TRES: of jobs that run, are submitted or age, or of time."""

    kind: Literal["jobs", "grp_wall", "wall", "submitted", "aging"]
    who: Who
    most: int
    reason: str
    qos: int = -1
    association: int = -1


class CountRule(NamedTuple):
    """Where such a limit stands: its attribute, and the reasons that jobs have; empty: it is none.

    Attributes:
        is_own: whether only the lowest association sets it.
    """

    kind: Literal["jobs", "grp_wall", "wall", "submitted", "aging"]
    who: Who
    attribute: str
    of_qos: str
    of_association: str
    is_own: bool = True

    @property
    def hidden_by(self) -> set[tuple[str, str]]:
        """Kinds of limits of QOS that hide one of an association; of QOS the like hides it."""
        others = {(self.kind, "user"), (self.kind, "account")} if self.who == "any" else set()
        return {(self.kind, self.who), *others}


_WALL = "MaxWallDurationPerJobLimit"
_SUBMIT = "QOSMaxSubmitJobLimit", "AssocMaxSubmitJobLimit"
_COUNTS = (
    CountRule("jobs", "grp", "grp_jobs", "QOSGrpJobsLimit", "AssocGrpJobsLimit", False),
    CountRule("grp_wall", "grp", "grp_wall", "QOSGrpWallLimit", "AssocGrpWallLimit", False),
    CountRule("jobs", "account", "max_jobs_per_account", "MaxJobsPerAccount", ""),
    CountRule("jobs", "user", "max_jobs_per_user", "QOSMaxJobsPerUserLimit", ""),
    CountRule("jobs", "any", "max_jobs", "", "AssocMaxJobsLimit"),
    CountRule("wall", "any", "max_wall", f"QOS{_WALL}", f"Assoc{_WALL}"),
    CountRule("submitted", "grp", "grp_submit", *_SUBMIT, False),
    CountRule("submitted", "user", "max_submit_per_user", _SUBMIT[0], ""),
    CountRule("submitted", "account", "max_submit_per_account", _SUBMIT[0], ""),
    CountRule("submitted", "any", "max_submit", "", _SUBMIT[1]),
    CountRule("aging", "grp", "grp_jobs_accrue", "None", "None", False),
    CountRule("aging", "any", "max_jobs_accrue", "", "None"),
    CountRule("aging", "user", "max_jobs_accrue_per_user", "None", "None"),
    CountRule("aging", "account", "max_jobs_accrue_per_account", "None", "None"),
)
"""All of them, in the order in which they are looked at."""


class Rules(NamedTuple):
    """The limits of jobs of one association, QOS and partition QOS."""

    before: tuple[Count, ...]
    after: tuple[Bound, ...]
    submit: tuple[Count, ...]
    accrue: tuple[Count, ...]


class LimitBook(StatePart):
    """The limits of a cluster, and what counts against them.

    Attributes:
        counts_nodes: whether some limit is about the nodes of a group.
    """

    def __init__(self, accounts: Accounts, usage: PastUsage) -> None:
        self.accounts, self.usage = accounts, usage
        self.associations = [Group() for _ in accounts.associations]
        self.qos = [Group() for _ in accounts.qos]
        self.enforces = "limits" in accounts.enforces
        self.is_safe = "safe" in accounts.enforces
        self._rules: dict[tuple[int, str, str], Rules] = {}
        self.limits_age = self.enforces and any(
            getattr(limits, each.attribute) is not None
            for limits in _all_limits(accounts)
            for each in _COUNTS
            if each.kind == "aging"
        )
        self.kills = (
            self.enforces
            and not self.is_safe
            and any(
                each.grp_wall is not None or each.grp_tres_seconds for each in _all_limits(accounts)
            )
        )
        self.counts_nodes = self.enforces and any(
            "node" in each
            for limits in _all_limits(accounts)
            for each in (limits.grp_tres, limits.max_tres_per_user, limits.max_tres_per_account)
        )

    def rules(self, record: Record, partition_qos: str) -> Rules:
        """Give the limits of a job in a partition."""
        own = record.qos.name if record.qos else ""
        key = record.association, own, partition_qos
        found = self._rules.get(key)
        if found is None:
            found = self._rules[key] = self._compiled(*key)
        return found

    def _sources(self, own: str, partition_qos: str) -> list[Qos]:
        names = [partition_qos, own]
        qos = self.accounts.qos
        if own in qos and "OverPartQOS" in qos[own].flags:
            names.reverse()
        return [qos[name] for name in dict.fromkeys(names) if name in qos]

    def _compiled(self, association: int, own: str, partition_qos: str) -> Rules:
        if not self.enforces:
            return Rules((), (), (), ())
        counts: list[Count] = []
        after: list[Bound] = []
        seen: set[tuple[str, str]] = set()
        for qos in self._sources(own, partition_qos):
            number = self.accounts.qos_number[qos.name]
            for rule in _COUNTS:
                most = getattr(qos.limits, rule.attribute)
                if rule.of_qos and most is not None and (rule.kind, rule.who) not in seen:
                    seen.add((rule.kind, rule.who))
                    counts.append(Count(rule.kind, rule.who, most, rule.of_qos, qos=number))
            for each, tres, amount, reason in _tres_limits(qos.limits, "QOS"):
                if (each, tres) not in seen:
                    seen.add((each, tres))
                    after.append(Bound(each, tres, amount, reason, qos=number))
        path = self.accounts.paths[association] if association >= 0 else ()
        factor = self.accounts.qos[own].limit_factor if own in self.accounts.qos else None
        for number in path:
            limits, is_own = self.accounts.associations[number].limits, number == association
            for rule in _COUNTS:
                most = getattr(limits, rule.attribute)
                if most is None or not rule.of_association or rule.hidden_by & seen:
                    continue
                if is_own or not rule.is_own:
                    counts.append(
                        Count(rule.kind, rule.who, most, rule.of_association, association=number)
                    )
            for each, tres, amount, reason in _tres_limits(limits, "Assoc"):
                if (each, tres) not in seen and (is_own or each.startswith("grp")):
                    most = amount * (factor or 1.0)
                    after.append(Bound(each, tres, most, reason, association=number))
        after.sort(key=lambda each: each.qos < 0)
        return Rules(
            tuple(each for each in counts if each.kind not in ("submitted", "aging")),
            tuple(after),
            tuple(each for each in counts if each.kind == "submitted"),
            tuple(each for each in counts if each.kind == "aging"),
        )

    def before(self, record: Record, partition_qos: str, limit: int) -> str:
        """Give the reason for which a job may not start, whatever nodes it gets; empty: none."""
        for each in self.rules(record, partition_qos).before:
            if self._breaks(each, record, limit):
                return each.reason
        return ""

    def _breaks(self, each: Count, record: Record, limit: int) -> bool:
        if each.kind == "wall":
            return limit > each.most
        if each.kind == "grp_wall":
            used = self._used(each.qos, each.association, "wall")
            return used + limit > each.most if self.is_safe else used >= each.most
        return self._group(each, each.who, record).jobs >= each.most

    def _group(self, each: Count | Bound, who: str, record: Record) -> Group:
        """Give whose jobs count against a limit."""
        group = self.associations[each.association] if each.qos < 0 else self.qos[each.qos]
        if who == "user":
            return group.users.get(record.job.user) or _NOBODY
        if who == "account":
            return group.accounts.get(record.job.account) or _NOBODY
        return group

    def _used(self, qos: int, association: int, kind: str) -> float:
        row = self.usage.kinds.index(kind)
        if qos >= 0:
            return float(self.usage.qos[row, qos])
        return float(self.usage.associations[row, association])

    def after(
        self,
        record: Record,
        partition_qos: str,
        tres: Tres,
        limit: int,
        nodes: Mapping[int, Tres],
    ) -> str:
        """Give the reason for which a job may not start with so much; empty: none.

        `nodes` says what it has on each node; empty where none have been chosen yet.
        """
        for each in self.rules(record, partition_qos).after:
            if self._exceeds(each, record, tres, limit, nodes):
                return each.reason
        return ""

    def _exceeds(
        self, each: Bound, record: Record, tres: Tres, limit: int, nodes: Mapping[int, Tres]
    ) -> bool:
        asked = tres.get(each.tres, 0)
        if each.kind == "job":
            return asked > each.most
        if each.kind == "node":
            return any(one.get(each.tres, 0) > each.most for one in nodes.values())
        if each.kind == "min":
            return asked < each.most
        if each.kind == "seconds":
            return asked * limit > each.most
        group = self._group(each, each.kind, record)
        if each.kind in ("grp_run", "grp_seconds"):
            running = group.ends[each.tres] - self.usage.last * group.tres[each.tres]
            running = max(running - self._late(group)[each.tres], 0) // MINUTE * MINUTE
            if each.kind == "grp_run":
                return asked * limit + running > each.most
            used = self._used(each.qos, each.association, each.tres) // MINUTE * MINUTE
            if not asked:
                return False
            if self.is_safe and asked * limit + running > each.most - used:
                return True
            return used >= each.most
        if each.tres == "node" and nodes:
            return len({*group.nodes, *nodes}) > each.most
        if each.tres == "node":
            return len(group.nodes) + asked > each.most
        return group.tres[each.tres] + asked > each.most

    def _late(self, group: Group) -> Counter[str]:
        """Give the part of a group that belongs to jobs which started within this period."""
        if group.late_of != self.usage.last:
            group.late.clear()
            group.late_of = self.usage.last
        return group.late

    def most_nodes(self, record: Record, partition_qos: str) -> tuple[int, str] | None:
        """Give how many nodes the limits of a job allow at most, and by which; None: any number."""
        kinds = ("grp", "user", "account", "job")
        rules = self.rules(record, partition_qos).after
        found = [each for each in rules if each.tres == "node" and each.kind in kinds]
        tight = min(found, key=lambda each: each.most, default=None)
        return None if tight is None else (int(tight.most), tight.reason)

    def shared_nodes(self, record: Record, partition_qos: str) -> set[int]:
        """Give the nodes that count already where a job's group may only have so many."""
        found: set[int] = set()
        for each in self.rules(record, partition_qos).after:
            if each.tres != "node" or each.kind not in ("grp", "user", "account"):
                continue
            found |= set(self._group(each, each.kind, record).nodes)
        return found

    def refuses(self, record: Record, partition_qos: str) -> str:
        """Give why a job may not even be submitted; empty: it may."""
        for each in self.rules(record, partition_qos).submit:
            if self._group(each, each.who, record).submitted >= each.most:
                return each.reason
        return ""

    def may_age(self, record: Record, partition_qos: str) -> bool:
        """Whether one job more may age."""
        rules = self.rules(record, partition_qos).accrue
        return all(self._group(each, each.who, record).aging < each.most for each in rules)

    def age(self, record: Record, partition_qos: str, sign: int = 1) -> None:
        """Note that a waiting job ages, or with -1 that it does not any more."""
        if self.limits_age:
            for group in self.groups(record, partition_qos):
                group.aging += sign

    def has_run_out(self, record: Record, partition_qos: str) -> bool:
        """Whether GrpWall or GrpTRESMins is used up, so that running jobs are killed."""
        rules = self.rules(record, partition_qos)
        return any(
            each.kind == "grp_wall" and self._breaks(each, record, 0) for each in rules.before
        ) or any(
            each.kind == "grp_seconds"
            and record.tres.get(each.tres, 0) > 0
            and self._used(each.qos, each.association, each.tres) >= each.most
            for each in rules.after
        )

    def groups(self, record: Record, partition_qos: str) -> Iterator[Group]:
        """Give everything that a job counts in."""
        for number in self.accounts.paths[record.association] if record.association >= 0 else ():
            yield self.associations[number]
        for number in self.qos_of(record, partition_qos):
            group = self.qos[number]
            yield group
            for part, name in (
                (group.users, record.job.user),
                (group.accounts, record.job.account),
            ):
                if name not in part:
                    part[name] = Group()
                yield part[name]

    def qos_of(self, record: Record, partition_qos: str) -> tuple[int, ...]:
        """Give the numbers of the QOS that a job counts in."""
        names = dict.fromkeys((record.qos.name if record.qos else "", partition_qos))
        return tuple(self.accounts.qos_number[n] for n in names if n in self.accounts.qos_number)

    def submit(self, record: Record, partition_qos: str, sign: int = 1) -> None:
        """Note that a job waits or runs, or with -1 that it is gone."""
        if self.enforces:
            for group in self.groups(record, partition_qos):
                group.submitted += sign

    def start(self, record: Record, partition_qos: str, nodes: list[int], sign: int = 1) -> None:
        """Note that a job runs with its TRES, or with -1 that it does not any more."""
        if not self.enforces:
            return
        for group in self.groups(record, partition_qos):
            group.jobs += sign
            late = record.start - self.usage.last
            if late > 0:
                for name, amount in record.tres.items():
                    self._late(group)[name] += sign * amount * late
            for name, amount in record.tres.items():
                group.tres[name] += sign * amount
                group.ends[name] += sign * amount * record.planned
            if self.counts_nodes:
                for node in nodes:
                    group.nodes[node] += sign
                    if not group.nodes[node]:
                        del group.nodes[node]


_NOBODY = Group()


def _all_limits(accounts: Accounts) -> Iterator[ResourceLimits]:
    for association in accounts.associations:
        yield association.limits
    for qos in accounts.qos.values():
        yield qos.limits


def limited_tres(accounts: Accounts) -> tuple[str, ...]:
    """Give the TRES whose minutes some limit is about."""
    return tuple(sorted({name for each in _all_limits(accounts) for name in each.grp_tres_seconds}))


def _tres_limits(limits: ResourceLimits, who: str) -> Iterator[tuple[Kind, str, float, str]]:
    """Give the limits that are about a TRES, in Slurm's order, with their reasons."""
    tables: tuple[tuple[Kind, Tres], ...] = (
        ("grp_seconds", limits.grp_tres_seconds),
        ("grp", limits.grp_tres),
        ("grp_run", limits.grp_tres_run_seconds),
        ("seconds", limits.max_tres_seconds),
        ("job", limits.max_tres),
        ("node", limits.max_tres_per_node),
        ("min", limits.min_tres),
        ("account", limits.max_tres_per_account),
        ("user", limits.max_tres_per_user),
    )
    for kind, table in tables:
        for name, amount in table.items():
            yield kind, name, amount, limit_reason(who, kind, name)


def denial(accounts: Accounts, record: Record, spec: Partition) -> str:
    """Give why the account or the QOS of a job may not use a partition; empty: they may."""
    account = record.job.account
    if record.association >= 0:
        account = accounts.associations[record.association].account
    allowed = spec.allow_accounts is None or account in spec.allow_accounts
    if not allowed or account in spec.deny_accounts:
        return "AccountNotAllowed"
    name = record.qos.name if record.qos else ""
    if (spec.allow_qos is not None and name not in spec.allow_qos) or name in spec.deny_qos:
        return "QOSNotAllowed"
    return ""
