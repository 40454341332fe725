"""A cluster under Slurm as its files describe it: nodes, partitions, scheduling, accounts.

Times are seconds of the controller's clock, memory is MB. `None` is a limit that is not set. TRES
(trackable resources) are named as Slurm names them: `cpu`, `mem`, `node`, `billing`, `gres/gpu`,
`gres/gpu:a100`, `license/matlab`.

Names and defaults are those of the manual page of slurm.conf 22.05, and of `sacctmgr`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rebecsim.actors import Constant

Tres = Mapping[str, int]
"""Amounts by the name of a TRES."""

MINUTE, DAY = 60, 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Gres:
    """Generic resources of one type on a node, as GPUs.

    Attributes:
        name: such as `gpu`.
        type: such as `a100`; empty if the file names none.
        count: how many.
        cores: the cores of the node that are near them; empty: all.
    """

    name: str
    type: str = ""
    count: int = 1
    cores: tuple[int, ...] = ()


NodeState = Literal["UP", "DOWN", "DRAIN"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec(Constant):
    """A compute node; nodes of state FUTURE are left out by readers.

    Attributes:
        name: its name.
        sockets, cores, threads: sockets of the node, cores of a socket, threads of a core. Where a
            file only says `CPUs`, each is a socket with one core.
        cpus: what Slurm counts: cores times threads, or cores where `CPUs` says so.
        memory: RealMemory, MB.
        reserved_memory: MemSpecLimit, MB.
        reserved_cores: CoreSpecCount.
        features: in the order of the file.
        gres: its generic resources.
        weight: lower ones are taken first.
        state: in which it begins.
    """

    name: str
    sockets: int = 1
    cores: int = 1
    threads: int = 1
    cpus: int = 1
    memory: int = 1
    reserved_memory: int = 0
    reserved_cores: int = 0
    features: tuple[str, ...] = ()
    gres: tuple[Gres, ...] = ()
    weight: int = 1
    state: NodeState = "UP"


Sharing = Literal["NO", "YES", "FORCE", "EXCLUSIVE"]
PreemptMode = Literal["OFF", "CANCEL", "REQUEUE", "SUSPEND"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Constant):
    """A partition; the attributes are the keys of slurm.conf.

    Attributes:
        nodes: names of its nodes, in natural order (n2 before n10).
        time_limit: MaxTime, seconds.
        default_time: seconds; None: the time limit.
        sharing: OverSubscribe, and `rows`, the jobs that may share a core.
        preempt_mode: None: the cluster's.
        qos: name of the partition QOS.
        lln: whether the least loaded node is taken.
        billing_weights: TRESBillingWeights, per unit (memory: per MB); empty: CPUs count.
        over_time_limit: seconds; None: the cluster's.
        exclusive_user: whether a node serves one user at a time.
        needs_reservation: ReqResv.
    """

    name: str
    nodes: tuple[str, ...]
    is_default: bool = False
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = "UP"
    time_limit: int | None = None
    default_time: int | None = None
    min_nodes: int = 1
    max_nodes: int | None = None
    max_cpus_per_node: int | None = None
    priority_tier: int = 1
    priority_job_factor: int = 1
    sharing: Sharing = "NO"
    rows: int = 1
    preempt_mode: PreemptMode | None = None
    grace_time: int = 0
    qos: str = ""
    allow_qos: tuple[str, ...] | None = None
    deny_qos: tuple[str, ...] = ()
    allow_accounts: tuple[str, ...] | None = None
    deny_accounts: tuple[str, ...] = ()
    lln: bool = False
    memory: MemoryLimits = field(default_factory=lambda: MemoryLimits())
    billing_weights: Mapping[str, float] = field(default_factory=dict)
    cpus_per_gpu: int | None = None
    over_time_limit: int | None = None
    exclusive_user: bool = False
    needs_reservation: bool = False

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLimits:
    """DefMemPer... and MaxMemPer... of a partition or of the cluster, MB; None: not set."""

    default_per_node: int | None = None
    default_per_cpu: int | None = None
    default_per_gpu: int | None = None
    most_per_node: int | None = None
    most_per_cpu: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MainParameters:
    """When the main scheduler runs and how far it looks; names as in SchedulerParameters.

    Times are seconds.
    """

    sched_interval: int = 60
    batch_sched_delay: int = 3
    default_queue_depth: int = 100
    partition_job_depth: int = 0
    sched_max_job_start: int = 0
    defer: bool = False
    assoc_limit_stop: bool = False
    kill_invalid_depend: bool = False
    max_switch_wait: int = 300
    pack_serial_at_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillParameters:
    """The `bf_...` of SchedulerParameters; times are seconds (also the window), 0 switches off.

    Attributes:
        bf_window: seconds; slurm.conf gives minutes.
        bf_node_space_size: None: as bf_max_job_test.
    """

    bf_interval: int = 30
    bf_window: int = 1440 * 60
    bf_resolution: int = 60
    bf_max_job_test: int = 500
    bf_max_job_part: int = 0
    bf_max_job_user: int = 0
    bf_max_job_user_part: int = 0
    bf_max_job_assoc: int = 0
    bf_max_job_start: int = 0
    bf_max_job_array_resv: int = 20
    bf_node_space_size: int | None = None
    bf_job_part_count_reserve: int = 0
    bf_min_age_reserve: int = 0
    bf_min_prio_reserve: int = 0
    bf_one_resv_per_job: bool = False
    bf_window_linear: int = 0
    bf_busy_nodes: bool = False
    bf_running_job_reserve: bool = False
    bf_licenses: bool = False
    bf_hetjob_immediate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityWeights:
    """PriorityWeight...; `tres` is PriorityWeightTRES."""

    age: int = 0
    assoc: int = 0
    fairshare: int = 0
    job_size: int = 0
    partition: int = 0
    qos: int = 0
    tres: Tres = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityParameters:
    """PriorityType and what goes with it; times are seconds.

    Attributes:
        flags: of PriorityFlags, in capitals, such as SMALL_RELATIVE_TO_TIME and NO_FAIR_TREE.
        usage_reset: PriorityUsageResetPeriod, in capitals.
    """

    type: Literal["basic", "multifactor"] = "basic"
    weights: PriorityWeights = field(default_factory=PriorityWeights)
    max_age: int = 7 * DAY
    decay_half_life: int = 7 * DAY
    calc_period: int = 300
    favor_small: bool = False
    usage_reset: str = "NONE"
    flags: frozenset[str] = frozenset()
    dampening: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemption:
    """PreemptType and what goes with it.

    Attributes:
        mode: of the cluster; `gang` says whether it also has GANG, `within` whether WITHIN.
        exempt_time: PreemptExemptTime, seconds.
        time_slice: SchedulerTimeSlice, after which jobs that share cores take turns, seconds.
    """

    type: Literal["none", "partition_prio", "qos"] = "none"
    mode: PreemptMode = "OFF"
    gang: bool = False
    within: bool = False
    exempt_time: int = 0
    time_slice: int = 30
    reorder_count: int = 1
    strict_order: bool = False
    youngest_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """SelectType and SelectTypeParameters.

    Attributes:
        type: `cons_res` counts as `cons_tres`.
        unit: what is given out: whole cores, whole sockets, or CPUs (threads).
        memory: whether memory is given out.
        lln, pack_nodes, block, one_task_per_core: CR_LLN, CR_PACK_NODES,
            CR_CORE_DEFAULT_DIST_BLOCK and CR_ONE_TASK_PER_CORE.
    """

    type: Literal["linear", "cons_tres"] = "linear"
    unit: Literal["CORE", "SOCKET", "CPU"] = "CPU"
    memory: bool = False
    lln: bool = False
    pack_nodes: bool = False
    block: bool = False
    one_task_per_core: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A switch of topology.conf: of nodes, or of other switches, by name."""

    name: str
    nodes: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """The limits of an association or a QOS; `None` and absent TRES are not set, seconds.

    Those of a group are `grp_...`. An association has no `..._per_user` and `..._per_account`.
    Minutes of TRES are TRES seconds here.
    """

    grp_jobs: int | None = None
    grp_jobs_accrue: int | None = None
    grp_submit: int | None = None
    grp_tres: Tres = field(default_factory=dict)
    grp_tres_seconds: Tres = field(default_factory=dict)
    grp_tres_run_seconds: Tres = field(default_factory=dict)
    grp_wall: int | None = None
    max_jobs: int | None = None
    max_jobs_accrue: int | None = None
    max_submit: int | None = None
    max_tres: Tres = field(default_factory=dict)
    max_tres_per_node: Tres = field(default_factory=dict)
    max_tres_seconds: Tres = field(default_factory=dict)
    max_wall: int | None = None
    min_tres: Tres = field(default_factory=dict)
    max_tres_per_user: Tres = field(default_factory=dict)
    max_jobs_per_user: int | None = None
    max_submit_per_user: int | None = None
    max_jobs_accrue_per_user: int | None = None
    max_tres_per_account: Tres = field(default_factory=dict)
    max_jobs_per_account: int | None = None
    max_submit_per_account: int | None = None
    max_jobs_accrue_per_account: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Association(Constant):
    """An account, or a user in an account; `root` is the account above all.

    Attributes:
        account: its account; of an account, its own name.
        user: empty for an account.
        partition: of the association; empty: all.
        parent: the account above; empty for root only.
        shares: Fairshare; None is `parent`.
        priority: of the association.
        qos: names of those that may be used; empty: any.
        default_qos: empty: the first that may be used, or `normal`.
        usage: with which the run begins, billing seconds as `sshare` shows it.
    """

    account: str
    user: str = ""
    partition: str = ""
    parent: str = ""
    shares: int | None = 1
    priority: int = 0
    qos: tuple[str, ...] = ()
    default_qos: str = ""
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    usage: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos(Constant):
    """A quality of service.

    Attributes:
        flags: such as DenyOnLimit, PartitionTimeLimit, OverPartQOS, NoReserve, NoDecay.
        preempt: names of those that its jobs may preempt.
        preempt_mode: None: the cluster's.
        preempt_exempt_time: seconds; None: the cluster's.
        usage_threshold: below this factor of fair share jobs wait, with EnforceUsageThreshold.
        limit_factor: multiplies TRES limits of associations.
        min_prio_threshold: MinPrioThres.
    """

    name: str
    priority: int = 0
    flags: frozenset[str] = frozenset()
    preempt: tuple[str, ...] = ()
    preempt_mode: PreemptMode | None = None
    preempt_exempt_time: int | None = None
    grace_time: int = 0
    usage_factor: float = 1.0
    usage_threshold: float | None = None
    limit_factor: float | None = None
    min_prio_threshold: int | None = None
    limits: ResourceLimits = field(default_factory=ResourceLimits)

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """Who may use how much.

    Attributes:
        associations: parents before their children, in the order of the dump. Empty: no database
            is there, so there is no fair share, no age, and no limit.
        enforce: AccountingStorageEnforce, in small letters, with what each implies: `safe` and
            `qos` bring `limits` and `associations`, `limits` brings `associations`.
    """

    associations: tuple[Association, ...] = ()
    qos: tuple[Qos, ...] = (Qos(name="normal"),)
    enforce: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation(Constant):
    """An advance reservation, as of `scontrol show res -o`.

    Attributes:
        start, end: seconds; it holds in [start, end).
        nodes: names.
        cores: of each node by name; empty: whole nodes.
        partition: of its jobs; empty: any.
        users, accounts: who may use it.
        flags: in capitals.
        licenses: kept for its jobs.
        created: from when it is known, seconds; None: from the beginning.
    """

    name: str
    start: int
    end: int
    nodes: tuple[str, ...] = ()
    cores: Mapping[str, int] = field(default_factory=dict)
    partition: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    licenses: Mapping[str, int] = field(default_factory=dict)
    created: int | None = None

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """A node goes down, is drained or comes back at a time, seconds."""

    time: int
    node: str
    state: NodeState


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """When the controller's clocks tick, seconds; what no file says.

    Attributes:
        priority_start: a time at which priorities are computed; None: at the first submission.
        backfill_start: a time at which backfill runs; None: as above.
        release: how long after the end of a job its nodes take a new one.
        asks_at_end: whether the end of a job only asks for a pass of the main scheduler, as that of
            a job without any step does; it makes one at once otherwise.
    """

    priority_start: int | None = None
    backfill_start: int | None = None
    release: int = 0
    asks_at_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(Constant):
    """All that decides when Slurm starts a job.

    Attributes:
        nodes: in natural order of their names.
        backfill: whether SchedulerType is sched/backfill.
        licenses: how many there are of each.
        switches: of topology.conf; empty without topology/tree.
        topology_optional: TopoOptional.
        memory: DefMemPer... and MaxMemPer... of the cluster.
        enforce_part_limits: EnforcePartLimits.
        over_time_limit, kill_wait, complete_wait: seconds.
        message_timeout: seconds.
        requeues: JobRequeue.
        most_jobs, most_array: MaxJobCount and MaxArraySize.
    """

    nodes: tuple[NodeSpec, ...]
    partitions: tuple[Partition, ...]
    backfill: bool = True
    main: MainParameters = field(default_factory=MainParameters)
    backfilling: BackfillParameters = field(default_factory=BackfillParameters)
    priority: PriorityParameters = field(default_factory=PriorityParameters)
    preemption: Preemption = field(default_factory=Preemption)
    selection: Selection = field(default_factory=Selection)
    accounting: Accounting = field(default_factory=Accounting)
    reservations: tuple[Reservation, ...] = ()
    changes: tuple[NodeChange, ...] = ()
    licenses: Mapping[str, int] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    topology_optional: bool = False
    memory: MemoryLimits = field(default_factory=MemoryLimits)
    enforce_part_limits: Literal["NO", "ANY", "ALL"] = "NO"
    over_time_limit: int = 0
    kill_wait: int = 30
    complete_wait: int = 0
    message_timeout: int = 10
    requeues: bool = True
    most_jobs: int = 10_000
    most_array: int = 1001
    clock: Clock = field(default_factory=Clock)

    @property
    def has_gang(self) -> bool:
        """Whether jobs that share cores run in turns."""
        by_core = self.selection.type != "linear" and self.preemption.type != "qos"
        return by_core and self.preemption.gang

    @property
    def shares_cores(self) -> bool:
        """Whether jobs may get cores that others have; high tiers with FORCE see no lower ones."""
        tiers = len({each.priority_tier for each in self.partitions})
        several = any(
            each.sharing in ("YES", "FORCE") and each.rows > 1 for each in self.partitions
        )
        forced = tiers > 1 and any(each.sharing == "FORCE" for each in self.partitions)
        return self.has_gang or (self.selection.type != "linear" and (several or forced))
