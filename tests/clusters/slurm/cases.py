"""Make the cases that `record.py` plays on a real Slurm: a cluster, its accounts, jobs and commands.

A case is one row of `CASES`. A text with braces, such as `-N1 -n{1|2|4}`, stands for a draw of one
alternative. Draws depend on the seed and the case's name only, so a case keeps its jobs when others change.
"""

# ruff: noqa: E501 - each case is a row of a table

import random
import re
from typing import Any

SEED = 20261128
FAST = "bf_interval=1,bf_resolution=1,sched_interval=1"
GPU_FILES = "/tmp/gpus/g"  # made by record.py; slurmd wants a file for each GPU
CORES = "SelectType=select/cons_tres SelectTypeParameters=CR_Core"
CORES_MEMORY = "SelectType=select/cons_tres SelectTypeParameters=CR_Core_Memory"
LINEAR = "SelectType=select/linear"
LIMITS = "AccountingStorageEnforce=limits,qos"
MULTI = "PriorityType=priority/multifactor PriorityCalcPeriod=1"
FAIR = f"{MULTI} PriorityWeightFairshare=10000 PriorityDecayHalfLife=1"

SMALL = [
    "-N1 -n{1|2|4}",
    "-N1 -n{1|2|4|8}",
    "-n{2|4|6}",
    "-N2 -n{2|4|8}",
    "-N{2|3} -n{8|16}",
    "-N{3|4}",
]
WHOLE = ["-N1", "-N1", "-N{1|2}", "-N2", "-N{2|3}", "-N{3|4}"]
TREE = """add account science fairshare=2
add account arts fairshare=1
add account physics parent=science fairshare=1
add account bio parent=science fairshare=3
add user u1 account=physics fairshare=1
add user u2 account=bio fairshare=1
add user u3 account=bio fairshare=2
add user u4 account=arts fairshare=1
add user u5 account=arts fairshare=3"""


def qos(*lines: str) -> str:
    """Make QOS `high` and `low` (beside `normal`), let every user use them, and change them as `lines` say."""
    made = "add qos high\nadd qos low\nadd account a\nadd account b\n"
    users = [
        f"add user u{i} account={'a' if i < 4 else 'b'} qos=normal,high,low defaultqos=normal"
        for i in (1, 2, 3, 4, 5)
    ]
    return made + "\n".join([*users, *lines])


def row(
    conf: str = "",
    *,
    sched: str = FAST,
    nodes: str = "n[1-5] CPUs=8",
    parts: str = "p Nodes=ALL Default=YES MaxTime=10",
    accounts: str = "",
    shapes: list[str] | None = None,
    extra: dict[str, float] | None = None,
    count: int = 40,
    span: float = 40,
    run: tuple[int, int] = (3, 12),
    limit: str = "{1|1|1|1|2|3}",
    batch: float = 0.0,
    commands: list[tuple[float, str]] | None = None,
    files: dict[str, str] | None = None,
    more: list[dict[str, Any]] | None = None,
    until: int = 150,
) -> dict[str, Any]:
    """Describe a case: settings, nodes and partitions (lines), shapes of jobs, extra options with their chance."""
    return {
        **locals(),
        "shapes": shapes or SMALL,
        "extra": extra or {},
        "commands": commands or [],
        "more": more or [],
    }


def gpus(*lines: str) -> dict[str, str]:
    return {"gres.conf": "\n".join(lines) + "\n"}


GPU2 = gpus(
    f"NodeName=n[1-3] Name=gpu Type=a File={GPU_FILES}[0-1]",
    f"NodeName=n[4-5] Name=gpu Type=b File={GPU_FILES}[0-3]",
)
GPU_NODES = "n[1-3] CPUs=8 Gres=gpu:a:2\nn[4-5] CPUs=8 Gres=gpu:b:4\nn6 CPUs=8"
SWITCHES = {
    "topology.conf": "SwitchName=s1 Nodes=n[1-3]\nSwitchName=s2 Nodes=n[4-6]\nSwitchName=s3 Nodes=n[7-8]\nSwitchName=t1 Switches=s[1-2]\nSwitchName=top Switches=t1,s3\n"
}
TWO = "p Nodes=ALL Default=YES MaxTime=10\nq Nodes=n[1-3] MaxTime=5"

CASES: dict[str, dict[str, Any]] = {
    # The main scheduler alone.
    "builtin_basic": row(f"SchedulerType=sched/builtin {CORES}"),
    "builtin_multifactor": row(
        f"SchedulerType=sched/builtin {LINEAR} {MULTI} PriorityWeightAge=1000 PriorityMaxAge=2 PriorityWeightJobSize=500",
        shapes=WHOLE,
    ),
    "builtin_batch": row(
        f"SchedulerType=sched/builtin {CORES}",
        batch=1.0,
        sched="sched_interval=10,batch_sched_delay=5",
    ),
    "batch_default_clocks": row(CORES, batch=1.0, sched=""),
    "default_clocks": row(LINEAR, shapes=WHOLE, sched="", run=(3, 15)),
    "batch_delay": row(
        CORES, batch=0.6, sched="bf_interval=10,bf_resolution=10,batch_sched_delay=8"
    ),
    "default_depth": row(CORES, sched=FAST + ",default_queue_depth=3", span=20),
    "partition_depth": row(
        CORES, parts=TWO, extra={"-p{p|q|p,q}": 0.8}, sched=FAST + ",partition_job_depth=2", span=20
    ),
    "job_start_limit": row(
        CORES,
        sched="bf_interval=5,bf_resolution=1,sched_interval=3,sched_max_job_start=1,bf_max_job_start=1",
        span=15,
        shapes=["-N1 -n{1|2|4}"],
    ),
    # Backfill and its settings.
    "bf_intervals": row(CORES, sched="bf_interval=7,bf_resolution=1,sched_interval=20"),
    "bf_resolution": row(
        CORES, sched="bf_interval=3,bf_resolution=45,sched_interval=5", limit="{1|2|3|4|5}"
    ),
    "bf_window": row(LINEAR, shapes=WHOLE, sched=FAST + ",bf_window=2", limit="{1|2|3|4}"),
    "bf_window_linear": row(CORES, sched=FAST + ",bf_window_linear=20", limit="{1|2|3}"),
    "bf_busy_nodes": row(CORES, sched=FAST + ",bf_busy_nodes"),
    "bf_max_job_test": row(CORES, sched=FAST + ",bf_max_job_test=4", span=15),
    "bf_user_limits": row(
        CORES,
        sched=FAST + ",bf_max_job_user=2,bf_max_job_part=6",
        parts=TWO,
        extra={"-p{p|q}": 0.7},
        span=15,
    ),
    "bf_user_part": row(
        CORES,
        sched=FAST + ",bf_max_job_user_part=1",
        parts=TWO,
        extra={"-p{p|q|p,q}": 0.8},
        span=15,
    ),
    "bf_assoc_limit": row(CORES, sched=FAST + ",bf_max_job_assoc=2", accounts=TREE, span=15),
    "bf_part_reserve": row(CORES, sched=FAST + ",bf_job_part_count_reserve=1", span=20),
    "bf_min_age": row(CORES, sched=FAST + ",bf_min_age_reserve=15", limit="{1|2}"),
    "bf_min_prio": row(
        f"{CORES} {MULTI} PriorityWeightJobSize=1000", sched=FAST + ",bf_min_prio_reserve=300"
    ),
    "bf_one_resv": row(
        CORES, parts=TWO, extra={"-p{p,q|q,p|p|q}": 0.9}, sched=FAST + ",bf_one_resv_per_job"
    ),
    "bf_time_min": row(
        CORES,
        limit="{2|3|5}",
        extra={"--time-min=1": 0.5},
        parts="p Nodes=ALL Default=YES MaxTime=10 DefaultTime=2",
    ),
    "bf_licenses": row(
        f"{CORES} Licenses=x:4,y:2",
        extra={"-L{x:1|x:2|y:1|x:3,y:1}": 0.6},
        sched=FAST + ",bf_licenses",
    ),
    # Priority.
    "age_size": row(
        f"{LINEAR} {MULTI} PriorityWeightAge=2000 PriorityMaxAge=1 PriorityWeightJobSize=900",
        shapes=WHOLE,
    ),
    "favor_small": row(
        f"{CORES} {MULTI} PriorityWeightAge=300 PriorityMaxAge=2 PriorityWeightJobSize=2000 PriorityFavorSmall=YES"
    ),
    "size_to_time": row(
        f"{CORES} {MULTI} PriorityWeightJobSize=100000 PriorityFlags=SMALL_RELATIVE_TO_TIME",
        limit="{1|2|3|5}",
    ),
    "partition_factor": row(
        f"{CORES} {MULTI} PriorityWeightPartition=500 PriorityWeightJobSize=200",
        parts="p Nodes=ALL Default=YES MaxTime=10 PriorityJobFactor=1\nq Nodes=n[1-3] MaxTime=5 PriorityJobFactor=7",
        extra={"-p{p|q|p,q}": 0.7},
    ),
    "tiers": row(
        CORES,
        parts="p Nodes=ALL Default=YES MaxTime=10 PriorityTier=1\nq Nodes=n[1-3] MaxTime=5 PriorityTier=9\nr Nodes=n[3-5] PriorityTier=5",
        extra={"-p{p|q|r|q,r}": 0.8},
    ),
    "qos_nice": row(
        f"{CORES} {MULTI} {LIMITS} PriorityWeightQOS=1000 PriorityWeightAge=100 PriorityMaxAge=1",
        accounts=qos("modify qos high set priority=100", "modify qos low set priority=10"),
        extra={"--qos={high|low|normal}": 0.7, "--nice={50|300|900}": 0.3},
    ),
    "tres_weights": row(
        f"{CORES_MEMORY} {MULTI} PriorityWeightTRES=CPU=2000,Mem=3000 DefMemPerCPU=500",
        nodes="n[1-5] CPUs=8 RealMemory=8000",
        extra={"--mem={1000|3000|6000}": 0.4},
    ),
    "fair_tree": row(FAIR, accounts=TREE, nodes="n[1-5] CPUs=8", shapes=WHOLE),
    "fair_tree_cores": row(
        f"{CORES} {FAIR} PriorityWeightAge=500 PriorityMaxAge=1", accounts=TREE, span=60
    ),
    "fair_classic": row(f"{CORES} {FAIR} PriorityFlags=NO_FAIR_TREE", accounts=TREE, span=60),
    "fair_oblivious": row(f"{CORES} {FAIR} PriorityFlags=DEPTH_OBLIVIOUS", accounts=TREE, span=60),
    "fair_billing": row(
        f"{CORES_MEMORY} {FAIR} PriorityFlags=MAX_TRES DefMemPerCPU=500",
        accounts=TREE.replace(
            "user u3 account=bio fairshare=2", "user u3 account=bio fairshare=parent"
        ),
        nodes="n[1-5] CPUs=8 RealMemory=8000",
        parts="p Nodes=ALL Default=YES MaxTime=10 TRESBillingWeights=CPU=1.0,Mem=2.0G",
        extra={"--mem={1000|4000}": 0.4},
        span=60,
    ),
    "usage_factor": row(
        f"{CORES} {FAIR} {LIMITS}",
        accounts=qos("modify qos high set usagefactor=4", "modify qos low set usagefactor=0.25"),
        extra={"--qos={high|low}": 0.6},
        span=60,
    ),
    # Selection of nodes and cores.
    "cores": row(CORES, shapes=[*SMALL, "-N1-3 -n{3|6|9}", "-N2-4 -n{4|10}", "-n{3|5|12}"]),
    "cores_weights": row(
        CORES, nodes="n[1-2] CPUs=8 Weight=5\nn3 CPUs=8 Weight=1\nn[4-6] CPUs=4 Weight=3"
    ),
    "cores_tasks": row(
        CORES,
        nodes="n[1-5] Sockets=2 CoresPerSocket=4",
        shapes=[
            "-n{2|4} -c{2|3}",
            "-N2 --ntasks-per-node={2|3}",
            "-N1 -n2 -c{1|4}",
            "-N{1|3}",
            "-n{2|6}",
        ],
    ),
    "threads": row(
        CORES,
        nodes="n[1-5] Sockets=2 CoresPerSocket=2 ThreadsPerCore=2",
        shapes=[*SMALL, "-n{1|3|5}", "-N1 -n{1|3}"],
    ),
    "cr_cpu": row(
        CORES.replace("CR_Core", "CR_CPU"),
        shapes=[*SMALL, "-n{1|3|5}", "-N1 -n{1|3}"],
        nodes="n[1-5] Sockets=2 CoresPerSocket=2 ThreadsPerCore=2",
    ),
    "cr_socket": row(
        CORES.replace("CR_Core", "CR_Socket"), nodes="n[1-5] Sockets=2 CoresPerSocket=4"
    ),
    "lln": row(CORES + ",CR_LLN", shapes=["-N1 -n{1|2|4}", "-n{1|2|3}", "-N2 -n{2|4}", "-N{2|3}"]),
    "serial_at_end": row(
        CORES,
        sched=FAST + ",pack_serial_at_end",
        shapes=["-n1", "-n1", "-N1 -n{2|4}", "-N2 -n8", "-N{2|3}"],
    ),
    "contiguous": row(
        CORES,
        nodes="n[1-8] CPUs=4",
        shapes=["-N{2|3}", "-N3 --contiguous", "-N{2|4} --contiguous", "-N1 -n{1|4}"],
        extra={"-x n{3|5}": 0.1, "-w n{2|6}": 0.15},
    ),
    "exclusive": row(CORES, extra={"--exclusive": 0.3}),
    "shared": row(
        CORES,
        parts="p Nodes=ALL Default=YES MaxTime=10 OverSubscribe=YES:2\nq Nodes=n[1-2] OverSubscribe=FORCE:2",
        extra={"--oversubscribe": 0.5, "-pq": 0.3},
    ),
    "whole_partition": row(
        CORES,
        parts="p Nodes=ALL Default=YES MaxTime=10\nq Nodes=n[1-4] OverSubscribe=EXCLUSIVE",
        extra={"-pq": 0.4},
    ),
    "spread": row(CORES, shapes=["-N1-4 -n{4|6} --spread-job", "-n{4|8} --spread-job", *SMALL[:4]]),
    "memory": row(
        f"{CORES_MEMORY} DefMemPerCPU=700",
        nodes="n[1-3] CPUs=8 RealMemory=8000\nn[4-5] CPUs=8 RealMemory=16000",
        extra={"--mem={500|3000|7000}": 0.3, "--mem-per-cpu={200|1500}": 0.3},
    ),
    "memory_limits": row(
        f"{CORES_MEMORY} DefMemPerNode=2000 MaxMemPerCPU=1000",
        nodes="n[1-5] CPUs=8 RealMemory=8000",
        extra={"--mem={500|4000|6000}": 0.3, "--mem-per-cpu={500|2000}": 0.3},
    ),
    "linear_mixed": row(
        LINEAR,
        nodes="n[1-3] CPUs=4 Weight=2\nn[4-6] CPUs=8 Weight=1\nn[7-8] CPUs=16 Weight=4",
        shapes=["-N1", "-n{4|8|12}", "-N2 -n{8|20}", "-N{2|3}"],
    ),
    "linear_memory": row(
        f"{LINEAR} SelectTypeParameters=CR_Memory DefMemPerNode=1000",
        nodes="n[1-5] CPUs=8 RealMemory=8000",
        shapes=WHOLE,
        extra={"--mem={1000|5000}": 0.4},
    ),
    # GPUs, features, switches, licences.
    "gpus_per_node": row(
        f"{CORES} GresTypes=gpu",
        nodes=GPU_NODES,
        files=GPU2,
        extra={"--gres={gpu:1|gpu:2|gpu:a:1|gpu:b:2|gpu:b:4}": 0.7},
        shapes=SMALL[:4],
    ),
    "gpus_per_job": row(
        f"{CORES} GresTypes=gpu",
        nodes=GPU_NODES,
        files=GPU2,
        shapes=[
            "-n{1|2} --gpus={1|2|4}",
            "--gpus={3|6}",
            "--gpus-per-task=1 -n{2|3}",
            "-N2 --gpus-per-node=2",
            "-N1 -n{1|4}",
        ],
    ),
    "gpu_defaults": row(
        f"{CORES_MEMORY} GresTypes=gpu DefMemPerCPU=400",
        nodes="n[1-4] CPUs=8 RealMemory=8000 Gres=gpu:2",
        parts="p Nodes=ALL Default=YES MaxTime=10 JobDefaults=DefCpuPerGPU=3,DefMemPerGPU=1500",
        files=gpus(f"Name=gpu File={GPU_FILES}[0-1]"),
        shapes=["--gpus={1|2}", "-N1 --gres=gpu:{1|2}", "-N2 --gpus-per-node=1", "-N1 -n{1|2|4}"],
    ),
    "gpu_sockets": row(
        f"{CORES} GresTypes=gpu",
        nodes="n[1-4] Sockets=2 CoresPerSocket=4 Gres=gpu:4",
        files=gpus(
            f"Name=gpu File={GPU_FILES}[0-1] Cores=0-3", f"Name=gpu File={GPU_FILES}[2-3] Cores=4-7"
        ),
        shapes=[
            "-N1 -n{1|2} --gres=gpu:{1|2}",
            "-N1 -n{2|6}",
            "-N2 --gres=gpu:{1|3}",
            "-n{3|5} --gpus=3",
        ],
    ),
    "gpu_qos_limit": row(
        f"{CORES} GresTypes=gpu AccountingStorageTRES=gres/gpu {LIMITS}",
        nodes=GPU_NODES,
        files=GPU2,
        accounts=qos(
            "modify qos normal set maxtresperuser=gres/gpu=3",
            "modify account b set grptres=gres/gpu=4",
        ),
        extra={"--gres=gpu:{1|2}": 0.7},
        shapes=SMALL[:4],
    ),
    "features": row(
        CORES,
        nodes="n[1-2] CPUs=8 Features=fast,big\nn[3-4] CPUs=8 Features=fast\nn[5-6] CPUs=8 Features=slow,big",
        extra={
            "-C {fast|big|slow|fast&big|slow|fast|big&slow}": 0.3,
            "-C fast&big": 0.1,
            "-C fast|slow": 0.15,
            "-C [fast|slow]": 0.15,
        },
    ),
    "feature_counts": row(
        CORES,
        nodes="n[1-3] CPUs=4 Features=fast\nn[4-6] CPUs=4 Features=slow",
        shapes=[
            "-N1 -n{1|2|4}",
            "-N2 -C [fast*1&slow*1]",
            "-N3 -C [fast*2&slow*1]",
            "-N2 -C [fast|slow]",
            "-N{2|3}",
        ],
    ),
    "prefer": row(
        CORES,
        nodes="n[1-3] CPUs=8 Features=fast\nn[4-6] CPUs=8 Features=slow",
        extra={"--prefer={fast|slow}": 0.6},
    ),
    "switches": row(
        f"{CORES} TopologyPlugin=topology/tree",
        nodes="n[1-8] CPUs=4",
        files=SWITCHES,
        shapes=["-N1 -n{1|4}", "-N{2|3}", "-N{3|4}", "-n{6|10}"],
    ),
    "switch_waits": row(
        f"{CORES} TopologyPlugin=topology/tree",
        nodes="n[1-8] CPUs=4",
        files=SWITCHES,
        shapes=[
            "-N1 -n{1|4}",
            "-N{2|3} --switches=1@00:00:{15|40}",
            "-N{3|4}",
            "-N{2|4} --switches={1|2}",
        ],
    ),
    "linear_switches": row(
        f"{LINEAR} TopologyPlugin=topology/tree",
        nodes="n[1-8] CPUs=4",
        files=SWITCHES,
        shapes=["-N1", "-N{2|3}", "-N{3|4}", "-N{2|5}"],
    ),
    "licenses": row(f"{CORES} Licenses=x:4,y:2", extra={"-L{x:1|x:2|y:1|x:3,y:1}": 0.6}),
    # Limits.
    "partition_limits": row(
        CORES,
        parts="p Nodes=ALL Default=YES MaxTime=2 MaxNodes=3\nq Nodes=n[1-4] MinNodes=2 DefaultTime=1 MaxTime=5",
        extra={"-p{p|q|p,q}": 0.7},
        shapes=[*SMALL, "-N4"],
        limit="{1|1|2|3}",
    ),
    "partition_enforced": row(
        f"{CORES} EnforcePartLimits=ALL",
        parts="p Nodes=ALL Default=YES MaxTime=2 MaxNodes=3 MaxCPUsPerNode=6\nq Nodes=n[1-4] MaxTime=5",
        extra={"-p{p|q|p,q}": 0.7},
        limit="{1|1|2|3}",
    ),
    "partition_access": row(
        f"{CORES} {LIMITS}",
        parts="p Nodes=ALL Default=YES AllowAccounts=a\nq Nodes=n[1-3] DenyAccounts=a\nr Nodes=n[2-5] AllowQos=high,low",
        accounts=qos(),
        extra={"-p{p|q|r|p,q|q,r}": 0.8, "--qos={high|low}": 0.4},
    ),
    "qos_user_limits": row(
        f"{CORES} {LIMITS} {MULTI} PriorityWeightQOS=100",
        accounts=qos(
            "modify qos normal set maxjobsperuser=2",
            "modify qos high set priority=10 maxtresperuser=cpu=10",
            "modify qos low set maxtresperjob=cpu=8 maxwall=2",
        ),
        extra={"--qos={high|low|normal}": 0.7},
    ),
    "qos_group_limits": row(
        f"{CORES} {LIMITS}",
        accounts=qos(
            "modify qos normal set grpjobs=3",
            "modify qos high set grptres=cpu=12,node=2",
            "modify qos low set maxjobsperaccount=2 maxtresperaccount=cpu=8 mintresperjob=cpu=2",
        ),
        extra={"--qos={high|low|normal}": 0.7},
    ),
    "qos_deny": row(
        f"{CORES} {LIMITS}",
        accounts=qos(
            "modify qos high set maxtresperjob=cpu=6 flags=DenyOnLimit",
            "modify qos low set maxsubmitjobsperuser=2",
            "modify qos normal set grptresrunmins=cpu=40",
        ),
        extra={"--qos={high|low}": 0.6},
    ),
    "partition_qos": row(
        f"{CORES} {LIMITS}",
        parts="p Nodes=ALL Default=YES MaxTime=10\nq Nodes=n[1-4] QOS=low",
        accounts=qos(
            "modify qos low set grptres=cpu=10 maxjobsperuser=1",
            "modify qos high set grptres=cpu=14 flags=OverPartQOS",
            "modify qos normal set maxtresperuser=cpu=12",
        ),
        extra={"-p{p|q|q,p}": 0.7, "--qos=high": 0.3},
    ),
    "account_limits": row(
        f"{CORES} {LIMITS}",
        accounts=TREE
        + "\nmodify account science set grptres=cpu=20\nmodify account bio set grpjobs=2\nmodify account arts set maxjobs=1 grptres=node=2\nmodify user u1 set maxtresperjob=node=2",
        span=50,
    ),
    "account_minutes": row(
        f"{CORES} {LIMITS} {MULTI} PriorityDecayHalfLife=0 PriorityUsageResetPeriod=NONE",
        accounts=TREE
        + "\nmodify account science set grptresmins=cpu=4\nmodify account arts set grpwall=1\nmodify user u2 set maxtresminsperjob=cpu=6",
        span=70,
    ),
    "limits_safe": row(
        f"{CORES} AccountingStorageEnforce=safe,qos {MULTI} PriorityDecayHalfLife=0 PriorityUsageResetPeriod=NONE",
        accounts=TREE
        + "\nmodify account science set grptresmins=cpu=30\nmodify account arts set grptresrunmins=cpu=12",
        span=60,
    ),
    "assoc_limit_stop": row(
        f"{CORES} {LIMITS}",
        sched=FAST + ",assoc_limit_stop",
        accounts=TREE
        + "\nmodify account science set grptres=cpu=16\nmodify account arts set maxjobs=1",
    ),
    # Preemption.
    "preempt_tier": row(
        f"{CORES} PreemptType=preempt/partition_prio PreemptMode=CANCEL",
        parts="p Nodes=ALL Default=YES PriorityTier=1\nq Nodes=n[1-4] PriorityTier=5",
        extra={"-pq": 0.3},
        run=(6, 18),
    ),
    "preempt_qos": row(
        f"{CORES} {LIMITS} PreemptType=preempt/qos PreemptMode=CANCEL",
        accounts=qos(
            "modify qos high set preempt=low,normal priority=9",
            "modify qos normal set preempt=low priority=5",
        ),
        extra={"--qos={high|low|low}": 0.7},
        run=(6, 18),
    ),
    "preempt_youngest": row(
        LINEAR + " PreemptType=preempt/partition_prio PreemptMode=CANCEL",
        sched=FAST + ",preempt_youngest_first",
        parts="p Nodes=ALL Default=YES PriorityTier=1\nq Nodes=n[1-4] PriorityTier=5 GraceTime=4",
        shapes=WHOLE,
        extra={"-pq": 0.3},
        run=(6, 18),
    ),
    "preempt_grace": row(
        f"{CORES} PreemptType=preempt/partition_prio PreemptMode=CANCEL PreemptExemptTime=00:00:08",
        sched=FAST + ",preempt_reorder_count=3,preempt_strict_order",
        parts="p Nodes=ALL Default=YES PriorityTier=1 GraceTime=5\nq Nodes=ALL PriorityTier=5",
        extra={"-pq": 0.3},
        run=(8, 20),
    ),
    "preempt_requeue": row(
        f"{CORES} PreemptType=preempt/partition_prio PreemptMode=REQUEUE",
        parts="p Nodes=ALL Default=YES PriorityTier=1\nq Nodes=n[1-4] PriorityTier=5",
        extra={"-pq": 0.3},
        run=(6, 18),
        batch=0.7,
        count=30,
        until=260,
    ),
    "preempt_suspend": row(
        f"{CORES} PreemptType=preempt/partition_prio PreemptMode=SUSPEND,GANG",
        parts="p Nodes=ALL Default=YES PriorityTier=1 OverSubscribe=FORCE:1\nq Nodes=n[1-4] PriorityTier=5 OverSubscribe=FORCE:1",
        extra={"-pq": 0.3},
        run=(6, 18),
        count=30,
    ),
    # Reservations and nodes that leave.
    "reserved_nodes": row(
        CORES,
        commands=[
            (
                1,
                "scontrol create reservation reservationname=r1 starttime=now+25 duration=1 nodes=n[1-2] users=u1",
            ),
            (
                2,
                "scontrol create reservation reservationname=r2 starttime=now duration=1 nodes=n5 accounts=a",
            ),
        ],
        extra={"--reservation={r1|r2}": 0.2},
    ),
    "maintenance": row(
        LINEAR,
        shapes=WHOLE,
        commands=[
            (
                2,
                "scontrol create reservation reservationname=m starttime=now+80 duration=1 nodes=ALL users=root flags=maint,ignore_jobs",
            )
        ],
        until=220,
    ),
    "reservation_flex": row(
        CORES,
        commands=[
            (
                1,
                "scontrol create reservation reservationname=r1 starttime=now+20 duration=2 nodes=n[2-3] users=u1,u2 flags=flex",
            ),
            (
                3,
                "scontrol create reservation reservationname=r3 starttime=now+40 duration=1 corecnt=4 nodes=n4 users=u3",
            ),
        ],
        extra={"--reservation=r1": 0.15, "--reservation=r3": 0.1},
    ),
    "reserved_licenses": row(
        f"{CORES} Licenses=x:4",
        commands=[
            (
                1,
                "scontrol create reservation reservationname=r1 starttime=now+15 duration=1 licenses=x:3 flags=any_nodes users=u1",
            )
        ],
        extra={"-L{x:1|x:2}": 0.5},
    ),
    "nodes_leave": row(
        CORES,
        commands=[
            (8, "scontrol update nodename=n1 state=drain reason=t"),
            (15, "scontrol update nodename=n4 state=down reason=t"),
            (30, "scontrol update nodename=n1 state=resume"),
            (45, "scontrol update nodename=n4 state=resume"),
        ],
        batch=0.3,
    ),
    "partition_states": row(
        CORES,
        parts=TWO,
        extra={"-p{p|q|p,q}": 0.7},
        commands=[
            (5, "scontrol update partitionname=q state=down"),
            (25, "scontrol update partitionname=q state=up"),
            (30, "scontrol update partitionname=p state=drain"),
            (45, "scontrol update partitionname=p state=up"),
        ],
    ),
    # Eligibility.
    "dependencies": row(
        CORES,
        batch=1.0,
        extra={
            "-d {afterok|afterany|afternotok|after}:@{1|2|3|4}": 0.45,
            "-d {afterok:@1?afternotok:@2|afterany:@2:@3|afterany:@1,afterok:@4}": 0.1,
        },
        span=50,
    ),
    "dependencies_kill": row(
        CORES,
        sched=FAST + ",kill_invalid_depend",
        batch=1.0,
        extra={"-d {afterok|afternotok}:@{1|2|3}": 0.4, "-d singleton": 0.1},
        span=50,
    ),
    "singleton": row(CORES, batch=0.6, extra={"-d singleton -J {x|y}": 0.5}, span=30),
    "begin_hold": row(
        CORES,
        extra={"--begin=now+{10|20|35}": 0.3, "-H": 0.15},
        commands=[(40, "scontrol release all-held")],
    ),
    "deadline": row(CORES, batch=1.0, extra={"--deadline=now+{70|90|130}": 0.4}, run=(5, 15)),
    "arrays": row(
        CORES,
        batch=1.0,
        count=18,
        extra={"--array=0-{2|4|6}": 0.3, "--array=1-{5|8}%{1|2|3}": 0.3},
        shapes=SMALL[:4],
    ),
    "arrays_limited": row(
        f"{CORES} {LIMITS} {MULTI} PriorityWeightAge=500 PriorityMaxAge=1",
        sched=FAST + ",bf_max_job_array_resv=1",
        accounts=qos("modify qos normal set maxjobsperuser=3"),
        batch=1.0,
        count=16,
        extra={"--array=0-{3|5}": 0.4, "--array=1-6%2": 0.2},
        shapes=SMALL[:4],
    ),
    "timeouts": row(
        CORES,
        count=34,
        run=(5, 15),
        more=[
            {
                "id": f"long{i}",
                "submit": 3 * i + 1,
                "run": 200,
                "limit": 1,
                "options": ["-N1", "-n2"],
                "user": "u1",
                "batch": i % 2 == 0,
            }
            for i in range(4)
        ],
        until=220,
    ),
    "changed_jobs": row(
        CORES,
        commands=[
            (12, "scontrol update jobid=@6 nice=-100"),
            (14, "scancel @9"),
            (16, "scontrol update jobid=@11 timelimit=1"),
            (20, "scancel @13"),
            (22, "scontrol hold @15"),
            (40, "scontrol release @15"),
        ],
        span=20,
        limit="{2|3}",
    ),
    "het_jobs": row(
        CORES, count=30, shapes=[*SMALL, "-N1 -n2 : -N1 -n4", "-N2 -n2 : -N1 -n8"], span=40
    ),
}
MIXED = {"mixed": 12, "mixed_batch": 4}


def draw(rng: random.Random, text: str) -> str:
    """Replace each `{a|b}` of a text by one of its alternatives."""
    return re.sub(r"\{([^{}]*)\}", lambda m: rng.choice(m.group(1).split("|")), text)


def mixed(rng: random.Random, batch: float) -> dict[str, Any]:
    """Put settings of many kinds together: what an operator's file looks like."""
    settings = [
        draw(
            rng,
            f"SchedulerType=sched/backfill {{{CORES}|{CORES}|{CORES_MEMORY} DefMemPerCPU=500}} {LIMITS} Licenses=x:4",
        )
    ]
    settings.append(
        draw(
            rng,
            f"{FAIR} PriorityWeightAge={{0|500}} PriorityMaxAge={{1|3}} PriorityWeightJobSize={{0|800}} PriorityWeightQOS={{0|2000}} PriorityFavorSmall={{YES|NO}}",
        )
    )
    if rng.random() < 0.4:
        settings.append("PreemptType=preempt/qos PreemptMode=CANCEL")
    sched = draw(rng, "bf_interval={1|3|10},bf_resolution={1|20|60},sched_interval={1|5|60}")
    sched += rng.choice(
        [
            "",
            ",bf_max_job_user=2",
            ",bf_window=3",
            ",default_queue_depth=5",
            ",bf_busy_nodes",
            ",bf_min_age_reserve=10",
        ]
    )
    lines = TREE.splitlines()
    users = [
        f"{line} qos=normal,high,low defaultqos=normal" if "add user" in line else line
        for line in lines
    ]
    limits = [
        "modify qos high set priority=10 preempt=low",
        draw(rng, "modify qos low set {maxjobsperuser=2|grptres=cpu=16|maxtresperuser=node=2}"),
    ]
    limits += [
        draw(
            rng,
            "modify account {science|bio|arts} set {grptres=cpu=20|maxjobs=2|grpjobs=3|grptresrunmins=cpu=60}",
        )
    ]
    extra = {
        "--qos={high|low|low}": 0.5,
        "-p{p|q|p,q}": 0.5,
        "-Lx:{1|2}": 0.1,
        "--exclusive": 0.05,
        "--nice={10|400}": 0.1,
        "-C {fast|slow}": 0.15,
        "--begin=now+{5|20}": 0.05,
    }
    if batch:
        extra |= {"--array=0-{2|3}": 0.1, "-d afterany:@{1|2|3}": 0.1}
    return row(
        " ".join(settings),
        sched=sched,
        nodes=draw(
            rng,
            "n[1-4] CPUs=8 RealMemory=8000 Features=fast Weight={1|4}\nn[5-7] CPUs=4 RealMemory=8000 Features=slow Weight=2",
        ),
        parts=draw(
            rng,
            "p Nodes=ALL Default=YES MaxTime=10 PriorityTier={1|1|3}\nq Nodes=n[1-5] MaxTime={2|5} PriorityTier=1 OverSubscribe={NO|NO|EXCLUSIVE}",
        ),
        accounts="\n".join(["add qos high", "add qos low", *users, *limits]),
        extra=extra,
        batch=batch,
        count=rng.choice([40, 50, 60]),
        span=50,
        run=(3, 11),
    )


def names() -> list[str]:
    """The names of all cases, in the order in which they are recorded."""
    return [*CASES, *(f"{kind}{i}" for kind, count in MIXED.items() for i in range(1, count + 1))]


def case(name: str, seed: int = SEED) -> dict[str, Any]:
    """Make one case: `conf` lines, `accounts` commands, `jobs`, `commands`, `files` and `until` (s)."""
    rng = random.Random(f"{seed} {name}")
    r = CASES[name] if name in CASES else mixed(rng, 0.5 if "batch" in name else 0.0)
    conf = [f"SchedulerParameters={r['sched']}"] if r["sched"] else []
    conf += re.split(r" (?=[A-Za-z]+=)", r["conf"]) if r["conf"] else []
    port = 17001
    for line in r["nodes"].splitlines():
        host = line.split()[0]
        many = re.search(r"\[(\d+)-(\d+)\]", host)
        count = int(many.group(2)) - int(many.group(1)) + 1 if many else 1
        ports = f"{port}-{port + count - 1}" if count > 1 else str(port)
        conf.append(
            f"NodeName={host} NodeHostname=localhost Port={ports} {line[len(host) + 1 :]} State=UNKNOWN"
        )
        port += count
    conf += [f"PartitionName={line} State=UP" for line in r["parts"].splitlines()]
    fixed = [line for line in r["accounts"].splitlines()]
    users = sorted({w for line in fixed for w in re.findall(r"add user (u\d)", line)}) or [
        "u1",
        "u2",
        "u3",
    ]
    jobs = []
    for i in range(1, r["count"] + 1):
        options = draw(rng, rng.choice(r["shapes"])).split()
        for text, chance in r["extra"].items():
            if rng.random() < chance:
                # "@k" is the job submitted k jobs before this one.
                drawn = re.sub(
                    r"@(\d+)", lambda m: f"@{max(1, i - int(m.group(1)))}", draw(rng, text)
                )
                if drawn.split()[0] not in options and (i > 1 or "@" not in drawn):
                    options = drawn.split() + options
        job: dict[str, Any] = {
            "id": str(i),
            "submit": round(rng.uniform(0, r["span"]), 1),
            "run": rng.randint(*r["run"]),
            "limit": int(draw(rng, r["limit"])),
            "options": options,
            "user": rng.choice(users),
        }
        if rng.random() < r["batch"] or any(o.startswith("--array") for o in options):
            job |= {"batch": True, "exit": int(rng.random() < 0.3)}
        jobs.append(job)
    times = sorted(j["submit"] for j in jobs)
    jobs = [{**j, "submit": t} for j, t in zip(jobs, times, strict=True)] + r["more"]
    commands = [{"at": at, "run": text.split()} for at, text in r["commands"]]
    return {
        "conf": conf,
        "accounts": fixed,
        "jobs": jobs,
        "commands": commands,
        "files": r["files"] or {},
        "until": r["until"],
    }
