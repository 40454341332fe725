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


class Simple(NamedTuple):
    """A limit that is looked at before nodes are chosen."""

    kind: Literal["grp_jobs", "grp_wall", "jobs_account", "jobs_user", "wall", "jobs"]
    most: int
    reason: str
    qos: int = -1
    association: int = -1


class Count(NamedTuple):
    """A limit of how many jobs there may be, or age, in a group or of one user or account in it."""

    who: Literal["grp", "user", "account"]
    most: int
    qos: int = -1
    association: int = -1


class Rules(NamedTuple):
    """The limits of jobs of one association, QOS and partition QOS."""

    before: tuple[Simple, ...]
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
            count is not None
            for each in _all_limits(accounts)
            for count in (
                each.grp_jobs_accrue,
                each.max_jobs_accrue,
                each.max_jobs_accrue_per_user,
                each.max_jobs_accrue_per_account,
            )
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
        before: list[Simple] = []
        after: list[Bound] = []
        submit: list[Count] = []
        accrue: list[Count] = []
        if not self.enforces:
            return Rules((), (), (), ())
        seen: set[tuple[str, str]] = set()
        for qos in self._sources(own, partition_qos):
            self._add_qos(qos, before, after, submit, seen)
            self._add_accrual(qos.limits, accrue, seen, qos=self.accounts.qos_number[qos.name])
        path = self.accounts.paths[association] if association >= 0 else ()
        factor = self.accounts.qos[own].limit_factor if own in self.accounts.qos else None
        for depth, number in enumerate(path):
            self._add_association(number, depth == 0, factor or 1.0, before, after, submit, seen)
            limits = self.accounts.associations[number].limits
            if depth:
                limits = ResourceLimits(grp_jobs_accrue=limits.grp_jobs_accrue)
            self._add_accrual(limits, accrue, seen, association=number)
        after.sort(key=lambda each: each.qos < 0)
        return Rules(tuple(before), tuple(after), tuple(submit), tuple(accrue))

    @staticmethod
    def _add_accrual(
        limits: ResourceLimits,
        accrue: list[Count],
        seen: set[tuple[str, str]],
        *,
        qos: int = -1,
        association: int = -1,
    ) -> None:
        """Add limits of jobs that age; those of a QOS hide the like of associations."""
        grp, user, account = ("accrue_grp", ""), ("accrue_user", ""), ("accrue_account", "")
        counts: tuple[tuple[Literal["grp", "user", "account"], int | None, bool], ...] = (
            ("grp", limits.grp_jobs_accrue, grp in seen),
            ("grp", limits.max_jobs_accrue, bool(seen & {user, account})),
            ("user", limits.max_jobs_accrue_per_user, user in seen),
            ("account", limits.max_jobs_accrue_per_account, account in seen),
        )
        for who, most, is_hidden in counts:
            if most is not None and not is_hidden:
                accrue.append(Count(who, most, qos, association))
                if qos >= 0:
                    seen.add((f"accrue_{who}", ""))

    def _add_qos(
        self,
        qos: Qos,
        before: list[Simple],
        after: list[Bound],
        submit: list[Count],
        seen: set[tuple[str, str]],
    ) -> None:
        limits, number = qos.limits, self.accounts.qos_number[qos.name]
        simple: tuple[tuple[str, int | None, str], ...] = (
            ("grp_jobs", limits.grp_jobs, "QOSGrpJobsLimit"),
            ("grp_wall", limits.grp_wall, "QOSGrpWallLimit"),
            ("jobs_account", limits.max_jobs_per_account, "MaxJobsPerAccount"),
            ("jobs_user", limits.max_jobs_per_user, "QOSMaxJobsPerUserLimit"),
            ("wall", limits.max_wall, "QOSMaxWallDurationPerJobLimit"),
        )
        for kind, most, reason in simple:
            if most is not None and (kind, "") not in seen:
                seen.add((kind, ""))
                before.append(Simple(kind, most, reason, qos=number))  # type: ignore[arg-type]
        for who, count in (
            ("grp", limits.grp_submit),
            ("user", limits.max_submit_per_user),
            ("account", limits.max_submit_per_account),
        ):
            if count is not None and (f"submit_{who}", "") not in seen:
                seen.add((f"submit_{who}", ""))
                submit.append(Count(who, count, qos=number))  # type: ignore[arg-type]
        for each, tres, amount, reason in _tres_limits(limits, "QOS"):
            if (each, tres) not in seen:
                seen.add((each, tres))
                after.append(Bound(each, tres, amount, reason, qos=number))

    def _add_association(
        self,
        number: int,
        is_lowest: bool,
        factor: float,
        before: list[Simple],
        after: list[Bound],
        submit: list[Count],
        seen: set[tuple[str, str]],
    ) -> None:
        limits = self.accounts.associations[number].limits
        if limits.grp_jobs is not None and ("grp_jobs", "") not in seen:
            before.append(
                Simple("grp_jobs", limits.grp_jobs, "AssocGrpJobsLimit", association=number)
            )
        if limits.grp_wall is not None and ("grp_wall", "") not in seen:
            before.append(
                Simple("grp_wall", limits.grp_wall, "AssocGrpWallLimit", association=number)
            )
        if limits.grp_submit is not None and ("submit_grp", "") not in seen:
            submit.append(Count("grp", limits.grp_submit, association=number))
        for each, tres, most, reason in _tres_limits(limits, "Assoc"):
            if (each, tres) in seen or not (is_lowest or each.startswith("grp")):
                continue
            after.append(Bound(each, tres, most * factor, reason, association=number))
        if not is_lowest:
            return
        if limits.max_submit is not None and not seen & {
            ("submit_user", ""),
            ("submit_account", ""),
        }:
            submit.append(Count("grp", limits.max_submit, association=number))
        if limits.max_jobs is not None and not seen & {("jobs_user", ""), ("jobs_account", "")}:
            before.append(Simple("jobs", limits.max_jobs, "AssocMaxJobsLimit", association=number))
        if limits.max_wall is not None and ("wall", "") not in seen:
            before.append(
                Simple(
                    "wall", limits.max_wall, "AssocMaxWallDurationPerJobLimit", association=number
                )
            )

    def before(self, record: Record, partition_qos: str, limit: int) -> str:
        """Give the reason for which a job may not start, whatever nodes it gets; empty: none."""
        for each in self.rules(record, partition_qos).before:
            if self._breaks(each, record, limit):
                return each.reason
        return ""

    def _breaks(self, each: Simple, record: Record, limit: int) -> bool:
        if each.kind == "wall":
            return limit > each.most
        group = self.associations[each.association] if each.qos < 0 else self.qos[each.qos]
        match each.kind:
            case "grp_jobs" | "jobs":
                return group.jobs >= each.most
            case "grp_wall":
                used = self._used(each.qos, each.association, "wall")
                return used + limit > each.most if self.is_safe else used >= each.most
            case "jobs_user":
                own = group.users.get(record.job.user)
            case _:
                own = group.accounts.get(record.job.account)
        return own is not None and own.jobs >= each.most

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
        group = self.associations[each.association] if each.qos < 0 else self.qos[each.qos]
        if each.kind == "user":
            group = group.users.get(record.job.user) or _NOBODY
        elif each.kind == "account":
            group = group.accounts.get(record.job.account) or _NOBODY
        elif each.kind in ("grp_run", "grp_seconds"):
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
            group = self.associations[each.association] if each.qos < 0 else self.qos[each.qos]
            if each.kind == "user":
                group = group.users.get(record.job.user) or _NOBODY
            elif each.kind == "account":
                group = group.accounts.get(record.job.account) or _NOBODY
            found |= set(group.nodes)
        return found

    def refuses(self, record: Record, partition_qos: str) -> str:
        """Give why a job may not even be submitted; empty: it may."""
        for each in self.rules(record, partition_qos).submit:
            if self._counted(each, record).submitted >= each.most:
                return "QOSMaxSubmitJobLimit" if each.qos >= 0 else "AssocMaxSubmitJobLimit"
        return ""

    def _counted(self, each: Count, record: Record) -> Group:
        """Give the group that counts against a limit of jobs."""
        group = self.associations[each.association] if each.qos < 0 else self.qos[each.qos]
        if each.who == "user":
            return group.users.get(record.job.user) or _NOBODY
        if each.who == "account":
            return group.accounts.get(record.job.account) or _NOBODY
        return group

    def may_age(self, record: Record, partition_qos: str) -> bool:
        """Whether one job more may age."""
        rules = self.rules(record, partition_qos).accrue
        return all(self._counted(each, record).aging < each.most for each in rules)

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
