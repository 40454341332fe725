"""Make the cases that `record.py` plays on a real Slurm: a cluster, its accounts, jobs and commands.

A case is a table of `cases.toml`. A text with braces, such as `-N1 -n{1|2|4}`, stands for a draw of one
alternative. Draws depend on the seed and the case's name only, so a case keeps its jobs when others change.
"""

# ruff: noqa: E501 - each case is a row of a table

import random
import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data" / "slurm"
SEED = 20261128
FAST = "bf_interval=1,bf_resolution=1,sched_interval=1"
GPU_FILES = f"{tempfile.gettempdir()}/gpus/g"  # made by record.py; slurmd wants a file for each GPU
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


DEFAULTS: dict[str, Any] = {
    "conf": "",
    "sched": FAST,
    "nodes": "n[1-5] CPUs=8",
    "parts": "p Nodes=ALL Default=YES MaxTime=10",
    "accounts": "",
    "shapes": SMALL,
    "extra": {},
    "count": 40,
    "span": 40,
    "run": (3, 12),
    "limit": "{1|1|1|1|2|3}",
    "batch": 0.0,
    "commands": [],
    "files": {},
    "more": [],
    "until": 150,
}


def _read() -> dict[str, dict[str, Any]]:
    """Read the table of cases, and fill in what it leaves out."""
    found: dict[str, dict[str, Any]] = {}
    for name, given in tomllib.loads((DATA / "cases.toml").read_text()).items():
        shapes = given.get("shapes", SMALL)
        given["shapes"] = (
            {"whole": WHOLE, "few": SMALL[:4]}.get(shapes, shapes)
            if isinstance(shapes, str)
            else shapes
        )
        given["accounts"] = given.get("accounts", "").replace("<tree>", TREE)
        given["files"] = {
            file: text.replace("<gpus>", GPU_FILES) for file, text in given.get("files", {}).items()
        }
        found[name] = {**DEFAULTS, **given}
    return found


CASES = _read()
MIXED = {"mixed": 16, "mixed_batch": 9}


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
    return {
        **DEFAULTS,
        "conf": " ".join(settings),
        "sched": sched,
        "nodes": draw(
            rng,
            "n[1-4] CPUs=8 RealMemory=8000 Features=fast Weight={1|4}\nn[5-7] CPUs=4 RealMemory=8000 Features=slow Weight=2",
        ),
        "parts": draw(
            rng,
            "p Nodes=ALL Default=YES MaxTime=10 PriorityTier={1|1|3}\nq Nodes=n[1-5] MaxTime={2|5} PriorityTier=1 OverSubscribe={NO|NO|EXCLUSIVE}",
        ),
        "accounts": "\n".join(["add qos high", "add qos low", *users, *limits]),
        "extra": extra,
        "batch": batch,
        "count": rng.choice([40, 50, 60]),
        "span": 50,
        "run": (3, 11),
    }


def _earlier(text: str, number: int) -> str:
    """Write the number of a job for `@k`, the job submitted k jobs before this one."""
    return re.sub(r"@(\d+)", lambda found: f"@{max(1, number - int(found.group(1)))}", text)


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
    fixed = list(r["accounts"].splitlines())
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
                drawn = _earlier(draw(rng, text), i)
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
