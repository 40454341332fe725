"""The priority of waiting jobs: priority/basic and priority/multifactor.

    priority = age + association + fair share + size + partition + QOS + TRES + site - nice

each a factor from 0 to 1 times its weight. Only age and fair share change while a job waits; the
rest is worked out at submission. Priorities are computed at submission and once a period.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import Cluster, Tres
from rebecsim.clusters.slurm.fairshare import factors
from rebecsim.clusters.slurm.limits import LimitBook
from rebecsim.clusters.slurm.machine import Machine, Need, Place
from rebecsim.clusters.slurm.records import HELD, Entry, Record
from rebecsim.clusters.slurm.usage import PastUsage, Reals

FIRST_BASIC = 4_294_901_759
"""The priority of the first job under priority/basic; each later one has one less."""

_LARGEST = 2**32 - 1


class Terms(NamedTuple):
    """The terms of a priority, as `sprio` shows them before rounding."""

    age: float
    association: float
    fairshare: float
    job_size: float
    partition: float
    qos: float
    tres: float
    site: float
    nice: float

    @property
    def total(self) -> int:
        """The priority."""
        return max(min(int(sum(self[:-1]) - self.nice), _LARGEST), 1)


class Priorities(StatePart):
    """Computes priorities.

    Attributes:
        usage: what has been used.
        sizes_change: whether priorities depend on how many CPUs a job would have.
    """

    def __init__(self, machine: Machine, accounts: Accounts, usage: PastUsage) -> None:
        self.machine, self.accounts, self.usage = machine, accounts, usage
        cluster: Cluster = machine.cluster
        self.is_basic = cluster.priority.type == "basic"
        self._used = usage.associations[0].copy()  # at the end of the last period
        self._shares: Reals | None = None
        self._next_basic = FIRST_BASIC
        self._array = -1  # of the job that came last; all tasks of an array have one priority
        self._ages = bool(accounts.associations) and not self.is_basic
        flags = cluster.priority.flags
        self._raw = tuple(
            each
            for each in ("ASSOC", "PART", "QOS", "TRES")
            if flags & {f"NO_NORMAL_{each}", "NO_NORMAL_ALL"}
        )
        self._always_ages = "ACCRUE_ALWAYS" in flags
        self._only_rises = "INCR_ONLY" in flags
        self._most_assoc = max((a.priority for a in accounts.associations), default=0)
        self._most_qos = max((q.priority for q in accounts.qos.values()), default=0)
        self._most_factor = max([p.priority_job_factor for p in cluster.partitions] + [1])
        self._all_cpus = int(machine.cpus.sum())
        self._place_totals: dict[int, dict[str, int]] = {}
        self._ages_change = self._ages and cluster.priority.weights.age > 0
        is_linear = cluster.selection.type == "linear"
        self.sizes_change = not self.is_basic and cluster.priority.weights.job_size > 0
        self._is_linear = is_linear
        self._resized: dict[int, Record] = {}
        self._shares_change = not self.is_basic and cluster.priority.weights.fairshare > 0

    def fixed(self, record: Record, need: Need, sized: bool = False) -> float:
        """Give the sum of the terms that change at most once while the job waits.

        Under select/linear the size is that of whole nodes (`sized`) from the first period on.
        """
        if self.is_basic:
            return 0.0
        terms = self.terms(record, need, 0, sized)
        return sum(terms[3:-1]) + terms.association - terms.nice

    def terms(self, record: Record, need: Need, now: int, sized: bool = False) -> Terms:
        """Give all terms at a time, seconds."""
        weights, place = self.machine.cluster.priority.weights, need.place
        assoc = self.accounts.associations[record.association] if record.association >= 0 else None
        by_assoc = self._ratio("ASSOC", assoc.priority if assoc else 0, self._most_assoc)
        by_qos = self._ratio("QOS", record.qos.priority if record.qos else 0, self._most_qos)
        by_place = self._ratio("PART", place.spec.priority_job_factor, self._most_factor)
        asked = asked_tres(self.machine, need) if weights.tres else {}
        totals = self._totals(place) if weights.tres else {}
        tres = 0.0
        for name, weight in weights.tres.items():
            whole = 1 if "TRES" in self._raw else totals.get(name, 0)
            tres += weight * (asked.get(name, 0) / whole if whole else 0.0)
        return Terms(
            weights.age * self.age(record, now),
            weights.assoc * by_assoc,
            weights.fairshare * self._shared(record),
            weights.job_size * self.size(record, need, sized),
            weights.partition * by_place,
            weights.qos * by_qos,
            tres,
            float(record.job.extras.site_factor),
            float(record.job.nice),
        )

    def _ratio(self, name: str, value: int, most: int) -> float:
        if name in self._raw:
            return float(value)
        return value / most if most else 0.0

    @property
    def fairshare(self) -> Reals:
        """The factor of each association, as of the last period."""
        if self._shares is None:
            self._shares = factors(self.accounts, self._used, self.machine.cluster.priority)
        return self._shares

    def _shared(self, record: Record) -> float:
        return float(self.fairshare[record.association]) if record.association >= 0 else 0.0

    def age(self, record: Record, now: int) -> float:
        """Give the factor of age, 0 to 1."""
        since = record.submit if self._always_ages else record.accrue
        if since < 0 or not self._ages:
            return 0.0
        most = self.machine.cluster.priority.max_age
        return min(1.0, (now - since) / most) if most else 1.0

    def size(self, record: Record, need: Need, sized: bool = False) -> float:
        """Give the factor of size, 0 to 1."""
        parameters = self.machine.cluster.priority
        all_nodes, all_cpus = len(self.machine.names), self._all_cpus
        nodes, cpus, small = need.nodes, need.cpus, parameters.favor_small
        cpus = record.total_cpus or cpus
        if sized:
            there = self.machine.cpus[self.machine.mask(need.candidates)]
            cpus = max(cpus, nodes * int(there.min()) if len(there) else 0)
        if "SMALL_RELATIVE_TO_TIME" in parameters.flags:
            minutes = max(record.limit // 60, 1)
            found = max(nodes * all_cpus / all_nodes, cpus) / minutes / all_cpus
            found = 1 - found if small else found
        elif small:
            found = ((all_nodes - nodes) / all_nodes + (all_cpus - cpus) / all_cpus) / 2
        else:
            found = (nodes / all_nodes + cpus / all_cpus) / 2
        return min(max(found, 0.0), 1.0)

    def _totals(self, place: Place) -> dict[str, int]:
        found = self._place_totals.get(place.number)
        if found is None:
            mask = self.machine.mask(place.nodes)
            found = {
                "cpu": int(self.machine.cpus[mask].sum()),
                "mem": int(self.machine.memory[mask].sum()),
                "node": int(mask.sum()),
                **{
                    f"gres/{name}": int(counts[mask].sum())
                    for name, counts in self.machine.gres.items()
                },
            }
            self._place_totals[place.number] = found
        return found

    def submitted(self, record: Record, now: int) -> None:
        """Give a job its first priorities; a held one gets them when it is released."""
        own = record.job.extras.priority
        array = record.job.extras.array
        is_next = array is not None and array.array == self._array
        self._array = -1 if array is None else array.array
        for entry in record.entries:
            if own is not None:
                entry.priority = own
            elif self.is_basic:
                entry.priority = max(self._next_basic + is_next - record.job.nice, 1)
            else:
                entry.priority = self._computed(record, entry, now)
        if self.is_basic and own is None and not is_next:
            self._next_basic -= 1

    def _computed(self, record: Record, entry: Entry, now: int) -> int:
        weights = self.machine.cluster.priority.weights
        changing = weights.age * self.age(record, now) + weights.fairshare * self._shared(record)
        return max(min(int(changing + entry.fixed), _LARGEST), 1)

    @property
    def changes(self) -> bool:
        """Whether the priorities of waiting jobs change with time."""
        return self._ages_change or self._shares_change or self.sizes_change

    def period(self, now: int) -> None:
        """Let usage decay, add what running jobs have used, and share anew."""
        self.usage.period(now)
        if self._shares_change:
            self._used, self._shares = self.usage.associations[0].copy(), None
        for record in self._resized.values():
            for entry in record.entries:
                entry.fixed = self.fixed(record, entry.need, entry.is_sized)
        self._resized.clear()

    def measures(self, need: Need) -> bool:
        """Whether priorities depend on how many more CPUs than it asks for a job will have."""
        more = need.whole or need.per_task > 1 or need.least > 1 or need.wanted > need.cpus
        return self.sizes_change and (more or self.machine.one_unit != 1)

    def resize(self, record: Record, cpus: int) -> None:
        """Note how many CPUs a job would have; from the next period on its size is by them."""
        if record.total_cpus != cpus:
            record.total_cpus = cpus
            if self.sizes_change:
                self._resized[record.number] = record

    def recompute(self, entries: Sequence[Entry], now: int) -> None:
        """Give entries new priorities; those of held jobs, or set by hand, stay."""
        if self.is_basic or not entries or not self.changes:
            return
        parameters = self.machine.cluster.priority
        for each in entries if self.sizes_change and self._is_linear else ():
            if not each.is_sized:
                each.is_sized, each.fixed = True, self.fixed(each.record, each.need, True)
        fixed = np.array([each.fixed for each in entries])
        if self._always_ages:
            since = np.array([each.record.submit for each in entries], np.int64)
        else:
            since = np.array([each.record.accrue for each in entries], np.int64)
        age = np.where(since < 0, 0.0, np.minimum((now - since) / max(parameters.max_age, 1), 1.0))
        if not self._ages:
            age[:] = 0.0
        shares = np.append(self.fairshare, 0.0)  # -1 is no association
        shared = shares[np.array([each.record.association for each in entries], np.int64)]
        weights = parameters.weights
        found = np.clip(weights.age * age + weights.fairshare * shared + fixed, 1, _LARGEST)
        for entry, priority in zip(entries, found.astype(np.int64).tolist(), strict=True):
            if entry.record.job.extras.priority is not None or entry.priority == HELD:
                continue
            if priority > entry.priority or not self._only_rises:
                entry.priority = priority


class Aging(StatePart):
    """Lets waiting jobs age: all from their eligibility on, or as many at once as limits allow."""

    def __init__(self, limits: LimitBook) -> None:
        self.limits = limits
        self._young: list[Record] = []  # eligible, and no pass has seen them
        self._barred: list[Record] = []  # those that a limit keeps from aging

    def admit(self, record: Record) -> None:
        """Take a job that is eligible now."""
        self._young.append(record)

    def age(self, now: int) -> None:
        """Let jobs age that no pass has seen before, as far as limits allow."""
        young, self._young = self._young, []
        if not self.limits.limits_age:
            for record in young:
                record.accrue = record.begin
            return
        barred, self._barred = self._barred, []
        for since, records in ((now, barred), (-1, young)):
            for record in records:
                if record.state != "PENDING" or record.accrue >= 0:
                    continue
                qos = record.entries[0].place.spec.qos
                if self.limits.may_age(record, qos):
                    record.accrue = max(since, record.begin)
                    self.limits.age(record, qos)
                else:
                    self._barred.append(record)

    def stop(self, record: Record) -> None:
        """Note that a job does not wait any more."""
        if record.accrue >= 0:
            self.limits.age(record, record.entries[0].place.spec.qos, -1)


def asked_tres(machine: Machine, need: Need) -> dict[str, int]:
    """Give what a job asks for, by TRES."""
    gres = {f"gres/{name}": count * need.nodes for name, count in need.gres_node}
    for name, count in need.gres_job:
        gres[f"gres/{name}"] = gres.get(f"gres/{name}", 0) + count
    memory = need.memory_node * need.nodes or need.memory_cpu * need.cpus
    return {"cpu": need.cpus, "node": need.nodes, "mem": memory, **gres}


def billed(weights: Mapping[str, float], tres: Tres, flags: frozenset[str]) -> int:
    """Give what a job with so much is billed; without weights it is the CPUs."""
    if not weights:
        return tres["cpu"]
    parts = {name: weight * tres.get(name, 0) for name, weight in weights.items()}
    if "MAX_TRES" not in flags:
        return int(sum(parts.values()))
    on_nodes = [v for name, v in parts.items() if not name.startswith("license/")]
    return int(max(on_nodes, default=0.0) + sum(parts.values()) - sum(on_nodes))
